"""Views of images as sliding windows, shared by convolution and pooling."""

from __future__ import annotations

import numpy as np

from webtensor.backends.numpy.backend import Array
from webtensor.geometry import Window

__all__ = ["fold", "padded", "windows"]


def padded(x: Array, window: Window, value: float = 0.0) -> Array:
    """Pad images with a value so that every window is inside.

    Negative padding leaves out the first pixels, which no window reads.
    """
    height, width = window.extent
    top, left = window.pad_top, window.pad_left
    read = x[:, max(0, -top) :, max(0, -left) :]
    result = np.full((window.batch, height, width, x.shape[3]), value, dtype=x.dtype)
    result[:, max(0, top) :, max(0, left) :][:, : read.shape[1], : read.shape[2]] = read
    return result


def windows(x: Array, window: Window) -> Array:
    """View padded images as (batch, out_height, out_width, *filter size, channels)."""
    batch, row, column, channel = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (
            window.batch,
            window.out_height,
            window.out_width,
            window.filter_height,
            window.filter_width,
            x.shape[3],
        ),
        (
            batch,
            row * window.stride_height,
            column * window.stride_width,
            row * window.dilation_height,
            column * window.dilation_width,
            channel,
        ),
    )


def fold(patches: Array, window: Window) -> Array:
    """Add windows up where they came from: the transpose of ``windows`` after ``padded``."""
    height, width = window.extent
    result = np.zeros((window.batch, height, width, patches.shape[5]), dtype=patches.dtype)
    for row in range(window.filter_height):
        top = row * window.dilation_height
        rows = slice(
            top, top + (window.out_height - 1) * window.stride_height + 1, window.stride_height
        )
        for column in range(window.filter_width):
            left = column * window.dilation_width
            columns = slice(
                left, left + (window.out_width - 1) * window.stride_width + 1, window.stride_width
            )
            result[:, rows, columns] += patches[:, :, :, row, column]
    top, left = window.pad_top, window.pad_left
    missing = ((0, 0), (max(0, -top), 0), (max(0, -left), 0), (0, 0))
    images = np.pad(result[:, max(0, top) :, max(0, left) :], missing)
    return images[:, : window.in_height, : window.in_width]
