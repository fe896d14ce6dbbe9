"""Convolutions and products of matrices: their filters become those of TensorFlow."""

from __future__ import annotations

from struct import Struct
from typing import Any

from webtensor.tflite.calls import Call

__all__ = [
    "biased",
    "convolution",
    "convolution_3d",
    "depthwise_convolution",
    "matrix_product",
    "transposed_convolution",
    "transposed_convolution_3d",
    "transposed_convolution_of_mediapipe",
]


def biased(call: Call, product: str, index: int) -> list[str]:
    """Return a product plus a bias, which may be missing."""
    if call.has(index):
        product = call.node("BiasAdd", product, call.input(index))
    return [product]


def _windows(call: Call, *axes: str) -> dict[str, Any]:
    """Return the attributes of windows: numbers for batch, axes and channels, and the padding."""
    strides = [call.option(f"stride_{axis}") for axis in axes]
    dilations = [call.operator.options.get(f"dilation_{axis}_factor", 1) for axis in axes]
    return {
        "strides": [1, *strides, 1],
        "dilations": [1, *dilations, 1],
        "padding": call.option("padding"),
    }


def convolution(call: Call) -> list[str]:
    """Convolve; filters are (channels out, height, width, channels in), of one group of these."""
    groups = call.size(0, -1) // max(call.size(1, -1), 1)
    product = call.node(
        "Conv2D",
        call.input(0),
        call.transposed(call.input(1), (1, 2, 3, 0)),
        **_windows(call, "h", "w"),
        **({"groups": groups} if groups > 1 else {}),
    )
    return biased(call, product, 2)


def depthwise_convolution(call: Call) -> list[str]:
    """Convolve each channel by itself; filters are (1, height, width, channels out)."""
    channels = call.size(0, -1)
    _, height, width, results = (call.size(1, axis) for axis in range(4))
    if not channels or results % channels:
        raise call.broken(f"{channels} channels cannot become {results}")
    product = call.node(
        "DepthwiseConv2dNative",
        call.input(0),
        call.reshaped(call.input(1), (height, width, channels, results // channels)),
        **_windows(call, "h", "w"),
    )
    return biased(call, product, 2)


def transposed_convolution(call: Call) -> list[str]:
    """Convolve backwards; filters are (channels out, height, width, channels in)."""
    filter = call.transposed(call.input(1), (1, 2, 0, 3))
    product = call.node(
        "Conv2DBackpropInput",
        call.input(0),
        filter,
        call.input(2),
        **_windows(call, "h", "w"),
    )
    return biased(call, product, 3)


#: Options of MediaPipe's operator: the padding, and the strides along width and height.
_MEDIAPIPE_OPTIONS = Struct("<3i")
_MEDIAPIPE_PADDINGS = {1: "SAME", 2: "VALID"}


def transposed_convolution_of_mediapipe(call: Call) -> list[str]:
    """Convolve backwards; the shape of the result follows from the padding."""
    options = bytes(call.operator.custom_options)
    if len(options) < _MEDIAPIPE_OPTIONS.size:
        raise call.broken(f"its options have {len(options)} bytes")
    number, *strides = _MEDIAPIPE_OPTIONS.unpack_from(options)
    if number not in _MEDIAPIPE_PADDINGS:
        raise call.broken(f"its padding is {number}")
    padding, (width, height) = _MEDIAPIPE_PADDINGS[number], strides
    sizes = [call.size(0, 1) * height, call.size(0, 2) * width]
    if padding == "VALID":
        steps = zip(sizes, (height, width), (1, 2), strict=True)
        sizes = [size + max(call.size(1, axis) - step, 0) for size, step, axis in steps]
    batch = call.tensor(0).signature[0]
    product = call.node(
        "Conv2DBackpropInput",
        # TensorFlow.js takes no -1 here.
        call.constant([-1 if batch is None else batch, *sizes, call.size(1, 0)]),
        call.transposed(call.input(1), (1, 2, 0, 3)),
        call.input(0),
        strides=[1, height, width, 1],
        padding=padding,
    )
    return biased(call, product, 2)


def convolution_3d(call: Call) -> list[str]:
    """Convolve volumes."""
    product = call.node(
        "Conv3D",
        call.input(0),
        call.input(1),
        **_windows(call, "d", "h", "w"),
    )
    return biased(call, product, 2)


def transposed_convolution_3d(call: Call) -> list[str]:
    """Convolve volumes backwards."""
    product = call.node(
        "Conv3DBackpropInputV2",
        call.input(0),
        call.input(1),
        call.input(2),
        **_windows(call, "d", "h", "w"),
    )
    return biased(call, product, 3)


def matrix_product(call: Call) -> list[str]:
    """Multiply rows of numbers with weights, which are (units, numbers)."""
    if call.option("weights_format") != "DEFAULT":
        raise call.broken("weights in the format SHUFFLED4x16INT8 are not supported")
    weights = call.tensor(1).shape  # may be missing where an operator computes them
    numbers = call.size(1, 1) if weights else call.size(0, -1)
    x, rank = call.input(0), len(call.tensor(0).shape)
    rows = x
    if rank != 2 or call.size(0, 1) != numbers:
        rows = call.reshaped(x, (-1, numbers))
    product = call.node("MatMul", rows, call.transposed(call.input(1), (1, 0)))
    (product,) = biased(call, product, 2)
    if not call.option("keep_num_dims") or rank == 2:
        return [product]
    begin, end, step = (call.constant([number]) for number in (0, -1, 1))
    outer = call.node("StridedSlice", call.node("Shape", x), begin, end, step)
    units = weights[:1] or call.output().shape[-1:]
    shape = call.node("ConcatV2", outer, call.constant([*units]), call.constant(0))
    return [call.node("Reshape", product, shape)]
