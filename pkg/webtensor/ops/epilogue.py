"""What products can end with in the same kernel: a bias for each column, a residual, an activation.

Most of the activations are those whose slope their result tells, so that no sum before them need be
kept; for PReLU's gradient it is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from webtensor.engine import Gradient, Primitive, Tensor, run
from webtensor.ops import unary
from webtensor.ops.binary import add, prelu
from webtensor.ops.broadcasting import sum_to
from webtensor.ops.elementwise import ROWS, Row
from webtensor.ops.shared_operands import OfRows
from webtensor.shapes import Shape

__all__ = ["Finish", "activated", "check_residual", "finished_primitive"]

_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "relu": unary.relu,
    "relu6": unary.relu6,
    "elu": unary.elu,
    "sigmoid": unary.sigmoid,
    "leaky_relu": unary.leaky_relu,
}

#: Slope times ``dy`` for the result ``y``.
_SLOPES: dict[str, Callable[..., Any]] = {
    "relu": lambda dy, y: dy * y.step(),
    "relu6": lambda dy, y: dy * y.step() * (6 - y).step(),
    "elu": lambda dy, y, alpha: dy * (y + alpha).where(y < 0, 1.0),
    "sigmoid": lambda dy, y: dy * y * (1 - y),
    "leaky_relu": lambda dy, y, alpha: dy * y.step(alpha),
}


def activated(y: Tensor, activation: str | None, parameters: tuple[float, ...]) -> Tensor:
    """Apply an activation, given by its name in the table, or none."""
    return _FUNCTIONS[activation](y, *parameters) if activation else y


class Finish(NamedTuple):
    """A float32 bias for each column; an activation by its name in the table, or none.

    ``slopes`` is PReLU's, one for each column; ``residual``, of the result's shape, is added.
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
        """What a kernel takes after a product's two operands."""
        return tuple(one for one in (self.bias, self.slopes, self.residual) if one is not None)

    def after(self, y: Tensor) -> Tensor:
        """Finish a product by ops of their own."""
        return _finished(y, self.operands, self.row, *self.parameters)


def _finished(
    y: Tensor, operands: tuple[Tensor, ...], row: Row | None, *parameters: float
) -> Tensor:
    bias, *others = operands
    y = add(y, bias)
    slopes = others.pop(0) if row is not None and row.arity == 2 else None
    for residual in others:
        y = add(y, residual)
    if slopes is not None:
        return prelu(y, slopes)
    return activated(y, row.name if row else None, parameters)


def check_residual(name: str, residual: Tensor, shape: Shape) -> None:
    """Check that what is to be added has the result's shape.

    Raises:
        ValueError: it has not.
    """
    if residual.shape != shape:
        raise ValueError(
            f"{name}: residual must have the result's shape, {shape}, but has {residual.shape}"
        )


def _sum_of_rows(dy: Tensor) -> Tensor:
    return sum_to(dy, dy.shape[1:])


def finished_primitive(plain: Primitive) -> Primitive:
    """The primitive ``fused_…`` of a product of two operands, which also takes what finishes it.

    Its operands are the product's two, then those of a ``Finish``; its attributes are the product's
    only one, the activation's row or None, and its parameters.
    """

    def gradient_for(index: int) -> Gradient:
        def rule(dy: Tensor, y: Tensor, *given: Any) -> Tensor | OfRows:
            a, b, *operands = (one for one in given if isinstance(one, Tensor))
            geometry, row, *parameters = given[2 + len(operands) :]
            if row is not None and row.arity == 2:
                slopes = operands[1]
                unfinished = run(plain, (a, b), y.shape, y.dtype, geometry)
                x = _finished(unfinished, (operands[0], *operands[2:]), None)
                if index == 3:
                    return sum_to((dy * x).where(x < 0, 0.0), slopes.shape)
                dy = dy.where(x >= 0, dy * slopes)
            elif row is not None:
                dy = _SLOPES[row.name](dy, y, *parameters)
            if index < 2:
                factor = plain.gradient_for(index)
                assert factor is not None
                return factor(dy, y, a, b, geometry)  # type: ignore[no-any-return]
            if index == 2 and len(dy.shape) == 2 and operands[0].shape == dy.shape[1:]:
                return OfRows(_sum_of_rows, dy)
            return sum_to(dy, operands[index - 2].shape)

        return rule

    return Primitive(f"fused_{plain.name}", gradients=gradient_for)
