"""Strided views with as few axes as possible, for kernels that walk over them."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.shapes import Shape, contiguous_strides

__all__ = ["broadcast_strides", "collapse"]


def broadcast_strides(operand: Shape, shape: Shape) -> Shape:
    """Return the strides that read a contiguous operand at the indices of a broadcast shape."""
    padded = (1,) * (len(shape) - len(operand)) + operand
    return tuple(
        0 if size == 1 else stride
        for size, stride in zip(padded, contiguous_strides(padded), strict=True)
    )


def collapse(shape: Shape, *views: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Merge adjacent axes that are one axis in every view, and drop those of size 1.

    ``views`` are the strides of each view along the axes of ``shape``. Returns the remaining sizes
    and strides; at least one axis remains.
    """
    sizes: list[int] = []
    collapsed: list[list[int]] = [[] for _ in views]
    for axis in range(len(shape) - 1, -1, -1):
        size = shape[axis]
        if size == 1:
            continue
        if sizes and all(
            view[axis] == strides[-1] * sizes[-1]
            for view, strides in zip(views, collapsed, strict=True)
        ):
            sizes[-1] *= size
            continue
        sizes.append(size)
        for view, strides in zip(views, collapsed, strict=True):
            strides.append(view[axis])
    if not sizes:
        return [1], [[1] for _ in views]
    return sizes[::-1], [strides[::-1] for strides in collapsed]
