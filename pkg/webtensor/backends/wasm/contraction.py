"""Kernels of matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Kernel, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.geometry import MatmulSizes, Window
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("matmul")
def matmul(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: MatmulSizes
) -> Handle:
    """Multiply batches of matrices."""
    a, b = inputs
    run = backend.functions["matmul", dtype]
    geometry = backend.parameters.integers(sizes)
    out = backend.allocate(prod(shape) * 4)
    run(a.storage.handle, b.storage.handle, out, geometry)
    return out


def _windowed(name: str) -> Kernel:
    """Make the kernel of a convolution, or of one of its transposes."""

    def run_windowed(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        window: Window,
    ) -> Handle:
        first, second = inputs
        run = backend.functions[(name,)]
        geometry = backend.parameters.integers(window)
        out = backend.allocate(prod(shape) * 4)
        run(first.storage.handle, second.storage.handle, out, geometry)
        return out

    return run_windowed


for _name in ("conv2d", "depthwise_conv2d"):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_windowed(_name + _transpose))
