"""Kernels of convolutions and of their transposes, also with an epilogue."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Handle, Kernel, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.contraction import PRODUCTS_AT_ONCE, epilogue_arguments
from webtensor.dtypes import DType
from webtensor.geometry import Window
from webtensor.shapes import Shape

__all__: list[str] = []


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
        work = _products(window) / PRODUCTS_AT_ONCE
        if mixes_channels:
            work *= window.in_channels
        if always_whole or (in_passes and (window.stride_height, window.stride_width) != (1, 1)):
            work = 0
        arguments = (first.storage.handle, second.storage.handle, out, geometry)
        if packs:
            columns = window.out_channels
            packed = backend.packed_weights(second, columns) if size > columns else 0
            backend.compute(key, work, *arguments, packed, *epilogue_arguments(inputs, *epilogue))
        elif has_epilogue:
            backend.compute(key, work, *arguments, *epilogue_arguments(inputs, *epilogue))
        else:
            backend.compute(key, work, *arguments)
        return out

    return run_windowed


for _name in ("conv2d", "depthwise_conv2d"):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_windowed(_name + _transpose))
    kernel(f"fused_{_name}")(_windowed(_name))
