"""What products can end with in the same kernel: a bias for each column, then an activation.

The activations are those whose slope their result tells, so that no sum before them need be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from webtensor.engine import Primitive, Tensor
from webtensor.ops import unary
from webtensor.ops.binary import add
from webtensor.ops.broadcasting import sum_to
from webtensor.ops.rows import ROWS, Row

__all__ = ["Finish", "activated", "finished_primitive"]

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
    """A float32 bias for each column; an activation by its name in the table, or none."""

    bias: Tensor
    activation: str | None = None
    parameters: tuple[float, ...] = ()

    @property
    def row(self) -> Row | None:
        """The activation's row of the elementwise table."""
        return ROWS[self.activation] if self.activation else None

    def after(self, y: Tensor) -> Tensor:
        """Finish a product by ops of their own."""
        return activated(add(y, self.bias), self.activation, self.parameters)


def _before(dy: Tensor, y: Tensor, row: Row | None, *parameters: float) -> Tensor:
    """The gradient of what the activation was applied to."""
    slope: Tensor = dy if row is None else _SLOPES[row.name](dy, y, *parameters)
    return slope


def finished_primitive(plain: Primitive) -> Primitive:
    """The primitive ``fused_…`` of a product of two operands, which also takes a bias.

    Its attributes are the product's only one, the activation's row or None, and its parameters.
    """
    first, second = plain.gradient_for(0), plain.gradient_for(1)
    assert first is not None
    assert second is not None

    def to_bias(
        dy: Tensor, y: Tensor, a: Tensor, b: Tensor, bias: Tensor, geometry: Any, *finish: Any
    ) -> Tensor:
        return sum_to(_before(dy, y, *finish), bias.shape)

    return Primitive(
        f"fused_{plain.name}",
        gradients=(
            lambda dy, y, a, b, bias, geometry, *finish: first(
                _before(dy, y, *finish), y, a, b, geometry
            ),
            lambda dy, y, a, b, bias, geometry, *finish: second(
                _before(dy, y, *finish), y, a, b, geometry
            ),
            to_bias,
        ),
    )
