"""The arguments of fused ops: a bias, a residual and an activation, in the kernel or after it."""

from __future__ import annotations

from webtensor.arguments import as_number
from webtensor.dtypes import complex64, float32, string_
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.activations import prelu
from webtensor.ops.binary import add
from webtensor.ops.casting import cast_to
from webtensor.ops.epilogue import ACTIVATIONS, Epilogue, activate, check_residual
from webtensor.ops.movement import reshape
from webtensor.shapes import Shape, broadcast_shapes

__all__ = ["check_activation", "epilogue_of", "with_separate_ops"]


def check_activation(name: str, activation: str | None, prelu_weights: TensorLike | None) -> str:
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


def epilogue_of(
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


def with_separate_ops(
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
