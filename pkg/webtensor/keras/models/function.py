"""Function: the graph between symbolic inputs and outputs, and how it runs.

``Graph`` finds out, once, which calls of operations lie between the two and in which order they
run, as Keras orders them: by their distance from the outputs, then as they are come upon from
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.nest import flatten, map_structure, pack
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.symbols import KerasTensor, map_shapes

__all__ = ["Caller", "Function", "Graph", "specified", "symbols_in"]

#: Calls an operation with the arguments of one of its calls.
Caller = Callable[[Operation, tuple[Any, ...], dict[str, Any]], Any]


def _call(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return operation(*args, **kwargs)


def specified(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return symbolic tensors like what an operation returns."""
    return operation.compute_output_spec(*args, **kwargs)


def _node_of(tensor: KerasTensor) -> Node:
    history = tensor._keras_history
    if history is None:
        raise ValueError(f"{tensor} belongs to no model: it is no output of a layer nor an Input")
    return history.operation._inbound_nodes[history.node_index]


class Graph:
    """The calls between inputs and outputs."""

    def __init__(self, inputs: list[KerasTensor], outputs: list[KerasTensor]) -> None:
        self.inputs, self.outputs = inputs, outputs
        found, indices = _visited(inputs, outputs)
        depths = _depths(found, inputs, indices)
        #: The calls, in the order in which they run. Those of the same depth run in Keras's order,
        #: too, as attention takes masks from its inputs.
        by_identity = {id(node): node for node in found}
        order = sorted(depths, key=lambda node: -depths[node])
        self.nodes = [by_identity[node] for node in order if node in by_identity]
        self._check_connection()
        at: dict[int, tuple[int, int, Operation]] = {}
        for node in self.nodes:
            operation = node.operation
            depth = max(depths[id(node)], -at[id(operation)][0] if id(operation) in at else 0)
            at[id(operation)] = (-depth, indices[id(operation)], operation)
        #: The operations, in Keras's order.
        self.operations = [row[2] for row in sorted(at.values(), key=lambda row: row[:2])]
        #: The calls to make, each with the values that nothing needs after it.
        self.steps = self._planned()

    def _check_connection(self) -> None:
        known = {id(one) for one in self.inputs}
        for node in self.nodes:
            for one in node.outputs:
                if not node.inputs and id(one) not in known:
                    raise ValueError(
                        "the outputs are not computed from the inputs alone, but also from "
                        f"{node.operation.name!r}, which is not among them"
                    )

    def _planned(self) -> list[tuple[Node, list[KerasTensor]]]:
        """Each call with the values that nothing needs after it."""
        given = {id(one) for one in self.inputs}
        steps = [node for node in self.nodes if not all(id(one) in given for one in node.outputs)]
        kept = {id(one) for one in self.outputs}
        planned = []
        for node in reversed(steps):
            used = {id(one): one for one in (*node.inputs, *node.outputs)}
            planned.append((node, [one for key, one in used.items() if key not in kept]))
            kept |= used.keys()
        return planned[::-1]

    def run(self, values: Iterable[Any], call: Caller = _call) -> list[Any]:
        """Return the outputs for values of the inputs."""
        known = {id(one): value for one, value in zip(self.inputs, values, strict=True)}
        for node, unneeded in self.steps:
            args, kwargs = node.arguments(known)
            result = call(node.operation, args, kwargs)
            for symbol, value in zip(node.outputs, flatten(result), strict=True):
                known[id(symbol)] = value
            for one in unneeded:
                del known[id(one)]
        return [known[id(one)] for one in self.outputs]


def _visited(
    inputs: list[KerasTensor], outputs: list[KerasTensor]
) -> tuple[list[Node], dict[int, int]]:
    """All calls, each after those that it needs, and when operations were first come upon."""
    begins = {id(one) for one in inputs}
    finished: dict[int, Node] = {}
    indices: dict[int, int] = {}
    for output in outputs:
        waiting: list[tuple[Node, bool]] = [(_node_of(output), id(output) not in begins)]
        while waiting:
            node, is_new = waiting.pop()
            if id(node) in finished:
                continue
            indices.setdefault(id(node.operation), len(indices))
            if is_new and node.inputs:
                waiting.append((node, False))
                waiting += [(_node_of(one), id(one) not in begins) for one in reversed(node.inputs)]
            else:
                finished[id(node)] = node
    for one in inputs:
        node = _node_of(one)
        if id(node) not in finished:
            finished[id(node)] = node
            indices.setdefault(id(node.operation), -1)
    return list(finished.values()), indices


