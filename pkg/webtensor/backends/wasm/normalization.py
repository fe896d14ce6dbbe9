"""Kernels along the last axis: softmax, sums of neighbours, normalization by channel."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("softmax")
def softmax(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
) -> Handle:
    """Exponentials over their sum."""
    out = backend.allocate(outer * length * 4)
    backend.functions[("softmax",)](inputs[0].storage.handle, out, outer, length)
    return out


@kernel("log_softmax")
def log_softmax(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
) -> Handle:
    """Logarithm of the softmax."""
    out = backend.allocate(outer * length * 4)
    backend.functions[("log_softmax",)](inputs[0].storage.handle, out, outer, length)
    return out


@kernel("window_sum")
def window_sum(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    radius: int,
) -> Handle:
    """Sum of each element and of up to ``radius`` neighbours on either side."""
    out = backend.allocate(outer * length * 4)
    backend.functions["window", "sum"](inputs[0].storage.handle, out, outer, length, radius)
    return out


@kernel("normalize")
def normalize(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    channels: int,
) -> Handle:
    """``(x - mean) * factor + offset``, with a number per channel for each."""
    out = backend.allocate(outer * channels * 4)
    addresses = (operand.storage.handle for operand in inputs)
    backend.functions[("normalize",)](*addresses, out, outer, channels)
    return out
