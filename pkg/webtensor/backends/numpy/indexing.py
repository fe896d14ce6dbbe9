"""Kernels that pick slices, and convert between coordinates and flat indices."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.shapes import Shape, contiguous_strides, prod

__all__ = ["wrapped_indices"]


def wrapped_indices(indices: Array, length: int) -> tuple[Array, Array]:
    """Return indices with negative ones counted from the end, and which are then in range."""
    wrapped = np.where(indices < 0, indices + length, indices)
    return wrapped, (wrapped >= 0) & (wrapped < length)


@kernel("gather")
def gather(
    of: Signature, arrays: Arrays, outer: int, length: int, inner: int, count: int
) -> Handle:
    """Pick slices by index; out of range picks zeros."""
    x = arrays[0].reshape(outer, length, inner)
    indices, inside = wrapped_indices(arrays[1].reshape(count), length)
    picked = x[:, np.where(inside, indices, 0)]
    picked[:, ~inside] = 0
    return picked.reshape(of.shape)


@kernel("flat_indices")
def flat_indices(of: Signature, arrays: Arrays, sizes: Shape) -> Handle:
    """Return the flat indices of rows of coordinates; one past the last for those outside."""
    rows = arrays[0].reshape(-1, len(sizes))
    inside = ((rows >= 0) & (rows < sizes)).all(axis=1)
    flat = rows @ np.array(contiguous_strides(sizes), np.int32)
    return np.where(inside, flat, np.int32(prod(sizes)))


@kernel("coordinates")
def coordinates(of: Signature, arrays: Arrays, sizes: Shape) -> Handle:
    """Return the coordinates of flat indices in row-major order."""
    columns = np.unravel_index(arrays[0], sizes)
    return np.stack(columns, axis=1).astype(np.int32)
