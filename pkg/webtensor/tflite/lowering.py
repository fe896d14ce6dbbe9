"""Lowering: from TensorFlow Lite's subgraphs to a graph of TensorFlow's operations.

The main subgraph becomes the graph, those that operators run its functions, and those that run once
the graph that initializes it. Quantized tensors become numbers (``quantization``); only the inputs
and outputs of the model are the integers of the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats import tflite as format_
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.graph_def import (
    Argument,
    AttributeValue,
    ElementType,
    FunctionDef,
    Graph,
    NodeDef,
    Signature,
    TensorInfo,
)
from webtensor.graph.custom_operations import CUSTOM_OPERATIONS
from webtensor.tflite.calls import Body, Call, GraphBuilder, Library
from webtensor.tflite.operators import CUSTOM_OPERATORS, OPERATORS, Operator
from webtensor.tflite.quantization import Grid, grid_of, quantization_of

__all__ = ["Lowered", "lowered", "signature_of"]

#: What fused activations leave of a range.
_RANGES: dict[str, tuple[float, float | None]] = {
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}


class Lowered(NamedTuple):
    """A model as a graph.

    Attributes:
        graph: the graph.
        weights: the values of its constants.
        signature: its inputs and outputs.
        initializer: the graph that runs once, or None.
        names: the nodes that the tensors of the main subgraph became, by the names in the file.
    """

    graph: Graph
    weights: dict[str, Tensor]
    signature: Signature
    initializer: Graph | None
    names: dict[str, str]


def lowered(
    model: format_.Model, signature: format_.Signature | None, where: str, budget: Budget
) -> Lowered:
    """Return the graph of a model.

    Args:
        model: the model.
        signature: the signature whose subgraph is the main one; None is that of the first subgraph.
        where: what errors call the model.
        budget: limits what its constants and nodes may cost.

    Raises:
        ModelFormatError: the model has operators that are unknown, or is malformed.
    """
    _check_operators(model, where)
    lowering = _Lowering(model, where, budget)
    main = 0 if signature is None else signature.subgraph
    nodes, inputs, outputs, names = lowering.main(main, signature)
    initial: list[NodeDef] = []
    functions: list[FunctionDef] = []
    for body in lowering.library.bodies:  # which subgraphs become longer
        if body.runs_once:
            initial += lowering.initial_nodes(body)
        else:
            functions.append(lowering.function(body))
    used = {reference for node in (*nodes, *initial) for reference in node.inputs}
    used |= {reference for info in outputs.values() for reference in info.names}
    for function in functions:
        used |= {*function.returns.values()}
        used |= {reference for node in function.nodes for reference in node.inputs}
    library = {
        function.name: function._replace(nodes=_needed(function.nodes, used))
        for function in functions
    }
    return Lowered(
        Graph(_needed(nodes, used), library, {}),
        {name: value for name, value in lowering.library.constants.items() if name in used},
        Signature(inputs, outputs),
        Graph(_needed(initial, used), library, {}) if initial else None,
        names,
    )


def _needed(nodes: Iterable[NodeDef], used: set[str]) -> tuple[NodeDef, ...]:
    """Return nodes without the constants that nothing uses, such as filters before they moved."""
    return tuple(node for node in nodes if node.op != "Const" or node.name in used)


def _check_operators(model: format_.Model, where: str) -> None:
    operators = [operator for subgraph in model.subgraphs for operator in subgraph.operators]
    unknown = {operator.op for operator in operators if _operator(operator) is None}
    if unknown:
        raise ModelFormatError(
            f"{where} has operators that are unknown: {', '.join(sorted(unknown)):.300}; "
            "register_graph_op adds custom ones"
        )


def _operator(operator: format_.Operator) -> Operator | None:
    if not operator.is_custom:
        return OPERATORS.get(operator.op)
    if operator.op in CUSTOM_OPERATIONS:
        return Operator(_registered)
    return CUSTOM_OPERATORS.get(operator.op)


def _registered(call: Call) -> list[str]:
    """Add a node of an operation that the user registered."""
    options = bytes(call.operator.custom_options)
    name = call.graph.node(call.operator.op, call.inputs(), {"custom_options": options})
    return call.outputs(name)


def signature_of(model: format_.Model, key: str | None, where: str) -> format_.Signature | None:
    """Return the signature of a key, or the first one of the first subgraph, or None.

    Raises:
        ValueError: there is none of this key.
    """
    signatures = {signature.key: signature for signature in model.signatures}
    if key is not None:
        if key not in signatures:
            keys = ", ".join(map(repr, signatures))
            raise ValueError(f"signature: {where} has no signature {key!r}, but {keys}")
        return signatures[key]
    return next((signature for signature in model.signatures if not signature.subgraph), None)


class _Lowering:
    def __init__(self, model: format_.Model, where: str, budget: Budget) -> None:
        self.model, self.where = model, where
        self.library = Library(where, budget)

    def builder(self, body: Body) -> GraphBuilder:
        label = f"{self.where}: {body.name}"
        return GraphBuilder(self.library, self.model.subgraphs[body.subgraph], label)

    # -- graphs --------------------------------------------------------------------------------

    def main(
        self, index: int, signature: format_.Signature | None
    ) -> tuple[list[NodeDef], dict[str, TensorInfo], dict[str, TensorInfo], dict[str, str]]:
        """Return the nodes of the main subgraph, its inputs and outputs, and all names."""
        graph = self.builder(Body(index))
        subgraph = graph.subgraph
        inputs, outputs, ends = {}, {}, {}
        names = {} if signature is None else {at: name for name, at in signature.inputs.items()}
        for at in subgraph.inputs:
            tensor = subgraph.tensors[at]
            attributes: dict[str, AttributeValue] = {
                "dtype": ElementType(tensor.dtype),
                "shape": tensor.signature,
            }
            name = graph.node("Placeholder", (), attributes, tensor.name)
            graph.define(at, _numbers(graph, name, tensor))
            key = names.get(at, tensor.name)
            inputs[key if key not in inputs else name] = _info(name, tensor)
            ends[tensor.name] = name
        self.operators(graph)
        named = [] if signature is None else [*signature.outputs.items()]
        for at in subgraph.outputs:
            tensor = subgraph.tensors[at]
            name = _integers(graph, self.ordered(graph, at), tensor)
            # Several names may be those of one tensor, which is an output as often.
            keys = [key for key, index in named if index == at and key not in outputs]
            key = keys[0] if keys else tensor.name
            outputs[key if key not in outputs else name] = _info(name, tensor)
            ends[tensor.name] = name
        return graph.nodes, inputs, outputs, {**graph.names(), **ends}

    def function(self, body: Body) -> FunctionDef:
        """Return the function that a subgraph becomes."""
        graph = self.builder(body)
        subgraph = graph.subgraph
        arguments = []
        for at in subgraph.inputs:
            tensor = subgraph.tensors[at]
            arguments.append(Argument(self.library.name(tensor.name), tensor.dtype))
            graph.define(at, arguments[-1].name)
        self.operators(graph)
        results = {
            f"output {number}": self.ordered(graph, at)
            for number, at in enumerate(subgraph.outputs)
        }
        outputs = tuple(Argument(result, "") for result in results)
        nodes = tuple(graph.nodes)
        return FunctionDef(body.name, tuple(arguments), outputs, nodes, results, {}, {}, {}, False)

    def initial_nodes(self, body: Body) -> list[NodeDef]:
        """Return the nodes of a subgraph that runs once."""
        graph = self.builder(body)
        self.operators(graph)
        return graph.nodes

    def ordered(self, graph: GraphBuilder, index: int) -> str:
        """Return an output that waits for what the subgraph does to variables."""
        reference = graph.reference(index, "the output")
        if graph.last is None:
            return reference
        return graph.node("Ordered", (reference, graph.last))

    # -- operators -----------------------------------------------------------------------------

    def operators(self, graph: GraphBuilder) -> None:
        """Add the nodes of all operators of a subgraph."""
        for index, definition in enumerate(graph.subgraph.operators):
            operator = _operator(definition)
            if operator is None:
                raise ModelFormatError(f"{graph.label}: operator {definition.op} is unknown")
            self.operator(Call(graph, definition, f"operator {index}, {definition.op}"), operator)

    def operator(self, call: Call, operator: Operator) -> None:
        graph = call.graph
        with reading(f"{graph.label}: {call.where}"):
            references = operator.lower(call)
        for index, reference in zip(call.operator.outputs, references, strict=False):
            tensor = graph.subgraph.tensors[index]
            keeps = operator.is_rounded or _keeps_grid(call, operator, tensor)
            grid = None if keeps else call.grid(tensor)
            finished = _finished(call, operator, reference, grid)
            if finished not in self.library.constants:
                name = f"{tensor.name} (numbers)" if quantization_of(tensor) else tensor.name
                finished = graph.node("Identity", (finished,), {}, name)
            graph.define(index, finished)


def _info(name: str, tensor: format_.Tensor) -> TensorInfo:
    return TensorInfo((name,), tensor.dtype, tensor.signature)


def _numbers(graph: GraphBuilder, reference: str, tensor: format_.Tensor) -> str:
    """Return an input of the model as numbers, where it is quantized."""
    grid = grid_of(tensor, graph.label)
    if grid is None:
        return reference
    attributes = {"scale": grid.scale, "zero_point": grid.zero_point}
    return graph.node("DequantizeLinear", (reference,), attributes)


def _integers(graph: GraphBuilder, reference: str, tensor: format_.Tensor) -> str:
    """Return an output of the model as the integers of the file, where it is quantized."""
    grid = grid_of(tensor, graph.label)
    if grid is None:
        return reference
    return graph.node("QuantizeLinear", (reference,), grid._asdict(), tensor.name)


def _activation(call: Call, operator: Operator) -> str:
    if operator.is_activated:
        return "NONE"
    return str(call.operator.options.get("fused_activation_function", "NONE"))


def _keeps_grid(call: Call, operator: Operator, output: format_.Tensor) -> bool:
    """Whether the elements of an output are numbers of its grid because those of the inputs are."""
    if not operator.moves or _activation(call, operator) != "NONE":
        return False
    tensors = [call.graph.subgraph.tensors[index] for index in call.operator.inputs if index >= 0]
    quantized = [tensor for tensor in tensors if tensor.quantization is not None]
    return bool(quantized) and all(_have_same_grid(tensor, output) for tensor in quantized)


def _have_same_grid(tensor: format_.Tensor, other: format_.Tensor) -> bool:
    """Whether two tensors have the same scale, and no others, for which it would take long."""
    grid = tensor.quantization
    if grid is None or len(grid.scales) != 1:
        return False
    return grid == other.quantization and tensor.dtype == other.dtype


def _finished(call: Call, operator: Operator, reference: str, grid: Grid | None) -> str:
    """Return an output after the fused activation, rounded to its grid if it has one."""
    activation = _activation(call, operator)
    if grid is None:
        return call.activated(reference, activation)
    if activation in _RANGES:
        grid = _narrowed(grid, *_RANGES[activation])
    else:
        reference = call.activated(reference, activation)
    if not operator.is_product:
        return call.on_grid(reference, grid)
    # The factors of a product become part of its filter.
    channels = call.output().shape[-1] if call.output().shape else 1
    call.graph.library.budget.spend(8 * channels, call.graph.label)
    factors = call.constant([1 / grid.scale] * channels, "float32")
    return call.on_grid(call.node("Mul", reference, factors), grid, factor=1.0)


def _narrowed(grid: Grid, low: float, high: float | None) -> Grid:
    """Return a grid without the numbers that an activation does not return."""
    bottom = max(grid.low, float(round(low / grid.scale)))
    top = grid.high if high is None else min(grid.high, float(round(high / grid.scale)))
    return grid._replace(low=bottom, high=top)
