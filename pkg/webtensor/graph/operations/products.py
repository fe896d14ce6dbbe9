"""Operations that sum products: convolutions, matrices, windows, normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import Node
from webtensor.graph.operations.arguments import (
    attribute,
    boolean,
    dilations,
    integer,
    integers,
    layout,
    padding,
    strides,
    text,
    window,
)
from webtensor.graph.operations.rows import Attribute, Row, Tensors
from webtensor.ops.convolution import grouped_conv3d
from webtensor.ops.normalization import normalized as normalized_channels

__all__ = ["EPSILON", "ONLY_HERE", "ROWS"]

# -- fused operations --------------------------------------------------------------------------

#: The activations in the attribute ``fused_ops`` that ``wt.fused`` has under the same names.
_ACTIVATIONS = frozenset({"elu", "leakyrelu", "prelu", "relu", "relu6", "sigmoid"})
_OTHER_ACTIVATIONS = {"tanh": ops.tanh}


class _Epilogue:
    """What a fused operation computes after the product, from its attributes and more inputs."""

    def __init__(self, node: Node) -> None:
        names: Any = node.attributes.get("fused_ops", [])
        self.names = [name.lower() for name in names]
        unknown = [
            name
            for name in self.names
            if name not in {"biasadd", "residual", *_ACTIVATIONS, *_OTHER_ACTIVATIONS}
        ]
        if unknown:
            raise ValueError(f"fused_ops has {unknown[0]!r}, which is unknown")
        self.alpha = float(node.attributes.get("leakyrelu_alpha", 0.2))  # type: ignore[arg-type]

    def options(self, more: Sequence[Tensor]) -> dict[str, Any]:
        """Return arguments of functions of ``wt.fused``."""
        operand_count = sum(name in ("biasadd", "residual", "prelu") for name in self.names)
        if len(more) < operand_count:
            raise ValueError(
                f"fused_ops needs {operand_count} more inputs, but there are {len(more)}"
            )
        operands = iter(more)
        options: dict[str, Any] = {}
        for name in self.names:
            if name == "biasadd":
                options["bias"] = next(operands)
            elif name == "residual":
                options["residual"] = next(operands)
            elif name in _ACTIVATIONS:
                options["activation"] = name
            if name == "prelu":
                options["prelu_activation_weights"] = next(operands)
            elif name == "leakyrelu":
                options["leakyrelu_alpha"] = self.alpha
        return options

    def finished(self, value: Tensor) -> Tensor:
        """Apply the activation that ``wt.fused`` does not have."""
        for name in self.names:
            if name in _OTHER_ACTIVATIONS:
                value = _OTHER_ACTIVATIONS[name](value)
        return value


def fused_convolution(
    x: Tensor, filter: Tensor, more: Sequence[Tensor], epilogue: _Epilogue, **options: Any
) -> Tensor:
    """Convolve, add and activate."""
    return epilogue.finished(ops.fused.conv2d(x, filter, **options, **epilogue.options(more)))


def fused_depthwise_convolution(
    x: Tensor, filter: Tensor, more: Sequence[Tensor], epilogue: _Epilogue, **options: Any
) -> Tensor:
    """Convolve each channel by itself, add and activate."""
    result = ops.fused.depthwise_conv2d(x, filter, **options, **epilogue.options(more))
    return epilogue.finished(result)


def fused_product(
    a: Tensor, b: Tensor, more: Sequence[Tensor], epilogue: _Epilogue, **options: Any
) -> Tensor:
    """Multiply matrices, add and activate."""
    return epilogue.finished(ops.fused.mat_mul(a, b, **options, **epilogue.options(more)))


# -- others ------------------------------------------------------------------------------------

#: The axes of channels-first images in the order of channels-last ones.
_CHANNELS_LAST = (0, 2, 3, 1)


def channels_last(images: Tensor, pad: Any) -> tuple[Tensor, Any]:
    """Move the channels of images to the end, and those of the padding where it is by axis."""
    by_axis = pad if isinstance(pad, str) else [pad[axis] for axis in _CHANNELS_LAST]
    return ops.permute_dims(images, _CHANNELS_LAST), by_axis


def transposed_convolution(
    filter: Tensor, x: Tensor, output_shape: list[int], pad: Any, data_format: str, **options: Any
) -> Tensor:
    """Convolve backwards; shapes may leave the batch out as -1."""
    shape = [x.shape[0] if output_shape[0] < 0 else output_shape[0], *output_shape[1:]]
    if data_format != "NCHW":
        return ops.conv2d_transpose(x, filter, shape, pad=pad, **options)
    shape = [shape[axis] for axis in _CHANNELS_LAST]
    x, pad = channels_last(x, pad)
    result = ops.conv2d_transpose(x, filter, shape, pad=pad, **options)
    return ops.permute_dims(result, (0, 3, 1, 2))


def convolution_3d(x: Tensor, filter: Tensor, data_format: str, **options: Any) -> Tensor:
    """Convolve volumes with channels last, or groups of their channels."""
    if data_format != "NDHWC":
        return ops.conv3d(x, filter, data_format=data_format, **options)
    return grouped_conv3d(x, filter, **options)


def pooled(op: str, x: Tensor, data_format: str, pad: Any, **options: Any) -> Tensor:
    """Return averages or maxima of windows."""
    channels_first = data_format == "NCHW"
    if channels_first:
        x, pad = channels_last(x, pad)
    result = getattr(ops, op)(x, pad=pad, **options)
    return ops.permute_dims(result, (0, 3, 1, 2)) if channels_first else result


def normalized(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float,
    data_format: str,
    is_training: bool,
    average_factor: float = 1.0,
) -> tuple[Tensor, ...]:
    """Normalize channels by their means and variances, those of the batch while training."""
    channels_first = data_format.startswith("NC")
    order = tuple(range(len(x.shape)))
    values = ops.permute_dims(x, (0, *order[2:], 1)) if channels_first else x
    averages = [mean, variance]
    if is_training:
        mean, variance = ops.moments(values, order[:-1])
        count = math.prod(values.shape[:-1])
        batch = [mean, variance * (count / max(count - 1, 1))]
        averages = [
            new if average_factor == 1 else old + (new - old) * average_factor
            for old, new in zip(averages, batch, strict=True)
        ]
    result = ops.batch_norm(values, mean, variance, offset, scale, epsilon)
    if channels_first:
        result = ops.permute_dims(result, (0, order[-1], *order[1:-1]))
    return result, *averages, mean, variance, variance


def normalized_globally(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    offset: Tensor,
    scale: Tensor,
    epsilon: float,
    is_scaled: bool,
) -> Tensor:
    """Normalize channels by their means and variances, as models of 2015 do."""
    return ops.batch_norm(x, mean, variance, offset, scale if is_scaled else None, epsilon)


def product_of_stacks(a: Tensor, b: Tensor, adj_x: bool, adj_y: bool) -> Tensor:
    """Multiply stacks of matrices, or their adjoints."""
    return ops.matmul(ops.conj(a) if adj_x else a, ops.conj(b) if adj_y else b, adj_x, adj_y)


def einsum(operands: Sequence[Tensor], equation: str) -> Tensor:
    """Sum products as an equation says."""
    return ops.einsum(equation, *operands)


_WINDOWS = {"filter_size": window(), "strides": strides(), "pad": padding()}
_FILTERS = {
    "strides": strides(),
    "pad": padding(),
    "data_format": layout("NHWC"),
    "dilations": dilations(),
}
_EPILOGUE = Attribute(_Epilogue)
#: What is added to variances.
EPSILON = attribute("epsilon", 1e-3)
_BATCH_NORM = Row(
    normalized,
    0,
    1,
    2,
    3,
    4,
    epsilon=EPSILON,
    data_format=layout("NHWC"),
    is_training=boolean("is_training"),
    average_factor=attribute("exponential_avg_factor", 1.0),
)
_BATCH_PRODUCT = Row(product_of_stacks, 0, 1, adj_x=boolean("adj_x"), adj_y=boolean("adj_y"))
_TRANSPOSED = {
    "transpose_a": boolean("transpose_a"),
    "transpose_b": boolean("transpose_b"),
}


def _pool(op: str) -> Row:
    return Row(partial(pooled, op), 0, data_format=layout("NHWC"), **_WINDOWS)


ROWS = {
    # convolutions
    "Conv1D": Row(
        "conv1d",
        0,
        1,
        stride=attribute("stride"),
        pad=padding(),
        data_format=layout("NWC"),
        dilation=attribute("dilation", 1),
    ),
    "Conv2D": Row("conv2d", 0, 1, **_FILTERS),
    "Conv2DBackpropInput": Row(
        transposed_convolution,
        1,
        2,
        output_shape=integers(0),
        strides=strides(),
        pad=padding(),
        data_format=layout("NHWC"),
        dilations=dilations(),
    ),
    "Conv3D": Row(
        convolution_3d,
        0,
        1,
        strides=strides(),
        pad=padding(),
        data_format=layout("NDHWC"),
        dilations=dilations(),
    ),
    "DepthwiseConv2d": Row("depthwise_conv2d", 0, 1, **_FILTERS),
    "DepthwiseConv2dNative": Row("depthwise_conv2d", 0, 1, **_FILTERS),
    "Dilation2D": Row(
        "dilation2d",
        0,
        1,
        strides=strides(),
        pad=padding(),
        dilations=attribute("rates", convert=lambda rates: rates[1:3]),
    ),
    "FusedDepthwiseConv2dNative": Row(
        fused_depthwise_convolution, 0, 1, Tensors(2), epilogue=_EPILOGUE, **_FILTERS
    ),
    "_FusedConv2D": Row(fused_convolution, 0, 1, Tensors(2), epilogue=_EPILOGUE, **_FILTERS),
    # windows
    "AvgPool": _pool("avg_pool"),
    "AvgPool3D": Row("avg_pool3d", 0, **_WINDOWS, data_format=layout("NDHWC")),
    "MaxPool": _pool("max_pool"),
    "MaxPool3D": Row("max_pool3d", 0, **_WINDOWS, data_format=layout("NDHWC")),
    "MaxPoolWithArgmax": Row(
        "max_pool_with_argmax",
        0,
        **_WINDOWS,
        include_batch_in_index=boolean("include_batch_in_index"),
    ),
    # matrices
    "BatchMatMul": _BATCH_PRODUCT,
    "BatchMatMulV2": _BATCH_PRODUCT,
    "Einsum": Row(einsum, Tensors(), equation=text("equation")),
    "MatMul": Row("matmul", 0, 1, **_TRANSPOSED),
    "MatrixBandPart": Row("linalg.band_part", 0, num_lower=integer(1), num_upper=integer(2)),
    "_FusedMatMul": Row(fused_product, 0, 1, Tensors(2), epilogue=_EPILOGUE, **_TRANSPOSED),
    # normalization
    "FusedBatchNorm": _BATCH_NORM,
    "FusedBatchNormV2": _BATCH_NORM,
    "FusedBatchNormV3": _BATCH_NORM,
    "LRN": Row(
        "local_response_normalization",
        0,
        depth_radius=attribute("depth_radius", 5),
        bias=attribute("bias", 1.0),
        alpha=attribute("alpha", 1.0),
        beta=attribute("beta", 0.5),
    ),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "Conv3DBackpropInputV2": Row(
        "conv3d_transpose",
        2,
        1,
        output_shape=integers(0),
        strides=strides(),
        pad=padding(),
        dilations=dilations(),
    ),
    "BatchMatMulV3": _BATCH_PRODUCT,
    "BatchNormWithGlobalNormalization": Row(
        normalized_globally,
        0,
        1,
        2,
        3,
        4,
        epsilon=attribute("variance_epsilon"),
        is_scaled=boolean("scale_after_normalization"),
    ),
    "_Normalized": Row(normalized_channels, 0, 1, 2, 3),
}
