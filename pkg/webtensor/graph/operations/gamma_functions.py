"""The logarithm of the gamma function, and its derivative.

Arguments below 8 are shifted by 8 steps of the recurrence, so that Stirling's series is exact in
float32; those below 0 are reflected (Abramowitz and Stegun, 6.1.17, 6.1.40, 6.3.7 and 6.3.18).
"""

from __future__ import annotations

from math import log, pi

from webtensor import ops
from webtensor.engine import Tensor

__all__ = ["digamma", "log_gamma"]

_SHIFT = 8


def log_gamma(x: Tensor) -> Tensor:
    """Return the logarithm of the magnitude of the gamma function."""
    is_low = ops.less(x, 0.5)
    positive = ops.where(is_low, 1 - x, x)
    is_shifted = ops.less(positive, _SHIFT)
    z = ops.where(is_shifted, positive + _SHIFT, positive)
    inverse = 1 / z
    square = inverse * inverse
    tail = inverse * (1 / 12 - square * (1 / 360 - square / 1260))
    series = (z - 0.5) * ops.log(z) - z + log(2 * pi) / 2 + tail
    factors = ops.ones_like(x)
    for step in range(_SHIFT):
        factors = factors * ops.where(is_shifted, positive + step, 1.0)
    result = series - ops.log(factors)
    sine = ops.abs(ops.sin(pi * (x - ops.round(x))))
    reflected = log(pi) - ops.log(sine) - result
    return ops.where(ops.isinf(x), ops.abs(x), ops.where(is_low, reflected, result))


def digamma(x: Tensor) -> Tensor:
    """Return the derivative of the logarithm of the gamma function."""
    is_low = ops.less(x, 0.5)
    positive = ops.where(is_low, 1 - x, x)
    is_shifted = ops.less(positive, _SHIFT)
    z = ops.where(is_shifted, positive + _SHIFT, positive)
    square = 1 / (z * z)
    tail = square * (1 / 12 - square * (1 / 120 - square / 252))
    terms = ops.zeros_like(x)
    for step in range(_SHIFT):
        terms = terms + ops.where(is_shifted, 1 / (positive + step), 0.0)
    result = ops.log(z) - 0.5 / z - tail - terms
    fraction = x - ops.round(x)
    cotangent = ops.where(ops.equal(fraction, 0), float("nan"), pi / ops.tan(pi * fraction))
    return ops.where(is_low, result - cotangent, result)
