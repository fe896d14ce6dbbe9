"""Complex numbers: making them, their parts, and arithmetic with them.

Each rule computes one op of the elementwise table, or another that takes complex tensors, from
real and imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log as _natural_log, pi

from webtensor.autodiff import custom_grad
from webtensor.dtypes import complex64
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import add, copysign, equal, logical_and, logical_or, multiply, subtract
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import zeros_like
from webtensor.ops.elementwise import COMPLEX_RULES
from webtensor.ops.movement import expand_dims, stack
from webtensor.ops.ternary import where
from webtensor.ops.trigonometry import asinh, atan2, cos, cosh, hypot, sin, sinh
from webtensor.ops.unary import (
    abs,
    exp,
    expm1,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    logical_not,
    negative,
    round,
    sqrt,
    square,
)
from webtensor.shapes import broadcast_shapes

__all__ = ["angle", "complex", "conj", "imag", "real"]


def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """Complex tensor from its real and imaginary parts, which broadcast together.

    The result is complex64.

    Raises:
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.complex([1.0, 2.0], [0.5, 0.0]).tolist()
        [(1+0.5j), (2+0j)]
    """
    x, y = as_float("complex", "real", real), as_float("complex", "imag", imag)
    shape = broadcast_shapes("complex", x.shape, y.shape)
    return from_pairs(stack([x.broadcast_to(shape), y.broadcast_to(shape)], -1))


def real(x: TensorLike) -> Tensor:
    """Real part; of a real tensor, the tensor itself.

    The result has the shape of ``x`` and is float32 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.real([1 + 2j]).tolist()
        [1.0]
    """
    operand = as_operand("real", x)
    operand.throw_if_disposed()
    return as_pairs(operand)[..., 0] if operand.dtype is complex64 else operand


def imag(x: TensorLike) -> Tensor:
    """Imaginary part; zeros for a real tensor.

    The result has the shape of ``x`` and is float32 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.imag([1 + 2j]).tolist()
        [2.0]
    """
    operand = as_operand("imag", x)
    return as_pairs(operand)[..., 1] if operand.dtype is complex64 else zeros_like(operand)


def conj(x: TensorLike) -> Tensor:
    """Complex conjugate.

    The result has the shape and dtype of ``x``; real tensors stay as they are.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.conj([1 + 2j]).tolist()
        [(1-2j)]
    """
    operand = as_operand("conj", x)
    operand.throw_if_disposed()
    if operand.dtype is not complex64:
        return operand
    return from_pairs(multiply(as_pairs(operand), [1.0, -1.0]))


def angle(x: TensorLike) -> Tensor:
    """Argument of complex numbers, in radians.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.angle([1 + 0j]).tolist()
        [0.0]
    """
    operand = as_operand("angle", x)
    return atan2(imag(operand), real(operand))


# -- rules --------------------------------------------------------------------------------------


Rule = Callable[..., Tensor]


def _rule(name: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        COMPLEX_RULES[name] = function
        return function

    return register


def _with_derivative(derivative: Callable[[Tensor], Tensor]) -> Callable[[Rule], Rule]:
    """Differentiate a rule by a formula: its parts have corners where the function has none."""

    def decorate(function: Rule) -> Rule:
        def with_gradient(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
            return function(x), lambda dy: multiply(dy, conj(derivative(x)))

        return custom_grad(with_gradient)

    return decorate


def _by_parts(name: str, function: Rule) -> None:
    """Register a function that acts on real and imaginary parts alike."""
    COMPLEX_RULES[name] = lambda *operands: from_pairs(function(*map(as_pairs, _aligned(operands))))


def _aligned(operands: tuple[Tensor, ...]) -> list[Tensor]:
    """Reshape operands to one rank, so that their pairs broadcast together."""
    rank = max(len(operand.shape) for operand in operands)
    return [
        operand.reshape((1,) * (rank - len(operand.shape)) + operand.shape) for operand in operands
    ]


_by_parts("add", add)
_by_parts("subtract", subtract)
_by_parts("negative", negative)
_by_parts("round", round)


# -- arithmetic ---------------------------------------------------------------------------------


@_rule("multiply")
def _multiply(x: Tensor, y: Tensor) -> Tensor:
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    return complex(a * c - b * d, a * d + b * c)


@_rule("divide")
def _divide(x: Tensor, y: Tensor) -> Tensor:
    # R. L. Smith, *Algorithm 116: Complex division* (1962): no square overflows or vanishes. Where
    # the divisor's imaginary part is the larger one, both numbers are turned by a right angle.
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    turned = abs(c) < abs(d)
    a, b = where(turned, b, a), where(turned, -a, b)
    c, d = where(turned, d, c), where(turned, -c, d)
    ratio = where(equal(c, 0.0), 0.0, d / c)
    norm = c + d * ratio
    return complex((a + b * ratio) / norm, (b - a * ratio) / norm)


@_rule("reciprocal")
def _reciprocal(x: Tensor) -> Tensor:
    return _divide(cast_to(as_operand("reciprocal", 1.0), complex64), x)


@_rule("square")
def _square(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex((a - b) * (a + b), a * b * 2)


@_rule("abs")
def _abs(x: Tensor) -> Tensor:
    return hypot(real(x), imag(x))


@_rule("sign")
def _sign(x: Tensor) -> Tensor:
    size = _abs(x)
    return complex(real(x).divide_no_nan(size), imag(x).divide_no_nan(size))


# -- exponentials, logarithms, powers -----------------------------------------------------------


def _or_zero(product: Tensor, factor: Tensor) -> Tensor:
    """``product``, but zero where it is NaN and a factor zero."""
    return where(logical_and(isnan(product), equal(factor, 0.0)), factor, product)


def _or_limit(value: Tensor, limit: Tensor, a: Tensor) -> Tensor:
    """``value``, but ``limit`` where it is NaN and ``a`` infinite."""
    return where(logical_and(isnan(value), isinf(a)), limit, value)


def _height_of_exp(size: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """``size * sin(b)``, where ``size`` is ``exp(a)``."""
    wave = sin(b)
    return _or_limit(_or_zero(size * wave, wave), size * 0, a)


@_rule("exp")
def _exp(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    size = exp(a)
    return complex(_or_limit(size * cos(b), size, a), _height_of_exp(size, a, b))


@_rule("expm1")
def _expm1(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    excess = 0.0 - square(sin(b * 0.5)) * 2  # cos(b) - 1, and never -0.0
    size = expm1(a)
    return complex(_or_limit(size * cos(b) + excess, size, a), _height_of_exp(exp(a), a, b))


@_rule("log")
@_with_derivative(lambda x: 1.0 / x)
def _log(x: Tensor) -> Tensor:
    # Near the unit circle, the logarithm of the absolute value is that of 1 plus a small number.
    size, a, b = _abs(x), abs(real(x)), abs(imag(x))
    near = logical_and(size > 0.5, size < 2.0)
    larger, smaller = where(a > b, a, b).where(near, 1.0), where(a > b, b, a).where(near, 0.0)
    excess = (larger - 1) * (larger + 1) + square(smaller)
    return complex(where(near, log1p(excess) * 0.5, log(size)), angle(x))


@_rule("log1p")
@_with_derivative(lambda x: 1.0 / (1.0 + x))
def _log1p(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    near = logical_and(abs(a) < 0.5, abs(b) < 1.0)
    c, d = a.where(near, 0.0), b.where(near, 0.0)
    excess = c * (2 + c) + square(d)
    size = where(near, log1p(excess) * 0.5, real(_log(complex(1 + a, b))))
    return complex(size, atan2(b, 1 + a))


@_rule("log2")
def _log2(x: Tensor) -> Tensor:
    return from_pairs(as_pairs(_log(x)) / _natural_log(2))


@_rule("log10")
def _log10(x: Tensor) -> Tensor:
    return from_pairs(as_pairs(_log(x)) / _natural_log(10))


@_rule("sqrt")
@_with_derivative(lambda x: 0.5 / _sqrt(x))
def _sqrt(x: Tensor) -> Tensor:
    size, a, b = _abs(x), real(x), imag(x)
    # The halves are added after the division, so that the sum does not overflow.
    positive = sqrt(size * 0.5 + abs(a) * 0.5)
    other = abs(b).divide_no_nan(positive * 2)
    upper, lower = where(a >= 0, positive, other), where(a >= 0, other, positive)
    endless = isinf(b)
    return complex(where(endless, size, upper), copysign(where(endless, size, lower), b))


@_rule("pow")
def _pow(x: Tensor, y: Tensor) -> Tensor:
    zero = logical_and(equal(x, 0.0), real(y) > 0)
    power = _exp(_multiply(y, _log(where(zero, 1.0, x))))
    has_no_logarithm = logical_or(equal(x, 0.0), logical_not(isfinite(x)))
    is_one = logical_and(equal(y, 0.0), has_no_logarithm)
    return where(is_one, 1.0, where(zero, 0.0, power))


# -- trigonometry and hyperbolic functions ------------------------------------------------------
#
# Functions of an angle are hyperbolic functions of ``iz``: ``sin(z) = -i sinh(iz)``, and so on.
# Inverse functions follow W. Kahan, *Branch cuts for complex elementary functions* (1987). The
# results for infinities and NaN are those of annex G of the C standard.


#: A complex number's real and imaginary part.
Parts = tuple[Tensor, Tensor]


def _turned_back(a: Tensor, b: Tensor) -> Parts:
    """``-i (a + b i)``."""
    return b, -a


def _sinh(a: Tensor, b: Tensor) -> Parts:
    size, wave = sinh(a), sin(b)
    width = _or_limit(_or_zero(size * cos(b), size), size, a)
    return width, _or_zero(cosh(a) * wave, wave)


def _cosh(a: Tensor, b: Tensor) -> Parts:
    # An even function: from operands with a positive real part, zeros get their sign.
    mirrored = a < 0
    a, b = where(mirrored, -a, a), where(mirrored, -b, b)
    size, height, wave = cosh(a), sinh(a), sin(b)
    return _or_limit(size * cos(b), size, a), _or_zero(_or_zero(height * wave, height), wave)


def _tanh(a: Tensor, b: Tensor) -> Parts:
    b = where(isinf(a), copysign(0.0, b), b)
    large = abs(a) > 9.5  # where the real part rounds to 1
    s, c = sinh(a.where(logical_not(large), 0.0)), cos(b)
    turn = sin(b) * c
    norm = square(s) + square(c)
    return (
        where(large, copysign(1.0, a) + turn * 0, _or_zero(sqrt(1 + square(s)) * s / norm, s)),
        where(large, turn * exp(abs(a) * -2) * 4, _or_zero(turn / norm, turn)),
    )


def _of_parts(name: str, function: Callable[[Tensor, Tensor], Parts]) -> None:
    """Return a complex function as one of the real and imaginary part."""
    COMPLEX_RULES[name] = lambda x: complex(*function(real(x), imag(x)))


_of_parts("sinh", _sinh)
_of_parts("cosh", _cosh)
_of_parts("tanh", _tanh)
_of_parts("sin", lambda a, b: _turned_back(*_sinh(-b, a)))
_of_parts("cos", lambda a, b: _cosh(-b, a))
_of_parts("tan", lambda a, b: _turned_back(*_tanh(-b, a)))


def _roots_about_one(x: Tensor) -> tuple[Tensor, Tensor]:
    """``sqrt(1 - x)`` and ``sqrt(1 + x)``."""
    a, b = real(x), imag(x)
    return _sqrt(complex(1 - a, -b)), _sqrt(complex(1 + a, b))


def _by_turns(function: Rule, x: Tensor) -> Tensor:
    """``-i f(i x)``."""
    result = function(complex(-imag(x), real(x)))
    return complex(*_turned_back(real(result), imag(result)))


def _finite_or_limit(x: Tensor, result: Tensor, limit: Callable[..., Tensor]) -> Tensor:
    """``result`` where ``x = a + b i`` is finite, else ``limit(a, b, abs(x))``."""
    finite = _isfinite(x)
    others = where(finite, 1.0, x)  # so that no gradient passes through a limit
    return where(finite, result, limit(real(others), imag(others), _abs(others)))


def _angle_of_sizes(a: Tensor, b: Tensor) -> Tensor:
    """Angle from 0 to pi / 2 of a point at ``abs(a)``, ``abs(b)``, which is 0 where ``b`` is."""
    return where(equal(b, 0.0), 0.0, atan2(abs(b), abs(a)))


def _angle_above(a: Tensor, b: Tensor) -> Tensor:
    """Angle from 0 to pi of a point at ``a``, ``abs(b)``, which is pi / 2 where ``a`` is 0."""
    return where(equal(a, 0.0), pi / 2, atan2(abs(b), a))


def _product_of_roots(x: Tensor) -> Tensor:
    """``sqrt(1 - x * x)``."""
    return multiply(*_roots_about_one(x))


@_rule("acos")
@_with_derivative(lambda x: -1 / _product_of_roots(x))
def _acos(x: Tensor) -> Tensor:
    below, above = _roots_about_one(x)
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return _finite_or_limit(
        x,
        complex(atan2(p, r) * 2, asinh(r * q - s * p)),
        lambda a, b, size: complex(_angle_above(a, b), copysign(size, -b)),
    )


@_rule("acosh")
@_with_derivative(lambda x: 1 / (_sqrt(x - 1) * _sqrt(x + 1)))
def _acosh(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    below, above = _sqrt(complex(a - 1, b)), _sqrt(complex(a + 1, b))
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return _finite_or_limit(
        x,
        complex(asinh(p * r + q * s), atan2(q, r) * 2),
        lambda a, b, size: complex(size, copysign(_angle_above(a, b), b)),
    )


@_rule("asin")
@_with_derivative(lambda x: 1 / _product_of_roots(x))
def _asin(x: Tensor) -> Tensor:
    below, above = _roots_about_one(x)
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return _finite_or_limit(
        x,
        complex(atan2(real(x), p * r - q * s), asinh(p * s - q * r)),
        lambda a, b, size: complex(copysign(_angle_of_sizes(b, a), a), copysign(size, b)),
    )


@_rule("asinh")
def _asinh(x: Tensor) -> Tensor:
    return _by_turns(_asin, x)


@_rule("atanh")
@_with_derivative(lambda x: 1 / ((1 - x) * (1 + x)))
def _atanh(x: Tensor) -> Tensor:
    a, b = abs(real(x)), imag(x)
    far = logical_or(a > 1e8, abs(b) > 1e8)  # where 1 is lost beside x, and squares overflow
    c, d = a.where(logical_not(far), 0.0), b.where(logical_not(far), 0.0)
    size = log1p(c * 4 / (square(1 - c) + square(d))) * 0.25
    turn = atan2(d * 2, (1 - c) * (1 + c) - square(d)) * 0.5
    return _finite_or_limit(
        x,
        complex(
            copysign(where(far, real(_reciprocal(complex(a, b))), size), real(x)),
            where(far, copysign(pi / 2, b), turn),
        ),
        lambda a, b, size: complex(
            copysign(where(equal(a, 0.0), 0.0, 1 / size), a),
            where(isnan(b), b, copysign(pi / 2, b) + 1 / size),
        ),
    )


@_rule("atan")
def _atan(x: Tensor) -> Tensor:
    return _by_turns(_atanh, x)


# -- tests and choices --------------------------------------------------------------------------


@_rule("isnan")
def _isnan(x: Tensor) -> Tensor:
    return logical_or(isnan(real(x)), isnan(imag(x)))


@_rule("isinf")
def _isinf(x: Tensor) -> Tensor:
    return logical_or(isinf(real(x)), isinf(imag(x)))


@_rule("isfinite")
def _isfinite(x: Tensor) -> Tensor:
    return logical_and(isfinite(real(x)), isfinite(imag(x)))


@_rule("equal")
def _equal(x: Tensor, y: Tensor) -> Tensor:
    return logical_and(equal(real(x), real(y)), equal(imag(x), imag(y)))


@_rule("not_equal")
def _not_equal(x: Tensor, y: Tensor) -> Tensor:
    return logical_not(_equal(x, y))


@_rule("where")
def _where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    condition, x, y = _aligned((condition, x, y))
    return from_pairs(where(expand_dims(condition, -1), as_pairs(x), as_pairs(y)))


@_rule("matmul")
def _matmul(x: Tensor, y: Tensor, transpose_x: bool, transpose_y: bool) -> Tensor:
    def product(left: Tensor, right: Tensor) -> Tensor:
        return matmul(left, right, transpose_x, transpose_y)

    a, b, c, d = real(x), imag(x), real(y), imag(y)
    return complex(product(a, c) - product(b, d), product(a, d) + product(b, c))
