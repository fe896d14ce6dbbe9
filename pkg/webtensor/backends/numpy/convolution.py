"""Kernels of convolutions and of their transposes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.numpy.contraction import fused
from webtensor.backends.numpy.windows import fold, padded, windows
from webtensor.backends.signatures import Signature
from webtensor.geometry import Window

__all__: list[str] = []


def _by_group(
    multiply: Callable[[Array, Array], Array], window: Window, depth: int, a: Array, b: Array
) -> Array:
    """Multiply two arrays group by group of their channels, and put the products side by side.

    ``depth`` is the number of input channels of a group.
    """
    groups = window.groups(depth)
    if groups == 1:
        return multiply(a, b)
    parts = zip(np.split(a, groups, axis=-1), np.split(b, groups, axis=-1), strict=True)
    return np.concatenate([multiply(*pair) for pair in parts], axis=-1)


@kernel("conv2d")
def conv2d(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Multiply each window by the filter."""
    x, filter = arrays
    patches = windows(padded(x, window), window)
    return _by_group(
        lambda part, own: np.tensordot(part, own, 3), window, filter.shape[2], patches, filter
    )


@kernel("conv2d_input_gradient")
def conv2d_input_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``conv2d`` with respect to its input."""
    dy, filter = arrays
    patches = _by_group(
        lambda part, own: np.tensordot(part, own, ((3,), (3,))),
        window,
        filter.shape[2],
        dy,
        filter,
    )
    return fold(patches, window)


@kernel("conv2d_filter_gradient")
def conv2d_filter_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``conv2d`` with respect to its filter."""
    x, dy = arrays
    patches = windows(padded(x, window), window)
    pixels = ((0, 1, 2), (0, 1, 2))
    return _by_group(
        lambda part, own: np.tensordot(part, own, pixels), window, of.shape[2], patches, dy
    )


def _by_channel(y: Array, window: Window) -> Array:
    """View output channels as (input channel, multiplier)."""
    return y.reshape(*y.shape[:3], window.in_channels, -1)


@kernel("depthwise_conv2d")
def depthwise_conv2d(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Multiply each window by each channel's own filters."""
    x, filter = arrays
    patches = windows(padded(x, window), window)
    return np.einsum("bijhwc,hwcm->bijcm", patches, filter).reshape(of.shape)


@kernel("depthwise_conv2d_input_gradient")
def depthwise_conv2d_input_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``depthwise_conv2d`` with respect to its input."""
    dy, filter = arrays
    return fold(np.einsum("bijcm,hwcm->bijhwc", _by_channel(dy, window), filter), window)


@kernel("depthwise_conv2d_filter_gradient")
def depthwise_conv2d_filter_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``depthwise_conv2d`` with respect to its filter."""
    x, dy = arrays
    patches = windows(padded(x, window), window)
    return np.einsum("bijhwc,bijcm->hwcm", patches, _by_channel(dy, window))


kernel("fused_conv2d")(fused(conv2d))
kernel("fused_depthwise_conv2d")(fused(depthwise_conv2d))
