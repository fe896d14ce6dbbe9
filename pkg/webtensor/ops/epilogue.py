"""Epilogues: a bias for each column, a residual and an activation, in the kernel of a product.

The gradient of an activation of one operand reads the kernel's result only, so that the sum before
it need not be stored; for PReLU's gradient the sum is computed again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from webtensor.backends.fused_activations import FUSED_ACTIVATIONS, epilogue_operands
from webtensor.engine import Gradient, Primitive, Tensor, run
from webtensor.ops import activations
from webtensor.ops.activations import prelu
from webtensor.ops.binary import add
from webtensor.ops.broadcasting import sum_to
from webtensor.ops.elementwise import ROWS, Row
from webtensor.ops.shared_operands import OfRows
from webtensor.shapes import Shape

__all__ = ["ACTIVATIONS", "Epilogue", "activate", "check_residual", "fused_primitive"]

#: The fused activations by their names in ``wt.fused``.
ACTIVATIONS = {activation.name: activation for activation in FUSED_ACTIVATIONS}

_FUNCTIONS = {
    activation.row: getattr(activations, activation.row)
    for activation in FUSED_ACTIVATIONS
    if activation.row is not None and ROWS[activation.row].arity == 1
}


def activate(y: Tensor, row: str | None, parameters: tuple[float, ...]) -> Tensor:
    """Apply an activation of one operand, which a row of the elementwise table computes."""
    return _FUNCTIONS[row](y, *parameters) if row else y


class Epilogue(NamedTuple):
    """A float32 bias for each column, and an activation by its name in the elementwise table.

    ``slopes`` are PReLU's, one for each column; ``residual``, of the result's shape, is added.
    """

    bias: Tensor
    activation: str | None = None
    parameters: tuple[float, ...] = ()
    slopes: Tensor | None = None
    residual: Tensor | None = None

    @property
    def row(self) -> Row | None:
        """The activation's row of the elementwise table."""
        return ROWS[self.activation] if self.activation else None

    @property
    def operands(self) -> tuple[Tensor, ...]:
        """The operands that a kernel takes after the product's two."""
        operands = self.bias, self.slopes, self.residual
        return tuple(operand for operand in operands if operand is not None)

    def apply(self, y: Tensor) -> Tensor:
        """Apply the epilogue to a product, by separate ops."""
        return _applied(y, self.operands, self.row, *self.parameters)


def _applied(
    y: Tensor, operands: tuple[Tensor, ...], row: Row | None, *parameters: float
) -> Tensor:
    bias, slopes, residual = epilogue_operands(operands, row)
    y = add(y, bias)
    if residual is not None:
        y = add(y, residual)
    if slopes is not None:
        return prelu(y, slopes)
    return activate(y, row.name if row else None, parameters)


def check_residual(name: str, residual: Tensor, shape: Shape) -> None:
    """Check that a residual has the result's shape.

    Raises:
        ValueError: it has another shape.
    """
    if residual.shape != shape:
        raise ValueError(
            f"{name}: residual must have the result's shape, {shape}, but has {residual.shape}"
        )


def _sum_of_rows(dy: Tensor) -> Tensor:
    return sum_to(dy, dy.shape[1:])


def fused_primitive(plain: Primitive) -> Primitive:
    """Make the primitive ``fused_…`` of a product: the product with an epilogue.

    Its operands are the product's two and those of an ``Epilogue``; its attributes are the
    product's only one, the activation's row or None, and the row's parameters.
    """

    def gradient_for(index: int) -> Gradient:
        def rule(dy: Tensor, y: Tensor, *arguments: Any) -> Tensor | OfRows:
            a, b, *operands = (argument for argument in arguments if isinstance(argument, Tensor))
            geometry, row, *parameters = arguments[2 + len(operands) :]
            if row is not None and row.arity == 2:
                slopes = operands[1]
                product = run(plain, (a, b), y.shape, y.dtype, geometry)
                x = _applied(product, (operands[0], *operands[2:]), None)
                if index == 3:
                    return sum_to((dy * x).where(x < 0, 0.0), slopes.shape)
                dy = dy.where(x > 0, dy * slopes)
            elif row is not None:
                dy = row.gradient_for(0)(dy, y, y, row, *parameters)
            if index < 2:
                factor = plain.gradient_for(index)
                assert factor is not None
                return factor(dy, y, a, b, geometry)  # type: ignore[no-any-return]
            if index == 2 and len(dy.shape) == 2 and operands[0].shape == dy.shape[1:]:
                return OfRows(_sum_of_rows, dy)
            return sum_to(dy, operands[index - 2].shape)

        return rule

    return Primitive(f"fused_{plain.name}", gradients=gradient_for)
