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
from webtensor.ops.epilogue import ACTIVATIONS, Epilogue, activate, check_residual
from webtensor.ops.movement import reshape
from webtensor.shapes import Shape, broadcast_shapes, prod

__all__ = ["conv2d", "depthwise_conv2d", "mat_mul"]


def _check(name: str, activation: str | None, prelu_weights: TensorLike | None) -> str:
    activation_name = activation or "linear"
    if activation_name not in ACTIVATIONS:
        raise ValueError(
            f"{name}: activation must be one of {', '.join(ACTIVATIONS)}, but got {activation!r}"
        )
    if activation_name == "prelu" and prelu_weights is None:
        raise ValueError(f"{name}: activation 'prelu' needs prelu_activation_weights")
    return activation_name


def _row(
    name: str, activation: str, leakyrelu_alpha: float
) -> tuple[str | None, tuple[float, ...]]:
    """Return the activation's name in the elementwise table, and its parameters."""
    _, row, parameters = ACTIVATIONS[activation]
    if activation == "leakyrelu":
        parameters = (as_number(name, "leakyrelu_alpha", leakyrelu_alpha),)
    return row, parameters


def _per_column(name: str, value: TensorLike, columns: Shape) -> Tensor | None:
    """Return the value as one number for each column, or None if it has another shape."""
    operand = as_operand(name, value)
    if operand.dtype in (complex64, string_) or operand.shape[-1:] != columns:
        return None
    if operand.shape != columns and operand.size == columns[0]:
        operand = reshape(operand, columns)
    return cast_to(operand, float32) if operand.shape == columns else None


def _epilogue(
    name: str,
    columns: Shape,
    bias: TensorLike | None,
    activation: str,
    prelu_weights: TensorLike | None,
    leakyrelu_alpha: float,
    residual: TensorLike | None,
) -> Epilogue | None:
    """Return the epilogue for the kernel, or None if it must be computed by separate ops."""
    if bias is None:
        return None
    biases = _per_column(name, bias, columns)
    row, parameters = _row(name, activation, leakyrelu_alpha)
    # With a negative parameter, the sign of the result does not tell that of the operand.
    if biases is None or not all(number >= 0 for number in parameters):
        return None
    slopes = addend = None
    if activation == "prelu":
        slopes = _per_column(name, prelu_weights, columns)
        if slopes is None:
            return None
    if residual is not None:
        addend = as_operand(name, residual)
        if addend.dtype is not float32:
            return None
    return Epilogue(biases, row, parameters, slopes, addend)


def _with_separate_ops(
    name: str,
    y: Tensor,
    bias: TensorLike | None,
    activation: str,
    prelu_weights: TensorLike | None,
    leakyrelu_alpha: float,
    residual: TensorLike | None,
    channels_first: bool = False,
) -> Tensor:
    """Add the bias and the residual, and apply the activation, by separate ops."""

    def fitted(argument: str, value: TensorLike) -> Tensor:
        operand = cast_to(as_operand(name, value), y.dtype)
        if channels_first and len(operand.shape) == 1:
            operand = reshape(operand, (operand.shape[0], 1, 1))
        try:
            fits = broadcast_shapes(name, operand.shape, y.shape) == y.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{name}: {argument} has shape {operand.shape}, which does not broadcast to that "
                f"of the result, {y.shape}"
            )
        return operand

    if bias is not None:
        y = add(y, fitted("bias", bias))
    if residual is not None:
        addend = cast_to(as_operand(name, residual), y.dtype)
        check_residual(name, addend, y.shape)
        y = add(y, addend)
    if activation == "prelu":
        return prelu(y, fitted("prelu_activation_weights", prelu_weights))
    return activate(y, *_row(name, activation, leakyrelu_alpha))


def _convolution(
    op: str,
    x: TensorLike,
    filter: TensorLike,
    options: tuple[Any, Padding, str, Any, str | None],
    arguments: tuple[Any, ...],
) -> Tensor:
    """Convolve; ``options`` are the convolution's, ``arguments`` those of the epilogue."""
    name = f"fused.{op}"
    bias, activation, prelu_weights, leakyrelu_alpha, residual = arguments
    activation_name = _check(name, activation, prelu_weights)
    arguments = (bias, activation_name, prelu_weights, leakyrelu_alpha, residual)
    channels_first = options[2] == "NCHW"
    filter, x = as_operand(name, filter), as_operand(name, x)
    epilogue = None
    if residual is None or (len(x.shape) == 4 and not channels_first):
        shape = filter.shape
        columns = shape[-1:] if op == "conv2d" else (prod(shape[-2:]),)
        epilogue = _epilogue(name, columns, *arguments)
    y = convolution.fused_convolution(op, x, filter, *options, epilogue)
    if epilogue is not None:
        return y
    return _with_separate_ops(name, y, *arguments, channels_first)


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
    options = (strides, pad, data_format, dilations, dim_rounding_mode)
    arguments = (bias, activation, prelu_activation_weights, leakyrelu_alpha, residual)
    return _convolution("conv2d", x, filter, options, arguments)


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
    options = (strides, pad, data_format, dilations, dim_rounding_mode)
    arguments = (bias, activation, prelu_activation_weights, leakyrelu_alpha, residual)
    return _convolution("depthwise_conv2d", x, filter, options, arguments)


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
    activation_name = _check(name, activation, prelu_activation_weights)
    arguments = (bias, activation_name, prelu_activation_weights, leakyrelu_alpha, residual)
    a, b = as_operands(name, a, b)
    epilogue = None
    if a.dtype is b.dtype is float32 and len(b.shape) > 1:
        columns = b.shape[-2] if transpose_b else b.shape[-1]
        epilogue = _epilogue(name, (columns,), *arguments)
    if epilogue is not None:
        return contraction.fused_matmul(a, b, transpose_a, transpose_b, epilogue)
    y = contraction.matmul(a, b, transpose_a, transpose_b)
    if bias is not None or residual is not None or activation_name != "linear":
        y = as_float(name, "the product", y)
    return _with_separate_ops(name, y, *arguments)
