"""GraphModel: a graph with its weights, which computes any of its tensors from others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from webtensor import io
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.graph_def import (
    FunctionName,
    Graph,
    NodeDef,
    Signature,
    TensorInfo,
    TensorValue,
)
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.blocks import Block, Reads, finish, finish_async
from webtensor.graph.compilation import Compiler, unknown_operations
from webtensor.graph.custom_operations import CUSTOM_OPERATIONS
from webtensor.graph.execution import Executor
from webtensor.graph.hash_tables import table_rows
from webtensor.graph.inputs import Inputs, ModelTensor, fed, named
from webtensor.graph.nodes import Node, Nodes, Reference, nodes_of, reference_of
from webtensor.graph.operations import OPERATIONS, Row
from webtensor.graph.resources import HashTable
from webtensor.graph.saving import GraphOrigin
from webtensor.io.handlers import SaveResult
from webtensor.io.routers import ModelTarget
from webtensor.io.stored_tensors import tensor_of

__all__ = ["ExecutableModel", "GraphModel"]

Results: TypeAlias = "Tensor | list[Tensor]"
Prediction: TypeAlias = "Tensor | list[Tensor] | dict[str, Tensor]"


class ExecutableModel(ABC):
    """A model that computes any of its tensors from others."""

    @abstractmethod
    def _run(self, inputs: Inputs, outputs: str | Sequence[str] | None) -> Reads:
        """Compute what ``execute`` returns; yield tensors that must be read before."""

    def execute(self, inputs: Inputs, outputs: str | Sequence[str] | None = None) -> Results:
        """Compute tensors of the graph.

        Args:
            inputs: as of ``predict``; a mapping may give any tensor of the graph.
            outputs: the name of a tensor, or a list of names; all outputs by default.

        Returns:
            A tensor where one name is given or the model has one output, else a list.

        Raises:
            ModelFormatError: a tensor depends on itself or on something that is missing.
            ValueError: as of ``predict``.
        """
        results: Results = finish(self._run(inputs, outputs))
        return results

    async def execute_async(
        self, inputs: Inputs, outputs: str | Sequence[str] | None = None
    ) -> Results:
        """Compute tensors of the graph as ``execute`` does, without blocking the page."""
        results: Results = await finish_async(self._run(inputs, outputs))
        return results


class GraphModel(ExecutableModel):
    """A graph of operations with its weights, as TensorFlow.js's converter writes it.

    ``load_graph_model`` loads models. ``predict`` computes the outputs from the inputs, ``execute``
    any tensors of the graph. What follows from the shapes of the inputs and from the weights is
    computed only the first time.

    Args:
        graph: the graph.
        weights: the values of constants, by the names of their nodes.
        label: what errors call the model.
        signature: the inputs and outputs under the names that the author gave them.
        initializer: the graph that initializes tables; it is run at once.
        initializer_signature: its outputs, which are inputs of the graph.
        metadata: what the author of the model added to the file.
        budget: limits what constants in the graph may cost.
        tables: the hash tables by their names, to which those of this model are added.
        rows: operations of this model alone, by their names.
        stored: the parts of the files that the model was loaded from, without its graphs.

    Raises:
        ModelFormatError: the graph has operations that are unknown, or is malformed.
    """

    def __init__(
        self,
        graph: Graph,
        weights: Mapping[str, Tensor],
        label: str,
        *,
        signature: Signature | None = None,
        initializer: Graph | None = None,
        initializer_signature: Signature | None = None,
        metadata: Any = None,
        budget: Budget | None = None,
        tables: dict[str, HashTable] | None = None,
        rows: Mapping[str, Row] | None = None,
        stored: ModelArtifacts | None = None,
    ) -> None:
        self.metadata = metadata
        self.model_signature = signature
        #: The version of the graph's format.
        self.model_version = f"{graph.producer}.{graph.min_consumer}"
        self._label = label
        self._budget = budget or Budget(label)
        self._weights = dict(weights)
        self._origin: GraphOrigin | None = GraphOrigin(
            graph, signature, initializer, initializer_signature, metadata, stored
        )
        self._nodes = self._checked_nodes(graph)
        self._tables = {} if tables is None else tables
        self._own_rows = rows or {}
        self._rows = {
            **OPERATIONS,
            **table_rows(self._tables),
            **self._own_rows,
            **CUSTOM_OPERATIONS,
        }
        self._inputs = self._interface("inputs")
        self._outputs = self._interface("outputs")
        self._check_operations(graph)
        compiler = Compiler(self._constant, graph.functions, self._rows, label)
        self._executor = Executor(compiler, self._nodes)
        self._resources: dict[Reference, Any] = {}
        if initializer is not None:
            self._initialize(initializer, initializer_signature)

    def _checked_nodes(self, graph: Graph) -> Nodes:
        nodes = nodes_of(graph.nodes, self._label)
        if len(nodes) != len(graph.nodes):
            raise ModelFormatError(f"{self._label}: two nodes have the same name")
        return nodes

    def _check_operations(self, graph: Graph) -> None:
        bodies = [function.nodes for function in graph.functions.values()]
        if not unknown_operations(chain(graph.nodes, *bodies), graph.functions, self._rows):
            return
        nodes, called = self._needed_nodes(), set[str]()
        for node in nodes if graph.functions else ():  # bodies of functions make it longer
            values = node.attributes.values()
            names = {node.op, *(value.name for value in values if isinstance(value, FunctionName))}
            for name in (names & graph.functions.keys()) - called:
                called.add(name)
                nodes += graph.functions[name].nodes
        unknown = unknown_operations(nodes, graph.functions, self._rows)
        if unknown:
            raise ModelFormatError(
                f"{self._label} has operations that are unknown: {', '.join(unknown)}; "
                "register_graph_op adds operations"
            )

    def _needed_nodes(self) -> list[Node | NodeDef]:
        """Return the nodes that the outputs need; all of them where there are no outputs."""
        waiting = [self._reference(name, "outputs").node for name in self.output_nodes]
        needed: dict[str, Node | NodeDef] = {}
        while waiting:
            node = self._nodes.get(waiting.pop())
            if node is not None and node.name not in needed:
                needed[node.name] = node
                waiting += [*(reference.node for reference in node.inputs), *node.controls]
        return [*(needed or self._nodes).values()]

    # -- what there is -------------------------------------------------------------------------

    @property
    def inputs(self) -> list[ModelTensor]:
        """The inputs, in the order in which ``predict`` takes them."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[ModelTensor]:
        """The outputs, in the order in which ``predict`` returns them."""
        return list(self._outputs)

    @property
    def input_nodes(self) -> list[str]:
        """The names of the inputs: their keys in the signature, if there is one."""
        return self._keys_of("inputs", self._inputs)

    @property
    def output_nodes(self) -> list[str]:
        """The names of the outputs: their keys in the signature, if there is one."""
        return self._keys_of("outputs", self._outputs)

    @property
    def node_names(self) -> list[str]:
        """The names of all nodes, in the order of the graph; ``execute`` computes any of them."""
        return list(self._nodes)

    @property
    def weights(self) -> dict[str, list[Tensor]]:
        """The weights by the names of their nodes, each in a list, as in TensorFlow.js."""
        return {name: [value] for name, value in self._weights.items()}

    def _infos(self, side: str) -> dict[str, TensorInfo]:
        """Return the inputs or outputs of the signature that are tensors, by their keys."""
        infos: Mapping[str, TensorInfo] = getattr(self.model_signature, side, {})
        return {key: info for key, info in infos.items() if info.names and info.resource_id is None}

    def _keys_of(self, side: str, tensors: Sequence[ModelTensor]) -> list[str]:
        return [*self._infos(side)] or [tensor.name for tensor in tensors]

    def _interface(self, side: str) -> list[ModelTensor]:
        """Return the inputs or outputs, from the signature or else from the graph."""
        infos = self._infos(side)
        if infos:
            return [self._described(info) for info in infos.values()]
        if side == "inputs":
            nodes = self._nodes.values()
            needed = [node for node in nodes if node.op == "Placeholder"]
            optional = [node for node in nodes if node.op == "PlaceholderWithDefault"]
            return [_specified(node) for node in needed or optional]
        used = {reference.node for node in self._nodes.values() for reference in node.inputs}
        used |= {name for node in self._nodes.values() for name in node.controls}
        return [
            _specified(node)
            for node in self._nodes.values()
            if node.name not in used and node.op not in ("Const", "NoOp", "Placeholder")
        ]

    def _described(self, info: TensorInfo) -> ModelTensor:
        """Return what the graph says of a tensor, and else what the signature says."""
        name = info.names[0].removesuffix(":0")
        node = self._nodes.get(reference_of(name, "signature").node)
        if node is None or node.op != "Placeholder" or node.attributes.get("shape") is None:
            return ModelTensor(name, info.shape, info.dtype)
        return _specified(node)._replace(name=name)

    def _reference(self, name: str, side: str) -> Reference:
        """Return the tensor of this name in the signature or in the graph."""
        infos: Mapping[str, TensorInfo] = getattr(self.model_signature, side, {})
        info = infos.get(name)
        return reference_of(info.names[0] if info is not None and info.names else name, side)

    def _constant(self, node: Node | NodeDef) -> Tensor:
        """Return the value of a constant, from the weights or from the graph."""
        value = self._weights.get(node.name)
        if value is None:
            stored = node.attributes.get("value")
            label = f"{self._label}: node {node.name!r:.200}"
            if not isinstance(stored, TensorValue):
                raise ModelFormatError(f"{label} has no value")
            value = tensor_of(stored.complete(label, self._budget), label)
            self._weights[node.name] = value
        return value

    # -- computing -----------------------------------------------------------------------------

    def predict(self, inputs: Inputs) -> Prediction:
        """Compute the outputs.

        Args:
            inputs: the inputs: one, a list in the order of ``inputs``, or a mapping by their names.

        Returns:
            One tensor or a list in the order of ``outputs``; a mapping where the model's metadata
            says under which keys it returned them.

        Raises:
            ValueError: an input is missing, unknown, or has another shape or dtype.
        """
        return self._structured(self.execute(inputs))

    async def predict_async(self, inputs: Inputs) -> Prediction:
        """Compute the outputs as ``predict`` does, without blocking the page."""
        return self._structured(await self.execute_async(inputs))

    __call__ = predict

    def block(self) -> Block:
        """Return the steps that compute the outputs from the inputs."""
        feeds = [self._reference(name, "inputs") for name in self.input_nodes]
        fetches = [self._reference(name, "outputs") for name in self.output_nodes]
        return self._executor.block(feeds, fetches)

    # -- files ---------------------------------------------------------------------------------

    def save(self, target: ModelTarget) -> SaveResult:
        """Save the model in TensorFlow.js's web format: ``model.json`` and files of weights.

        What is saved is what was loaded: the graph, its signature, the metadata, the tables'
        initializer, and weights that were quantized as they are stored. TensorFlow.js and
        ``load_graph_model`` read it.

        Args:
            target: the folder, or the path of ``model.json`` in it; an address or a handler, as of
                ``webtensor.io.save_artifacts``.

        Returns:
            When it was saved, the sizes of its parts, and what servers answered.

        Raises:
            OSError: the place cannot be reached, or has no room.
            ValueError: nothing is saved to such an address, or Python cannot wait for it
                (``save_async`` can); the model has operations that graph models in files do not
                have, as some of TensorFlow Lite; it is disposed.

        Example:
            >>> import json
            >>> import webtensor as wt
            >>> relu = {"name": "y", "op": "Relu", "input": ["x"]}
            >>> topology = {"node": [{"name": "x", "op": "Placeholder"}, relu]}
            >>> model_json = {"modelTopology": topology, "weightsManifest": []}
            >>> model = wt.load_graph_model({"model.json": json.dumps(model_json).encode()})
            >>> saved = []
            >>> result = model.save(wt.io.with_save_handler(saved.append))
            >>> saved[0].model_topology["node"][1]["op"]
            'Relu'
        """
        return io.save_artifacts(self._artifacts(), target)

    async def save_async(self, target: ModelTarget) -> SaveResult:
        """Save the model as ``save`` does, without blocking the page.

        Example:
            In a page::

                await model.save_async("indexeddb://detector")
        """
        return await io.save_artifacts_async(self._artifacts(), target)

    def _artifacts(self) -> ModelArtifacts:
        if self._origin is None:
            raise ValueError(f"{self._label} is disposed, and cannot be saved")
        return self._origin.artifacts(self._constant, self._own_rows, self._label)

    def dispose(self) -> None:
        """Give back the memory of the weights; the model cannot be used any more."""
        self._origin = None
        for value in self._weights.values():
            value.dispose()
        self._weights.clear()
        self._executor.clear()
        self._resources.clear()

    def _structured(self, results: Results) -> Prediction:
        metadata = self.metadata if isinstance(self.metadata, Mapping) else {}
        keys = metadata.get("structuredOutputKeys")
        if not isinstance(keys, list):
            return results
        values = results if isinstance(results, list) else [results]
        return dict(zip(map(str, keys), values, strict=False))

    def _run(self, inputs: Inputs, outputs: str | Sequence[str] | None) -> Reads:
        feeds = self._feeds(inputs)
        names = [outputs] if isinstance(outputs, str) else outputs or self.output_nodes
        fetches = [self._reference(name, "outputs") for name in names]
        results = yield from self._executor.run(feeds, fetches)
        for name, result in zip(names, results, strict=True):
            if not isinstance(result, Tensor):
                raise ValueError(
                    f"outputs: {self._label} has not computed {name!r}, which is no tensor or is "
                    "on a branch that was not taken"
                )
        is_one = isinstance(outputs, str) or (outputs is None and len(results) == 1)
        return results[0] if is_one else results

    def _feeds(self, inputs: Inputs) -> dict[Reference, Any]:
        described = {reference_of(value.name, "inputs"): value for value in self._inputs}
        feeds: dict[Reference, Any] = dict(self._resources)
        for name, value in named(inputs, self._inputs, self._label).items():
            reference = self._reference(name, "inputs")
            if reference.node not in self._nodes:
                raise ValueError(
                    f"inputs: {self._label} has no tensor {name!r}; its inputs are "
                    f"{', '.join(self.input_nodes)}"
                )
            feeds[reference] = fed(name, value, described.get(reference))
        return feeds

    # -- resources -----------------------------------------------------------------------------

    def _initialize(self, initializer: Graph, signature: Signature | None) -> None:
        """Run the graph that makes tables, and keep them as inputs of this one."""
        model = GraphModel(
            initializer,
            self._weights,
            self._label,
            budget=self._budget,
            tables=self._tables,
            rows=self._own_rows,
        )
        outputs = () if signature is None else signature.outputs.values()
        resources = [info for info in outputs if info.names]
        names = [info.names[0] for info in resources] or model.output_nodes
        fetches = [model._reference(name, "outputs") for name in names]
        values = finish(model._executor.run({}, fetches))
        infos = {} if self.model_signature is None else self.model_signature.inputs
        for info, value in zip(resources, values, strict=False):
            for other in infos.values():
                if other.resource_id is not None and other.resource_id == info.resource_id:
                    self._resources[reference_of(other.names[0], "inputs")] = value


def _specified(node: Node) -> ModelTensor:
    shape = node.attributes.get("shape")
    declared_shape = shape if isinstance(shape, tuple) else None
    return ModelTensor(node.name, declared_shape, str(node.attributes.get("dtype", "")))
