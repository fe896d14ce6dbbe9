"""Function: a graph between symbolic inputs and outputs, and how it runs.

A ``Graph`` determines, once, which calls of operations lie between inputs and outputs, and their
order. It is Keras's order: by the distance from the outputs, then by the order in which a traversal
from the outputs visits them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from webtensor.engine import Tensor, TensorLike
from webtensor.keras.layers.input_spec import check_inputs
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.symbols import KerasTensor, map_shapes
from webtensor.keras.types import Shapes, Tensors
from webtensor.nest import flatten, map_structure, pack
from webtensor.ops import tensor

__all__ = ["Function", "Graph", "OperationCall", "call_symbolically", "depths_of", "symbols_in"]

#: Calls an operation with the arguments of a node.
OperationCall: TypeAlias = Callable[[Operation, tuple[Any, ...], dict[str, Any]], Any]


def _call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return operation(*args, **kwargs)


def call_symbolically(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return symbolic outputs of an operation whose inputs are checked, without making a node."""
    specs = getattr(operation, "input_spec", None)
    if specs is not None and args:
        check_inputs(specs, args[0], operation.name)
    return operation.compute_output_spec(*args, **kwargs)


def _node_of(symbol: KerasTensor) -> Node:
    history = symbol._keras_history
    if history is None:
        raise ValueError(
            f"{symbol} belongs to no model: it is neither the output of a layer nor an Input"
        )
    return history.operation._inbound_nodes[history.node_index]


class Graph:
    """The calls of operations between symbolic inputs and outputs."""

    def __init__(self, inputs: list[KerasTensor], outputs: list[KerasTensor]) -> None:
        self.inputs, self.outputs = inputs, outputs
        visited, visit_order = _visit(inputs, outputs)
        depths = depths_of(visited, inputs)
        nodes = {id(node): node for node in visited}
        #: The calls, in the order in which they run. The order of calls of equal depth is Keras's,
        #: too, since attention takes masks from its inputs.
        self.nodes = [
            nodes[node_id]
            for node_id in sorted(depths, key=lambda node_id: -depths[node_id])
            if node_id in nodes
        ]
        self._check_connection()
        #: The operations, in Keras's order.
        self.operations = self._ordered_operations(depths, visit_order)
        #: The calls to make, each with the symbols whose values are not needed afterwards.
        self.steps = self._planned_steps()

    def _check_connection(self) -> None:
        input_ids = {id(symbol) for symbol in self.inputs}
        for node in self.nodes:
            for symbol in node.outputs:
                if not node.inputs and id(symbol) not in input_ids:
                    raise ValueError(
                        "the outputs are not computed from the inputs alone, but also from "
                        f"{node.operation.name!r}, which is not among them"
                    )

    def _ordered_operations(
        self, depths: dict[int, int], visit_order: dict[int, int]
    ) -> list[Operation]:
        operations = {id(node.operation): node.operation for node in self.nodes}
        maximum_depths: dict[int, int] = {}
        for node in self.nodes:
            key = id(node.operation)
            maximum_depths[key] = max(depths[id(node)], maximum_depths.get(key, 0))
        order = sorted(operations, key=lambda key: (-maximum_depths[key], visit_order[key]))
        return [operations[key] for key in order]

    def _planned_steps(self) -> list[tuple[Node, list[KerasTensor]]]:
        input_ids = {id(symbol) for symbol in self.inputs}
        needed = {id(symbol) for symbol in self.outputs}
        steps = []
        for node in reversed(self.nodes):
            if all(id(symbol) in input_ids for symbol in node.outputs):
                continue
            used = {id(symbol): symbol for symbol in (*node.inputs, *node.outputs)}
            steps.append((node, [symbol for key, symbol in used.items() if key not in needed]))
            needed |= used.keys()
        return steps[::-1]

    def run(self, values: Iterable[object], call: OperationCall = _call) -> list[Any]:
        """Return the values of the outputs for values of the inputs."""
        computed = {id(symbol): value for symbol, value in zip(self.inputs, values, strict=True)}
        for node, unneeded in self.steps:
            args, kwargs = node.arguments(computed)
            result = call(node.operation, args, kwargs)
            for symbol, value in zip(node.outputs, flatten(result), strict=True):
                computed[id(symbol)] = value
            for symbol in unneeded:
                del computed[id(symbol)]
        return [computed[id(symbol)] for symbol in self.outputs]


def _visit(
    inputs: list[KerasTensor], outputs: list[KerasTensor]
) -> tuple[list[Node], dict[int, int]]:
    """Return all calls, each after the calls whose outputs it takes, and the operations' order.

    The order of operations, by ``id``, is that of a traversal from the outputs.
    """
    input_ids = {id(symbol) for symbol in inputs}
    finished: dict[int, Node] = {}
    visit_order: dict[int, int] = {}
    for output in outputs:
        waiting: list[tuple[Node, bool]] = [(_node_of(output), id(output) not in input_ids)]
        while waiting:
            node, is_new = waiting.pop()
            if id(node) in finished:
                continue
            visit_order.setdefault(id(node.operation), len(visit_order))
            if is_new and node.inputs:
                waiting.append((node, False))
                waiting += [
                    (_node_of(symbol), id(symbol) not in input_ids)
                    for symbol in reversed(node.inputs)
                ]
            else:
                finished[id(node)] = node
    for symbol in inputs:
        node = _node_of(symbol)
        if id(node) not in finished:
            finished[id(node)] = node
            visit_order.setdefault(id(node.operation), -1)
    return list(finished.values()), visit_order


