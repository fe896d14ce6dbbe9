"""Strided views with as few axes as possible, for kernels that walk over them."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.shapes import Shape, contiguous_strides

__all__ = ["broadcast_strides", "collapse"]


def broadcast_strides(operand: Shape, shape: Shape) -> Shape:
    """Strides with which a contiguous operand is read at the indices of a broadcast shape."""
    padded = (1,) * (len(shape) - len(operand)) + operand
    return tuple(
        0 if length == 1 else stride
        for length, stride in zip(padded, contiguous_strides(padded), strict=True)
    )


def collapse(shape: Shape, *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Merge axes that every view walks over evenly, and drop those of length 1.

    Returns the lengths left and, for each view, the strides left. There is at least one axis.
    """
    lengths: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for axis in range(len(shape) - 1, -1, -1):
        length = shape[axis]
        if length == 1:
            continue
        steps = [view[axis] for view in strides]
        if lengths and all(
            step == left[-1] * lengths[-1] for step, left in zip(steps, merged, strict=True)
        ):
            lengths[-1] *= length
            continue
        lengths.append(length)
        for left, step in zip(merged, steps, strict=True):
            left.append(step)
    if not lengths:
        return [1], [[0] for _ in strides]
    return lengths[::-1], [left[::-1] for left in merged]
