"""Kernels of matrix products, and the epilogue of all products."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from webtensor.backends.api import Elementwise, Handle
from webtensor.backends.fused_activations import epilogue_operands
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.matmul_sizes import MatmulSizes

if TYPE_CHECKING:
    from webtensor.geometry import Window

__all__ = ["fused"]


@kernel("matmul")
def matmul(of: Signature, arrays: Arrays, sizes: MatmulSizes) -> Handle:
    """Multiply batches of matrices."""

    def matrices(x: Array, batched: bool, transposed: bool, rows: int, columns: int) -> Array:
        inner = (columns, rows) if transposed else (rows, columns)
        stored = x.reshape(sizes.batch if batched else 1, *inner)
        return stored.transpose(0, 2, 1) if transposed else stored

    a = matrices(arrays[0], sizes.a_batched, sizes.transpose_a, sizes.m, sizes.k)
    b = matrices(arrays[1], sizes.b_batched, sizes.transpose_b, sizes.k, sizes.n)
    product = _integer_product(a, b) if a.dtype == np.int32 else a @ b
    return product.reshape(of.shape)


def _integer_product(a: Array, b: Array) -> Array:
    """Multiply matrices of integers: as doubles, by BLAS, if doubles hold all sums exactly."""
    largest = [max(int(x.max(initial=0)), -int(x.min(initial=0))) for x in (a, b)]
    if prod(largest) * a.shape[-1] >= 1 << 53:
        return a @ b
    return (a.astype(np.float64) @ b).astype(np.int64).astype(np.int32)


def fused(product: Callable[..., Handle]) -> Callable[..., Handle]:
    """Make the kernel of a product with an epilogue: a bias, a residual, an activation."""

    def run_fused(
        of: Signature,
        arrays: Arrays,
        geometry: MatmulSizes | Window,
        row: Elementwise | None,
        *parameters: float,
    ) -> Handle:
        bias, slopes, residual = epilogue_operands(arrays[2:], row)
        y = product(of, arrays[:2], geometry) + bias
        if residual is not None:
            y = y + residual
        if row is None:
            return y
        operands = (y,) if slopes is None else (y, slopes)
        return row.numpy(np, *operands, *parameters).astype(np.float32)

    return run_fused


kernel("fused_matmul")(fused(matmul))
