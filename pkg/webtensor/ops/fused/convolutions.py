"""Convolutions with a bias, a residual and an activation in one call."""

from __future__ import annotations

from typing import Any

from webtensor.engine import Tensor, TensorLike, as_operand, planned
from webtensor.geometry import Padding, WindowOptions
from webtensor.ops import convolution
from webtensor.ops.fused.epilogue_arguments import EpilogueArguments
from webtensor.shapes import prod

__all__ = ["conv2d", "depthwise_conv2d"]


def _convolution(
    op: str,
    x: TensorLike,
    filter: TensorLike,
    options: WindowOptions,
    data_format: str,
    arguments: EpilogueArguments,
) -> Tensor:
    """Convolve, then apply the arguments, in the same kernel where it can do so."""
    name = arguments.name
    arguments.check_activation()
    channels_first = data_format == "NCHW"
    filter, x = as_operand(name, filter), as_operand(name, x)
    epilogue = None
    if arguments.residual is None or (len(x.shape) == 4 and not channels_first):
        shape = filter.shape
        columns = shape[-1:] if op == "conv2d" else (prod(shape[-2:]),)
        epilogue = arguments.epilogue(columns)
    y = convolution.fused_convolution(op, x, filter, options, data_format, epilogue)
    return arguments.apply(y, channels_first) if epilogue is None else y


@planned
def conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any,
    pad: Padding,
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
    bias: TensorLike | None = None,
    activation: str | None = "linear",
    prelu_activation_weights: TensorLike | None = None,
    leakyrelu_alpha: float = 0.2,
    residual: TensorLike | None = None,
) -> Tensor:
    """``wt.conv2d``, then a bias and a residual added, then an activation.

    ``bias`` and ``prelu_activation_weights`` hold a number per channel, or have another shape that
    broadcasts to that of the result; ``residual`` has the result's shape. ``activation`` is
    "linear", "relu", "relu6", "elu", "sigmoid", "prelu" or "leakyrelu".

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x, filter = wt.ones((2, 2, 1)), wt.ones((2, 2, 1, 1))
        >>> wt.fused.conv2d(x, filter, 1, "valid", bias=[-5.0], activation="relu").tolist()
        [[[0.0]]]
    """
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    arguments = EpilogueArguments(
        "fused.conv2d",
        bias,
        activation or "linear",
        prelu_activation_weights,
        leakyrelu_alpha,
        residual,
    )
    return _convolution("conv2d", x, filter, options, data_format, arguments)


@planned
def depthwise_conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any,
    pad: Padding,
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
    bias: TensorLike | None = None,
    activation: str | None = "linear",
    prelu_activation_weights: TensorLike | None = None,
    leakyrelu_alpha: float = 0.2,
    residual: TensorLike | None = None,
) -> Tensor:
    """``wt.depthwise_conv2d``, then a bias added, then an activation. See ``fused.conv2d``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x, filter = wt.ones((2, 2, 1)), wt.ones((2, 2, 1, 1))
        >>> wt.fused.depthwise_conv2d(x, filter, 1, "valid", bias=1.0).tolist()
        [[[5.0]]]
    """
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    arguments = EpilogueArguments(
        "fused.depthwise_conv2d",
        bias,
        activation or "linear",
        prelu_activation_weights,
        leakyrelu_alpha,
        residual,
    )
    return _convolution("depthwise_conv2d", x, filter, options, data_format, arguments)
