"""Functions of matrices."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.keras.ops.operations import Table, op
from webtensor.shapes import normalize_axes

__all__ = ["TABLE"]


def _float(x: Any) -> Any:
    x = wt.asarray(x)
    return x if x.dtype is float32 else wt.astype(x, float32)


def _cholesky(x: Any, upper: bool = False) -> Any:
    """The triangular factor of a symmetric positive matrix."""
    return wt.linalg.cholesky(_float(x), upper=upper)


def _cholesky_inverse(x: Any, upper: bool = False) -> Any:
    """The inverse of the matrix that has a triangular factor."""
    x = wt.asarray(x)
    inverse = _solve_triangular(x, wt.eye(x.shape[-1]), not upper)
    other = wt.matrix_transpose(inverse)
    return wt.matmul(inverse, other) if upper else wt.matmul(other, inverse)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors or matrices."""
    x = _float(x)
    rank = len(x.shape)
    if axis is None and (ord is None or rank == 1):
        if ord is None:
            return wt.euclidean_norm(x, None, keepdims)
        axis = 0
    axes = normalize_axes("norm", tuple(axis) if isinstance(axis, list) else axis, rank)
    if len(axes) == 1:
        return wt.linalg.vector_norm(x, axis=axes, ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: axis must be one axis or two, but got {axis!r} of {x.shape}")
    if ord is None:
        return wt.euclidean_norm(x, axes, keepdims)
    found = wt.linalg.matrix_norm(wt.moveaxis(x, axes, (-2, -1)), ord=ord)
    for one in sorted(axes) if keepdims else ():
        found = wt.expand_dims(found, one)
    return found


def _qr(x: Any, mode: str = "reduced") -> Any:
    """An orthogonal matrix and a triangular one, whose product a matrix is."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', but got {mode!r}")
    return tuple(wt.linalg.qr(_float(x), mode=mode))


def _svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values, and the matrices around them."""
    if not compute_uv:
        return wt.linalg.svdvals(_float(x))
    return tuple(wt.linalg.svd(_float(x), full_matrices=full_matrices))


def _solve(a: Any, b: Any) -> Any:
    """The x for which ``a @ x`` is b."""
    return wt.linalg.solve(_float(a), _float(b))


def _solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """The x for which the product of a triangle of ``a`` with x is b."""
    a, b = _float(a), _float(b)
    triangle = wt.tril(a) if lower else wt.triu(a)
    if len(b.shape) == len(a.shape) - 1:
        return wt.squeeze(wt.linalg.solve(triangle, wt.expand_dims(b, -1)), -1)
    return wt.linalg.solve(triangle, b)


def _matrix_rank(x: Any, tol: Any = None) -> Any:
    """How many singular values are above a limit."""
    if tol is None:
        return wt.linalg.matrix_rank(_float(x))
    return wt.sum(wt.greater(wt.linalg.svdvals(_float(x)), tol), axis=-1)


def _pinv(x: Any, rcond: Any = None) -> Any:
    """The pseudoinverse, by Moore and Penrose."""
    return wt.linalg.pinv(_float(x), rtol=rcond)


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The x for which ``a @ x`` is nearest to b."""
    a, b = _float(a), _float(b)
    if len(b.shape) == 1:
        return wt.squeeze(wt.matmul(_pinv(a, rcond), wt.expand_dims(b, -1)), -1)
    return wt.matmul(_pinv(a, rcond), b)


TABLE = Table(
    "keras.src.ops.linalg",
    {
        "cholesky": op(_cholesky, "upper"),
        "cholesky_inverse": op(_cholesky_inverse, "upper"),
        "det": op(lambda x: wt.linalg.det(_float(x)), doc="The determinant."),
        "eigh": op(
            lambda x: tuple(wt.linalg.eigh(_float(x))),
            doc="Eigenvalues and eigenvectors of a symmetric matrix.",
        ),
        "inv": op(lambda x: wt.linalg.inv(_float(x)), doc="The inverse."),
        "lstsq": op(_lstsq, "rcond"),
        "matrix_rank": op(_matrix_rank, "tol"),
        "norm": op(_norm, "ord axis keepdims"),
        "pinv": op(_pinv, "rcond"),
        "qr": op(_qr, "mode"),
        "solve": op(_solve),
        "solve_triangular": op(_solve_triangular, "lower"),
        "svd": op(_svd, "full_matrices compute_uv", kind="SVD"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
