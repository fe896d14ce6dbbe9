"""Complex numbers: making them, their parts, and arithmetic with them.

Each rule computes one op of the elementwise table, or another that takes complex tensors, from
real and imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable

from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import add, atan2, equal, logical_and, multiply, subtract
from webtensor.ops.casting import cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import zeros_like
from webtensor.ops.movement import expand_dims, stack
from webtensor.ops.pairs import as_pairs, from_pairs
from webtensor.ops.rows import COMPLEX_RULES
from webtensor.ops.ternary import where
from webtensor.ops.unary import cos, exp, log, logical_not, negative, sin, sqrt, square
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
    return atan2(imag(x), real(x))


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


@_rule("multiply")
def _multiply(x: Tensor, y: Tensor) -> Tensor:
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    return complex(a * c - b * d, a * d + b * c)


@_rule("divide")
def _divide(x: Tensor, y: Tensor) -> Tensor:
    a, b, c, d = real(x), imag(x), real(y), imag(y)
    norm = square(c) + square(d)
    return complex((a * c + b * d) / norm, (b * c - a * d) / norm)


@_rule("reciprocal")
def _reciprocal(x: Tensor) -> Tensor:
    return _divide(cast_to(as_operand("reciprocal", 1.0), complex64), x)


@_rule("square")
def _square(x: Tensor) -> Tensor:
    return _multiply(x, x)


@_rule("abs")
def _abs(x: Tensor) -> Tensor:
    # Scaled by the greater part, so that nothing overflows.
    a, b = real(x).abs(), imag(x).abs()
    greater = a.maximum(b)
    ratio = a.minimum(b).divide_no_nan(greater)
    return multiply(greater, sqrt(1 + square(ratio)))


@_rule("exp")
def _exp(x: Tensor) -> Tensor:
    size = exp(real(x))
    return complex(size * cos(imag(x)), size * sin(imag(x)))


@_rule("log")
def _log(x: Tensor) -> Tensor:
    return complex(log(_abs(x)), angle(x))


@_rule("sqrt")
def _sqrt(x: Tensor) -> Tensor:
    size, a, b = _abs(x), real(x), imag(x)
    positive = sqrt((size + a.abs()) * 0.5)
    other = b.abs().divide_no_nan(positive * 2)
    upper, lower = where(a >= 0, positive, other), where(a >= 0, other, positive)
    return complex(upper, where(b < 0, -lower, lower))


@_rule("pow")
def _pow(x: Tensor, y: Tensor) -> Tensor:
    return where(equal(y, 0.0), 1.0, _exp(_multiply(y, _log(x))))


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
