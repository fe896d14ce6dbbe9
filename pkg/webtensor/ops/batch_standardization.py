"""Normalization by statistics of the operand itself, as layers need it in training.

These functions are for ``keras.layers``. They compute ``moments`` and ``batch_norm``; their
gradients are written out, as most terms of the chain rule cancel: with ``y`` of mean 0 and
variance 1, ``dx = (dy - mean(dy) - y * mean(dy * y)) / deviation`` (Ioffe and Szegedy, 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from webtensor.autodiff import custom_grad, is_recording
from webtensor.engine import Tensor
from webtensor.ops.binary import add, multiply, subtract
from webtensor.ops.creation import zeros
from webtensor.ops.normalization import normalized
from webtensor.ops.reduction import mean as _mean, sum as _sum
from webtensor.ops.statistics import moments
from webtensor.ops.unary import rsqrt

__all__ = ["BatchStandardized", "batch_standardized", "standardized"]


def standardized(x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """``(x - mean) / sqrt(variance + epsilon)`` along some axes."""

    def computed(x: Tensor) -> tuple[Tensor, Tensor]:
        """The result, and what the difference was multiplied by."""
        middle, variance = moments(x, axes, keepdims=True)
        factor = rsqrt(add(variance, epsilon))
        return multiply(subtract(x, middle), factor), factor

    if not is_recording():
        return computed(x)[0]

    @custom_grad
    def recorded(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Any]]:
        standardized = computed(x)

        def gradient(dy: Tensor) -> Tensor:
            # If a tape records the walk back, the results must be computed from ``x`` again.
            y, factor = computed(x) if is_recording() else standardized
            level = _mean(dy, axes, keepdims=True)
            slope = _mean(multiply(dy, y), axes, keepdims=True)
            return multiply(subtract(subtract(dy, level), multiply(y, slope)), factor)

        return standardized[0], gradient

    return recorded(x)


class BatchStandardized(NamedTuple):
    """A normalized batch, and the mean and variance of each channel, without gradients."""

    y: Tensor
    mean: Tensor
    variance: Tensor


class _Parts(NamedTuple):
    y: Tensor
    mean: Tensor
    variance: Tensor
    inverse: Tensor
    factor: Tensor


def batch_standardized(
    x: Tensor, scale: Tensor | None, offset: Tensor | None, epsilon: float
) -> BatchStandardized:
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset`` of channels, the last axis."""
    axes = tuple(range(len(x.shape) - 1))
    channels = x.shape[-1]
    count = float(max(x.size // channels, 1)) if channels else 1.0

    def computed(x: Tensor, scale: Tensor | None, offset: Tensor | None) -> _Parts:
        middle, variance = moments(x, axes)
        inverse = rsqrt(add(variance, epsilon))
        factor = inverse if scale is None else multiply(inverse, scale)
        shift = zeros((channels,)) if offset is None else offset
        return _Parts(normalized(x, middle, factor, shift), middle, variance, inverse, factor)

    if not is_recording():
        return BatchStandardized(*computed(x, scale, offset)[:3])
    cached_parts: list[_Parts] = []

    @custom_grad
    def recorded(x: Tensor, *parameters: Tensor) -> tuple[Tensor, Callable[[Tensor], Any]]:
        own_scale = None if scale is None else parameters[0]
        own_offset = None if offset is None else parameters[-1]
        cached_parts.append(computed(x, own_scale, own_offset))

        def gradient(dy: Tensor) -> list[Tensor]:
            # If a tape records the walk back, the results must be computed from the operands again.
            parts = computed(x, own_scale, own_offset) if is_recording() else cached_parts[0]
            total = _sum(dy, axes)
            tilt = _sum(multiply(dy, subtract(x, parts.mean)), axes)
            for_scale = multiply(tilt, parts.inverse)
            slope = multiply(multiply(for_scale, parts.inverse), 1 / count)
            level = multiply(total, 1 / count)
            apart = subtract(dy, normalized(x, parts.mean, slope, level))
            gradients = [multiply(apart, parts.factor)]
            if scale is not None:
                gradients.append(for_scale)
            return gradients if offset is None else [*gradients, total]

        return cached_parts[0].y, gradient

    y = recorded(*(operand for operand in (x, scale, offset) if operand is not None))
    return BatchStandardized(y, cached_parts[0].mean, cached_parts[0].variance)
