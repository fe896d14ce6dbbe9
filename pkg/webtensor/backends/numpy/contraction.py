"""Kernels of matrix products, and the epilogue of all products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from webtensor.backends.api import Backend, Elementwise, Handle, Kernel, Operand
from webtensor.backends.fused_activations import epilogue_operands
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.matmul_sizes import MatmulSizes
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.backends.numpy.windows import Array
    from webtensor.geometry import Window

__all__ = ["fused"]


@kernel("matmul")
def matmul(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: MatmulSizes
) -> Handle:
    """Multiply batches of matrices."""

    def matrices(x: Operand, batched: bool, transposed: bool, rows: int, columns: int) -> Array:
        inner = (columns, rows) if transposed else (rows, columns)
        stored = array_of(x).reshape(sizes.batch if batched else 1, *inner)
        return stored.transpose(0, 2, 1) if transposed else stored

    a = matrices(inputs[0], sizes.a_batched, sizes.transpose_a, sizes.m, sizes.k)
    b = matrices(inputs[1], sizes.b_batched, sizes.transpose_b, sizes.k, sizes.n)
    return (a @ b).reshape(shape)


def fused(product: Kernel) -> Kernel:
    """Make the kernel of a product with an epilogue: a bias, a residual, an activation."""

    def run_fused(
        backend: Backend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        geometry: MatmulSizes | Window,
        row: Elementwise | None,
        *parameters: float,
    ) -> Handle:
        arrays = [array_of(operand) for operand in inputs[2:]]
        bias, slopes, residual = epilogue_operands(arrays, row)
        y = product(backend, inputs[:2], shape, dtype, geometry) + bias
        if residual is not None:
            y = y + residual
        if row is None:
            return y
        operands = (y,) if slopes is None else (y, slopes)
        return row.numpy(np, *operands, *parameters).astype(np.float32)

    return run_fused


kernel("fused_matmul")(fused(matmul))
