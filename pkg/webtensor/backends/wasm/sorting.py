"""Kernels that sort the last axis and search sorted rows. NaN is last in every order."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("argsort")
def argsort(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    descending: bool,
    outer: int,
    length: int,
) -> Handle:
    """Return the indices that sort each row, stably."""
    (x,) = inputs
    run = backend.functions["argsort", x.dtype]
    scratch = backend.allocate(length * 3 * 4)
    try:
        out = backend.allocate(outer * length * 4)
        run(x.storage.handle, out, scratch, outer, length, int(descending))
    finally:
        backend.release(scratch)
    return out


@kernel("topk")
def topk(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    k: int,
) -> Handle:
    """Return the indices of the k largest elements of each row, in descending order."""
    (x,) = inputs
    run = backend.functions["topk", x.dtype]
    scratch = backend.allocate(k * 8)
    try:
        out = backend.allocate(outer * k * 4)
        run(x.storage.handle, out, scratch, outer, length, k)
    finally:
        backend.release(scratch)
    return out


@kernel("search_sorted")
def search_sorted(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    right: bool,
    outer: int,
    length: int,
    count: int,
) -> Handle:
    """Return the index at which each value would be inserted into its sorted row."""
    rows, values = inputs
    run = backend.functions["search_sorted", rows.dtype]
    out = backend.allocate(outer * count * 4)
    run(rows.storage.handle, values.storage.handle, out, outer, length, count, int(right))
    return out
