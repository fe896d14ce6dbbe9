"""The rank of matrices, and their pseudo-inverse, by singular values."""

from __future__ import annotations

from webtensor.autodiff import custom_grad
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.binary import divide_no_nan
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import full, zeros_like
from webtensor.ops.linalg.factorizations import svd, svdvals
from webtensor.ops.linalg.stacks import adjoint, matrices
from webtensor.ops.movement import expand_dims
from webtensor.ops.reduction import max as _max, sum as _sum
from webtensor.shapes import broadcast_shapes

__all__ = ["matrix_rank", "pinv"]

#: Spacing of float32 numbers in [1, 2).
_EPSILON = 2.0**-23


def _threshold(name: str, values: Tensor, x: Tensor, rtol: TensorLike | None) -> Tensor:
    """Return the value up to which singular values count as zero: ``rtol`` times the maximum."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * _EPSILON
    else:
        rtol = expand_dims(cast_to(as_operand(name, rtol, float32), float32), -1)
    return _max(values, -1, keepdims=True) * rtol


def matrix_rank(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """Rank of matrices, (..., m, n): how many singular values exceed ``rtol`` times the largest.

    ``rtol`` is max(m, n) * 2**-23 by default, and may be a tensor that broadcasts with the stack.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).tolist()
        1
    """
    operand = matrices("matrix_rank", x)
    if 0 in operand.shape[-2:]:
        return full(operand.shape[:-2], 0, int32)
    values = svdvals(operand)
    return _sum(values > _threshold("matrix_rank", values, operand, rtol), -1)


def pinv(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """Pseudo-inverse (Moore–Penrose) of matrices: (..., m, n) becomes (..., n, m).

    Singular values up to ``rtol`` times the largest, max(m, n) * 2**-23 by default, count as zero.
    The gradient is that at constant rank (Golub and Pereyra, 1973).

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    operand = matrices("pinv", x)
    if 0 in operand.shape[-2:]:
        return operand.reshape((*operand.shape[:-2], operand.shape[-1], operand.shape[-2]))  # type: ignore[no-any-return]

    rtols = [] if rtol is None else [cast_to(as_operand("pinv", rtol, float32), float32)]
    if rtols:
        stack = broadcast_shapes("pinv", operand.shape[:-2], rtols[0].shape)
        operand = broadcast_to(operand, (*stack, *operand.shape[-2:]))

    def with_gradient(a: Tensor, *rtols: Tensor) -> tuple[Tensor, object]:
        rtol = rtols[0] if rtols else None
        u, values, vh = svd(a, full_matrices=False)
        significant = values.where(values > _threshold("pinv", values, a, rtol), 0.0)
        inverses = divide_no_nan(1.0, significant)
        inverse = matmul(adjoint(vh) * expand_dims(inverses, -2), adjoint(u))

        def gradient(dy: Tensor) -> list[Tensor]:
            p = pinv(a, rtol=rtol)  # anew, so that it can be differentiated again
            ph, slope = adjoint(p), adjoint(dy)
            rows = slope - matmul(a, matmul(p, slope))
            columns = slope - matmul(matmul(slope, p), a)
            slope_of_a = (
                matmul(rows, matmul(p, ph))
                + matmul(matmul(ph, p), columns)
                - matmul(ph, matmul(dy, ph))
            )
            return [slope_of_a, *map(zeros_like, rtols)]

        return inverse, gradient

    return custom_grad(with_gradient)(operand, *rtols)  # type: ignore[arg-type]
