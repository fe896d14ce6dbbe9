"""GraphModel: a graph with its weights, which computes any of its tensors from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from webtensor.engine import Tensor, TensorLike
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.graph_def import Graph, Shape, Signature, TensorInfo, TensorValue
from webtensor.graph.blocks import Block, Reads, run
from webtensor.graph.compilation import Compiler, unknown_operations
from webtensor.graph.nodes import Node, Reference, nodes_of, reference_of
from webtensor.graph.operations import OPERATIONS
from webtensor.graph.operations.arguments import dtype_name
from webtensor.graph.operations.arrays import fits
from webtensor.graph.resources import HashTable
from webtensor.graph.tables import table_rows
from webtensor.io.stored_tensors import tensor_of
from webtensor.ops import tensor

__all__ = ["GraphModel", "InputSpec"]

Inputs: TypeAlias = "TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike]"
Results: TypeAlias = "Tensor | list[Tensor]"


class InputSpec(NamedTuple):
    """An input or output of a model.

    Attributes:
        name: the name of its tensor.
        shape: its shape, in which unknown sizes are None; None if its rank is not known.
        dtype: its dtype; "" if the graph does not say it.
    """

    name: str
    shape: Shape
    dtype: str


class GraphModel:
    """A graph with its weights.

    Models come from ``load_graph_model``.
    """

    def __init__(
        self,
        graph: Graph,
        weights: Mapping[str, Tensor],
        where: str,
        signature: Signature | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._where = where
        self._budget = budget or Budget(where)
        self._weights = dict(weights)
        self._nodes = nodes_of(graph.nodes, where)
        self.signature = signature
        self._tables: dict[str, HashTable] = {}
        rows = {**OPERATIONS, **table_rows(self._tables)}
        bodies = [node for function in graph.functions.values() for node in function.nodes]
        unknown = unknown_operations(
            [*self._nodes.values(), *nodes_of(bodies, where).values()], graph.functions, rows
        )
        if unknown:
            raise ModelFormatError(f"{where} has operations that are unknown: {', '.join(unknown)}")
        self._compiler = Compiler(self._constant, graph.functions, rows, where)
        self._blocks: dict[tuple[tuple[Reference, ...], tuple[Reference, ...]], Block] = {}
        self.inputs = self._interface("inputs")
        self.outputs = self._interface("outputs")

    # -- what there is -------------------------------------------------------------------------

    def _interface(self, side: str) -> list[InputSpec]:
        infos: Mapping[str, TensorInfo] = getattr(self.signature, side, {})
        if infos:
            return [
                self._specification(info)
                for info in infos.values()
                if info.names and info.resource_id is None
            ]
        if side == "inputs":
            nodes = [node for node in self._nodes.values() if node.op == "Placeholder"]
        else:
            used = {reference.node for node in self._nodes.values() for reference in node.inputs}
            used |= {name for node in self._nodes.values() for name in node.controls}
            nodes = [
                node
                for node in self._nodes.values()
                if node.name not in used and node.op not in ("Const", "NoOp", "Placeholder")
            ]
        return [_specified(node) for node in nodes]

    def _specification(self, info: TensorInfo) -> InputSpec:
        """Return what the graph says of a tensor, and what it leaves out from the signature."""
        name = info.names[0]
        node = self._nodes.get(reference_of(name, "signature").node)
        if node is None or node.op != "Placeholder" or node.attributes.get("shape") is None:
            return InputSpec(name, info.shape, info.dtype)
        return _specified(node)._replace(name=name)

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in their order."""
        return [spec.name for spec in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in their order."""
        return [spec.name for spec in self.outputs]

    def _constant(self, node: Node) -> Tensor:
        value = self._weights.get(node.name)
        if value is None:
            stored = node.attributes.get("value")
            label = f"{self._where}: node {node.name!r:.200}"
            if not isinstance(stored, TensorValue):
                raise ModelFormatError(f"{label} has no value")
            value = tensor_of(stored.complete(label, self._budget), label)
            self._weights[node.name] = value
        return value

    # -- computing -----------------------------------------------------------------------------

    def execute(self, inputs: Inputs, outputs: str | Sequence[str] | None = None) -> Results:
        """Compute outputs, or any tensors of the graph, from inputs."""
        reads = self._run(inputs, outputs)
        results: Results = _finished(reads)
        return results

    async def execute_async(
        self, inputs: Inputs, outputs: str | Sequence[str] | None = None
    ) -> Results:
        """Compute as ``execute`` does, without blocking the page."""
        reads = self._run(inputs, outputs)
        try:
            value = next(reads)
            while True:
                await value.data()
                value = reads.send(None)
        except StopIteration as stop:
            results: Results = stop.value
            return results

    def _run(self, inputs: Inputs, outputs: str | Sequence[str] | None) -> Reads:
        feeds = self._feeds(inputs)
        names = [outputs] if isinstance(outputs, str) else outputs or self.output_names
        fetches = tuple(self._reference(name, "outputs") for name in names)
        key = (tuple(feeds), fetches)
        if key not in self._blocks:
            self._blocks[key] = self._compiler.compile(self._nodes, key[0], key[1])
        results = yield from run(self._blocks[key], list(feeds.values()))
        return results[0] if isinstance(outputs, str) or len(results) == 1 else results

    def _feeds(self, inputs: Inputs) -> dict[Reference, Tensor]:
        if not isinstance(inputs, Mapping):
            values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(values) != len(self.inputs):
                raise ValueError(
                    f"inputs: the model has {len(self.inputs)} inputs, but {len(values)} are given"
                )
            inputs = dict(zip(self.input_names, values, strict=True))
        specs = {reference_of(spec.name, "inputs"): spec for spec in self.inputs}
        feeds = {}
        for name, value in inputs.items():
            reference = self._reference(name, "inputs")
            feeds[reference] = _fed(name, value, specs.get(reference))
        return feeds

    def _reference(self, name: str, side: str) -> Reference:
        """Return the tensor of this name in the signature or in the graph."""
        infos: Mapping[str, TensorInfo] = getattr(self.signature, side, {})
        info = infos.get(name)
        return reference_of(info.names[0] if info is not None and info.names else name, side)


def _fed(name: str, value: TensorLike, spec: InputSpec | None) -> Tensor:
    dtype = dtype_name(spec.dtype) if spec is not None and spec.dtype else None
    fed = value if isinstance(value, Tensor) else tensor(value, dtype=dtype)
    if spec is None:
        return fed
    if dtype is not None and str(fed.dtype) != dtype:
        raise ValueError(f"inputs: {name!r} must have dtype {dtype}, but has {fed.dtype}")
    if not fits(fed.shape, spec.shape):
        raise ValueError(f"inputs: {name!r} must have shape {spec.shape}, but has {fed.shape}")
    return fed


def _specified(node: Node) -> InputSpec:
    shape = node.attributes.get("shape")
    known = shape if isinstance(shape, tuple) else None
    return InputSpec(node.name, known, str(node.attributes.get("dtype", "")))


def _finished(reads: Reads) -> Any:
    """Return the result of a generator, whose tensors are read at once."""
    try:
        value = next(reads)
        while True:
            value.data_sync()
            value = reads.send(None)
    except StopIteration as stop:
        return stop.value
