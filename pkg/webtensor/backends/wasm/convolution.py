"""Kernels of convolutions and of their transposes, also with an epilogue."""

from __future__ import annotations

from typing import Any, Final

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.contraction import PRODUCTS_AT_ONCE, epilogue_arguments
from webtensor.backends.wasm.descriptions import (
    RESULT,
    Address,
    Call,
    Describing,
    Description,
    Geometry,
    Packed,
)
from webtensor.backends.wasm.packed_weights import ROWS, is_worth_packing
from webtensor.geometry import Window

__all__: list[str] = []

#: How much longer a multiplication of a depthwise convolution takes than one of a product, as it
#: waits for memory.
_DEPTHWISE_WORK: Final = 2


def _with_fewer_products(
    name: str, of: Signature, window: Window, *epilogue: Any
) -> Description | None:
    """Describe a convolution or its transpose in another way, where that takes less time."""
    if window.filter_height != 3 or window.filter_width != 3:
        return None
    # Most pages have no such filters.
    from webtensor.backends.wasm.winograd import WINOGRAD

    describe = WINOGRAD.get(name)
    return describe(of, window, *epilogue) if describe else None


def _products(window: Window) -> int:
    """Return the number of multiplications of a depthwise convolution."""
    outputs = window.batch * window.out_height * window.out_width * window.out_channels
    return outputs * window.filter_height * window.filter_width


def _windowed(name: str) -> Describing:
    """Make the kernel of a convolution, or of one of its transposes."""
    mixes_channels = not name.startswith("depthwise")
    # The transposes of a depthwise convolution are not shared, nor is one that fills its result in
    # several passes.
    always_whole = not mixes_channels and name != "depthwise_conv2d"
    in_passes = name == "conv2d_input_gradient"
    has_epilogue = not name.endswith("gradient")
    packs = name == "conv2d"

    def convolution(of: Signature, window: Window, *epilogue: Any) -> Description:
        if fewer := _with_fewer_products(name, of, window, *epilogue):
            return fewer
        work = _products(window) / PRODUCTS_AT_ONCE
        work *= window.in_channels if mixes_channels else _DEPTHWISE_WORK
        if always_whole or (in_passes and (window.stride_height, window.stride_width) != (1, 1)):
            work = 0
        arguments: tuple[Any, ...] = (Address(0), Address(1), RESULT, Geometry(window))
        if packs:
            columns, filter = window.out_channels, of.inputs[1]
            is_worth_it = of.size > columns and is_worth_packing(filter)
            arguments += (Packed(1, columns, ROWS) if is_worth_it else 0,)
        if has_epilogue:
            arguments += epilogue_arguments(of, *epilogue)
        return Description(of.bytes, (Call((name,), arguments, work, True),))

    return convolution


for _name in ("conv2d", "depthwise_conv2d"):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_windowed(_name + _transpose))
    kernel(f"fused_{_name}")(_windowed(_name))
