"""Kernels of convolutions and of their transposes."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.numpy.contraction import fused
from webtensor.backends.numpy.windows import fold, padded, windows
from webtensor.backends.signatures import Signature
from webtensor.geometry import Window

__all__: list[str] = []


@kernel("conv2d")
def conv2d(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Multiply each window by the filter."""
    x, filter = arrays
    return np.tensordot(windows(padded(x, window), window), filter, 3)


@kernel("conv2d_input_gradient")
def conv2d_input_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``conv2d`` with respect to its input."""
    dy, filter = arrays
    return fold(np.tensordot(dy, filter, ((3,), (3,))), window)


@kernel("conv2d_filter_gradient")
def conv2d_filter_gradient(of: Signature, arrays: Arrays, window: Window) -> Handle:
    """Transpose of ``conv2d`` with respect to its filter."""
    x, dy = arrays
    patches = windows(padded(x, window), window)
    return np.tensordot(patches, dy, ((0, 1, 2), (0, 1, 2)))


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
