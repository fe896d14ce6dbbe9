"""Kernels that factor batches of matrices (``wasm_build/source/linalg.c``).

``words`` is 1 for real matrices and 2 for complex ones. Each kernel gets a work area, whose size in
doubles is given in ``wasm_build/source/factorizations.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


def _run(
    name: str,
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    work_doubles: int,
    *sizes: int,
) -> Handle:
    """Call a kernel with a result, a work area and sizes."""
    run = backend.functions[(name,)]
    out = backend.allocate(prod(shape) * 4)
    try:
        work = backend.allocate(work_doubles * 8)
    except MemoryError:
        backend.release(out)
        raise
    run(*[operand.storage.handle for operand in inputs], out, work, *sizes)
    backend.release(work)
    return out


@kernel("cholesky")
def cholesky(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    n: int,
) -> Handle:
    """Return the lower triangle L of x = L L*."""
    return _run("cholesky", backend, inputs, shape, words * n * n, words, batch, n)


@kernel("solve")
def solve(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    n: int,
    m: int,
) -> Handle:
    """Return the solution x of a x = b."""
    work = words * (n * n + 2 * n * m) + n
    return _run("solve", backend, inputs, shape, work, words, batch, n, m)


@kernel("determinant")
def determinant(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    n: int,
    logarithm: bool,
) -> Handle:
    """Return determinants, or their signs beside the logarithms of their absolute values."""
    work = words * n * n + n
    return _run("determinant", backend, inputs, shape, work, words, batch, n, int(logarithm))


@kernel("qr")
def qr(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    m: int,
    n: int,
    full: bool,
) -> Handle:
    """Return orthonormal Q beside upper triangular R."""
    work = words * (m * n + (m if full else min(m, n)) * m + n)
    return _run("qr", backend, inputs, shape, work, words, batch, m, n, int(full))


@kernel("eigh")
def eigh(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    n: int,
) -> Handle:
    """Return eigenvalues, ascending, beside eigenvectors; only the lower triangle is read."""
    work = words * (2 * n * n + 3 * n) + 2 * n
    return _run("eigh", backend, inputs, shape, work, words, batch, n)


@kernel("svd")
def svd(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    words: int,
    batch: int,
    m: int,
    n: int,
    full: bool,
) -> Handle:
    """Return singular values, descending, beside U and V*."""
    k, most = min(m, n), max(m, n)
    work = words * (2 * m * n + 2 * k * k + most * most + 4 * most) + 2 * k
    return _run("svd", backend, inputs, shape, work, words, batch, m, n, int(full))
