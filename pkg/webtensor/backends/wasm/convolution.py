"""Kernels of convolutions and of their transposes, also with an epilogue."""

from __future__ import annotations

from collections.abc import Callable
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
from webtensor.backends.wasm.packed_weights import is_worth_packing
from webtensor.backends.wasm.winograd import (
    winograd_conv2d,
    winograd_filter_gradient,
    winograd_input_gradient,
)
from webtensor.geometry import Window

__all__: list[str] = []

#: How much longer a multiplication of a depthwise convolution takes than one of a product, as it
#: waits for memory.
_DEPTHWISE_WORK: Final = 2

#: What describes a kernel with fewer products, where these take less time.
_WITH_FEWER_PRODUCTS: Final[dict[str, Callable[..., Description | None]]] = {
    "conv2d": winograd_conv2d,
    "conv2d_input_gradient": winograd_input_gradient,
    "conv2d_filter_gradient": winograd_filter_gradient,
}


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
    with_fewer = _WITH_FEWER_PRODUCTS.get(name)

    def convolution(of: Signature, window: Window, *epilogue: Any) -> Description:
        fewer = with_fewer(of, window, *epilogue) if with_fewer else None
        if fewer:
            return fewer
        work = _products(window) / PRODUCTS_AT_ONCE
        work *= window.in_channels if mixes_channels else _DEPTHWISE_WORK
        if always_whole or (in_passes and (window.stride_height, window.stride_width) != (1, 1)):
            work = 0
        arguments: tuple[Any, ...] = (Address(0), Address(1), RESULT, Geometry(window))
        if packs:
            columns, filter = window.out_channels, of.inputs[1]
            is_worth_it = of.size > columns and is_worth_packing(filter)
            arguments += (Packed(1, columns) if is_worth_it else 0,)
        if has_epilogue:
            arguments += epilogue_arguments(of, *epilogue)
        return Description(of.bytes, (Call((name,), arguments, work, True),))

    return convolution


for _name in ("conv2d", "depthwise_conv2d"):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_windowed(_name + _transpose))
    kernel(f"fused_{_name}")(_windowed(_name))