def _depths(
    nodes: list[Node], inputs: list[KerasTensor], indices: dict[int, int]
) -> dict[int, int]:
    """How far each call is from the outputs, all calls of an operation being as far as its last."""
    begins = {id(one) for one in inputs}
    depths: dict[int, int] = {}
    of_operations: dict[int, int] = {}
    for node in reversed(nodes):
        operation = id(node.operation)
        depth = max(depths.get(id(node), 0), of_operations.get(operation, 0))
        depths[id(node)] = of_operations[operation] = depth
        if all(id(one) in begins for one in node.outputs):
            continue
        for one in node.inputs:
            needed = id(_node_of(one))
            depths[needed] = max(depths.get(needed, 0), depth + 1)
    return depths


class Function(Operation):
    """What computes outputs from inputs, made of symbolic tensors.

    Example:
        >>> from webtensor import keras
        >>> x = keras.Input((2,))
        >>> keras.Function(x, x * 2)([[1.0, 2.0]]).tolist()
        [[2.0, 4.0]]
    """

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None) -> None:
        super().__init__(name)
        self._inputs_struct, self._outputs_struct = inputs, outputs
        begins = symbols_in("inputs", inputs)
        for one in begins:
            if one._keras_history is None:
                Node(Operation("input"), (), {}, one)
        self._graph = Graph(begins, symbols_in("outputs", outputs))

    @property
    def operations(self) -> list[Operation]:
        """What is called between the inputs and the outputs."""
        called = {id(node.operation) for node, _ in self._graph.steps}
        return [one for one in self._graph.operations if id(one) in called]

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic inputs."""
        return self._graph.inputs

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs."""
        return self._graph.outputs

    def __call__(self, inputs: Any) -> Any:
        from webtensor.ops import tensor

        is_one = isinstance(self._inputs_struct, KerasTensor)
        if is_one and not any(hasattr(one, "shape") for one in flatten(inputs)):
            inputs = tensor(inputs)
        values = [
            one if isinstance(one, (Tensor, KerasTensor)) else tensor(one)
            for one in flatten(inputs)
        ]
        self._check(values)
        return pack(self._outputs_struct, self._graph.run(values))

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return symbolic tensors like the outputs for other symbolic inputs."""
        values = flatten(inputs)
        self._check(values)
        return pack(self._outputs_struct, self._graph.run(values, specified))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the outputs' shapes for other shapes of the inputs."""
        symbols = map_shapes(KerasTensor, input_shape)
        return map_structure(lambda one: one.shape, self.compute_output_spec(symbols))

    def _check(self, values: list[Any]) -> None:
        if len(values) != len(self.inputs):
            raise ValueError(
                f"Function {self.name!r} has {len(self.inputs)} inputs, but got {len(values)}"
            )
        for place, (value, one) in enumerate(zip(values, self.inputs, strict=True)):
            fits = len(value.shape) == len(one.shape) and all(
                p is None or q is None or p == q
                for p, q in zip(value.shape, one.shape, strict=True)
            )
            if not fits:
                raise ValueError(
                    f"Function {self.name!r}: input {place} must have shape {one.shape}, but has "
                    f"{tuple(value.shape)}"
                )


def symbols_in(argument: str, structure: Any) -> list[KerasTensor]:
    """Return the symbolic tensors of a structure, which may hold nothing else."""
    found = flatten(structure)
    if not found:
        raise ValueError(f"{argument} must hold symbolic tensors, but is {structure!r}")
    for one in found:
        if not isinstance(one, KerasTensor):
            raise ValueError(f"{argument} must be symbolic tensors, but there is {one!r}")
    return found
