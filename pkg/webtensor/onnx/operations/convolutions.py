"""Convolutions and products of matrices.

A function whose name ends in ``_last`` takes images with channels last and filters with theirs
last, (height, width, channels in, channels out); ``layouts`` puts it in the place of the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator
from webtensor.onnx.operations.rearrangement import cropped
from webtensor.onnx.operations.windows import (
    Windows,
    channels_first,
    channels_last,
    filters_last,
    windows_of,
)
from webtensor.ops.convolution import grouped_conv3d

__all__ = ["ROWS", "convolved", "convolved_last"]


def convolved_last(
    x: Tensor,
    filter: Tensor,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    *,
    activation: str = "linear",
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    leakyrelu_alpha: float = 0.2,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve images whose channels are last, add a bias and a residual, and activate."""
    rank = len(x.shape) - 2
    if len(filter.shape) != rank + 2:
        raise ValueError(f"x has shape {x.shape}, but the filter {filter.shape}")
    if filter.shape[-2] * group != x.shape[-1] or filter.shape[-1] % group:
        raise ValueError(
            f"x has {x.shape[-1]} channels, but the filters of {group} groups have "
            f"{filter.shape[-2]} each and {filter.shape[-1]} results"
        )
    windows = windows_of(x.shape[1:-1], filter.shape[:-2], strides, dilations, pads, auto_pad)
    if rank == 1:
        x, filter = ops.expand_dims(x, 1), ops.expand_dims(filter, 0)
        strides_, dilations_ = (1, *windows.strides), (1, *windows.dilations)
        pad = windows.padding()
        pad = pad if isinstance(pad, str) else [[0, 0], *pad]
        result = _convolved_images(x, filter, group, strides_, pad, dilations_, bias=bias)
        return ops.squeeze(result, 1)
    if rank == 2:
        options: dict[str, Any] = {"bias": bias, "activation": activation}
        options["leakyrelu_alpha"] = leakyrelu_alpha
        if residual is not None:
            if residual.shape != (x.shape[0], *windows.counts, filter.shape[-1]):
                options["activation"] = "linear"
            else:
                options["residual"] = residual
        result = _convolved_images(
            x, filter, group, windows.strides, windows.padding(), windows.dilations, **options
        )
        if residual is None or "residual" in options:
            return result
        return _ACTIVATIONS[activation](result + residual, leakyrelu_alpha)
    if rank != 3:
        raise ValueError(f"convolutions of {rank} axes are not supported")
    result = grouped_conv3d(x, filter, windows.strides, windows.padding(), windows.dilations)
    return result if bias is None else result + bias


#: The activations of fused convolutions.
_ACTIVATIONS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "leakyrelu": ops.leaky_relu,
    "linear": lambda x, _: x,
    "relu": lambda x, _: ops.relu(x),
    "relu6": lambda x, _: ops.relu6(x),
    "sigmoid": lambda x, _: ops.sigmoid(x),
}


