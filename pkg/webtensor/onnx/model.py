"""OnnxModel: an ONNX graph with its weights, which computes any of its values from others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats import onnx as format_
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.graph.blocks import Block, Reads
from webtensor.graph.compilation import Compiler
from webtensor.graph.execution import Executor
from webtensor.graph.inputs import Inputs, ModelTensor, fed, named
from webtensor.graph.model import ExecutableModel, Results
from webtensor.graph.nodes import Nodes, Reference
from webtensor.graph.operations import OPERATIONS as GRAPH_OPERATIONS, Row
from webtensor.onnx.control_flow import control_flow
from webtensor.onnx.layouts import LAST_ROWS
from webtensor.onnx.lowering import Lowered, lowered
from webtensor.onnx.operations import OPERATIONS
from webtensor.onnx.optimization import Constants, optimized
from webtensor.onnx.translation import fuse

__all__ = ["OnnxModel"]


class _Graph(NamedTuple):
    """Nodes, the values of the constant ones, and what computes them."""

    nodes: Nodes
    constants: Constants
    executor: Executor


class OnnxModel(ExecutableModel):
    """An ONNX model.

    Models come from ``load_onnx``.

    Attributes:
        inputs: the inputs that must be given, with shapes in which unknown sizes are None.
        outputs: the outputs, likewise.
        metadata: the properties of the model, texts by their names.
    """

    def __init__(
        self, model: format_.Model, where: str, files: Mapping[str, Buffer] | None = None
    ) -> None:
        self._where = where
        self._model, self._files = model, files
        self.inputs = [
            _specification(value)
            for value in model.graph.inputs
            if value.name not in model.graph.initializers
        ]
        self.outputs = [_specification(value) for value in model.graph.outputs]
        self.metadata = dict(model.metadata)
        with reading(where):
            graph = lowered(model, where, files)
            self._values = graph.values
            missing = [name for name in self.output_names if name not in graph.values]
            if missing:
                raise ModelFormatError(f"{where}: nothing computes the output {missing[0]!r:.200}")
            self._feed_references = tuple(graph.values[name] for name in self.input_names)
            fetches = tuple(graph.values[name] for name in self.output_names)
            self._optimized = self._graph(
                *optimized(graph.nodes, graph.constants, fetches, _ranks(model.graph, graph), where)
            )
            # Compiled at once, so that errors come when the model is loaded.
            self._optimized.executor.block(self._feed_references, fetches)
        self._plain: _Graph | None = None

    def _graph(self, nodes: Nodes, constants: Constants) -> _Graph:
        rows: dict[str, Row] = {**GRAPH_OPERATIONS, **OPERATIONS, **LAST_ROWS}
        compiler = Compiler(lambda node: constants[node.name], {}, rows, self._where)
        rows.update(control_flow(compiler.compile))
        return _Graph(nodes, constants, Executor(compiler, nodes, fuse))

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in their order."""
        return [spec.name for spec in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in their order."""
        return [spec.name for spec in self.outputs]

    # -- computing -----------------------------------------------------------------------------

    def predict(self, inputs: Inputs) -> Results:
        """Compute the outputs.

        Args:
            inputs: the only input, a list of all inputs in order, or a dict of them by name.

        Returns:
            The only output, or the list of them.

        Raises:
            ValueError: an input is missing or unknown, or has another shape or dtype.
        """
        return self.execute(inputs)

    async def predict_async(self, inputs: Inputs) -> Results:
        """Compute the outputs as ``predict`` does, without blocking the page."""
        return await self.execute_async(inputs)

    def block(self, outputs: Sequence[str]) -> Block:
        """Return the steps that compute some outputs from the inputs."""
        fetches = [self._reference(name) for name in outputs]
        return self._optimized.executor.block(self._feed_references, fetches)

    def dispose(self) -> None:
        """Free the memory of the weights."""
        for graph in (self._optimized, self._plain):
            for value in graph.constants.values() if graph is not None else ():
                value.dispose()
            if graph is not None:
                graph.executor.clear()

    def _run(self, inputs: Inputs, outputs: str | Sequence[str] | None) -> Reads:
        feeds = self._feeds(inputs)
        names = [outputs] if isinstance(outputs, str) else outputs or self.output_names
        fetches = tuple(self._reference(name) for name in names)
        graph = self._chosen(feeds.keys(), fetches)
        results = yield from graph.executor.run(feeds, fetches)
        is_single = isinstance(outputs, str) or (outputs is None and len(results) == 1)
        return results[0] if is_single else results

    def _chosen(self, feeds: Collection[Reference], fetches: tuple[Reference, ...]) -> _Graph:
        """Return the nodes to compute with.

        Inner nodes that are fed or fetched may be missing among the optimized nodes: then those of
        the file are computed with.
        """
        if set(feeds) == set(self._feed_references) and all(
            fetch.node in self._optimized.nodes for fetch in fetches
        ):
            return self._optimized
        if self._plain is None:
            graph = lowered(self._model, self._where, self._files)
            self._plain = self._graph(graph.nodes, graph.constants)
        return self._plain

    def _feeds(self, inputs: Inputs) -> dict[Reference, Any]:
        inputs = named(inputs, self.inputs, self._where)
        missing = [name for name in self.input_names if name not in inputs]
        if missing and not set(inputs) - set(self.input_names):
            raise ValueError(f"inputs: {missing[0]!r:.200} is missing")
        specs = {spec.name: spec for spec in self.inputs}
        return {
            self._reference(name): _fed(name, value, specs.get(name))
            for name, value in inputs.items()
        }

    def _reference(self, name: str) -> Reference:
        if name not in self._values:
            raise ValueError(f"the model has no value {name!r:.200}")
        return self._values[name]


def _fed(name: str, value: Any, described: ModelTensor | None) -> Any:
    """Return an input as a tensor, unless it is a sequence or an optional value."""
    may_be_other = described is None or not described.dtype
    if may_be_other and (value is None or isinstance(value, (list, tuple))):
        return value
    return fed(name, value, described)


def _specification(value: format_.ValueInfo) -> ModelTensor:
    kind = value.type
    if not isinstance(kind, format_.TensorType):
        return ModelTensor(value.name, None, "")
    sizes = None
    if kind.shape is not None:
        sizes = tuple(size if isinstance(size, int) else None for size in kind.shape)
    return ModelTensor(value.name, sizes, kind.dtype)


def _ranks(graph: format_.Graph, nodes: Lowered) -> dict[Reference, int]:
    """Return the ranks of tensors, as far as a graph says them."""
    return {
        nodes.values[value.name]: len(value.type.shape)
        for value in (*graph.inputs, *graph.values, *graph.outputs)
        if isinstance(value.type, format_.TensorType)
        and value.type.shape is not None
        and value.name in nodes.values
    }
