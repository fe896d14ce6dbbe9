"""Kernel of the matrix product, and the epilogue of all products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Elementwise, Handle, Operand
from webtensor.backends.fused_activations import ACTIVATION_NUMBERS, epilogue_operands
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType, float32
from webtensor.geometry import MatmulSizes
from webtensor.shapes import Shape

__all__ = ["PRODUCTS_AT_ONCE", "epilogue_arguments"]

_MATMUL = ("matmul", "float32")
#: One instruction multiplies and adds a vector.
PRODUCTS_AT_ONCE = 4

_NO_EPILOGUE = (0, 0, 0.0, 0, 0)


def epilogue_arguments(
    inputs: Sequence[Operand], row: Elementwise | None = None, alpha: float = 0.0
) -> tuple[int, int, float, int, int]:
    """Return a kernel's arguments for the epilogue (see ``wasm_build/source/epilogue.h``)."""
    if len(inputs) < 3:
        return _NO_EPILOGUE
    addresses = [operand.storage.handle for operand in inputs[2:]]
    bias, slopes, residual = epilogue_operands(addresses, row)
    return bias, ACTIVATION_NUMBERS[row.name if row else None], alpha, slopes or 0, residual or 0


@kernel("matmul", "fused_matmul")
def matmul(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    sizes: MatmulSizes,
    *epilogue: Any,
) -> Handle:
    """Multiply batches of matrices."""
    a, b = inputs[:2]
    geometry = backend.parameters.integers(sizes)
    size = prod(shape)
    out = backend.allocate(size * 4)
    arguments = (a.storage.handle, b.storage.handle, out, geometry)
    if dtype is not float32:
        backend.functions["matmul", dtype](*arguments)
        return out
    work, packed = 0.0, 0
    if sizes.m > 1 and sizes.n > 1:
        work = size * sizes.k / PRODUCTS_AT_ONCE
        if not sizes.b_batched:
            packed = backend.packed_weights(b, sizes.n, sizes.transpose_b)
    backend.compute(_MATMUL, work, *arguments, packed, *epilogue_arguments(inputs, *epilogue))
    return out
