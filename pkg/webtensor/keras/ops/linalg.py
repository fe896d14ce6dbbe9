"""Functions of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.ops.operations import Arguments, Computation, Table, op
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Axis, Config
from webtensor.shapes import normalize_axes
from webtensor.transforms.derivatives import jvp

__all__ = ["TABLE"]


def _float(x: TensorLike) -> Tensor:
    operand = wt.asarray(x)
    return operand if operand.dtype is complex64 else wt.astype(operand, float32, copy=False)


def _cholesky(x: TensorLike, upper: bool = False) -> Tensor:
    """Return the Cholesky factor L of symmetric positive definite matrices: ``x = L @ Lᵀ``.

    ``x`` has shape (…, n, n), as the result has; it is lower triangular, or upper with ``upper``.

    Raises:
        ValueError: a matrix is not square or not positive definite.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).tolist()
        [[2.0, 0.0], [1.0, 1.0]]
    """
    factor = wt.linalg.cholesky(_float(x), upper=upper)
    if bool(wt.any(wt.isnan(factor))):
        raise ValueError("cholesky: a matrix is not positive definite")
    return factor


def _cholesky_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    shape = args[0].shape
    if len(shape) < 2 or (shape[-1] != shape[-2] and None not in shape[-2:]):
        raise ValueError(f"a matrix must be square, but the shape is {shape}")
    return KerasTensor(shape, float32)


def _cholesky_inverse(x: TensorLike, upper: bool = False) -> Tensor:
    """Return the inverse of the matrix whose Cholesky factor is ``x``, of shape (…, n, n).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.cholesky_inverse([[2.0, 0.0], [0.0, 4.0]]).tolist()
        [[0.25, 0.0], [0.0, 0.0625]]
    """
    x = wt.asarray(x)
    ones = wt.broadcast_to(wt.eye(x.shape[-1]), x.shape)
    inverse = _solve_triangular(x, ones, not upper)
    other = wt.conj(wt.matrix_transpose(inverse))
    return wt.matmul(inverse, other) if upper else wt.matmul(other, inverse)


def _norm(
    x: TensorLike, ord: int | float | str | None = None, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the norm of vectors along one axis, or of matrices along two.

    Without ``ord``, it is the square root of the sum of squares, over all elements if ``axis`` is
    None. ``ord`` of a vector is a number, of a matrix also "fro" or "nuc".

    Raises:
        ValueError: ``axis`` is neither one axis nor two, or ``ord`` does not fit.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=-1).tolist()
        [5.0, 10.0]
    """
    x = _float(x)
    rank = len(x.shape)
    if axis is None and (ord is None or rank == 1):
        if ord is None:
            return wt.euclidean_norm(x, None, keepdims)
        axis = 0
    axes = normalize_axes("norm", tuple(axis) if isinstance(axis, list) else axis, rank)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: ord of a vector must be a number, but got {ord!r}")
        return wt.linalg.vector_norm(x, axis=axes, ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: axis must be one axis or two, but got {axis!r} of {x.shape}")
    if ord is None:
        return wt.euclidean_norm(x, axes, keepdims)
    norm = wt.linalg.matrix_norm(wt.moveaxis(x, axes, (-2, -1)), ord=ord)
    for reduced_axis in sorted(axes) if keepdims else ():
        norm = wt.expand_dims(norm, reduced_axis)
    return norm


def _qr(x: TensorLike, mode: str = "reduced") -> tuple[Tensor, ...]:
    """Return the QR decomposition of matrices: an orthogonal and an upper triangular matrix.

    ``x`` has shape (…, m, n). They are (…, m, k) and (…, k, n) with k = min(m, n), or (…, m, m)
    and (…, m, n) with mode "complete".

    Raises:
        ValueError: ``mode`` is neither "reduced" nor "complete".

    Example:
        >>> from webtensor import keras
        >>> q, r = keras.ops.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> q.shape, keras.ops.abs(r).numpy().round(3)
        ((2, 2), array([[5. , 2.2],
               [0. , 0.4]], dtype=float32))
    """
    check_choice("qr", "mode", mode, ("reduced", "complete"))
    return tuple(wt.linalg.qr(_float(x), mode=mode))


def _svd(
    x: TensorLike, full_matrices: bool = True, compute_uv: bool = True
) -> Tensor | tuple[Tensor, ...]:
    """Return the singular value decomposition of matrices: U, S and Vh.

    ``x`` has shape (…, m, n) and S (…, min(m, n)), descending. Without ``full_matrices``, U and Vh
    have only as many columns and rows. Without ``compute_uv``, return S alone.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.svd([[0.0, 2.0], [1.0, 0.0]], compute_uv=False).tolist()
        [2.0, 1.0]
    """
    if not compute_uv:
        return wt.linalg.svdvals(_float(x))
    return tuple(wt.linalg.svd(_float(x), full_matrices=full_matrices))


def _solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the solution x of ``a @ x = b``.

    ``a`` has shape (…, n, n), ``b`` and the result (…, n) or (…, n, k).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
        [1.0, 0.5]
    """
    a, b = _float(a), _float(b)
    if len(b.shape) == len(a.shape) - 1:
        return wt.squeeze(wt.linalg.solve(a, wt.expand_dims(b, -1)), -1)
    return wt.linalg.solve(a, b)


def _solve_triangular(a: TensorLike, b: TensorLike, lower: bool = False) -> Tensor:
    """Return the solution x of ``a @ x = b``, where only one triangle of ``a`` counts.

    ``a`` has shape (…, n, n), ``b`` and the result (…, n) or (…, n, k). The triangle is the upper
    one, or the lower one with ``lower``.

    Example:
        >>> from webtensor import keras
        >>> a = [[2.0, 9.0], [1.0, 1.0]]
        >>> keras.ops.linalg.solve_triangular(a, [2.0, 3.0], lower=True).tolist()
        [1.0, 2.0]
    """
    a, b = _float(a), _float(b)
    triangle = wt.tril(a) if lower else wt.triu(a)
    return _solve(triangle, b)


def _matrix_rank(x: TensorLike, tol: float | None = None) -> Tensor:
    """Return the rank of matrices: the number of singular values above ``tol``.

    ``x`` has shape (…, m, n), the result (…) and dtype int32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).item()
        1
    """
    if tol is None:
        return wt.linalg.matrix_rank(_float(x))
    return wt.sum(wt.greater(wt.linalg.svdvals(_float(x)), tol), axis=-1)


def _pinv(x: TensorLike, rcond: float | None = None) -> Tensor:
    """Return the Moore-Penrose pseudoinverse of matrices: (…, m, n) becomes (…, n, m).

    Singular values below ``rcond`` times the largest count as zero.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).numpy().round(3)
        array([[0.5, 0. ],
               [0. , 0. ]], dtype=float32)
    """
    return wt.linalg.pinv(_float(x), rtol=rcond)


def _lstsq(a: TensorLike, b: TensorLike, rcond: float | None = None) -> Tensor:
    """Return the least-squares solution x of ``a @ x = b``.

    ``a`` has shape (m, n), ``b`` (m,) or (m, k), and the result (n,) or (n, k). Singular values
    below ``rcond`` times the largest count as zero.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0]).numpy().round(3)
        array([2.], dtype=float32)
    """
    a, b = _float(a), _float(b)
    if len(b.shape) == 1:
        return wt.squeeze(wt.matmul(_pinv(a, rcond), wt.expand_dims(b, -1)), -1)
    return wt.matmul(_pinv(a, rcond), b)


def _lu_factor(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the LU decomposition of matrices with partial pivoting.

    For ``x`` of shape (…, m, n) these are both factors in one (…, m, n), without the ones on the
    diagonal of L, and the pivots (…, min(m, n)): with which row each row was exchanged, as int32.

    Example:
        >>> from webtensor import keras
        >>> factors, pivots = keras.ops.linalg.lu_factor([[1.0, 2.0], [4.0, 2.0]])
        >>> factors.tolist(), pivots.tolist()
        ([[4.0, 2.0], [0.25, 1.5]], [1, 1])
    """
    x = _float(x)
    *outer, rows, columns = x.shape
    count = min(rows, columns)
    down, across = wt.reshape(wt.arange(rows), (rows, 1)), wt.arange(columns)
    pivots = []
    for number in range(count):
        column = wt.abs(x[..., :, number])
        best = wt.argmax(wt.where(wt.less(wt.arange(rows), number), -1.0, column), axis=-1)
        pivots.append(best)
        pivot_row = wt.reshape(best, (*outer, 1, 1))
        order = wt.where(wt.equal(down, pivot_row), number, down)
        order = wt.where(wt.equal(down, number), pivot_row, order)
        x = wt.take_along_axis(x, wt.broadcast_to(order, x.shape), axis=-2)
        row = x[..., number : number + 1, :]
        is_below = wt.greater(down, number)
        pivot = row[..., number : number + 1]
        factors = wt.divide_no_nan(x[..., :, number : number + 1], pivot)
        subtrahend = wt.where(wt.greater(across, number), wt.multiply(factors, row), 0.0)
        reduced = wt.where(wt.equal(across, number), factors, wt.subtract(x, subtrahend))
        x = wt.where(is_below, reduced, x)
    return x, wt.stack(pivots, -1)


