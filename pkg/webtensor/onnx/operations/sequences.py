"""Sequences, which are lists of tensors, and optional values, which may be None."""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers, number

__all__ = ["ROWS"]

#: Sequences are results in a tuple, because lists are several results.
_Single = tuple[list[Tensor]]


def constructed(*values: Tensor) -> _Single:
    """Return a sequence of tensors."""
    return (list(values),)


def empty() -> _Single:
    """Return a sequence of no tensors."""
    return ([],)


def _index(values: list[Tensor], position: int, count: int) -> int:
    if not -len(values) <= position < count:
        raise ValueError(f"position {position} is not in a sequence of {len(values)}")
    return position % len(values) if position < 0 else position


def element(values: list[Tensor], position: int) -> Tensor:
    """Return an element of a sequence."""
    return values[_index(values, int(position), len(values))]


def inserted(values: list[Tensor], value: Tensor, position: float | None = None) -> _Single:
    """Return a sequence with one more element, at the end where no position is given."""
    result = list(values)
    count = len(values)
    result.insert(count if position is None else _index(values, int(position), count + 1), value)
    return (result,)


def erased(values: list[Tensor], position: float = -1) -> _Single:
    """Return a sequence without an element, the last where no position is given."""
    result = list(values)
    del result[_index(values, int(position), len(values))]
    return (result,)


def length(values: list[Tensor]) -> Tensor:
    """Return the number of elements."""
    return ops.tensor(len(values), dtype="int32")


def joined(values: list[Tensor], *, axis: int, new_axis: int = 0) -> Tensor:
    """Join the elements along an axis, or a new one."""
    return ops.stack(values, axis) if new_axis else ops.concat(values, axis)


def pieces(x: Tensor, split: Tensor | None = None, *, axis: int = 0, keepdims: int = 1) -> _Single:
    """Return a sequence of pieces along an axis."""
    size = x.shape[axis]
    if split is None:
        parts = ops.split(x, [1] * size, axis)
        return ([part if keepdims else ops.squeeze(part, axis) for part in parts],)
    if split.shape:
        return (ops.split(x, integers(split), axis),)
    chunk = int(number(split))
    if chunk < 1:
        raise ValueError(f"split must be positive, but is {chunk}")
    sizes = [min(chunk, size - start) for start in range(0, size, chunk)]
    return (ops.split(x, sizes, axis),)


def optional(value: Any = None) -> tuple[Any]:
    """Return an optional value."""
    return (value,)


def has_element(value: Any = None) -> Tensor:
    """Whether there is a value."""
    return ops.tensor(value is not None, dtype="bool")


def get_element(value: Any) -> tuple[Any]:
    """Return the value of an optional one."""
    if value is None:
        raise ValueError("the optional value is missing")
    return (value,)


_ON_HOST = {"split": lambda value: value}

ROWS: dict[str, Row] = {
    "ConcatFromSequence-1": Operator(joined),
    "Optional-1": Operator(optional).ignoring("type"),
    "OptionalGetElement-1": Operator(get_element),
    "OptionalHasElement-1": Operator(has_element),
    "SequenceAt-1": Operator(element, position=number),
    "SequenceConstruct-1": Operator(constructed),
    "SequenceEmpty-1": Operator(empty).ignoring("dtype"),
    "SequenceErase-1": Operator(erased, position=number),
    "SequenceInsert-1": Operator(inserted, position=number),
    "SequenceLength-1": Operator(length),
    "SplitToSequence-1": Operator(pieces, **_ON_HOST),
}
