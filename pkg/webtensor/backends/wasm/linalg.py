"""Kernels that factor batches of matrices (``wasm_build/source/linalg.c``).

``words`` is 1 for real matrices and 2 for complex ones. Each kernel gets a work area, whose size in
doubles is given in ``wasm_build/source/factorizations.h``.
"""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("cholesky")
def cholesky(of: Signature, words: int, batch: int, n: int) -> Description:
    """Return the lower triangle L of x = L L*."""
    return one_call(of, ("cholesky",), words, batch, n, scratch_bytes=8 * words * n * n)


@kernel("solve")
def solve(of: Signature, words: int, batch: int, n: int, m: int) -> Description:
    """Return the solution x of a x = b."""
    doubles = words * (n * n + 2 * n * m) + n
    return one_call(of, ("solve",), words, batch, n, m, scratch_bytes=8 * doubles)


@kernel("determinant")
def determinant(of: Signature, words: int, batch: int, n: int, logarithm: bool) -> Description:
    """Return determinants, or their signs beside the logarithms of their absolute values."""
    doubles = words * n * n + n
    return one_call(
        of, ("determinant",), words, batch, n, int(logarithm), scratch_bytes=8 * doubles
    )


@kernel("qr")
def qr(of: Signature, words: int, batch: int, m: int, n: int, full: bool) -> Description:
    """Return orthonormal Q beside upper triangular R."""
    doubles = words * (m * n + (m if full else min(m, n)) * m + n)
    return one_call(of, ("qr",), words, batch, m, n, int(full), scratch_bytes=8 * doubles)


@kernel("eigh")
def eigh(of: Signature, words: int, batch: int, n: int) -> Description:
    """Return eigenvalues, ascending, beside eigenvectors; only the lower triangle is read."""
    doubles = words * (2 * n * n + 3 * n) + 2 * n
    return one_call(of, ("eigh",), words, batch, n, scratch_bytes=8 * doubles)


@kernel("svd")
def svd(of: Signature, words: int, batch: int, m: int, n: int, full: bool) -> Description:
    """Return singular values, descending, beside U and V*."""
    k, larger = min(m, n), max(m, n)
    doubles = words * (2 * m * n + 2 * k * k + larger * larger + 4 * larger) + 2 * k
    return one_call(of, ("svd",), words, batch, m, n, int(full), scratch_bytes=8 * doubles)
