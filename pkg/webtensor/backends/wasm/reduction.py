"""Kernels of reductions, which see their operand as (outer, reduced, inner)."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("reduce")
def reduce(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    outer: int,
    reduced: int,
    inner: int,
) -> Handle:
    """Reduce the middle axis."""
    out = backend.allocate(outer * inner * dtype.itemsize)
    work = outer * reduced * inner / 4
    compute = backend.compute if outer > 1 else backend.call
    x = inputs[0].storage.handle
    compute(("reduce", kind, dtype), work, x, out, outer, reduced, inner)
    return out


@kernel("arg_reduce")
def arg_reduce(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    outer: int,
    reduced: int,
    inner: int,
) -> Handle:
    """Find the index of the first extremum along the middle axis."""
    (x,) = inputs
    out = backend.allocate(outer * inner * dtype.itemsize)
    work = outer * reduced * inner
    backend.call((kind, x.dtype), work, x.storage.handle, out, outer, reduced, inner)
    return out
