"""Random numbers of other distributions, from the bits of ``random``.

All are made by inversion, from a fixed number of uniform numbers for each: nothing is rejected, so
the same seed gives the same numbers on every backend, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import cos, erfc, exp, lgamma, log as _log, pi, sqrt
from typing import Any

from webtensor.arguments import as_integer, as_non_negative_integer, as_number, check_callable
from webtensor.dtypes import as_dtype, complex64, float32, int32
from webtensor.engine import (
    Tensor,
    TensorLike,
    as_operand,
    from_host,
    planned,
    where_integers_are_whole,
)
from webtensor.ops.binary import add, multiply, remainder
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import zeros
from webtensor.ops.movement import reshape
from webtensor.ops.nn import softmax
from webtensor.ops.normal_distribution import normal_between, random_normal
from webtensor.ops.random import in_dtype
from webtensor.ops.random_bits import random_bits, unit_numbers
from webtensor.ops.scan import cumsum
from webtensor.ops.sorting import upper_bound
from webtensor.ops.special_functions import polynomial
from webtensor.ops.unary import exp as _exp, log, round
from webtensor.shapes import as_shape, check_size, prod

__all__ = ["multinomial", "rand", "random_gamma", "random_standard_normal", "random_uniform_int"]


def random_standard_normal(
    shape: int | Sequence[int], dtype: Any = float32, seed: float | None = None
) -> Tensor:
    """Numbers with the normal distribution of mean 0 and standard deviation 1.

    With dtype int32, they are rounded.

    The result has the given shape and dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.random_standard_normal((2, 3), seed=1).shape
        (2, 3)
    """
    return random_normal(shape, 0.0, 1.0, dtype, seed)


def random_uniform_int(
    shape: int | Sequence[int], minval: int, maxval: int, seed: float | None = None
) -> Tensor:
    """Integers uniformly distributed in [minval, maxval), int32.

    One number is more probable than another by at most (maxval - minval) / 2**32 of it.

    Raises:
        TypeError: a bound is not an integer.
        ValueError: the bounds are not in order, do not fit int32, or lie 2**31 or more apart.

    Example:
        >>> import webtensor as wt
        >>> bool(wt.all(wt.random_uniform_int((9,), 2, 4, seed=1) >= 2))
        True
    """
    minval = as_integer("random_uniform_int", "minval", minval)
    maxval = as_integer("random_uniform_int", "maxval", maxval)
    if not -(2**31) <= minval < maxval <= 2**31 or maxval - minval >= 2**31:
        raise ValueError(
            "random_uniform_int: minval must be less than maxval by less than 2**31, and both fit "
            f"int32, but got {minval} and {maxval}"
        )
    name = "random_uniform_int"
    with where_integers_are_whole(name):
        bits = random_bits(name, shape, seed)
        return add(remainder(bits, maxval - minval), minval)


def rand(
    shape: int | Sequence[int], rand_function: Callable[[], float], dtype: Any = float32
) -> Tensor:
    """Tensor of the numbers that a function of your own returns, called once for each element.

    The result has the given shape and dtype.

    Raises:
        TensorSizeError: the shape asks for too many elements.
        TypeError: ``rand_function`` cannot be called.

    Example:
        >>> import webtensor as wt
        >>> wt.rand((2, 2), lambda: 0.5).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    dimensions = as_shape("rand", shape)
    check_size("rand", "shape", shape, prod(dimensions))
    check_callable("rand", "rand_function", rand_function)
    values = [rand_function() for _ in range(prod(dimensions))]
    return reshape(
        from_host("rand", values, float32 if dtype is None else as_dtype(dtype)), dimensions
    )


def multinomial(
    logits: TensorLike, num_samples: int, seed: float | None = None, normalized: bool = False
) -> Tensor:
    """Classes drawn with the probabilities that logits give, int32.

    ``logits`` are (classes,) or (batch, classes), the result (num_samples,) or (batch,
    num_samples). With ``normalized``, they are probabilities that add up to 1.

    Raises:
        TypeError: the logits are complex, or ``num_samples`` is not an integer.
        ValueError: logits of another rank or of no classes, or ``num_samples`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.multinomial([0.0, 1.0], 3, normalized=True).tolist()
        [1, 1, 1]
    """
    operand = as_operand("multinomial", logits)
    if operand.dtype is complex64:
        raise TypeError("multinomial: logits must be real, but got complex64")
    if len(operand.shape) not in (1, 2) or operand.shape[-1] == 0:
        raise ValueError(
            "multinomial: logits must be (classes,) or (batch, classes), with one class at least, "
            f"but their shape is {operand.shape}"
        )
    num_samples = as_non_negative_integer("multinomial", "num_samples", num_samples)
    shape = (*operand.shape[:-1], num_samples)
    if operand.shape[-1] == 1:
        return zeros(shape, int32)
    edges = _edges(operand, normalized)
    return upper_bound(edges, unit_numbers("multinomial", shape, seed))


