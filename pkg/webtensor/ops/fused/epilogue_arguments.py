"""The arguments of fused ops: a bias, a residual and an activation, in the kernel or after it."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.arguments import as_number, check_choice
from webtensor.dtypes import complex64, float32, string_
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.activations import prelu
from webtensor.ops.binary import add
from webtensor.ops.casting import cast_to
from webtensor.ops.epilogue import ACTIVATIONS, Epilogue, activate, check_residual
from webtensor.ops.movement import reshape
from webtensor.shapes import Shape, broadcast_shapes

__all__ = ["EpilogueArguments"]


def _per_column(name: str, value: TensorLike, columns: Shape) -> Tensor | None:
    """Return the value as one number for each column, or None if it has another shape."""
    operand = as_operand(name, value)
    if operand.dtype in (complex64, string_) or operand.shape[-1:] != columns:
        return None
    if operand.shape != columns and operand.size == columns[0]:
        operand = reshape(operand, columns)
    return cast_to(operand, float32) if operand.shape == columns else None


class EpilogueArguments(NamedTuple):
    """What the op of a name shall add to its result, and the activation that it then applies."""

    name: str
    bias: TensorLike | None
    activation: str
    prelu_weights: TensorLike | None
    leakyrelu_alpha: float
    residual: TensorLike | None

    def check_activation(self) -> None:
        """Raise a ``ValueError`` if there is no such activation, or it lacks its weights."""
        check_choice(self.name, "activation", self.activation, ACTIVATIONS)
        if self.activation == "prelu" and self.prelu_weights is None:
            raise ValueError(f"{self.name}: activation 'prelu' needs prelu_activation_weights")

    @property
    def _row(self) -> tuple[str | None, tuple[float, ...]]:
        """The activation's name in the elementwise table, and its parameters."""
        _, row, parameters = ACTIVATIONS[self.activation]
        if self.activation == "leakyrelu":
            parameters = (as_number(self.name, "leakyrelu_alpha", self.leakyrelu_alpha),)
        return row, parameters

    def epilogue(self, columns: Shape) -> Epilogue | None:
        """Return the epilogue for the kernel, or None if it must be computed by separate ops."""
        if self.bias is None:
            return None
        biases = _per_column(self.name, self.bias, columns)
        row, parameters = self._row
        # With a negative parameter, the sign of the result does not tell that of the operand.
        if biases is None or not all(number >= 0 for number in parameters):
            return None
        slopes = addend = None
        if self.activation == "prelu":
            slopes = _per_column(self.name, self.prelu_weights, columns)
            if slopes is None:
                return None
        if self.residual is not None:
            addend = as_operand(self.name, self.residual)
            if addend.dtype is not float32:
                return None
        return Epilogue(biases, row, parameters, slopes, addend)

    def _fitted(self, argument: str, value: TensorLike, y: Tensor, channels_first: bool) -> Tensor:
        """Return the value as an operand that broadcasts to the shape of ``y``."""
        operand = cast_to(as_operand(self.name, value), y.dtype)
        if channels_first and len(operand.shape) == 1:
            operand = reshape(operand, (operand.shape[0], 1, 1))
        try:
            fits = broadcast_shapes(self.name, operand.shape, y.shape) == y.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{self.name}: {argument} has shape {operand.shape}, which does not broadcast to "
                f"that of the result, {y.shape}"
            )
        return operand

    def apply(self, y: Tensor, channels_first: bool = False) -> Tensor:
        """Add the bias and the residual, and apply the activation, by separate ops."""
        if self.bias is not None:
            y = add(y, self._fitted("bias", self.bias, y, channels_first))
        if self.residual is not None:
            addend = cast_to(as_operand(self.name, self.residual), y.dtype)
            check_residual(self.name, addend, y.shape)
            y = add(y, addend)
        if self.activation == "prelu":
            argument = "prelu_activation_weights"
            return prelu(y, self._fitted(argument, self.prelu_weights, y, channels_first))
        return activate(y, *self._row)
