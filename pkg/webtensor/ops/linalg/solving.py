"""Equations, inverses and determinants."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.arguments import as_integer
from webtensor.dtypes import float32, promote
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, run
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_numbers import complex, conj, imag
from webtensor.ops.complex_pairs import from_pairs
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import eye, full
from webtensor.ops.linalg.stacks import (
    Part,
    adjoint,
    factored,
    matrices,
    parts_of,
    stored,
    words_of,
)
from webtensor.ops.movement import clone, reshape
from webtensor.ops.vector_products import broadcast_batches
from webtensor.shapes import prod

__all__ = ["det", "inv", "matrix_power", "slogdet", "solve"]

# -- equations ----------------------------------------------------------------------------------


def _lifted(x: Tensor, words: int) -> Tensor:
    """Undo ``stored``."""
    return from_pairs(x) if words == 2 else x


def _right_gradient(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, words: int, *sizes: int) -> Tensor:
    return stored(solve(adjoint(_lifted(a, words)), _lifted(dy, words)))


def _left_gradient(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, words: int, *sizes: int) -> Tensor:
    slope = solve(adjoint(_lifted(a, words)), _lifted(dy, words))
    return stored(-matmul(slope, adjoint(_lifted(y, words))))


_SOLVE = Primitive("solve", gradients=(_left_gradient, _right_gradient))


def solve(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Solution ``x`` of ``x1 @ x = x2``.

    ``x1`` is (..., n, n); ``x2`` is (..., n, m), or (n,) for one vector. Stacks broadcast. A
    singular matrix gives NaN.

    Raises:
        ValueError: ``x1`` is not square, or ``x2`` does not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
        [1.0, 0.5]
    """
    a = matrices("solve", x1, square=True, argument="x1")
    b = as_operand("solve", x2)
    n = a.shape[-1]
    vector = len(b.shape) == 1
    if not b.shape or b.shape[0 if vector else -2] != n:
        raise ValueError(
            f"solve: x2 must be (..., {n}, m) or ({n},) for x1 of shape {a.shape}, but its shape "
            f"is {b.shape}"
        )
    dtype = promote(promote(a.dtype, b.dtype), float32)
    a, b = cast_to(a, dtype), cast_to(b, dtype)
    a, b = broadcast_batches("solve", a, reshape(b, (n, 1)) if vector else b)
    words, m = words_of(a), b.shape[-1]
    inputs = stored(a), stored(b)
    x = run(_SOLVE, inputs, inputs[1].shape, float32, words, prod(a.shape[:-2]), n, m)
    x = _lifted(x, words)
    return reshape(x, x.shape[:-1]) if vector else x


def inv(x: TensorLike, /) -> Tensor:
    """Inverses of matrices, (..., n, n); NaN where a matrix is singular.

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    operand = matrices("inv", x, square=True)
    return solve(operand, eye(operand.shape[-1]))


def matrix_power(x: TensorLike, n: int, /) -> Tensor:
    """Powers of matrices; a negative power is one of the inverse.

    ``x`` has shape (..., n, n), as the result has.

    Raises:
        TypeError: ``n`` is not an integer.
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3).tolist()
        [[1.0, 3.0], [0.0, 1.0]]
    """
    operand = matrices("matrix_power", x, square=True)
    n = as_integer("matrix_power", "n", n)
    if n == 0:
        return broadcast_to(cast_to(eye(operand.shape[-1]), operand.dtype), operand.shape)
    square = inv(operand) if n < 0 else operand
    left = abs(n)
    power: Tensor | None = None
    while left:
        if left & 1:
            power = square if power is None else matmul(power, square)
        left >>= 1
        if left:
            square = matmul(square, square)
    assert power is not None
    return clone(power) if power is operand else power


# -- determinants -------------------------------------------------------------------------------


class SlogDet(NamedTuple):
    """Sign, or phase, of determinants, and the logarithm of their absolute values."""

    sign: Tensor
    logabsdet: Tensor


def _determinant_gradient(
    dy: Tensor, y: Tensor, x: Tensor, words: int, batch: int, n: int, logarithm: int
) -> Tensor:
    inverse = adjoint(inv(reshape(_lifted(x, words), (batch, n, n))))
    if not logarithm:
        parts: list[Part] = [((1, 1), False)]
        (value,), (slope,) = parts_of(y, words, parts), parts_of(dy, words, parts)
        factor = slope * conj(value)
    else:
        parts = [((1, 1), False), ((1, 1), True)]
        sign, _ = parts_of(y, words, parts)
        sign_slope, factor = parts_of(dy, words, parts)
        if words == 2:
            factor = complex(factor, imag(sign_slope * conj(sign)))
    return reshape(stored(inverse * factor), x.shape)


_DETERMINANT = Primitive("determinant", gradients=(_determinant_gradient,))


def det(x: TensorLike, /) -> Tensor:
    """Determinants of matrices, (..., n, n).

    The gradient needs matrices that can be inverted.

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.det([[2.0, 1.0], [0.0, 3.0]]).tolist()
        6.0
    """
    operand = matrices("det", x, square=True)
    n = operand.shape[-1]
    if n == 0:
        return full(operand.shape[:-2], 1, operand.dtype)
    (value,) = factored(_DETERMINANT, operand, [((), False)], n, False)
    return value


def slogdet(x: TensorLike, /) -> SlogDet:
    """Sign of determinants, and logarithm of their sizes, which neither overflows nor vanishes.

    A singular matrix has sign 0 and logarithm -inf.

    For ``x`` of shape (..., n, n), both have shape (...); the logarithm is float32.

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]).sign.tolist()
        -1.0
    """
    operand = matrices("slogdet", x, square=True)
    n = operand.shape[-1]
    if n == 0:
        return SlogDet(
            full(operand.shape[:-2], 1, operand.dtype), full(operand.shape[:-2], 0, float32)
        )
    sign, size = factored(_DETERMINANT, operand, [((), False), ((), True)], n, True)
    return SlogDet(sign, size)