@planned
def _edges(logits: Tensor, normalized: bool) -> Tensor:
    """Sums of the probabilities of each class, but the last, and of those before it.

    A class is drawn between its sum and the one before; the last class has all the rest.
    """
    logits = cast_to(logits, float32)
    probabilities = logits if normalized else softmax(logits)
    return cumsum(probabilities[..., :-1], axis=-1)


# -- gamma ----------------------------------------------------------------------------------------

#: Normal numbers drawn from 24 bits are within this many standard deviations.
_FARTHEST = 5.5
#: From this shape on the logarithm of the quantile is smooth enough for the polynomial.
_SMOOTH = 2.0
_TERMS = 17


def _regularized_gamma(a: float, x: float) -> tuple[float, float]:
    """Lower and upper incomplete gamma function of x, over the whole: a series, or a fraction."""
    scale = exp(a * _log(x) - x - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return scale * total, 1 - scale * total
    # Lentz's evaluation of the continued fraction.
    b = x + 1 - a
    c, d = 1e300, 1 / b
    value = d
    for n in range(1, 100_000):
        factor = n * (a - n)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return 1 - scale * value, scale * value


def _log_quantile(a: float, z: float) -> float:
    """Logarithm of the gamma quantile, over ``a``, of the probability below the normal number z."""
    guess = 3 * _log(max(1 - 1 / (9 * a) + z / (3 * sqrt(a)), 0.05))  # Wilson and Hilferty
    if a > 1e5:
        return guess
    # Newton's method, on the logarithm of the smaller tail.
    target = _log(0.5 * erfc(abs(z) / sqrt(2)))
    for _ in range(50):
        x = a * exp(guess)
        tail = _regularized_gamma(a, x)[0 if z < 0 else 1]
        slope = exp(a * _log(x) - x - lgamma(a)) / tail
        step = (_log(tail) - target) / (slope if z < 0 else -slope)
        guess -= max(-1.0, min(1.0, step))
        if abs(step) < 1e-13:
            break
    return guess


@lru_cache(maxsize=64)
def _quantile_polynomial(a: float) -> tuple[float, ...]:
    """Coefficients, highest first, of ``_log_quantile`` in z / _FARTHEST, by Chebyshev's nodes."""
    angles = [pi * (k + 0.5) / _TERMS for k in range(_TERMS)]
    values = [_log_quantile(a, _FARTHEST * cos(angle)) for angle in angles]
    # Sums of Chebyshev polynomials as polynomials: T[n + 1] = 2 t T[n] - T[n - 1].
    before, current = [1.0], [0.0, 1.0]
    result = [0.0] * _TERMS
    for n in range(_TERMS):
        weight = sum(value * cos(n * angle) for value, angle in zip(values, angles, strict=True))
        weight *= (1 if n == 0 else 2) / _TERMS
        for power, coefficient in enumerate(before):
            result[power] += weight * coefficient
        following = [0.0, *(2 * coefficient for coefficient in current)]
        for power, coefficient in enumerate(before):
            following[power] -= coefficient
        before, current = current, following
    return tuple(reversed(result))


def random_gamma(
    shape: int | Sequence[int],
    alpha: float,
    beta: float = 1.0,
    dtype: Any = float32,
    seed: float | None = None,
) -> Tensor:
    """Numbers with a gamma distribution of shape ``alpha`` and rate ``beta``: the mean is their
    ratio.

    With dtype int32, they are rounded.

    Raises:
        TypeError: ``alpha`` or ``beta`` is not a number.
        ValueError: one of them is not positive.

    Example:
        >>> import webtensor as wt
        >>> bool(wt.all(wt.random_gamma((100,), 0.5, seed=1) >= 0))
        True
    """
    alpha = as_number("random_gamma", "alpha", alpha)
    beta = as_number("random_gamma", "beta", beta)
    for argument, number in (("alpha", alpha), ("beta", beta)):
        if not 0 < number < float("inf"):
            raise ValueError(f"random_gamma: {argument} must be positive, but got {number}")
    dimensions = as_shape("random_gamma", shape)
    # A number of shape a is one of shape a + 1 times a uniform one to the power 1 / a.
    boosts = 0
    while alpha + boosts < _SMOOTH:
        boosts += 1
    unit = unit_numbers("random_gamma", (boosts + 1, *dimensions), seed)
    position = multiply(normal_between(unit[0], -1.0, 1.0), 1 / _FARTHEST)
    power = polynomial(position, *_quantile_polynomial(alpha + boosts))
    for boost in range(boosts):
        uniform = add(unit[boost + 1], 2.0**-25)
        power = add(power, multiply(log(uniform), 1 / (alpha + boost)))
    drawn = multiply(_exp(power), (alpha + boosts) / beta)
    return in_dtype(drawn, dtype, round)
