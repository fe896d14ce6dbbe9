"""Kernels that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape, contiguous_strides, prod

__all__: list[str] = []


@kernel("strided")
def strided(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    strides: Shape,
    offset: int,
    *details: Any,
) -> Handle:
    """Copy a strided view out."""
    flat = array_of(inputs[0]).reshape(-1)
    in_bytes = tuple(stride * dtype.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, in_bytes).copy()


@kernel("pad")
def pad(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    step: Shape,
    value: float,
) -> Handle:
    """Spread elements over a constant, ``step`` apart from ``low`` on."""
    x = array_of(inputs[0])
    result = np.full(shape, value, dtype=dtype.name)
    places = tuple(
        slice(start, start + (length - 1) * by + 1, by)
        for start, length, by in zip(low, x.shape, step, strict=True)
    )
    result[places] = x
    return result


@kernel("mirror_pad")
def mirror_pad(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    skipped: int,
) -> Handle:
    """Surround elements with their mirror images; ``skipped`` outermost ones are not repeated."""
    (x,) = inputs
    pairs = [
        (before, length - own - before)
        for before, length, own in zip(low, shape, x.shape, strict=True)
    ]
    return np.pad(array_of(x), pairs, mode="reflect" if skipped else "symmetric")


@kernel("concat")
def concat(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    lengths: tuple[int, ...],
) -> Handle:
    """Join rows side by side."""
    rows = [array_of(x).reshape(outer, length) for x, length in zip(inputs, lengths, strict=True)]
    return np.concatenate(rows, axis=1).reshape(shape)


@kernel("gather")
def gather(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Pick slices by index; out of range picks zeros."""
    x = array_of(inputs[0]).reshape(outer, length, inner)
    indices = array_of(inputs[1]).reshape(count)
    wrapped = np.where(indices < 0, indices + length, indices)
    inside = (wrapped >= 0) & (wrapped < length)
    picked = x[:, np.where(inside, wrapped, 0)]
    picked[:, ~inside] = 0
    return picked.reshape(shape)


@kernel("flat_indices")
def flat_indices(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Places, in row-major order, of rows of coordinates; one past the last for those outside."""
    rows = array_of(inputs[0]).reshape(-1, len(lengths))
    inside = ((rows >= 0) & (rows < lengths)).all(axis=1)
    places = rows @ np.array(contiguous_strides(lengths), np.int32)
    return np.where(inside, places, np.int32(prod(lengths)))


@kernel("coordinates")
def coordinates(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Coordinates of places in row-major order."""
    columns = np.unravel_index(array_of(inputs[0]), lengths)
    return np.stack(columns, axis=1).astype(np.int32)


@kernel("scatter_add")
def scatter_add(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Add slices up at their indices; those out of range are left out."""
    values = array_of(inputs[0]).reshape(outer, count, inner)
    indices = array_of(inputs[1]).reshape(count)
    wrapped = np.where(indices < 0, indices + length, indices)
    inside = (wrapped >= 0) & (wrapped < length)
    result = np.zeros((length, outer, inner), dtype=dtype.name)
    np.add.at(result, wrapped[inside], values.transpose(1, 0, 2)[inside])
    return result.transpose(1, 0, 2).reshape(shape)
