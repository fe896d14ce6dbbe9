"""Kernels that put or add slices at their indices."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.numpy.indexing import wrapped_indices
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("scatter_set")
def scatter_set(of: Signature, arrays: Arrays, length: int, inner: int, count: int) -> Handle:
    """Replace slices of a copy; the last of equal indices wins, others out of range are ignored."""
    x = arrays[0]
    result = np.broadcast_to(x.reshape(-1, inner if x.size > 1 else 1), (length, inner)).copy()
    indices, inside = wrapped_indices(arrays[1].reshape(count), length)
    updates = arrays[2].reshape(count, inner)
    # NumPy does not define which of equal indices wins an assignment, so only the last are used.
    last = np.full(length, -1)
    np.maximum.at(last, indices[inside], np.arange(count)[inside])
    is_set = last >= 0
    result[is_set] = updates[last[is_set]]
    return result.reshape(of.shape)


@kernel("sum_picked")
def sum_picked(of: Signature, arrays: Arrays, length: int, inner: int, count: int) -> Handle:
    """Pick slices at the second operand's indices, and add them up at the third's."""
    x, indices, segments = arrays
    result = np.zeros((length, inner), dtype=of.dtype.name)
    np.add.at(result, segments, x.reshape(-1, inner)[indices])
    return result.reshape(of.shape)


@kernel("one_hot")
def one_hot(of: Signature, arrays: Arrays, depth: int, on: float, off: float) -> Handle:
    """Rows of one number, with another at each row's index."""
    hot = arrays[0][..., np.newaxis] == np.arange(depth)
    return np.where(hot, on, off).astype(of.dtype.name)


@kernel("scatter_add")
def scatter_add(
    of: Signature, arrays: Arrays, outer: int, length: int, inner: int, count: int
) -> Handle:
    """Add slices up at their indices; those out of range are left out."""
    values = arrays[0].reshape(outer, count, inner)
    indices, inside = wrapped_indices(arrays[1].reshape(count).astype(np.int64), length)
    result = np.zeros((length, outer, inner), dtype=of.dtype.name)
    np.add.at(result, indices[inside], values.transpose(1, 0, 2)[inside])
    return result.transpose(1, 0, 2).reshape(of.shape)
