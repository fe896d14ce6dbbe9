"""Formulas on blocks; ``wasm_build/blocks_source.py`` writes their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.formulas import BlockFormula
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []

#: About how many instructions the elements of all blocks at one index take (LSTM: 70 µs for 8192).
_WORK = 20


@kernel("blocks")
def blocks(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, row: BlockFormula
) -> Handle:
    """Compute a formula of blocks of the last axis."""
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    addresses = [operand.storage.handle for operand in inputs]
    rows, units = size // shape[-1], shape[-1] // row.results
    backend.compute((row.name,), rows * units * _WORK, *addresses, out, rows, units)
    return out
