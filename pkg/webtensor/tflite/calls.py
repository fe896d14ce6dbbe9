"""Calls of operators, and the nodes that they become.

``GraphBuilder`` collects the nodes of a subgraph. A ``Call`` is an operator that is being lowered:
it hands out references of inputs and options, and adds nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.errors import ModelFormatError
from webtensor.formats import tflite as format_
from webtensor.formats.budgets import Budget
from webtensor.formats.graph_def import AttributeValue, NodeDef
from webtensor.graph.nodes import Node, Reference
from webtensor.graph.operations import OPERATIONS
from webtensor.graph.unique_names import UniqueNames, node_name
from webtensor.tflite.constants import constant_of
from webtensor.tflite.quantization import Grid, grid_of

__all__ = ["Body", "Call", "GraphBuilder", "Library"]

#: Nodes of these operations are computed at once where their inputs are constant: weights.
_FOLDED = frozenset({"ConcatV2", "Reshape", "Transpose"})


class Body(NamedTuple):
    """A subgraph that operators run, or that runs once, when the model is loaded."""

    subgraph: int
    runs_once: bool = False

    @property
    def name(self) -> str:
        """What the function and errors call it."""
        return f"subgraph {self.subgraph}"


class Library:
    """What all subgraphs of a model share.

    Attributes:
        where: what errors call the model.
        budget: limits what its constants and nodes may cost.
        constants: the values of constant nodes by their names.
        bodies: the other subgraphs that the main one needs, in the order in which they were met.
    """

    def __init__(self, where: str, budget: Budget) -> None:
        self.where, self.budget = where, budget
        self.constants: dict[str, Tensor] = {}
        self.bodies: list[Body] = []
        self._met: set[Body] = set()
        self._names = UniqueNames()

    def name(self, preferred: str) -> str:
        """Return a name that no node has, like the preferred one."""
        name = self._names.new(node_name(preferred))
        self.budget.spend_items(8, self.where)
        self.budget.spend(len(name), self.where)
        return name

    def need(self, subgraph: int, *, runs_once: bool = False) -> str:
        """Say that a subgraph is needed, and return the name of the function that it becomes."""
        body = Body(subgraph, runs_once)
        if body not in self._met:
            self._met.add(body)
            self.bodies.append(body)
        return body.name


class GraphBuilder:
    """The nodes of a subgraph.

    Attributes:
        nodes: the nodes.
        last: what the last operation on variables returned; the next one takes it, too.
    """

    def __init__(self, library: Library, subgraph: format_.Subgraph, label: str) -> None:
        self.library, self.subgraph, self.label = library, subgraph, label
        self.nodes: list[NodeDef] = []
        self.last: str | None = None
        self._references: dict[int, str] = {}
        #: The names of constants, by what they are computed from: operators may share weights.
        self._names_of_constants: dict[Hashable, str] = {}

    def node(
        self,
        op: str,
        inputs: Iterable[str],
        attributes: Mapping[str, AttributeValue] | None = None,
        name: str | None = None,
    ) -> str:
        """Add a node, and return its name, which is that of its first output."""
        inputs = tuple(inputs)
        attributes = attributes or {}
        if op == "ConcatV2":
            attributes = {**attributes, "N": len(inputs) - 1}  # TensorFlow.js takes 2 by default
        name = name or op
        if op in _FOLDED and self.library.constants.keys() >= {*inputs}:
            key = (op, inputs, repr(attributes))
            if key not in self._names_of_constants:
                value = self._folded(Node(name, op, tuple(map(Reference, inputs)), (), attributes))
                self._names_of_constants[key] = self._stored(name, value)
            return self._names_of_constants[key]
        name = self.library.name(name)
        self.nodes.append(NodeDef(name, op, inputs, attributes, ""))
        return name

    def _folded(self, node: Node) -> Tensor:
        """Return what a node computes of constants."""
        values = [self.library.constants[reference.node] for reference in node.inputs]
        bound = OPERATIONS[node.op].bind(node, dict(enumerate(values)), self.library.where)
        with on_host("constants"):
            value: Tensor = bound.function(*[values[index] for index in bound.inputs])
        return value

    def constant(self, value: Any, dtype: str = "int32", name: str = "constant") -> str:
        """Add a constant, which may be a tensor, a number or a list of numbers."""
        if isinstance(value, Tensor):
            return self._stored(name, value)
        is_list = isinstance(value, (list, tuple))
        key = (dtype, tuple(value) if is_list else value)
        if key not in self._names_of_constants:
            with on_host("constants"):
                tensor = ops.tensor(value, shape=(len(value),) if is_list else (), dtype=dtype)
            self._names_of_constants[key] = self._stored(name, tensor)
        return self._names_of_constants[key]

    def _stored(self, name: str, value: Tensor) -> str:
        self.library.budget.spend(4 * value.size, self.label)
        name = self.library.name(name)
        self.library.constants[name] = value
        self.nodes.append(NodeDef(name, "Const", (), {}, ""))
        return name

    def reference(self, index: int, user: str) -> str:
        """Return what a tensor of the subgraph became.

        Raises:
            ModelFormatError: nothing before has computed it.
        """
        if index not in self._references:
            tensor = self.subgraph.tensors[index]
            if tensor.data is None:
                raise ModelFormatError(
                    f"{self.label}: {user} needs the tensor {tensor.name!r:.200}, which nothing "
                    "computes before"
                )
            value = constant_of(tensor, self.label, self.library.budget)
            self._references[index] = self.constant(value, name=tensor.name)
        return self._references[index]

    def define(self, index: int, reference: str) -> None:
        """Say what a tensor of the subgraph became.

        Raises:
            ModelFormatError: it is computed already, or constant.
        """
        tensor = self.subgraph.tensors[index]
        # Files don't tell whether an empty tensor is constant.
        if index in self._references or tensor.data:
            raise ModelFormatError(
                f"{self.label}: the tensor {tensor.name!r:.200} is computed, but has a value before"
            )
        self._references[index] = reference

    def names(self) -> dict[str, str]:
        """Return what tensors became, by their names, each of which is that of the first one."""
        tensors = self.subgraph.tensors
        references = reversed(self._references.items())
        return {tensors[index].name: reference for index, reference in references}


class Call:
    """An operator that is being lowered."""

    def __init__(self, graph: GraphBuilder, operator: format_.Operator, where: str) -> None:
        self.graph, self.operator, self.where = graph, operator, where

    def broken(self, reason: str) -> ModelFormatError:
        """Return an error that names the operator."""
        return ModelFormatError(f"{self.graph.label}: {self.where}: {reason}")

    # -- inputs and options --------------------------------------------------------------------

    def has(self, index: int) -> bool:
        """Whether an input is there."""
        return index < len(self.operator.inputs) and self.operator.inputs[index] >= 0

    def input(self, index: int) -> str:
        """Return the reference of an input.

        Raises:
            ModelFormatError: it is missing.
        """
        if not self.has(index):
            raise self.broken(f"it has no input {index}")
        return self.graph.reference(self.operator.inputs[index], self.where)

    def inputs(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return the references of inputs; those that are missing are left out."""
        count = range(len(self.operator.inputs))[start:stop]
        return [self.input(index) for index in count if self.has(index)]

    def tensor(self, index: int) -> format_.Tensor:
        """Return what the file says of an input."""
        self.input(index)
        return self.graph.subgraph.tensors[self.operator.inputs[index]]

    def output(self, index: int = 0) -> format_.Tensor:
        """Return what the file says of an output."""
        if index >= len(self.operator.outputs):
            raise self.broken(f"it has no output {index}")
        return self.graph.subgraph.tensors[self.operator.outputs[index]]

    def option(self, name: str) -> Any:
        """Return an option.

        Raises:
            ModelFormatError: it is missing.
        """
        if name not in self.operator.options:
            raise self.broken(f"it has no option {name!r}")
        return self.operator.options[name]

    def size(self, index: int, axis: int) -> int:
        """Return a size of an input, as the file says it."""
        shape = self.tensor(index).shape
        if not -len(shape) <= axis < len(shape):
            raise self.broken(f"its input {index} has shape {shape}")
        return shape[axis]

    # -- nodes ---------------------------------------------------------------------------------

    def node(self, op: str, *inputs: str, **attributes: AttributeValue) -> str:
        """Add a node."""
        return self.graph.node(op, inputs, attributes, f"{self.where}/{op}")

    def constant(self, value: Any, dtype: str = "int32") -> str:
        """Add a constant."""
        return self.graph.constant(value, dtype, f"{self.where}/constant")

    def outputs(self, name: str) -> list[str]:
        """Return the references of a node's outputs, as many as the operator has."""
        return [f"{name}:{index}" for index in range(len(self.operator.outputs))]

    def transposed(self, reference: str, order: Sequence[int]) -> str:
        """Return a tensor with its axes in another order."""
        return self.node("Transpose", reference, self.constant(list(order)))

    def reshaped(self, reference: str, shape: Sequence[int]) -> str:
        """Return a tensor in another shape."""
        return self.node("Reshape", reference, self.constant(list(shape)))

    def activated(self, reference: str, activation: str) -> str:
        """Return a tensor after a fused activation.

        Raises:
            ModelFormatError: the activation is not supported.
        """
        if activation == "NONE":
            return reference
        if activation == "RELU_N1_TO_1":
            return self.clipped(reference, -1.0, 1.0)
        if activation not in ACTIVATIONS:
            raise self.broken(f"the activation {activation} is not supported")
        return self.node(ACTIVATIONS[activation], reference)

    def clipped(self, reference: str, low: float, high: float) -> str:
        """Return a tensor whose elements are brought between two bounds."""
        bounds = (self.constant(low, "float32"), self.constant(high, "float32"))
        return self.node("ClipByValue", reference, *bounds)

    # -- quantized numbers ---------------------------------------------------------------------

    def grid(self, tensor: format_.Tensor) -> Grid | None:
        """Return the grid of a tensor that is computed."""
        return grid_of(tensor, f"{self.graph.label}: {self.where}")

    def integers(self, index: int) -> str:
        """Return an input as the integers of the file, where it is quantized."""
        grid = self.grid(self.tensor(index))
        if grid is None:
            return self.input(index)
        return self.node("QuantizeLinear", self.input(index), **grid._asdict())

    def on_grid(self, reference: str, grid: Grid, factor: float | None = None) -> str:
        """Return a tensor whose elements are rounded to the numbers of a grid.

        Args:
            reference: the tensor.
            grid: the grid.
            factor: what makes multiples of the scale of the elements; by default ``1 / scale``.
        """
        attributes = {
            "factor": 1 / grid.scale if factor is None else factor,
            "low": grid.low,
            "high": grid.high,
            "scale": grid.scale,
        }
        return self.node("RoundToScale", reference, **attributes)


#: Operations of fused activations.
ACTIVATIONS = {"RELU": "Relu", "RELU6": "Relu6", "TANH": "Tanh"}
