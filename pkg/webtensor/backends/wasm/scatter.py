"""Kernels that put or add slices at their indices."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape, prod

__all__: list[str] = []


@kernel("scatter_set")
def scatter_set(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Replace slices of a copy; the last of equal indices wins, others out of range are ignored."""
    x, indices, updates = (operand.storage.handle for operand in inputs)
    width = inner * dtype.itemsize
    run = backend.functions["scatter", "set"]
    out = backend.allocate(length * width)
    is_scalar = inputs[0].size < length * inner
    run(x, dtype.itemsize if is_scalar else 0, indices, updates, out, length, width, count)
    return out


@kernel("sum_picked")
def sum_picked(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Pick slices at the second operand's indices, and add them up at the third's."""
    x, indices, segments = (operand.storage.handle for operand in inputs)
    run = backend.functions["sum_picked", dtype]
    out = backend.allocate(length * inner * dtype.itemsize)
    run(x, indices, segments, out, length, inner, count)
    return out


@kernel("one_hot")
def one_hot(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    depth: int,
    on: float,
    off: float,
) -> Handle:
    """Rows of one number, with another at each row's index."""
    (indices,) = inputs
    out = backend.allocate(indices.size * depth * dtype.itemsize)
    backend.functions["fill", dtype](out, indices.size * depth, off)
    backend.functions["put_hot", dtype](indices.storage.handle, out, indices.size, depth, on)
    return out


@kernel("scatter_add")
def scatter_add(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Add slices up at their indices; those out of range are left out."""
    dy, indices = inputs
    run = backend.functions["scatter_add", dtype]
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run(dy.storage.handle, indices.storage.handle, out, outer, length, inner, count)
    return out
