"""Complex numbers: making them, their parts, and arithmetic with them.

Each rule computes one op of the elementwise table, or another that takes complex tensors, from
real and imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log as _natural_log, pi

from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import (
    add,
    atan2,
    copysign,
    equal,
    hypot,
    logical_and,
    logical_or,
    multiply,
    subtract,
)
from webtensor.ops.casting import cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import zeros_like
from webtensor.ops.movement import expand_dims, stack
from webtensor.ops.pairs import as_pairs, from_pairs
from webtensor.ops.rows import COMPLEX_RULES
from webtensor.ops.ternary import where
from webtensor.ops.unary import (
    abs,
    asinh,
    cos,
    cosh,
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
    sin,
    sinh,
    sqrt,
    square,
)
from webtensor.shapes import broadcast_shapes

__all__ = ["angle", "complex", "conj", "imag", "real"]


def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """Complex tensor from its real and imaginary parts, which broadcast together.

    Example:
        >>> import webtensor as wt
        >>> wt.complex([1.0, 2.0], [0.5, 0.0]).tolist()
        [(1+0.5j), (2+0j)]
    """
    x = cast_to(as_operand("complex", real), float32)
    y = cast_to(as_operand("complex", imag), float32)
    shape = broadcast_shapes("complex", x.shape, y.shape)
    return from_pairs(stack([x.broadcast_to(shape), y.broadcast_to(shape)], -1))


def real(x: TensorLike) -> Tensor:
    """Real part; of a real tensor, the tensor itself.

    Example:
        >>> import webtensor as wt
        >>> wt.real([1 + 2j]).tolist()
        [1.0]
    """
    held = as_operand("real", x)
    return as_pairs(held)[..., 0] if held.dtype is complex64 else held


def imag(x: TensorLike) -> Tensor:
    """Imaginary part; zeros for a real tensor.

    Example:
        >>> import webtensor as wt
        >>> wt.imag([1 + 2j]).tolist()
        [2.0]
    """
    held = as_operand("imag", x)
    return as_pairs(held)[..., 1] if held.dtype is complex64 else zeros_like(held)


def conj(x: TensorLike) -> Tensor:
    """Complex conjugate.

    Example:
        >>> import webtensor as wt
        >>> wt.conj([1 + 2j]).tolist()
        [(1-2j)]
    """
    held = as_operand("conj", x)
    if held.dtype is not complex64:
        return held
    return from_pairs(multiply(as_pairs(held), [1.0, -1.0]))


def angle(x: TensorLike) -> Tensor:
    """Argument of complex numbers, in radians.

    Example:
        >>> import webtensor as wt
        >>> wt.angle([1 + 0j]).tolist()
        [0.0]
    """
    held = as_operand("angle", x)
    return atan2(imag(held), real(held))


# -- rules --------------------------------------------------------------------------------------


def _rule(name: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    def register(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        COMPLEX_RULES[name] = function
        return function

    return register


def _by_parts(name: str, function: Callable[..., Tensor]) -> None:
    """A function that acts on real and imaginary parts alike."""
    COMPLEX_RULES[name] = lambda *operands: from_pairs(function(*map(as_pairs, _aligned(operands))))


def _aligned(operands: tuple[Tensor, ...]) -> list[Tensor]:
    """Give operands one rank, so that their pairs broadcast together."""
    rank = max(len(operand.shape) for operand in operands)
    return [
        operand.reshape((1,) * (rank - len(operand.shape)) + operand.shape) for operand in operands
    ]


_by_parts("add", add)
_by_parts("subtract", subtract)
_by_parts("negative", negative)
_by_parts("round", round)


def _times_i(x: Tensor) -> Tensor:
    return complex(-imag(x), real(x))


# -- arithmetic ---------------------------------------------------------------------------------


@_rule("multiply")
def _multiply(x: Tensor, y: Tensor) -> Tensor:
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    return complex(a * c - b * d, a * d + b * c)


@_rule("divide")
def _divide(x: Tensor, y: Tensor) -> Tensor:
    # Scaled by the larger part of the divisor, so that no square overflows or vanishes.
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    larger = where(abs(c) >= abs(d), abs(c), abs(d))
    c, d = c / larger, d / larger
    norm = (square(c) + square(d)) * larger
    return complex((a * c + b * d) / norm, (b * c - a * d) / norm)


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


@_rule("exp")
def _exp(x: Tensor) -> Tensor:
    size, b = exp(real(x)), imag(x)
    return complex(size * cos(b), where(b == 0, b, size * sin(b)))  # infinity times 0 is NaN


@_rule("expm1")
def _expm1(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex(expm1(a) * cos(b) - square(sin(b * 0.5)) * 2, exp(a) * sin(b))


@_rule("log")
def _log(x: Tensor) -> Tensor:
    # Near the unit circle, the logarithm of the size is that of 1 plus something small.
    size, a, b = _abs(x), abs(real(x)), abs(imag(x))
    near = logical_and(size > 0.5, size < 2.0)
    larger, smaller = where(a > b, a, b).where(near, 1.0), where(a > b, b, a).where(near, 0.0)
    excess = (larger - 1) * (larger + 1) + square(smaller)
    return complex(where(near, log1p(excess) * 0.5, log(size)), angle(x))


@_rule("log1p")
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
def _sqrt(x: Tensor) -> Tensor:
    size, a, b = _abs(x), real(x), imag(x)
    # The halves are added after the division, so that the sum does not overflow.
    positive = sqrt(size * 0.5 + abs(a) * 0.5)
    other = abs(b).divide_no_nan(positive * 2)
    upper, lower = where(a >= 0, positive, other), where(a >= 0, other, positive)
    return complex(upper, copysign(lower, b))


@_rule("pow")
def _pow(x: Tensor, y: Tensor) -> Tensor:
    zero = logical_and(equal(x, 0.0), real(y) > 0)
    power = _exp(_multiply(y, _log(where(zero, 1.0, x))))
    return where(equal(y, 0.0), 1.0, where(zero, 0.0, power))


# -- trigonometry and hyperbolic functions ------------------------------------------------------
#
# The inverse functions follow W. Kahan, *Branch cuts for complex elementary functions* (1987).


@_rule("sinh")
def _sinh(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex(sinh(a) * cos(b), cosh(a) * sin(b))


@_rule("cosh")
def _cosh(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex(cosh(a) * cos(b), sinh(a) * sin(b))


@_rule("tanh")
def _tanh(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    large = abs(a) > 9.5  # where the real part rounds to 1
    s, c = sinh(a.where(logical_not(large), 0.0)), cos(b)
    turn = sin(b) * c
    norm = square(s) + square(c)
    return complex(
        where(large, copysign(1.0, a), sqrt(1 + square(s)) * s / norm),
        where(large, turn * exp(abs(a) * -2) * 4, turn / norm),
    )


@_rule("sin")
def _sin(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex(sin(a) * cosh(b), cos(a) * sinh(b))


@_rule("cos")
def _cos(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    return complex(cos(a) * cosh(b), -(sin(a) * sinh(b)))


@_rule("tan")
def _tan(x: Tensor) -> Tensor:
    turned = _tanh(complex(imag(x), real(x)))
    return complex(imag(turned), real(turned))


def _roots_about_one(x: Tensor) -> tuple[Tensor, Tensor]:
    """``sqrt(1 - x)`` and ``sqrt(1 + x)``."""
    a, b = real(x), imag(x)
    return _sqrt(complex(1 - a, -b)), _sqrt(complex(1 + a, b))


@_rule("asin")
def _asin(x: Tensor) -> Tensor:
    below, above = _roots_about_one(x)
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return complex(atan2(real(x), p * r - q * s), asinh(p * s - q * r))


@_rule("acos")
def _acos(x: Tensor) -> Tensor:
    below, above = _roots_about_one(x)
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return complex(atan2(p, r) * 2, asinh(r * q - s * p))


@_rule("acosh")
def _acosh(x: Tensor) -> Tensor:
    a, b = real(x), imag(x)
    below, above = _sqrt(complex(a - 1, b)), _sqrt(complex(a + 1, b))
    p, q, r, s = real(below), imag(below), real(above), imag(above)
    return complex(asinh(p * r + q * s), atan2(q, r) * 2)


@_rule("asinh")
def _asinh(x: Tensor) -> Tensor:
    turned = _asin(_times_i(x))
    return complex(imag(turned), -real(turned))


@_rule("atanh")
def _atanh(x: Tensor) -> Tensor:
    a, b = abs(real(x)), imag(x)
    far = logical_or(a > 1e8, abs(b) > 1e8)  # where 1 is lost beside x, and squares overflow
    c, d = a.where(logical_not(far), 0.0), b.where(logical_not(far), 0.0)
    size = log1p(c * 4 / (square(1 - c) + square(d))) * 0.25
    turn = atan2(d * 2, (1 - c) * (1 + c) - square(d)) * 0.5
    return complex(
        copysign(where(far, real(_reciprocal(complex(a, b))), size), real(x)),
        where(far, copysign(pi / 2, b), turn),
    )


@_rule("atan")
def _atan(x: Tensor) -> Tensor:
    turned = _atanh(_times_i(x))
    return complex(imag(turned), -real(turned))


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
