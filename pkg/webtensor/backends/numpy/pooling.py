"""Kernels of pooling."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.numpy.windows import fold, padded, windows
from webtensor.backends.signatures import Signature
from webtensor.geometry import Window

__all__: list[str] = []


def _cells(x: Array, window: Window, value: float) -> Array:
    """View images as (batch, out_height, out_width, cells of the window, channels)."""
    view = windows(padded(x, window, value), window)
    return view.reshape(*view.shape[:3], -1, x.shape[3])


def _maximum_cells(x: Array, window: Window) -> Array:
    """Return the index of the first maximum of each window, never one of the padding."""
    inside = _cells(np.ones_like(x), window, 0.0) > 0
    cells = np.where(inside, _cells(x, window, 0.0), -np.inf)
    indices: Array = np.where(inside & (cells == -np.inf), np.finfo(np.float32).min, cells).argmax(
        axis=3
    )
    return indices


@kernel("max_pool")
def max_pool(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Return the maximum of each window."""
    return _cells(arrays[0], window, -np.inf).max(axis=3)


@kernel("max_pool_pick")
def max_pool_pick(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Pick from the first operand at the maximum of each window of the second."""
    values, x = arrays
    cells = _cells(values, window, 0.0)
    return np.take_along_axis(cells, _maximum_cells(x, window)[:, :, :, None], axis=3)[:, :, :, 0]


@kernel("max_pool_scatter")
def max_pool_scatter(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Add the first operand at the maximum of each window of the second."""
    dy, x = arrays
    count = window.filter_height * window.filter_width
    cells = np.zeros((*dy.shape[:3], count, dy.shape[3]), dtype=dy.dtype)
    np.put_along_axis(cells, _maximum_cells(x, window)[:, :, :, None], dy[:, :, :, None], axis=3)
    split = (*dy.shape[:3], window.filter_height, window.filter_width, dy.shape[3])
    return fold(cells.reshape(split), window)


def _counts(x_channels: int, window: Window) -> Array:
    """Return the number of each window's elements inside the image."""
    ones = np.ones((window.batch, window.in_height, window.in_width, x_channels), dtype=np.float32)
    counts: Array = _cells(ones, window, 0.0).sum(axis=3)
    return counts


@kernel("avg_pool")
def avg_pool(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Return the mean of each window, not counting padding."""
    x = arrays[0]
    return _cells(x, window, 0.0).sum(axis=3) / _counts(x.shape[3], window)


@kernel("avg_pool_gradient")
def avg_pool_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Spread each element evenly over its window."""
    dy = arrays[0]
    share = (dy / _counts(dy.shape[3], window))[:, :, :, None, None]
    size = (*dy.shape[:3], window.filter_height, window.filter_width, dy.shape[3])
    return fold(np.broadcast_to(share, size), window)


@kernel("dilation2d")
def dilation2d(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Return the maximum sum of each window and the filter."""
    x, filter = arrays
    cells = _cells(x, window, -np.inf)
    return (cells + filter.reshape(-1, filter.shape[2])).max(axis=3)
