"""Quantized numbers, which are integers here, and what computes with them."""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.convolutions import convolved, integer_product
from webtensor.onnx.operations.element_types import bounds, type_name
from webtensor.onnx.operations.operators import Operator

__all__ = ["ROWS", "of_blocks"]


def _along(parameter: Tensor, x: Tensor, axis: int, block_size: int) -> Tensor:
    """Return a scale or zero point in a shape that broadcasts to that of a tensor."""
    if parameter.size == 1:
        return ops.reshape(parameter, ())
    axis %= len(x.shape)
    if len(parameter.shape) == 1 and not block_size:
        shape = [1] * len(x.shape)
        shape[axis] = parameter.size
        return ops.reshape(parameter, shape)
    size = x.shape[axis]
    return of_blocks(parameter, axis, size, block_size or -(-size // parameter.shape[axis]))


def of_blocks(parameter: Tensor, axis: int, size: int, block_size: int) -> Tensor:
    """Return, for each of ``size`` elements along an axis, the parameter of its block."""
    return ops.gather(parameter, ops.floor_divide(ops.arange(size), block_size), axis=axis)


def quantized(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int | str = "uint8",
) -> Tensor:
    """Divide by a scale, round, and shift by the zero point."""
    low, high = bounds(type_name(output_dtype) if output_dtype else "uint8")
    steps = ops.round(ops.astype(x, "float32") / _along(y_scale, x, axis, block_size))
    if y_zero_point is not None:
        steps = steps + ops.astype(_along(y_zero_point, x, axis, block_size), "float32")
    return ops.astype(ops.clip(steps, float(low), float(high)), "int32")


def dequantized(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
) -> Tensor:
    """Shift by the zero point, and multiply with a scale."""
    if x_zero_point is not None:
        x = x - _along(x_zero_point, x, axis, block_size)
    return ops.astype(x, "float32") * _along(x_scale, x, axis, block_size)


def dynamically_quantized(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Quantize to 8 bits, between the extremes; return scale and zero point, too."""
    low, high = ops.minimum(ops.min(x), 0.0), ops.maximum(ops.max(x), 0.0)
    scale = ops.where(ops.equal(low, high), 1.0, (high - low) / 255.0)
    zero = ops.clip(ops.round(-low / scale), 0.0, 255.0)
    result = ops.clip(ops.round(x / scale) + zero, 0.0, 255.0)
    return ops.astype(result, "int32"), scale, ops.astype(zero, "int32")


def _requantized(x: Tensor, scale: Any, zero: Tensor, dtype: int | str) -> Tensor:
    low, high = bounds(type_name(dtype))
    steps = ops.round(ops.astype(x, "float32") * scale) + ops.astype(zero, "float32")
    return ops.astype(ops.clip(steps, float(low), float(high)), "int32")


def _rows(parameter: Tensor) -> Tensor:
    return ops.expand_dims(parameter, -1) if len(parameter.shape) == 1 else parameter


def quantized_product(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    *,
    output_dtype: int | str = "uint8",
) -> Tensor:
    """Multiply matrices of quantized numbers."""
    product = integer_product(a, b, a_zero_point, b_zero_point)
    scale = _rows(a_scale) * b_scale / y_scale
    return _requantized(product, scale, y_zero_point, output_dtype)


def quantized_convolution(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    output_dtype: int | str = "uint8",
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve quantized numbers."""
    filter = w - _along(w_zero_point, w, 0, 0)
    result = convolved(
        ops.astype(x - ops.reshape(x_zero_point, ()), "float32"),
        ops.astype(filter, "float32"),
        None if bias is None else ops.astype(bias, "float32"),
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        pads=pads,
        strides=strides,
    )
    scale = ops.reshape(x_scale, ()) * _along(w_scale, result, 1, 0) / ops.reshape(y_scale, ())
    return _requantized(result, scale, y_zero_point, output_dtype)


ROWS: dict[str, Row] = {
    "DequantizeLinear-1": Operator(dequantized).ignoring("output_dtype"),
    "DynamicQuantizeLinear-1": Operator(dynamically_quantized),
    "QLinearConv-1": Operator(quantized_convolution).ignoring("kernel_shape"),
    "QLinearMatMul-1": Operator(quantized_product),
    "QuantizeLinear-1": Operator(quantized).ignoring("precision", "saturate"),
}