def _convolved_images(
    x: Tensor,
    filter: Tensor,
    group: int,
    strides: tuple[int, ...],
    pad: str | list[list[int]],
    dilations: tuple[int, ...],
    **options: Any,
) -> Tensor:
    convolve: Any = ops.fused.conv2d
    channels = x.shape[-1]
    if group == channels > 1:
        convolve = ops.fused.depthwise_conv2d
        filter = ops.reshape(filter, (*filter.shape[:2], channels, filter.shape[-1] // channels))
    result: Tensor = convolve(x, filter, strides, pad, "NHWC", dilations, **options)
    return result


def convolved(x: Tensor, filter: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """Convolve with channels first; the options are those of ``convolved_last``."""
    result = convolved_last(channels_last(x), filters_last(filter), bias, **options)
    return channels_first(result)


def convolution(
    x: Tensor,
    filter: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve images whose channels come before height and width."""
    return convolved(
        x,
        filter,
        bias,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        pads=pads,
        strides=strides,
    )


def transposed_convolution(
    x: Tensor,
    filter: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve backwards images whose channels come before height and width."""
    rank = len(x.shape) - 2
    sizes, shape = x.shape[2:], filter.shape[2:]
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    output_padding = output_padding or [0] * rank
    extents = [(size - 1) * step + 1 for size, step in zip(shape, dilations, strict=True)]
    full = [
        stride * (size - 1) + extent
        for stride, size, extent in zip(strides, sizes, extents, strict=True)
    ]
    if auto_pad.startswith("SAME") and output_shape is None:
        output_shape = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    padded = [size + extra for size, extra in zip(full, output_padding, strict=True)]
    begins, ends = _outer_padding(padded, output_shape, auto_pad, pads)
    last = channels_last(x)
    parts = [
        _transposed(part, weights, full, strides, dilations)
        for part, weights in zip(
            ops.split(last, group, -1), ops.split(filter, group, 0), strict=True
        )
    ]
    result = parts[0] if group == 1 else ops.concat(parts, -1)
    result = cropped(
        result,
        [0, *(-begin for begin in begins), 0],
        [0, *(extra - end for extra, end in zip(output_padding, ends, strict=True)), 0],
    )
    return channels_first(result if bias is None else result + bias)


def _outer_padding(
    sizes: Sequence[int],
    output_shape: Sequence[int] | None,
    auto_pad: str,
    pads: Sequence[int] | None,
) -> tuple[list[int], list[int]]:
    """Return how much is cut off before and behind each axis, whose sizes are given."""
    rank = len(sizes)
    if output_shape is None:
        pads = pads if pads and auto_pad != "VALID" else [0] * 2 * rank
        return list(pads[:rank]), list(pads[rank:])
    begins, ends = [], []
    for size, output_size in zip(sizes, output_shape[-rank:], strict=True):
        total = size - output_size
        cut = max(total, 0)  # missing elements are added behind
        begin = cut // 2 if auto_pad == "SAME_UPPER" else cut - cut // 2
        begins.append(begin)
        ends.append(total - begin)
    return begins, ends


def _transposed(
    x: Tensor, filter: Tensor, full: list[int], strides: Sequence[int], dilations: Sequence[int]
) -> Tensor:
    """Return the whole result for a filter of shape (channels in, channels out, …)."""
    rank = len(full)
    weights = filters_last(filter)
    shape = (x.shape[0], *full, filter.shape[1])
    if rank == 1:
        result = ops.conv2d_transpose(
            ops.expand_dims(x, 1),
            ops.expand_dims(weights, 0),
            (shape[0], 1, *shape[1:]),
            (1, *strides),
            "valid",
            None,
            (1, *dilations),
        )
        return ops.squeeze(result, 1)
    if rank == 2:
        return ops.conv2d_transpose(x, weights, shape, strides, "valid", None, dilations)
    if rank != 3:
        raise ValueError(f"convolutions of {rank} axes are not supported")
    return ops.conv3d_transpose(x, weights, shape, strides, "valid", dilations)


def deformed_convolution(
    x: Tensor,
    filter: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: list[int] | None = None,
    group: int = 1,
    offset_group: int = 1,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve with windows each of whose elements is moved by an offset."""
    if len(x.shape) != 4:
        raise ValueError(f"x must have rank 4, but has shape {x.shape}")
    batch, channels, *sizes = x.shape
    shape = filter.shape[2:]
    windows = windows_of(sizes, shape, strides, dilations, pads, "NOTSET")
    rows, columns = windows.counts
    offsets = ops.reshape(offset, (batch, offset_group, prod(shape), 2, rows, columns))
    row_positions, column_positions = (
        ops.reshape(
            _element_positions(windows, axis) + offsets[:, :, :, axis], (batch * offset_group, -1)
        )
        for axis in range(2)
    )
    grouped = ops.reshape(x, (batch * offset_group, channels // offset_group, *sizes))
    samples = bilinear_samples(channels_last(grouped), row_positions, column_positions)
    if mask is not None:
        samples = samples * ops.reshape(mask, (batch * offset_group, -1, 1))
    samples = ops.reshape(ops.permute_dims(samples, (0, 2, 1)), (batch, group, -1, rows * columns))
    weights = ops.reshape(filter, (group, filter.shape[0] // group, -1))
    result = ops.reshape(ops.matmul(weights, samples), (batch, filter.shape[0], rows, columns))
    return result if bias is None else result + ops.reshape(bias, (-1, 1, 1))


def _element_positions(windows: Windows, axis: int) -> Tensor:
    """Return the positions of the elements of windows along an axis of images.

    The shape is (elements, windows, 1) for the first axis, and (elements, 1, windows) for the
    second.
    """
    height, width = windows.shape
    steps = ops.reshape(ops.arange(windows.counts[axis]), (-1, 1) if axis == 0 else (1, -1))
    taps = ops.arange(windows.shape[axis])
    taps = ops.repeat(taps, width) if axis == 0 else ops.tile(taps, (height,))
    taps = ops.reshape(taps, (height * width, 1, 1))
    base = steps * windows.strides[axis] + taps * windows.dilations[axis]
    return ops.astype(base - windows.begins[axis], "float32")


def bilinear_samples(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return samples of images between their elements, which are zero outside.

    Args:
        x: images of shape (batch, height, width, channels).
        rows: positions of shape (batch, samples).
        columns: positions of shape (batch, samples).
    """
    batch, height, width, channels = x.shape
    flat = ops.reshape(x, (batch, height * width, channels))
    top, left = ops.floor(rows), ops.floor(columns)
    result: Any = None
    for row, row_weight in ((top, 1.0 - (rows - top)), (top + 1.0, rows - top)):
        for column, weight in ((left, 1.0 - (columns - left)), (left + 1.0, columns - left)):
            inside = ops.logical_and(
                ops.logical_and(ops.greater_equal(row, 0), ops.less(row, height)),
                ops.logical_and(ops.greater_equal(column, 0), ops.less(column, width)),
            )
            index = ops.clip(row, 0, height - 1) * width + ops.clip(column, 0, width - 1)
            values = ops.gather(flat, ops.astype(index, "int32"), 1, 1)
            weights = ops.where(inside, row_weight * weight, ops.zeros_like(row))
            part = values * ops.expand_dims(weights, -1)
            result = part if result is None else result + part
    samples: Tensor = result
    return samples


# -- matrices ----------------------------------------------------------------------------------


def matrix_product(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    trans_a: int = 0,
    trans_b: int = 0,
) -> Tensor:
    """Return alpha · a · b + beta · c."""
    if str(a.dtype) == "float32" and alpha == beta == 1.0 and c is not None and len(c.shape) == 1:
        return ops.fused.mat_mul(a, b, bool(trans_a), bool(trans_b), bias=c)
    result = ops.matmul(a, b, bool(trans_a), bool(trans_b))
    if alpha != 1.0:
        result = _scaled(result, alpha)
    if c is None or beta == 0.0:
        return result
    return result + (c if beta == 1.0 else _scaled(c, beta))


def scaled_product(
    a: Tensor,
    b: Tensor,
    *,
    alpha: float = 1.0,
    trans_a: int = 0,
    trans_b: int = 0,
    trans_batch_a: int = 0,
    trans_batch_b: int = 0,
) -> Tensor:
    """Return alpha · a · b; rows or columns of operands may come before their batches."""
    if trans_batch_a:
        a = _batches_first(a)
    if trans_batch_b:
        b = _batches_first(b)
    if trans_a and len(a.shape) > 1:
        a = ops.matrix_transpose(a)
    if trans_b and len(b.shape) > 1:
        b = ops.matrix_transpose(b)
    result = ops.linalg.matmul(a, b)
    return result if alpha == 1.0 else result * alpha


def _batches_first(x: Tensor) -> Tensor:
    rank = len(x.shape)
    return ops.permute_dims(x, (*range(1, rank - 1), 0, rank - 1)) if rank > 2 else x


def _scaled(x: Tensor, factor: float) -> Tensor:
    return ops.astype(x * factor, str(x.dtype))


def integer_product(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """Multiply matrices of integers, whose zeros are other numbers."""
    if a_zero_point is not None:
        a = a - (ops.expand_dims(a_zero_point, -1) if a_zero_point.shape else a_zero_point)
    return ops.matmul(a, b if b_zero_point is None else b - b_zero_point)


def integer_convolution(
    x: Tensor,
    filter: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Convolve integers, whose zeros are other numbers; sums are exact to 24 bits."""
    if x_zero_point is not None:
        x = x - x_zero_point
    if w_zero_point is not None:
        shape = (-1, *[1] * (len(filter.shape) - 1))
        filter = filter - (ops.reshape(w_zero_point, shape) if w_zero_point.shape else w_zero_point)
    result = convolved(
        ops.astype(x, "float32"),
        ops.astype(filter, "float32"),
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        pads=pads,
        strides=strides,
    )
    return ops.astype(ops.round(result), "int32")


def determinant(x: Tensor) -> Tensor:
    """Return determinants of matrices."""
    return ops.linalg.det(x)


ROWS: dict[str, Row] = {
    "Conv-1": Operator(convolution).ignoring("kernel_shape"),
    "ConvInteger-1": Operator(integer_convolution).ignoring("kernel_shape"),
    "ConvTranspose-1": Operator(transposed_convolution).ignoring("kernel_shape"),
    "DeformConv-1": Operator(deformed_convolution).ignoring("kernel_shape"),
    "Det-1": Operator(determinant),
    "Gemm-1": Operator(matrix_product).ignoring("broadcast"),
    "MatMul-1": Operator("linalg.matmul"),
    "MatMulInteger-1": Operator(integer_product),
    "com.microsoft.FusedMatMul-1": Operator(scaled_product),
    "com.microsoft.TransposeMatMul-1": Operator(scaled_product),
}