def _jvp(
    fun: Callable[..., Any],
    primals: Sequence[TensorLike],
    tangents: Sequence[TensorLike],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Return what ``fun`` returns at ``primals``, and its derivative in the direction ``tangents``.

    Both are sequences of the same structure and shapes. With ``has_aux``, ``fun`` returns a pair,
    of which only the first is differentiated; the second is returned, too.

    Raises:
        TypeError: they are neither lists nor tuples, or a result is no tensor; with ``has_aux``,
            ``fun`` returns no pair.
        ValueError: ``primals`` and ``tangents`` differ in structure or shapes.

    Example:
        >>> from webtensor import keras
        >>> value, derivative = keras.ops.linalg.jvp(lambda x: x * x, (3.0,), (1.0,))
        >>> value.tolist(), derivative.tolist()
        (9.0, 6.0)
    """
    return jvp(fun, primals, tangents, has_aux)


TABLE = Table(
    "keras.src.ops.linalg",
    {
        "cholesky": op(_cholesky, "upper", spec=_cholesky_spec),
        "cholesky_inverse": op(_cholesky_inverse, "upper"),
        "det": op(lambda x: wt.linalg.det(_float(x))),
        "eigh": op(lambda x: tuple(wt.linalg.eigh(_float(x)))),
        "inv": op(lambda x: wt.linalg.inv(_float(x))),
        "jvp": op(_jvp, "has_aux", class_name="JVP"),
        "lstsq": op(_lstsq, "rcond"),
        "lu_factor": op(_lu_factor),
        "matrix_rank": op(_matrix_rank, "tol"),
        "norm": op(_norm, "ord axis keepdims"),
        "pinv": op(_pinv, "rcond"),
        "qr": op(_qr, "mode"),
        "solve": op(_solve),
        "solve_triangular": op(_solve_triangular, "lower"),
        "svd": op(_svd, "full_matrices compute_uv", class_name="SVD"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
