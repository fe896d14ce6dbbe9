"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("sequence")
def sequence(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    start: float,
    step: float,
    last: float,
) -> Handle:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    size = prod(shape)
    out = backend.allocate(size * 4)
    numbers = float(start), float(step), float(last)
    backend.functions["sequence", dtype](out, size, *numbers)
    return out


@kernel("ragged_sequence")
def ragged_sequence(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType
) -> Handle:
    """Element ``i`` of row ``r`` is ``starts[r] + i * deltas[r]``; rows begin at ``splits``."""
    size = prod(shape)
    out = backend.allocate(size * 4)
    starts, deltas, splits = (operand.storage.handle for operand in inputs)
    rows = inputs[0].size
    backend.call(("ragged_sequence", dtype), size, starts, deltas, splits, out, rows)
    return out


@kernel("eye")
def eye(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, k: int
) -> Handle:
    """Ones at (row, row + k), else zeros."""
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    backend.call(("eye", dtype), size, out, *shape, k)
    return out
