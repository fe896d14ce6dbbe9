"""Kernels of running sums, products and recurrences along the middle axis of three."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("scan")
def scan(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    exclusive: bool,
    reverse: bool,
    outer: int,
    length: int,
    inner: int,
) -> Handle:
    """Combine each element with all before it, and with itself unless exclusive."""
    run = backend.functions[kind, dtype]
    out = backend.allocate(outer * length * inner * 4)
    run(inputs[0].storage.handle, out, outer, length, inner, int(exclusive), int(reverse))
    return out


@kernel("recurrence")
def recurrence(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    reverse: bool,
    outer: int,
    length: int,
    inner: int,
) -> Handle:
    """``y[k] = a[k] * y[k - 1] + b[k]``, from the other end if reverse."""
    a, b = inputs
    run = backend.functions[("recurrence",)]
    out = backend.allocate(outer * length * inner * 4)
    run(a.storage.handle, b.storage.handle, out, outer, length, inner, int(reverse))
    return out
