"""Kernels along the last axis: softmax, sums of neighbours, normalization by channel."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("softmax")
def softmax(of: Signature, arrays: Arrays, outer: int, length: int) -> Handle:
    """Exponentials over their sum."""
    x = arrays[0]
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@kernel("log_softmax")
def log_softmax(of: Signature, arrays: Arrays, outer: int, length: int) -> Handle:
    """Logarithm of the softmax."""
    x = arrays[0]
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@kernel("window_sum")
def window_sum(of: Signature, arrays: Arrays, outer: int, length: int, radius: int) -> Handle:
    """Sum of each element and of up to ``radius`` neighbours on either side."""
    x = arrays[0].reshape(outer, length)
    padded = np.pad(x, ((0, 0), (radius, radius)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, axis=1)
    return windows.sum(axis=2, dtype=x.dtype).reshape(of.shape)


@kernel("normalize")
def normalize(of: Signature, arrays: Arrays, outer: int, channels: int) -> Handle:
    """``(x - mean) * factor + offset``, with a number per channel for each."""
    x, mean, factor, offset = arrays
    return (x - mean) * factor + offset


@kernel("moments")
def moments(of: Signature, arrays: Arrays, outer: int, reduced: int, inner: int) -> Handle:
    """Means, then variances, along the middle axis."""
    x = arrays[0].reshape(outer, reduced, inner)
    return np.stack([x.mean(axis=1), x.var(axis=1)])
