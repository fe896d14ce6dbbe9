"""Arithmetic on shapes: sizes, broadcasting, axes, strides. Knows no tensor."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any, TypeVar

from webtensor.errors import TensorSizeError

__all__ = [
    "SIZE_LIMIT",
    "Shape",
    "as_shape",
    "axis_group",
    "broadcast_shapes",
    "check_size",
    "contiguous_strides",
    "normalize_axes",
    "normalize_axis",
    "prod",
    "reduced_shape",
    "single_integer",
]

Shape = tuple[int, ...]

#: The size of an axis, which may be unknown.
_Size = TypeVar("_Size", int, int | None)

#: Arguments may ask for fewer elements than this, 1 GiB of float32: a slip such as
#: ``arange(10**9)`` must not take all memory of the page or of the machine.
SIZE_LIMIT = 2**28


def prod(sizes: Iterable[int]) -> int:
    """Return the product of sizes; 1 for no axes."""
    return math.prod(sizes)


def check_size(name: str, argument: str, value: Any, size: float) -> None:
    """Check that a tensor may have as many elements as ``value`` of an argument asks for.

    Raises:
        TensorSizeError: it may not.
    """
    if not size < SIZE_LIMIT:
        raise TensorSizeError(
            f"{name}: {argument}={value} asks for {size:,.0f} elements, but arguments may ask for "
            f"fewer than {SIZE_LIMIT:,}"
        )


def single_integer(value: Any) -> int | None:
    """Return an integer of Python, of NumPy or of a tensor of rank 0; None for other values."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or getattr(value, "shape", None):
        return None
    try:
        return int(value.__index__())
    except TypeError:  # a tensor, but not of integers
        return None


def as_shape(name: str, shape: int | Sequence[int], argument: str = "shape") -> Shape:
    """Validate a shape passed by a user as ``argument``; an int means one axis."""
    one_size = single_integer(shape)
    sizes: Any = shape if one_size is None else (one_size,)
    try:
        result = tuple([size.__index__() for size in sizes])
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: {argument} must be integers, but got {shape!r}") from None
    if min(result, default=0) < 0:
        raise ValueError(f"{name}: {argument} must not have negative sizes, but got {result}")
    return result


def broadcast_shapes(name: str, first: Shape, second: Shape) -> Shape:
    """Broadcast two shapes by the rules of NumPy and the array API standard."""
    if first == second:
        return first
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    offset = len(longer) - len(shorter)
    result = list(longer)
    for axis, size in enumerate(shorter, offset):
        other = result[axis]
        if other == size or size == 1:
            continue
        if other != 1:
            raise ValueError(f"{name}: shapes {first} and {second} cannot be broadcast together")
        result[axis] = size
    return tuple(result)


def normalize_axis(name: str, axis: int, rank: int) -> int:
    """Convert a possibly negative axis to one in ``0 … rank - 1``."""
    index = single_integer(axis)
    if index is None:
        raise TypeError(f"{name}: axis must be an integer, but got {axis!r}")
    if not -rank <= index < rank:
        raise ValueError(f"{name}: axis {index} is out of range for a tensor of rank {rank}")
    return index + rank if index < 0 else index


def normalize_axes(name: str, axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Convert the ``axis`` argument of a reduction to sorted, distinct axes; None means all."""
    if axis is None:
        return tuple(range(rank))
    if not isinstance(axis, Iterable) or single_integer(axis) is not None:
        return (normalize_axis(name, axis, rank),)  # type: ignore[arg-type]
    axes = sorted(normalize_axis(name, dimension, rank) for dimension in axis)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: axis {tuple(axis)} names an axis twice (rank {rank})")
    return tuple(axes)


def reduced_shape(
    shape: Iterable[_Size], axes: Container[int], keepdims: bool
) -> tuple[_Size | int, ...]:
    """Return a shape without the given axes, which must be normalized, or with sizes of 1."""
    return tuple(
        1 if axis in axes else size
        for axis, size in enumerate(shape)
        if keepdims or axis not in axes
    )


def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides, in elements, of a row-major tensor of this shape."""
    strides = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def axis_group(shape: Shape, first: int, last: int) -> tuple[int, int, int]:
    """View ``shape`` as (outer, axes ``first`` to ``last`` inclusive, inner)."""
    return prod(shape[:first]), prod(shape[first : last + 1]), prod(shape[last + 1 :])
