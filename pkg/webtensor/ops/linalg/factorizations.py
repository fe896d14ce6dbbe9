"""Factorizations of matrices: Cholesky, QR and Gram–Schmidt, eigenvalues, singular values.

Each is a primitive computed in double precision: by LAPACK with NumPy, in C with WebAssembly. GPUs
have no kernels for them, so they run on the next backend that has; see ``docs/design/choices.md``.
Gradients are those of Giles, *An extended collection of matrix derivative results* (2008), and for
complex matrices of Wan and Zhang, *Automatic differentiation for complex valued SVD* (2019); they
need distinct eigenvalues or singular values. A matrix that cannot be factored gives NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from webtensor.arguments import check_choice
from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand
from webtensor.ops.binary import divide_no_nan, multiply
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_numbers import complex, imag, real
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import eye, zeros_like
from webtensor.ops.linalg.matrices import band_part, diagonal
from webtensor.ops.linalg.solving import solve
from webtensor.ops.linalg.stacks import Part, adjoint, factored, matrices, parts_of, stored
from webtensor.ops.movement import concat, expand_dims, reshape, stack
from webtensor.ops.rearrangement import unstack
from webtensor.ops.ternary import where
from webtensor.ops.vector_products import matrix_transpose

__all__ = ["cholesky", "eigh", "eigvalsh", "gram_schmidt", "qr", "svd", "svdvals"]


class QR(NamedTuple):
    """Orthonormal columns, and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