def depths_of(nodes: Sequence[Node], inputs: Sequence[KerasTensor]) -> dict[int, int]:
    """Return the distance of each call from the outputs, by ``id``.

    All calls of an operation have the distance of its last call.
    """
    input_ids = {id(symbol) for symbol in inputs}
    depths: dict[int, int] = {}
    operation_depths: dict[int, int] = {}
    for node in reversed(nodes):
        operation = id(node.operation)
        depth = max(depths.get(id(node), 0), operation_depths.get(operation, 0))
        depths[id(node)] = operation_depths[operation] = depth
        if all(id(symbol) in input_ids for symbol in node.outputs):
            continue
        for symbol in node.inputs:
            source = id(_node_of(symbol))
            depths[source] = max(depths.get(source, 0), depth + 1)
    return depths


class Function(Operation):
    """An operation that computes outputs from inputs, made from symbolic tensors.

    Args:
        inputs: a symbolic tensor, or a structure of symbolic tensors.
        outputs: a symbolic tensor, or a structure, computed from ``inputs``.
        name: a string; None makes one of the class's name and a number.

    Raises:
        ValueError: ``inputs`` or ``outputs`` contain something else than symbolic tensors, or the
            outputs depend on other inputs.

    Example:
        >>> from webtensor import keras
        >>> x = keras.Input((2,))
        >>> keras.Function(x, x * 2)([[1.0, 2.0]]).tolist()
        [[2.0, 4.0]]
    """

    def __init__(self, inputs: Tensors, outputs: Tensors, name: str | None = None) -> None:
        super().__init__(name)
        self._inputs_struct, self._outputs_struct = inputs, outputs
        symbols = symbols_in("inputs", inputs)
        for symbol in symbols:
            if symbol._keras_history is None:
                Node(Operation("input"), (), {}, symbol)
        self._graph = Graph(symbols, symbols_in("outputs", outputs))

    @property
    def operations(self) -> list[Operation]:
        """The operations that are called between the inputs and the outputs."""
        called = {id(node.operation) for node, _ in self._graph.steps}
        return [operation for operation in self._graph.operations if id(operation) in called]

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic inputs."""
        return self._graph.inputs

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs."""
        return self._graph.outputs

    def __call__(self, inputs: Tensors | TensorLike) -> Any:
        has_one_input = isinstance(self._inputs_struct, KerasTensor)
        if has_one_input and not any(hasattr(leaf, "shape") for leaf in flatten(inputs)):
            inputs = tensor(inputs)
        values = [
            leaf if isinstance(leaf, (Tensor, KerasTensor)) else tensor(leaf)
            for leaf in flatten(inputs)
        ]
        self._check(values)
        return pack(self._outputs_struct, self._graph.run(values))

    def compute_output_spec(self, inputs: Tensors) -> Any:
        """Return symbolic outputs for other symbolic inputs."""
        values = flatten(inputs)
        self._check(values)
        return pack(self._outputs_struct, self._graph.run(values, call_symbolically))

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the shapes of the outputs for other shapes of the inputs."""
        symbols = map_shapes(KerasTensor, input_shape)
        return map_structure(lambda symbol: symbol.shape, self.compute_output_spec(symbols))

    def _check(self, values: Sequence[Tensor | KerasTensor]) -> None:
        if len(values) != len(self.inputs):
            raise ValueError(
                f"Function {self.name!r} has {len(self.inputs)} inputs, but got {len(values)}"
            )
        for index, (value, symbol) in enumerate(zip(values, self.inputs, strict=True)):
            is_compatible = len(value.shape) == len(symbol.shape) and all(
                size is None or expected is None or size == expected
                for size, expected in zip(value.shape, symbol.shape, strict=True)
            )
            if not is_compatible:
                raise ValueError(
                    f"Function {self.name!r}: input {index} must have shape {symbol.shape}, but "
                    f"has {tuple(value.shape)}"
                )


def symbols_in(argument: str, structure: Tensors) -> list[KerasTensor]:
    """Return the symbolic tensors of a structure.

    Raises:
        ValueError: the structure is empty or has something else in it.
    """
    symbols = flatten(structure)
    if not symbols:
        raise ValueError(f"{argument} must hold symbolic tensors, but is {structure!r}")
    for symbol in symbols:
        if not isinstance(symbol, KerasTensor):
            raise ValueError(f"{argument} must be symbolic tensors, but there is {symbol!r}")
    return symbols
