"""Kernel of the matrix product, and the epilogue of all products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.backends.api import Elementwise
from webtensor.backends.fused_activations import ACTIVATION_NUMBERS, epilogue_operands
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Description,
    Geometry,
    Packed,
    operands,
)
from webtensor.backends.wasm.packed_weights import COLUMNS, ROWS, is_worth_packing
from webtensor.dtypes import float32
from webtensor.matmul_sizes import MatmulSizes

__all__ = ["PRODUCTS_AT_ONCE", "epilogue_arguments"]

#: One instruction multiplies and adds a vector.
PRODUCTS_AT_ONCE = 4

_NO_EPILOGUE = (0, 0, 0.0, 0, 0)


def epilogue_arguments(
    own_operands: Sequence[Address], row: Elementwise | None = None, alpha: float = 0.0
) -> tuple[Any, ...]:
    """Return a kernel's arguments for the epilogue (see ``wasm_build/source/epilogue.h``).

    ``own_operands`` are those that the epilogue adds to the product's.
    """
    if not own_operands:
        return _NO_EPILOGUE
    bias, slopes, residual = epilogue_operands(own_operands, row)
    return bias, ACTIVATION_NUMBERS[row.name if row else None], alpha, slopes or 0, residual or 0


@kernel("matmul", "fused_matmul")
def matmul(of: Signature, sizes: MatmulSizes, *epilogue: Any) -> Description:
    """Multiply batches of matrices."""
    arguments: tuple[Any, ...] = (Address(0), Address(1), RESULT, Geometry(sizes))
    if of.dtype is not float32:
        return Description(of.bytes, (Call(("matmul", of.dtype), arguments),))
    is_matrix = sizes.m > 1 and sizes.n > 1
    packs = is_matrix and not sizes.b_batched and is_worth_packing(of.inputs[1])
    packed = Packed(1, sizes.n, COLUMNS if sizes.transpose_b else ROWS) if packs else 0
    arguments += (packed, *epilogue_arguments(operands(of)[2:], *epilogue))
    work = of.size * sizes.k / PRODUCTS_AT_ONCE
    return Description(of.bytes, (Call(("matmul", float32), arguments, work, True),))
