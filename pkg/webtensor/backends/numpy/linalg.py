"""Kernels that factor batches of matrices, by LAPACK in double precision.

``words`` is 1 for real matrices and 2 for complex ones, whose elements are pairs. Results of
several parts are packed one after the other, per matrix. A matrix that cannot be factored gives
NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.shapes import Shape

__all__: list[str] = []


def _matrices(array: Array, words: int, *shape: int) -> Array:
    """Return an operand in double precision."""
    x = array.reshape(-1)
    return (x if words == 1 else x.view(np.complex64)).reshape(shape).astype(_wide(words))


def _wide(words: int) -> Any:
    return np.float64 if words == 1 else np.complex128


def _packed(shape: Shape, *parts: Array) -> Array:
    """Concatenate the parts of each matrix's result, as float32."""
    rows = []
    for part in parts:
        narrow = np.ascontiguousarray(part, np.complex64 if part.dtype.kind == "c" else np.float32)
        rows.append(narrow.reshape(len(part), -1).view(np.float32))
    return np.concatenate(rows, axis=1).reshape(shape)


def _each(
    function: Callable[..., Any], part_shapes: Sequence[Shape], *matrices: Array
) -> list[Array]:
    """Apply a function to batches, or to each matrix where one of them fails, which gives NaN."""
    try:
        results = function(*matrices)
        return list(results) if isinstance(results, tuple) else [results]
    except np.linalg.LinAlgError:
        batch = len(matrices[0])
        dtype = matrices[0].dtype
        parts = [np.full((batch, *length), np.nan, dtype) for length in part_shapes]
        for index in range(batch):
            try:
                results = function(*(stack[index] for stack in matrices))
            except np.linalg.LinAlgError:
                continue
            for to, result in zip(
                parts, results if isinstance(results, tuple) else [results], strict=True
            ):
                to[index] = result
        return parts


@kernel("cholesky")
def cholesky(of: Signature, arrays: Arrays, words: int, batch: int, n: int) -> Handle:
    """Return the lower triangle L of x = L L*."""
    x = _matrices(arrays[0], words, batch, n, n)
    return _packed(of.shape, *_each(np.linalg.cholesky, [(n, n)], x))


@kernel("solve")
def solve(of: Signature, arrays: Arrays, words: int, batch: int, n: int, m: int) -> Handle:
    """Return the solution x of a x = b."""
    a = _matrices(arrays[0], words, batch, n, n)
    b = _matrices(arrays[1], words, batch, n, m)
    return _packed(of.shape, *_each(np.linalg.solve, [(n, m)], a, b))


@kernel("determinant")
def determinant(
    of: Signature, arrays: Arrays, words: int, batch: int, n: int, logarithm: bool
) -> Handle:
    """Return determinants, or their signs beside the logarithms of their absolute values."""
    x = _matrices(arrays[0], words, batch, n, n)
    if not logarithm:
        return _packed(of.shape, np.linalg.det(x))
    sign, size = np.linalg.slogdet(x)
    return _packed(of.shape, sign, size)


@kernel("qr")
def qr(of: Signature, arrays: Arrays, words: int, batch: int, m: int, n: int, full: bool) -> Handle:
    """Return orthonormal Q beside upper triangular R."""
    x = _matrices(arrays[0], words, batch, m, n)
    return _packed(of.shape, *np.linalg.qr(x, "complete" if full else "reduced"))


@kernel("eigh")
def eigh(of: Signature, arrays: Arrays, words: int, batch: int, n: int) -> Handle:
    """Return eigenvalues, ascending, beside eigenvectors; only the lower triangle is read."""
    x = _matrices(arrays[0], words, batch, n, n)
    values, vectors = _each(np.linalg.eigh, [(n,), (n, n)], x)
    return _packed(of.shape, values.real, vectors)


@kernel("svd")
def svd(
    of: Signature, arrays: Arrays, words: int, batch: int, m: int, n: int, full: bool
) -> Handle:
    """Return singular values, descending, beside U and V*."""
    x = _matrices(arrays[0], words, batch, m, n)
    k = min(m, n)
    part_shapes = [(m, m if full else k), (k,), (n if full else k, n)]
    u, values, vh = _each(lambda matrix: np.linalg.svd(matrix, full_matrices=full), part_shapes, x)
    return _packed(of.shape, values.real, u, vh)
