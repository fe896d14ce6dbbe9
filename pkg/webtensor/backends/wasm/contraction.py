"""Kernels of matrix products and convolutions, also with an epilogue."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Elementwise, Handle, Kernel, Operand
from webtensor.backends.fused_activations import ACTIVATION_NUMBERS, epilogue_operands
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType, float32
from webtensor.geometry import MatmulSizes, Window
from webtensor.shapes import Shape

__all__: list[str] = []

_MATMUL = ("matmul", "float32")
#: One instruction multiplies and adds a vector.
_PRODUCTS_AT_ONCE = 4

_NO_EPILOGUE = (0, 0, 0.0, 0, 0)


def _epilogue(
    inputs: Sequence[Operand], row: Elementwise | None = None, alpha: float = 0.0
) -> tuple[int, int, float, int, int]:
    """Return a kernel's arguments for the epilogue (see ``wasm_build/source/epilogue.h``)."""
    if len(inputs) < 3:
        return _NO_EPILOGUE
    addresses = [operand.storage.handle for operand in inputs[2:]]
    bias, slopes, residual = epilogue_operands(addresses, row)
    return bias, ACTIVATION_NUMBERS[row.name if row else None], alpha, slopes or 0, residual or 0


@kernel("matmul", "fused_matmul")
def matmul(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    sizes: MatmulSizes,
    *epilogue: Any,
) -> Handle:
    """Multiply batches of matrices."""
    a, b = inputs[:2]
    geometry = backend.parameters.integers(sizes)
    size = prod(shape)
    out = backend.allocate(size * 4)
    arguments = (a.storage.handle, b.storage.handle, out, geometry)
    if dtype is not float32:
        backend.functions["matmul", dtype](*arguments)
        return out
    work, packed = 0.0, 0
    if sizes.m > 1 and sizes.n > 1:
        work = size * sizes.k / _PRODUCTS_AT_ONCE
        if not sizes.b_batched:
            packed = backend.packed_weights(b, sizes.n, sizes.transpose_b)
    backend.compute(_MATMUL, work, *arguments, packed, *_epilogue(inputs, *epilogue))
    return out


def _products(window: Window) -> int:
    """Return the number of multiplications of a depthwise convolution."""
    outputs = window.batch * window.out_height * window.out_width * window.out_channels
    return outputs * window.filter_height * window.filter_width


def _windowed(name: str) -> Kernel:
    """Make the kernel of a convolution, or of one of its transposes."""
    key = (name,)
    mixes_channels = not name.startswith("depthwise")
    # The transposes of a depthwise convolution are not shared, nor is one that fills its result in
    # several passes.
    always_whole = not mixes_channels and name != "depthwise_conv2d"
    in_passes = name == "conv2d_input_gradient"
    has_epilogue = not name.endswith("gradient")
    packs = name == "conv2d"

    def run_windowed(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        window: Window,
        *epilogue: Any,
    ) -> Handle:
        first, second = inputs[:2]
        geometry = backend.parameters.integers(window)
        size = prod(shape)
        out = backend.allocate(size * 4)
        work = _products(window) / _PRODUCTS_AT_ONCE
        if mixes_channels:
            work *= window.in_channels
        if always_whole or (in_passes and (window.stride_height, window.stride_width) != (1, 1)):
            work = 0
        arguments = (first.storage.handle, second.storage.handle, out, geometry)
        if packs:
            columns = window.out_channels
            packed = backend.packed_weights(second, columns) if size > columns else 0
            backend.compute(key, work, *arguments, packed, *_epilogue(inputs, *epilogue))
        elif has_epilogue:
            backend.compute(key, work, *arguments, *_epilogue(inputs, *epilogue))
        else:
            backend.compute(key, work, *arguments)
        return out

    return run_windowed


for _name in ("conv2d", "depthwise_conv2d"):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_windowed(_name + _transpose))
    kernel(f"fused_{_name}")(_windowed(_name))
