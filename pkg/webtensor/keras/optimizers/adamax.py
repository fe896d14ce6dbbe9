"""Adamax."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops.optimizer_updates import decayed_maximum, moved_against_quotient, moved_towards

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam with the greatest gradient for the mean square (Kingma & Ba, 2014, section 7.1).

    ``m`` is a decaying mean of the gradient, corrected for its start at zero, and ``u =
    max(beta_2 * u, |g|)``: ``w -= learning_rate / (1 - beta_1**t) * m / (u + epsilon)`` at step
    ``t``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adamax(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    slot_groups = (("momentum", "norm"),)

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._not_negative("beta_1", beta_1)
        self.beta_2 = self._not_negative("beta_2", beta_2)
        self.epsilon = self._not_negative("epsilon", epsilon)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, greatest = self.slots_of(variable)
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        greatest.assign(decayed_maximum(greatest.value, gradient, self.beta_2))
        rate = learning_rate / (1 - self.beta_1 ** (self.moves + 1))
        variable.assign(
            moved_against_quotient(variable.value, mean.value, greatest.value, self.epsilon, rate)
        )
