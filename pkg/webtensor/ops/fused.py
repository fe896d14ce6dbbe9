"""Products and convolutions with their bias and activation in one call: ``wt.fused``."""

from __future__ import annotations

from typing import Any

from webtensor.arguments import as_number
from webtensor.dtypes import complex64, float32, string_
from webtensor.engine import Tensor, TensorLike, as_operand, as_operands, planned
from webtensor.geometry import Padding
from webtensor.ops import contraction, convolution
from webtensor.ops.binary import add, prelu
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.epilogue import Finish, activated, check_residual
from webtensor.ops.movement import reshape
from webtensor.shapes import Shape, broadcast_shapes, prod

__all__ = ["conv2d", "depthwise_conv2d", "mat_mul"]

#: Names in the elementwise table, with parameters, of the activations without numbers as options.
_ACTIVATIONS: dict[str, tuple[str | None, tuple[float, ...]]] = {
    "linear": (None, ()),
    "elu": ("elu", (1.0,)),
    "relu": ("relu", ()),
    "relu6": ("relu6", ()),
    "sigmoid": ("sigmoid", ()),
    "prelu": ("prelu", ()),
}
_NAMES = (*_ACTIVATIONS, "leakyrelu")


def _check(name: str, activation: str | None, prelu_weights: TensorLike | None) -> str:
    chosen = activation or "linear"
    if chosen not in _NAMES:
        raise ValueError(
            f"{name}: activation must be one of {', '.join(_NAMES)}, but got {activation!r}"
        )
    if chosen == "prelu" and prelu_weights is None:
        raise ValueError(f"{name}: activation 'prelu' needs prelu_activation_weights")
    return chosen


def _row(
    name: str, activation: str, leakyrelu_alpha: float
) -> tuple[str | None, tuple[float, ...]]:
    """The activation's name in the elementwise table, and its parameters."""
    if activation == "leakyrelu":
        return "leaky_relu", (as_number(name, "leakyrelu_alpha", leakyrelu_alpha),)
    return _ACTIVATIONS[activation]


def _per_column(name: str, value: TensorLike, columns: Shape) -> Tensor | None:
    """Return a number for each column, if that is what the value is."""
    held = as_operand(name, value)
    if held.dtype in (complex64, string_) or held.shape[-1:] != columns:
        return None
    if held.shape != columns and held.size == columns[0]:
        held = reshape(held, columns)
    return cast_to(held, float32) if held.shape == columns else None


def _in_kernel(
    name: str,
    columns: Shape,
    bias: TensorLike | None,
    activation: str,
    prelu_weights: TensorLike | None,
    leakyrelu_alpha: float,
    residual: TensorLike | None,
) -> Finish | None:
    """The finish that kernels apply, or None where it takes ops of their own."""
    if bias is None:
        return None
    held = _per_column(name, bias, columns)
    row, parameters = _row(name, activation, leakyrelu_alpha)
    if held is None or not all(number >= 0 for number in parameters):
        return None  # a negative one does not tell on which side of 0 the operand was
    slopes = added = None
    if activation == "prelu":
        slopes = _per_column(name, prelu_weights, columns)
        if slopes is None:
            return None
    if residual is not None:
        added = as_operand(name, residual)
        if added.dtype is not float32:
            return None
    return Finish(held, row, parameters, slopes, added)


def _finish(
    name: str,
    y: Tensor,
    bias: TensorLike | None,
    activation: str,
    prelu_weights: TensorLike | None,
    leakyrelu_alpha: float,
    residual: TensorLike | None,
    channels_first: bool = False,
) -> Tensor:
    """Add the bias and the residual, and apply the activation."""

    def fitted(argument: str, value: TensorLike) -> Tensor:
        held = cast_to(as_operand(name, value), y.dtype)
        if channels_first and len(held.shape) == 1:
            held = reshape(held, (held.shape[0], 1, 1))
        try:
            fits = broadcast_shapes(name, held.shape, y.shape) == y.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{name}: {argument} has shape {held.shape}, which does not broadcast to that of "
                f"the result, {y.shape}"
            )
        return held

    if bias is not None:
        y = add(y, fitted("bias", bias))
    if residual is not None:
        added = cast_to(as_operand(name, residual), y.dtype)
        check_residual(name, added, y.shape)
        y = add(y, added)
    if activation == "prelu":
        return prelu(y, fitted("prelu_activation_weights", prelu_weights))
    return activated(y, *_row(name, activation, leakyrelu_alpha))


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
    name = "fused.conv2d"
    chosen = _check(name, activation, prelu_activation_weights)
    weights, first = prelu_activation_weights, data_format == "NCHW"
    options = (strides, pad, data_format, dilations, dim_rounding_mode)
    filter, x = as_operand(name, filter), as_operand(name, x)
    finish = None
    if residual is None or (len(x.shape) == 4 and not first):
        ends = (bias, chosen, weights, leakyrelu_alpha, residual)
        finish = _in_kernel(name, filter.shape[-1:], *ends)
    y = convolution.finished_convolution("conv2d", x, filter, *options, finish)
    if finish is not None:
        return y
    return _finish(name, y, bias, chosen, weights, leakyrelu_alpha, residual, first)


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
    name = "fused.depthwise_conv2d"
    chosen = _check(name, activation, prelu_activation_weights)
    weights, first = prelu_activation_weights, data_format == "NCHW"
    options = (strides, pad, data_format, dilations, dim_rounding_mode)
    filter, x = as_operand(name, filter), as_operand(name, x)
    finish = None
    if residual is None or (len(x.shape) == 4 and not first):
        ends = (bias, chosen, weights, leakyrelu_alpha, residual)
        finish = _in_kernel(name, (prod(filter.shape[-2:]),), *ends)
    y = convolution.finished_convolution("depthwise_conv2d", x, filter, *options, finish)
    if finish is not None:
        return y
    return _finish(name, y, bias, chosen, weights, leakyrelu_alpha, residual, first)


@planned
def mat_mul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    bias: TensorLike | None = None,
    activation: str | None = "linear",
    prelu_activation_weights: TensorLike | None = None,
    leakyrelu_alpha: float = 0.2,
    residual: TensorLike | None = None,
) -> Tensor:
    """``wt.matmul``, then a bias added, then an activation. See ``fused.conv2d``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> a, b = [[1.0, 2.0]], [[3.0], [4.0]]
        >>> wt.fused.mat_mul(a, b, bias=[-20.0], activation="relu6").tolist()
        [[0.0]]
    """
    name = "fused.mat_mul"
    chosen = _check(name, activation, prelu_activation_weights)
    a, b = as_operands(name, a, b)
    finish = None
    if a.dtype is b.dtype is float32 and len(b.shape) > 1:
        columns = b.shape[-2] if transpose_b else b.shape[-1]
        ends = (bias, chosen, prelu_activation_weights, leakyrelu_alpha, residual)
        finish = _in_kernel(name, (columns,), *ends)
    if finish is not None:
        return contraction.finished_matmul(a, b, transpose_a, transpose_b, finish)
    y = contraction.matmul(a, b, transpose_a, transpose_b)
    if bias is not None or residual is not None or chosen != "linear":
        y = as_float(name, "the product", y)
    return _finish(name, y, bias, chosen, prelu_activation_weights, leakyrelu_alpha, residual)
