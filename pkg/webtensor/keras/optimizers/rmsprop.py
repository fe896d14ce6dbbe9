"""RMSprop."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
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
    sqrt(s + epsilon)``. Then ``w -= d``, or with ``momentum`` ``v = momentum * v + d`` and ``w -=
    v``. TensorFlow.js subtracts ``epsilon`` in the centered form, which can make the root NaN.

    Args:
        rho: a number, the decay of the means.
        momentum: a number, the decay of ``v``; 0 is no momentum.
        epsilon: a small number, added to ``s`` before the root.
        centered: a boolean, whether to subtract the square of the mean gradient from ``s``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.RMSprop(0.1)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.rho = self._non_negative("rho", rho)
        self.momentum = self._non_negative("momentum", momentum)
        self.epsilon = self._non_negative("epsilon", epsilon)
        self.centered = centered
        self.slot_groups = (
            ("velocity",),
            *([("momentum",)] if momentum else []),
            *([("average_gradient",)] if centered else []),
        )

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean_square, *other_slots = self.slots_of(variable)
        mean_square.assign(moved_towards_square(mean_square.value, gradient, 1 - self.rho))
        if self.centered:
            mean = other_slots[-1]
            mean.assign(moved_towards(mean.value, gradient, 1 - self.rho))
            mean_value = mean.value
        else:
            mean_value = None
        slots = mean_square.value, mean_value
        if self.momentum:
            velocity = other_slots[0]
            velocity.assign(
                self._updated(velocity.value, gradient, *slots, self.momentum, learning_rate)
            )
            variable.assign(variable.value - velocity.value)
        else:
            variable.assign(self._updated(variable.value, gradient, *slots, 1.0, -learning_rate))

    def _updated(
        self,
        x: Tensor,
        gradient: Tensor,
        mean_square: Tensor,
        mean: Tensor | None,
        decay: float,
        rate: float,
    ) -> Tensor:
        """Return ``x * decay + rate * gradient / sqrt(variance + epsilon)``."""
        if mean is None:
            return moved_by_root_ratio(x, gradient, mean_square, decay, self.epsilon, rate)
        return moved_by_centered_ratio(x, gradient, mean_square, mean, decay, self.epsilon, rate)
