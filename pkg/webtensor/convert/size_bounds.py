"""Numbers that a model compares sizes with, as 8 in a padding by ``max(0, 8 - length)``.

Where all traces are on one side of such a number, they don't show what the model does on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webtensor import ops
from webtensor.convert.recording import Trace

__all__ = ["size_bounds"]

_EXTREMES = frozenset({"maximum", "minimum"})
_COMPARISONS = frozenset(
    {"equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "logical_not"}
)
_ARITHMETIC = frozenset({"add", "astype", "floor_divide", "multiply", "reshape", "subtract"})
#: The range of bounds; inputs of more elements than the largest take long.
_MIN_BOUND, _MAX_BOUND = 2, 1 << 12


def size_bounds(traces: Sequence[Trace], is_fixed: Sequence[bool]) -> set[int]:
    """Return the bounds of sizes of which all traces are on the same side.

    Args:
        traces: the traces of the runs of a model.
        is_fixed: whether each tensor has the same elements in all traces.
    """
    bounds: set[int] = set()
    for number, row in enumerate(traces[0].tensors):
        if is_fixed[number] or row.value is None:
            continue
        if row.primitive.name in _EXTREMES:
            results = _values(traces, number)
            is_one_sided = any(_values(traces, index) == results for index in row.inputs)
        elif row.primitive.name in _COMPARISONS:
            first, *others = _values(traces, number)
            is_one_sided = all(other == first for other in others)
        else:
            continue
        if is_one_sided:
            bounds.update(_constants(traces[0], is_fixed, number))
    return bounds


def _values(traces: Sequence[Trace], number: int) -> list[list[float]]:
    """Return the elements of a tensor in all traces."""
    values = [trace.tensors[number].value for trace in traces]
    return [ops.reshape(value, (-1,)).tolist() for value in values if value is not None]


def _constants(trace: Trace, is_fixed: Sequence[bool], number: int) -> Iterator[int]:
    """Yield the numbers with which arithmetic made a tensor of sizes."""
    pending = [*trace.tensors[number].inputs]
    while pending:
        number = pending.pop()
        row = trace.tensors[number]
        if not is_fixed[number]:
            if row.primitive.name in _ARITHMETIC | _EXTREMES:
                pending += row.inputs
        elif row.value is not None and row.value.size == 1:
            constant = abs(row.value.item())
            if _MIN_BOUND <= constant <= _MAX_BOUND:
                yield int(constant)
