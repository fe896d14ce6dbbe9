"""Kernels along the last axis: softmax, sums of neighbours, normalization by channel."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Kernel, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


def _softmax(name: str) -> Kernel:
    """Make the kernel of the softmax of rows, or of its logarithm."""
    key = (name,)

    def softmax(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        outer: int,
        length: int,
    ) -> Handle:
        size = outer * length
        out = backend.allocate(size * 4)
        backend.compute(key, size, inputs[0].storage.handle, out, outer, length)
        return out

    return softmax


for _name in ("softmax", "log_softmax"):
    kernel(_name)(_softmax(_name))


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
    size = outer * length
    out = backend.allocate(size * 4)
    x = inputs[0].storage.handle
    backend.compute(("window", "sum"), size * radius, x, out, outer, length, radius)
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
    size = outer * channels
    out = backend.allocate(size * 4)
    addresses = (operand.storage.handle for operand in inputs)
    backend.compute(("normalize",), size, *addresses, out, outer, channels)
    return out


@kernel("moments")
def moments(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    reduced: int,
    inner: int,
) -> Handle:
    """Means, then variances, along the middle axis."""
    out = backend.allocate(2 * outer * inner * 4)
    work = outer * reduced * inner
    compute = backend.compute if outer > 1 or inner > 1 else backend.call
    compute(("moments",), work, inputs[0].storage.handle, out, outer, reduced, inner)
    return out
