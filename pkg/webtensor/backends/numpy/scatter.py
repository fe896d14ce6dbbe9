"""Kernels that put or add slices at their indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("scatter_set")
def scatter_set(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Replace slices of a copy; the last of equal indices wins, others out of range are ignored."""
    x = array_of(inputs[0])
    result = np.broadcast_to(x.reshape(-1, inner if x.size > 1 else 1), (length, inner)).copy()
    indices = array_of(inputs[1]).reshape(count)
    updates = array_of(inputs[2]).reshape(count, inner)
    wrapped = np.where(indices < 0, indices + length, indices)
    inside = (wrapped >= 0) & (wrapped < length)
    # NumPy does not define which of equal indices wins an assignment, so only the last are used.
    last = np.full(length, -1)
    np.maximum.at(last, wrapped[inside], np.arange(count)[inside])
    is_set = last >= 0
    result[is_set] = updates[last[is_set]]
    return result.reshape(shape)


@kernel("sum_picked")
def sum_picked(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Pick slices at the second operand's indices, and add them up at the third's."""
    x, indices, segments = map(array_of, inputs)
    result = np.zeros((length, inner), dtype=dtype.name)
    np.add.at(result, segments, x.reshape(-1, inner)[indices])
    return result.reshape(shape)


@kernel("one_hot")
def one_hot(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    depth: int,
    on: float,
    off: float,
) -> Handle:
    """Rows of one number, with another at each row's index."""
    hot = array_of(inputs[0])[..., np.newaxis] == np.arange(depth)
    return np.where(hot, on, off).astype(dtype.name)


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
    indices = array_of(inputs[1]).reshape(count).astype(np.int64)
    wrapped = np.where(indices < 0, indices + length, indices)
    inside = (wrapped >= 0) & (wrapped < length)
    result = np.zeros((length, outer, inner), dtype=dtype.name)
    np.add.at(result, wrapped[inside], values.transpose(1, 0, 2)[inside])
    return result.transpose(1, 0, 2).reshape(shape)
