"""RMSprop."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops.optimizer_updates import (
    moved_by_centered_ratio,
    moved_by_root_ratio,
    moved_towards,
    moved_towards_square,
)

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Gradients divided by the root of their mean square (Tieleman & Hinton, 2012).

    ``s`` is a decaying mean of the square of the gradient, and ``d = learning_rate * g /
    sqrt(s + epsilon)``; ``centered`` takes the square of the mean gradient off ``s``. Then ``w -=
    d``, or with ``momentum`` ``v = momentum * v + d`` and ``w -= v``. TensorFlow.js subtracts
    ``epsilon`` in the centered form, which can make the root NaN.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.RMSprop(0.1)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        *base: Any,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.rho = self._not_negative("rho", rho)
        self.momentum = self._not_negative("momentum", momentum)
        self.epsilon = self._not_negative("epsilon", epsilon)
        self.centered = centered
        self.slot_groups = (
            ("velocity",),
            *([("momentum",)] if momentum else []),
            *([("average_gradient",)] if centered else []),
        )

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        square, *others = self.slots_of(variable)
        square.assign(moved_towards_square(square.value, gradient, 1 - self.rho))
        if self.centered:
            mean = others[-1]
            mean.assign(moved_towards(mean.value, gradient, 1 - self.rho))
        value = variable.value
        if self.momentum:
            velocity = others[0]
            velocity.assign(
                self._moved(velocity.value, gradient, square, others, self.momentum, learning_rate)
            )
            variable.assign(value - velocity.value)
        else:
            variable.assign(self._moved(value, gradient, square, others, 1.0, -learning_rate))

    def _moved(
        self,
        x: Tensor,
        gradient: Tensor,
        square: Variable,
        others: list[Any],
        decay: float,
        rate: float,
    ) -> Tensor:
        """``x * decay`` and a multiple of the gradient divided by its spread."""
        if not self.centered:
            return moved_by_root_ratio(x, gradient, square.value, decay, self.epsilon, rate)
        mean = others[-1].value
        return moved_by_centered_ratio(x, gradient, square.value, mean, decay, self.epsilon, rate)