class Eigh(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVD(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _hermitian(x: Tensor) -> Tensor:
    """The Hermitian part of matrices."""
    return (x + adjoint(x)) * 0.5


def _on_diagonal(x: Tensor) -> Tensor:
    """Matrices with vectors, (..., n), on their diagonals."""
    return expand_dims(x, -1) * eye(x.shape[-1])


# -- Cholesky -----------------------------------------------------------------------------------


def _cholesky_gradient(dy: Tensor, y: Tensor, x: Tensor, words: int, batch: int, n: int) -> Tensor:
    parts: list[Part] = [((n, n), False)]
    (lower,), (slope,) = parts_of(y, words, parts), parts_of(dy, words, parts)
    inner = matmul(adjoint(lower), slope)
    inner = band_part(inner, -1, 0) - _on_diagonal(diagonal(inner)) * 0.5
    upper = adjoint(lower)
    outer = adjoint(solve(upper, adjoint(solve(upper, inner))))
    return reshape(stored(_hermitian(outer)), x.shape)


_CHOLESKY = Primitive("cholesky", gradients=(_cholesky_gradient,))


def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Lower triangle L with ``x = L L*``, or upper triangle U with ``x = U* U``.

    ``x`` is (..., n, n), Hermitian and positive definite; only its lower triangle is read, and the
    gradient is Hermitian, too. What is not positive definite gives NaN.

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """
    operand = matrices("cholesky", x, square=True)
    n = operand.shape[-1]
    (lower,) = factored(_CHOLESKY, operand, [((n, n), False)], n)
    return adjoint(lower) if upper else lower


# -- QR -----------------------------------------------------------------------------------------


def _over_adjoint(x: Tensor, upper: Tensor) -> Tensor:
    """Return ``x`` times the inverse of the adjoint of a triangular matrix."""
    return adjoint(solve(upper, adjoint(x)))


def _qr_gradient(
    dy: Tensor, y: Tensor, x: Tensor, words: int, batch: int, m: int, n: int, full: int
) -> Tensor:
    if full and m > n:
        raise ValueError(
            f"qr: mode 'complete' has no gradient for matrices (…, {m}, {n}); use 'reduced'"
        )
    parts: list[Part] = [((m, n), False), ((n, n), False)]
    q, r = parts_of(y, words, parts)
    dq, dr = parts_of(dy, words, parts)
    q_slope, r_slope = matmul(adjoint(q), dq), matmul(r, adjoint(dr))
    skew = q_slope - adjoint(q_slope) + r_slope - adjoint(r_slope)
    gradient = matmul(q, dr + _over_adjoint(band_part(skew, -1, 0), r))
    gradient = gradient + _over_adjoint(dq - matmul(q, q_slope), r)
    if words == 2:
        # The diagonal of R is real, so the phase of Q's columns is fixed.
        turn = imag(diagonal(r_slope - adjoint(q_slope)))
        phases = _on_diagonal(complex(zeros_like(turn), turn))
        gradient = gradient + _over_adjoint(matmul(q, adjoint(phases)), r)
    return reshape(stored(gradient), x.shape)


_QR = Primitive("qr", gradients=(_qr_gradient,))


def qr(x: TensorLike, /, *, mode: str = "reduced") -> QR:
    """Orthonormal Q and upper triangular R with ``x = Q R``.

    For ``x`` of shape (..., m, n) and mode "reduced", Q is (..., m, k) and R (..., k, n) with k =
    min(m, n); with "complete", Q is (..., m, m) and R (..., m, n), which has no gradient for m > n.

    Raises:
        ValueError: ``x`` has fewer than two axes, or the mode is another.

    Example:
        >>> import webtensor as wt
        >>> q, r = wt.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> bool(wt.all(wt.abs(q @ r - wt.tensor([[3.0, 1.0], [4.0, 2.0]])) < 1e-5))
        True
    """
    check_choice("qr", "mode", mode, ("reduced", "complete"))
    operand = matrices("qr", x)
    m, n = operand.shape[-2:]
    full = mode == "complete"
    if m < n:
        # The first columns decide Q.
        q, r = qr(operand[..., :m])
        return QR(q, concat([r, matmul(adjoint(q), operand[..., m:])], -1))
    k = m if full else n
    if n == 0:
        identity = cast_to(eye(m, k), operand.dtype)
        return QR(
            broadcast_to(identity, (*operand.shape[:-2], m, k)), zeros_like(operand[..., :k, :])
        )
    q, r = factored(_QR, operand, [((m, k), False), ((k, n), False)], m, n, full)
    return QR(q, r)


def gram_schmidt(xs: TensorLike | Sequence[TensorLike]) -> Any:
    """Orthonormal vectors with the same spans as the first 1, 2, … of ``xs`` (Gram–Schmidt).

    ``xs`` is a matrix whose rows are the vectors, or a list of vectors; the result is of the same
    kind. It is computed by a QR factorization, which keeps the vectors orthogonal to rounding.

    A matrix has shape (vectors, elements), as the result has.

    Raises:
        TypeError: the vectors are complex.
        ValueError: they are no matrix or vectors of one length, or more than they have elements.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.gram_schmidt([[2.0]]).tolist()
        [[1.0]]
    """
    listed = isinstance(xs, (list, tuple)) and any(isinstance(x, Tensor) for x in xs)
    vectors = stack(xs) if listed else as_operand("gram_schmidt", xs)
    if vectors.dtype is complex64:
        raise TypeError("gram_schmidt: vectors must be real, but got complex64")
    if len(vectors.shape) != 2 or vectors.shape[0] > vectors.shape[1] or vectors.shape[0] == 0:
        raise ValueError(
            "gram_schmidt: xs must be vectors of one length, at most as many as they have "
            f"elements, but their shape is {vectors.shape}"
        )
    q, r = qr(matrix_transpose(cast_to(vectors, float32)))
    signs = where(diagonal(r) < 0, -1.0, 1.0)
    rows = matrix_transpose(multiply(q, signs))
    return list(unstack(rows)) if listed else rows


# -- eigenvalues --------------------------------------------------------------------------------


def _eigh_gradient(dy: Tensor, y: Tensor, x: Tensor, words: int, batch: int, n: int) -> Tensor:
    parts: list[Part] = [((n,), True), ((n, n), False)]
    values, vectors = parts_of(y, words, parts)
    value_slope, vector_slope = parts_of(dy, words, parts)
    apart = expand_dims(values, -2) - expand_dims(values, -1)
    # Differences between equal eigenvalues contribute nothing.
    turns = matmul(adjoint(vectors), vector_slope) * divide_no_nan(1.0, apart)
    inner = _on_diagonal(value_slope) + turns
    outer = matmul(matmul(vectors, inner), adjoint(vectors))
    return reshape(stored(_hermitian(outer)), x.shape)


_EIGH = Primitive("eigh", gradients=(_eigh_gradient,))


def eigh(x: TensorLike, /) -> Eigh:
    """Eigenvalues and eigenvectors of Hermitian matrices, (..., n, n).

    ``x @ V = V * w``, with the eigenvalues ``w`` ascending, float32 (..., n), and the eigenvectors
    the orthonormal columns of ``V``, which are determined up to a sign, or a phase. Only the lower
    triangle of ``x`` is read, and the gradient is Hermitian.

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
        [1.0, 2.0]
    """
    operand = matrices("eigh", x, square=True)
    n = operand.shape[-1]
    values, vectors = factored(_EIGH, operand, [((n,), True), ((n, n), False)], n)
    return Eigh(values, vectors)


def eigvalsh(x: TensorLike, /) -> Tensor:
    """Eigenvalues of Hermitian matrices, ascending. See ``eigh``.

    ``x`` has shape (..., n, n); the result is float32 (..., n).

    Raises:
        ValueError: the matrices are not square.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
        [1.0, 2.0]
    """
    return eigh(matrices("eigvalsh", x, square=True)).eigenvalues


# -- singular values ----------------------------------------------------------------------------


def _svd_gradient(
    dy: Tensor, y: Tensor, x: Tensor, words: int, batch: int, m: int, n: int, full: int
) -> Tensor:
    if full and m != n:
        raise ValueError(f"svd: only full_matrices=False has a gradient for matrices (…, {m}, {n})")
    k = min(m, n)
    parts: list[Part] = [((k,), True), ((m, k), False), ((k, n), False)]
    s, u, vh = parts_of(y, words, parts)
    ds, du, dvh = parts_of(dy, words, parts)
    row, column = expand_dims(s, -2), expand_dims(s, -1)
    inverse = divide_no_nan(1.0, (row - column) * (row + column))
    u_slope, v_slope = matmul(adjoint(u), du), matmul(vh, adjoint(dvh))
    inner = (u_slope - adjoint(u_slope)) * inverse * row
    inner = inner + (v_slope - adjoint(v_slope)) * inverse * column + _on_diagonal(ds)
    if words == 2:
        turn = imag(diagonal(u_slope)).divide_no_nan(s)
        inner = inner + _on_diagonal(complex(zeros_like(turn), turn))
    gradient = matmul(matmul(u, inner), vh)
    reciprocals = divide_no_nan(1.0, row)
    if m > k:
        beside = du - matmul(u, u_slope)
        gradient = gradient + matmul(beside * reciprocals, vh)
    if n > k:
        beside = dvh - matmul(adjoint(v_slope), vh)
        gradient = gradient + matmul(u * reciprocals, beside)
    return reshape(stored(gradient), x.shape)


_SVD = Primitive("svd", gradients=(_svd_gradient,))


def svd(x: TensorLike, /, *, full_matrices: bool = True) -> SVD:
    """Singular values and vectors: ``x = U[..., :k] * S @ Vh[..., :k, :]`` with k = min(m, n).

    For ``x`` of shape (..., m, n), S is float32 (..., k), descending. U is (..., m, m) and Vh
    (..., n, n), or (..., m, k) and (..., k, n) without ``full_matrices``, which gradients need
    where m ≠ n. Vectors are determined up to a sign, or a phase.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.svd([[0.0, 2.0], [1.0, 0.0]]).S.tolist()
        [2.0, 1.0]
    """
    operand = matrices("svd", x)
    m, n = operand.shape[-2:]
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    if k == 0:
        u = broadcast_to(cast_to(eye(m, rows), operand.dtype), (*operand.shape[:-2], m, rows))
        vh = broadcast_to(
            cast_to(eye(columns, n), operand.dtype), (*operand.shape[:-2], columns, n)
        )
        return SVD(u, real(operand).reshape((*operand.shape[:-2], 0)), vh)
    parts: list[Part] = [((k,), True), ((m, rows), False), ((columns, n), False)]
    s, u, vh = factored(_SVD, operand, parts, m, n, bool(full_matrices))
    return SVD(u, s, vh)


def svdvals(x: TensorLike, /) -> Tensor:
    """Singular values, descending, float32 (..., min(m, n)). See ``svd``.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]]).tolist()
        [2.0, 1.0]
    """
    return svd(matrices("svdvals", x), full_matrices=False).S
