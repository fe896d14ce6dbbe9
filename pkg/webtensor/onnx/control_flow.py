"""If, Loop, Scan and SequenceMap: nodes that run subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from webtensor import ops
from webtensor.engine import Tensor, state as engine_state
from webtensor.errors import ModelFormatError
from webtensor.formats import onnx as format_
from webtensor.graph.blocks import Block, Reads, finish, run
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference
from webtensor.graph.operations import Bound, Row
from webtensor.onnx.lowering import Body
from webtensor.onnx.operations.element_types import dtype_of
from webtensor.transforms.loop_recording import Loop, loop_observer, recorded, recorded_scan

__all__ = ["control_flow"]

_Compile: TypeAlias = Callable[[Nodes, Sequence[Reference], Sequence[Reference]], Block]
_Make: TypeAlias = Callable[..., Reads]
#: The maximum number of iterations of a Loop without one.
_NO_LIMIT = 2**31 - 1


class _Subgraphs(Row):
    """A row that computes nodes with subgraphs.

    Args:
        make: computes the node. It takes what runs each subgraph, the inputs without those that
            are captured, and the attributes.
        names: the attributes that are subgraphs.
        compile: compiles a graph.
    """

    def __init__(self, make: _Make, names: tuple[str, ...], compile: _Compile) -> None:
        super().__init__(make)
        self._make, self._names, self._compile = make, names, compile
        self.is_pure = False
        self.has_static_shape = False

    def _bind(self, node: Node, constants: Mapping[int, Tensor]) -> Bound:
        attributes: Mapping[str, Any] = node.attributes
        bodies: dict[str, Body] = {
            name: value for name, value in attributes.items() if isinstance(value, Body)
        }
        if sorted(bodies) != sorted(self._names):
            raise ValueError(f"it needs the graphs {', '.join(self._names)}")
        captures = {name: len(body.feeds) - body.inputs for name, body in bodies.items()}
        input_count = len(node.inputs) - sum(captures.values())
        ranges: dict[str, slice] = {}
        start = input_count
        for name, number in captures.items():
            ranges[name] = slice(start, start + number)
            start += number
        blocks = {
            name: self._compile(body.nodes, body.feeds, body.fetches)
            for name, body in bodies.items()
        }

        plain = {name: value for name, value in attributes.items() if name not in bodies}
        plain["types"] = bodies[self._names[0]].types

        present = tuple(
            index for index, reference in enumerate(node.inputs) if reference != MISSING
        )

        def call(*inputs: Any) -> Reads:
            by_index = dict(zip(present, inputs, strict=True))
            values = [by_index.get(index) for index in range(len(node.inputs))]

            def runner(name: str) -> Callable[..., Reads]:
                captured = values[ranges[name]]
                return lambda *arguments: run(blocks[name], (*arguments, *captured))

            runners = [runner(name) for name in self._names]
            captured = [value for value in values[input_count:] if isinstance(value, Tensor)]
            return self._make(*runners, values[:input_count], plain | {"captures": captured})

        return Bound(call, present, (), runs_blocks=True)


def control_flow(compile: _Compile) -> dict[str, Row]:
    """Return the rows of nodes with subgraphs, which ``compile`` compiles."""
    body = ("body",)
    return {
        "If-1": _Subgraphs(choose, ("then_branch", "else_branch"), compile),
        "Loop-1": _Subgraphs(repeat, body, compile),
        "Scan-8": _Subgraphs(scan_batches, body, compile),
        "Scan-9": _Subgraphs(scan, body, compile),
        "SequenceMap-17": _Subgraphs(map_sequence, body, compile),
    }


def _read(value: Any) -> Reads:
    """Return the only element of a tensor."""
    if value.storage.host is None:
        yield value
    return ops.reshape(value, ()).item()


def choose(
    then: Callable[..., Reads], otherwise: Callable[..., Reads], inputs: Sequence[Any], _: Any
) -> Reads:
    """Run one of two subgraphs; where the condition must not be read, run both, and select.

    A branch that takes no inputs of these sizes is never taken, where there are no others.
    """
    (condition,) = inputs
    if not condition.storage.is_readable:
        results, observer = [], loop_observer()
        for branch in (then, otherwise):
            try:
                values = yield from branch()
                results.append(values)
            except ValueError as error:
                is_misfit = not isinstance(error, ModelFormatError)
                if not (is_misfit and observer is not None and observer.has_fixed_sizes):
                    raise
        if len(results) == 1:
            return results[0]
        pairs = list(zip(*results, strict=True))
        if results and all(map(_are_alike, pairs)):
            condition = ops.reshape(condition, ())
            return [ops.where(condition, *pair) for pair in pairs]
    condition = yield from _read(condition)
    return (yield from (then if condition else otherwise)())


def _are_alike(pair: tuple[Any, Any]) -> bool:
    """Whether a pair of values are tensors of the same shape and dtype."""
    first, second = pair
    return (
        isinstance(first, Tensor)
        and isinstance(second, Tensor)
        and (first.shape, first.dtype) == (second.shape, second.dtype)
    )


def repeat(body: Callable[..., Reads], inputs: Sequence[Any], attributes: Any) -> Reads:
    """Run a subgraph as often as it or the first input says, and stack what it puts out."""
    recorded = _recorded_loop(body, inputs, attributes)
    if recorded is not None:
        return recorded
    limit, condition = (*inputs[:2], None, None)[:2]
    trips = None if limit is None else int((yield from _read(limit)))
    goes_on = True if condition is None else bool((yield from _read(condition)))
    state = list(inputs[2:])
    types = attributes["types"][1 + len(state) :]
    stacks: list[list[Any]] = [[] for _ in types]
    for trip in count():
        if not goes_on or trip == trips:
            break
        number = ops.tensor(trip, dtype="int32")
        results = yield from body(number, ops.tensor(goes_on, dtype="bool"), *state)
        goes_on = bool((yield from _read(results[0])))
        state = results[1 : 1 + len(state)]
        outputs = results[1 + len(state) :]
        for stack, output in zip(stacks, outputs, strict=True):
            stack.append(output)
    stacked = [
        ops.stack(stack) if stack else _empty_stack(kind)
        for stack, kind in zip(stacks, types, strict=True)
    ]
    return [*state, *stacked]


def _recorded_loop(
    body: Callable[..., Reads], inputs: Sequence[Any], attributes: Any
) -> list[Tensor] | None:
    """Have an observer run a Loop, if there is one that records loops."""
    limit, condition, *state = (*inputs, None, None) if len(inputs) < 2 else inputs
    if not engine_state.observers or not all(isinstance(value, Tensor) for value in state):
        return None
    limit = ops.tensor(_NO_LIMIT, dtype="int32") if limit is None else ops.reshape(limit, ())
    condition = ops.tensor(True) if condition is None else ops.reshape(condition, ())

    def step(index: Tensor, states: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        goes_on, *results = finish(body(index, *states))
        return [ops.reshape(goes_on, ()), *results[: len(state)]], results[len(state) :]

    loop = Loop(limit, [condition, *state], step, attributes["captures"], is_conditional=True)
    results = recorded(loop)
    return None if results is None else results[1:]


def _empty_stack(kind: format_.Type) -> Tensor:
    """Return no tensors of a type, stacked; unknown sizes are 0, as in ONNX Runtime."""
    if not isinstance(kind, format_.TensorType):
        return ops.zeros((0,))
    sizes = [size if isinstance(size, int) else 0 for size in kind.shape or ()]
    return ops.zeros((0, *sizes), dtype_of(kind.dtype))


def _slices(value: Tensor, axis: int, direction: int) -> list[Tensor]:
    slices = list(ops.unstack(value, axis))
    return slices[::-1] if direction else slices


def _zero_slice(value: Tensor, axis: int) -> list[Tensor]:
    """Return a slice of an empty tensor; a step on it tells the shapes of its results."""
    shape = [*value.shape]
    del shape[axis]
    return [ops.zeros(shape, value.dtype)]


def scan(body: Callable[..., Reads], inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Reads:
    """Run a subgraph for each slice of the last inputs, and stack what it puts out."""
    scanned = attributes["num_scan_inputs"]
    if not 0 < scanned <= len(inputs):
        raise ValueError(f"num_scan_inputs is {scanned} of {len(inputs)} inputs")
    state = list(inputs[: len(inputs) - scanned])
    axes = attributes.get("scan_input_axes") or [0] * scanned
    directions = attributes.get("scan_input_directions") or [0] * scanned
    values = inputs[len(state) :]
    sizes = [value.shape[axis] for value, axis in zip(values, axes, strict=True)]
    if len({*sizes}) > 1:
        counts = " and ".join(map(str, sizes))
        raise ValueError(f"scan: inputs must have equally many slices, but have {counts} slices")
    recorded = _recorded_scan(body, state, values, axes, directions, attributes)
    if recorded is not None:
        return recorded
    is_empty = sizes[0] == 0
    columns = [
        _zero_slice(value, axis) if is_empty else _slices(value, axis, direction)
        for value, axis, direction in zip(values, axes, directions, strict=True)
    ]
    stacks: list[list[Any]] = []
    for slices in zip(*columns, strict=True):
        results = yield from body(*state, *slices)
        outputs = results[len(state) :]
        if not is_empty:
            state = results[: len(state)]
        stacks = stacks or [[] for _ in outputs]
        for stack, output in zip(stacks, outputs, strict=True):
            stack.append(output)
    axes = attributes.get("scan_output_axes") or [0] * len(stacks)
    directions = attributes.get("scan_output_directions") or [0] * len(stacks)
    stacked = [
        ops.stack(stack[::-1] if direction else stack, axis)
        for stack, axis, direction in zip(stacks, axes, directions, strict=True)
    ]
    if is_empty:
        stacked = [
            ops.gather(result, ops.zeros((0,), "int32"), axis)
            for result, axis in zip(stacked, axes, strict=True)
        ]
    return [*state, *stacked]


def _recorded_scan(
    body: Callable[..., Reads],
    state: Sequence[Tensor],
    values: Sequence[Tensor],
    axes: Sequence[int],
    directions: Sequence[int],
    attributes: Mapping[str, Any],
) -> list[Tensor] | None:
    """Have an observer run a Scan, if there is one that records loops."""
    if not engine_state.observers:
        return None

    def step(states: list[Tensor], slices: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        results = finish(body(*states, *slices))
        return results[: len(states)], results[len(states) :]

    columns = [ops.moveaxis(value, axis, 0) for value, axis in zip(values, axes, strict=True)]
    columns = _flipped(columns, directions)
    recorded = recorded_scan(step, state, columns, attributes["captures"])
    if recorded is None:
        return None
    outputs = recorded[len(state) :]
    outputs = _flipped(outputs, attributes.get("scan_output_directions") or [0] * len(outputs))
    axes = attributes.get("scan_output_axes") or [0] * len(outputs)
    moved = [ops.moveaxis(output, 0, axis) for output, axis in zip(outputs, axes, strict=True)]
    return [*recorded[: len(state)], *moved]


def _flipped(values: Sequence[Tensor], directions: Sequence[int]) -> list[Tensor]:
    return [
        ops.flip(value, 0) if direction else value
        for value, direction in zip(values, directions, strict=True)
    ]


def scan_batches(
    body: Callable[..., Reads], inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> Reads:
    """Scan as the first version does: each element of a batch by itself."""
    lengths, *values = inputs
    if lengths is not None:
        raise ValueError("sequence_lens is not supported")
    options = {
        "num_scan_inputs": attributes["num_scan_inputs"],
        "scan_input_directions": attributes.get("directions"),
        "captures": attributes["captures"],
    }
    batches: list[Any] = []
    for elements in zip(*(ops.unstack(value) for value in values), strict=True):
        results = yield from scan(body, elements, options)
        batches.append(results)
    return [ops.stack(results) for results in zip(*batches, strict=True)]


def map_sequence(body: Callable[..., Reads], inputs: Sequence[Any], attributes: Any) -> Reads:
    """Run a subgraph for each element of a sequence, with those of others or the same tensors."""
    first, *others = inputs
    rows: list[Any] = []
    for index, element in enumerate(first):
        values = [other[index] if isinstance(other, list) else other for other in others]
        results = yield from body(element, *values)
        rows.append(results)
    return [[row[index] for row in rows] for index in range(len(attributes["types"]))]
