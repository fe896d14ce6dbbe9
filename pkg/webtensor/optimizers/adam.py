"""Adam."""

from __future__ import annotations

from math import sqrt

from webtensor.engine import Tensor, Variable
from webtensor.ops.steps import moved_against_ratio, moved_towards, moved_towards_square
from webtensor.optimizers.base import Optimizer

__all__ = ["Adam"]


class Adam(Optimizer):
    """Adaptive moment estimation (Kingma & Ba, *Adam*, 2014), with Keras's defaults.

    ``m`` and ``v`` are decaying means of the gradient and of its square, corrected for their
    start at zero: ``w -= learning_rate * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) +
    epsilon)`` at step ``t``.
    """

    slots = 2

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
    ) -> None:
        super().__init__(learning_rate)
        self.beta_1 = self._not_negative("beta_1", beta_1)
        self.beta_2 = self._not_negative("beta_2", beta_2)
        self.epsilon = self._not_negative("epsilon", epsilon)

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        mean, square = slots
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        square.assign(moved_towards_square(square.value, gradient, 1 - self.beta_2))
        step = self.iterations
        rate = self.learning_rate * sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)
        variable.assign(
            moved_against_ratio(variable.value, mean.value, square.value, self.epsilon, rate)
        )
