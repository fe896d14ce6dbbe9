"""Norms of tensors in TensorFlow.js's manner; ``linalg`` has those of the array API standard."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from webtensor.arguments import as_number
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike, as_operand, planned
from webtensor.ops.binary import pow
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import reshape
from webtensor.ops.rearrangement import axes_in_order
from webtensor.ops.reduction import max as _max, min as _min, sum as _sum
from webtensor.ops.unary import abs, sqrt, square
from webtensor.shapes import normalize_axes, reduced_shape

__all__ = ["euclidean_norm", "norm"]

Axis = int | Sequence[int] | None

#: Orders whose norm only squares the elements.
_EUCLIDEAN = ("euclidean", "fro", 2)


@planned
def norm(
    x: TensorLike, ord: float | str = "euclidean", axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Norm of vectors along one axis, of matrices along two, or of all elements as one vector.

    For vectors, ``ord`` is "euclidean" or 2, any other positive number ``p`` for the p-norm, or
    ``inf`` or ``-inf`` for the largest or smallest absolute value. For matrices it is "euclidean"
    or "fro" for the root of the sum of squares, 1 for the largest sum of a column, or ``inf`` or
    ``-inf`` for the largest or smallest sum of a row. ``wt.linalg`` has the norms of the array API
    standard.

    Raises:
        ValueError: another ``ord``, or more than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.norm([3.0, 4.0]).tolist(), wt.norm([[1.0, -2.0], [3.0, 4.0]], 1, (0, 1)).tolist()
        (5.0, 6.0)
    """
    operand = as_operand("norm", x)
    magnitudes = operand if operand.dtype is complex64 else cast_to(operand, float32)
    if magnitudes.dtype is complex64 or ord not in _EUCLIDEAN:
        magnitudes = abs(magnitudes)
    rank = len(magnitudes.shape)
    if axis is None:
        flat = _vector_norm(reshape(magnitudes, (-1,) if magnitudes.size else (0,)), ord, 0)
        return reshape(flat, (1,) * rank if keepdims else ())
    axes = axes_in_order("norm", axis, rank)
    if len(axes) not in (1, 2) or len(set(axes)) != len(axes):
        raise ValueError(f"norm: axis must name one axis, or two different ones, but got {axis}")
    if len(axes) == 1:
        result = _vector_norm(magnitudes, ord, axes[0])
    else:
        result = _matrix_norm(magnitudes, ord, *axes)
    return reshape(result, reduced_shape(magnitudes.shape, axes, keepdims))


def _vector_norm(magnitudes: Tensor, ord: float | str, axis: int) -> Tensor:
    """Norm of vectors, whose axis keeps size 1; ``magnitudes`` may be signed where only squared."""
    if ord in ("euclidean", 2):
        return sqrt(_sum(square(magnitudes), axis, True))
    if ord == 1:
        return _sum(magnitudes, axis, True)
    if ord == inf:
        return _max(magnitudes, axis, True)
    if ord == -inf:
        return _min(magnitudes, axis, True)
    if not isinstance(ord, str) and (power := as_number("norm", "ord", ord)) > 0:
        return pow(_sum(pow(magnitudes, power), axis, True), 1 / power)
    raise ValueError(
        f"norm: ord of vectors must be 'euclidean', a positive number, inf or -inf, but got {ord!r}"
    )


def _matrix_norm(magnitudes: Tensor, ord: float | str, row: int, column: int) -> Tensor:
    """Norm of matrices, whose axes keep size 1; ``magnitudes`` may be signed where only squared."""
    if ord in ("euclidean", "fro"):
        return sqrt(_sum(square(magnitudes), (row, column), True))
    if ord == 1:
        return _max(_sum(magnitudes, row, True), column, True)
    if ord == inf:
        return _max(_sum(magnitudes, column, True), row, True)
    if ord == -inf:
        return _min(_sum(magnitudes, column, True), row, True)
    raise ValueError(
        f"norm: ord of matrices must be 'euclidean', 'fro', 1, inf or -inf, but got {ord!r}"
    )


@planned
def euclidean_norm(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Root of the sum of squares along any number of axes (all by default).

    The result is float32. It lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1).tolist()
        [5.0, 10.0]
    """
    operand = as_operand("euclidean_norm", x)
    magnitudes = abs(operand) if operand.dtype is complex64 else cast_to(operand, float32)
    axes = normalize_axes("euclidean_norm", axis, len(magnitudes.shape))
    return sqrt(_sum(square(magnitudes), axes, keepdims))
