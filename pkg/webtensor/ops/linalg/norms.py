"""Norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.casting import cast_to
from webtensor.ops.linalg.factorizations import svdvals
from webtensor.ops.linalg.stacks import matrices
from webtensor.ops.movement import reshape
from webtensor.ops.reduction import max as _max, min as _min, sum as _sum
from webtensor.ops.tensor_norms import euclidean_norm
from webtensor.ops.unary import abs
from webtensor.shapes import normalize_axes

__all__ = ["matrix_norm", "vector_norm"]


def vector_norm(
    x: TensorLike,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Tensor:
    """Norm of vectors along ``axis`` (all axes by default, as one vector), float32.

    ``ord`` is the p of the p-norm, the root of the sum of p-th powers of sizes; ``inf`` and
    ``-inf`` give the largest and smallest size, 0 the number of elements that are not zero.

    Raises:
        TypeError: ``ord`` is not a number.
        ValueError: an axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.vector_norm([3.0, 4.0]).tolist()
        5.0
    """
    operand = as_operand("vector_norm", x)
    if isinstance(ord, (bool, str)) or not hasattr(ord, "__float__"):
        raise TypeError(f"vector_norm: ord must be a number, but got {ord!r}")
    axes = normalize_axes("vector_norm", axis, len(operand.shape))
    if ord == 2:
        return euclidean_norm(operand, axes, keepdims)
    sizes = abs(operand if operand.dtype is complex64 else cast_to(operand, float32))
    if ord == inf:
        return _largest(sizes, axes, keepdims)
    if ord == -inf:
        return _min(sizes, axes, keepdims)
    if ord == 0:
        return _sum(cast_to(sizes != 0, float32), axes, keepdims)
    if ord == 1:
        return _sum(sizes, axes, keepdims)
    return _sum(sizes ** float(ord), axes, keepdims) ** (1 / float(ord))


def _largest(sizes: Tensor, axis: int | Sequence[int], keepdims: bool = False) -> Tensor:
    """Return the maxima of sizes; 0 where there are none."""
    return (_max if sizes.size else _sum)(sizes, axis, keepdims)


def matrix_norm(
    x: TensorLike, /, *, keepdims: bool = False, ord: float | str | None = "fro"
) -> Tensor:
    """Norm of matrices, (..., m, n), float32.

    ``ord`` is "fro" for the root of the sum of squares; "nuc" for the sum, 2 and -2 for the
    largest and the smallest singular value; 1 and -1 for the largest and smallest sum of sizes
    of a column, ``inf`` and ``-inf`` of a row.

    Raises:
        ValueError: ``x`` has fewer than two axes, or ``ord`` is something else.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]]).tolist()
        5.0
    """
    operand = matrices("matrix_norm", x)
    norms: Tensor
    if ord in ("fro", None):
        norms = vector_norm(operand, axis=(-2, -1))
    elif ord == "nuc":
        norms = _sum(svdvals(operand), -1)
    elif ord == 2:
        norms = _largest(svdvals(operand), -1)
    elif ord == -2:
        norms = _min(svdvals(operand), -1)
    elif ord in (1, -1):
        norms = (_largest if ord == 1 else _min)(_sum(abs(operand), -2), -1)
    elif ord in (inf, -inf):
        norms = (_largest if ord == inf else _min)(_sum(abs(operand), -1), -1)
    else:
        raise ValueError(
            f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {ord!r}"
        )
    return reshape(norms, (*norms.shape, 1, 1)) if keepdims else norms
