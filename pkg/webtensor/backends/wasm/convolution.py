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
    operands,
    scratch,
)
from webtensor.backends.wasm.geometries import strided_geometry
from webtensor.backends.wasm.groups import Regrouped, regrouped
from webtensor.backends.wasm.packed_weights import ROWS, is_worth_packing
from webtensor.geometry import Window

__all__ = ["depthwise_work"]

#: How much longer a multiplication of a depthwise convolution takes than one of a product, as it
#: waits for memory.
_DEPTHWISE_WORK: Final = 2


def _groups(name: str, of: Signature, window: Window) -> int:
    """Return the number of groups of channels that have filters of their own."""
    filter = of.shape if name.endswith("filter_gradient") else of.inputs[1].shape
    return window.groups(filter[2])


def _with_fewer_products(
    name: str, of: Signature, window: Window, groups: int, *epilogue: Any
) -> Description | None:
    """Describe a convolution or its transpose in another way, where that takes less time."""
    if window.filter_height != 3 or window.filter_width != 3:
        return None
    # Most pages have no such filters.
    from webtensor.backends.wasm.winograd import WINOGRAD

    describe = WINOGRAD.get(name)
    return describe(of, window, groups, *epilogue) if describe else None


def _products(window: Window) -> int:
    """Return the number of multiplications for one input channel of each filter."""
    outputs = window.batch * window.out_height * window.out_width * window.out_channels
    return outputs * window.filter_height * window.filter_width


def depthwise_work(window: Window) -> float:
    """Return about how many instructions a depthwise convolution takes."""
    return _products(window) * _DEPTHWISE_WORK / PRODUCTS_AT_ONCE


def _convolution(name: str) -> Describing:
    """Make the kernel of a convolution, or of one of its transposes."""
    is_forward = name == "conv2d"

    def convolution(of: Signature, window: Window, *epilogue: Any) -> Description:
        groups = _groups(name, of, window)
        if fewer := _with_fewer_products(name, of, window, groups, *epilogue):
            return fewer
        work = _products(window) * window.in_channels / groups / PRODUCTS_AT_ONCE
        has_strides = (window.stride_height, window.stride_width) != (1, 1)
        if name == "conv2d_input_gradient" and has_strides:
            work = 0  # several passes fill the result
        reads_in_place = not is_forward or window.only_mixes_channels
        x = regrouped(of.inputs[0], 1 if reads_in_place else groups, scratch(0))
        arguments: tuple[Any, ...] = (
            x.address,
            Address(1),
            RESULT,
            Geometry(window.numbers),
            groups,
        )
        if is_forward:
            columns, filter = window.out_channels // groups, of.inputs[1]
            is_worth_it = of.size > window.out_channels and is_worth_packing(filter)
            packed = Packed(1, columns, ROWS, groups) if is_worth_it else 0
            arguments += (packed, *epilogue_arguments(operands(of)[2:], *epilogue))
        return Description(of.bytes, (*x.calls, Call((name,), arguments, work, True)), x.scratch)

    return convolution


def _depthwise(name: str) -> Describing:
    """Make the kernel of a depthwise convolution, or of a transpose, which threads don't share."""
    is_forward = name == "depthwise_conv2d"

    def depthwise(of: Signature, window: Window, *epilogue: Any) -> Description:
        work = depthwise_work(window) if is_forward else 0
        x, calls, sizes = Regrouped(Address(0))
        if is_forward and window.out_channels > window.in_channels:
            # Each input channel is repeated, so that channels are lanes.
            times, count = window.out_channels // window.in_channels, of.inputs[0].size
            geometry = strided_geometry((count, times), (1, 0), 0)
            x, sizes = scratch(0), (4 * count * times,)
            calls = (Call(("strided", "words"), (Address(0), x, geometry), count * times),)
            window = window._replace(in_channels=window.out_channels)
        arguments: tuple[Any, ...] = (x, Address(1), RESULT, Geometry(window.numbers))
        if is_forward:
            arguments += epilogue_arguments(operands(of)[2:], *epilogue)
        return Description(of.bytes, (*calls, Call((name,), arguments, work, True)), sizes)

    return depthwise


for _name, _make in (("conv2d", _convolution), ("depthwise_conv2d", _depthwise)):
    for _transpose in ("", "_input_gradient", "_filter_gradient"):
        kernel(_name + _transpose)(_make(_name + _transpose))
    kernel(f"fused_{_name}")(_make(_name))
