"""Adamax."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.ops.steps import moved_towards
from webtensor.optimizers.base import Optimizer

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam with the greatest gradient for the mean square (Kingma & Ba, 2014, section 7.1).

    ``m`` is a decaying mean of the gradient, corrected for its start at zero, and ``u =
    max(beta_2 * u, |g|)``: ``w -= learning_rate / (1 - beta_1**t) * m / (u + epsilon)`` at step
    ``t``. Defaults are Keras's. With ``decay``, as in TensorFlow.js, the learning rate is divided
    by ``1 + decay * (t - 1)``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adamax(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    slots = 2

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *,
        decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        self.beta_1 = self._not_negative("beta_1", beta_1)
        self.beta_2 = self._not_negative("beta_2", beta_2)
        self.epsilon = self._not_negative("epsilon", epsilon)
        self.decay = self._not_negative("decay", decay)

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        mean, greatest = slots
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        greatest.assign((greatest.value * self.beta_2).maximum(gradient.abs()))
        step = self.iterations
        rate = self.learning_rate / (1 + self.decay * (step - 1)) / (1 - self.beta_1**step)
        variable.assign(variable.value - mean.value / (greatest.value + self.epsilon) * rate)
