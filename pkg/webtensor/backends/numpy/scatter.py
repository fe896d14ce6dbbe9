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


@kernel("row_counts")
def row_counts(of: Signature, arrays: Arrays) -> Handle:
    """Count elements of rows, empty rows, and elements outside of all rows."""
    (indices,) = arrays
    rows, length = indices[:, 0], of.size - 2
    inside = (rows >= 0) & (rows < length)
    counts = np.bincount(rows[inside], minlength=length)
    return np.append(counts, [np.sum(counts == 0), np.sum(~inside)]).astype(np.int32)


@kernel("filled_rows")
def filled_rows(of: Signature, arrays: Arrays, size: int) -> Handle:
    """Sort elements by their rows, with one for each empty row."""
    indices, counts = arrays
    count, rank = indices.shape
    empty_rows = np.flatnonzero(counts[:-2] == 0)
    rows = np.append(indices[:, 0], empty_rows)
    order = np.argsort(rows, kind="stable")
    added = np.zeros((len(empty_rows), rank), np.int32)
    added[:, 0] = empty_rows
    filled = np.append(indices, added, axis=0)[order]
    positions = np.argsort(order)[:count]
    numbers = (filled.ravel(), np.minimum(order, count), positions)
    return np.concatenate(numbers).astype(np.int32)
