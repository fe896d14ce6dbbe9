"""Nadam."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable
from webtensor.keras.names import auto_name
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.ops.optimizer_updates import (
    moved_against_mixed_ratio,
    moved_towards,
    moved_towards_square,
)

__all__ = ["Nadam"]


class Nadam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, *Incorporating Nesterov momentum into Adam*, 2015).

    ``m`` and ``v`` are decaying means of the gradient and of its square. With ``u(t) = beta_1 *
    (1 - 0.96**t / 2)`` and ``p(t) = u(1) * ... * u(t)``, at step ``t``: ``w -= learning_rate *
    (u(t + 1) * m / (1 - p(t + 1)) + (1 - u(t)) * g / (1 - p(t))) / (sqrt(v / (1 - beta_2**t)) +
    epsilon)``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Nadam(0.25).minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slot_groups = (("momentum", "velocity"),)

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
        name = auto_name("variable")
        #: The product p, which comes after the slots.
        self._product = HostNumber(1.0, float32, name, name)

    def _track(self, variables: Sequence[Variable]) -> None:
        super()._track(variables)
        if not self.built:
            self._variables.append(self._product)

    def _update_all(
        self, grads: Sequence[Tensor], variables: Sequence[Variable], learning_rate: float
    ) -> None:
        self._product.assign(self._product.number * self._momentum(self.moves + 1))
        super()._update_all(grads, variables, learning_rate)

    def _momentum(self, step: int) -> float:
        """The factor u of a step."""
        return self.beta_1 * (1 - 0.5 * 0.96**step)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, square = self.slots_of(variable)
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        square.assign(moved_towards_square(square.value, gradient, 1 - self.beta_2))
        step = self.moves + 1
        product = self._product.number
        now, then = self._momentum(step), self._momentum(step + 1)
        # The correction of v, taken out of the root.
        spread = sqrt(1 - self.beta_2**step)
        rate = learning_rate * spread
        variable.assign(
            moved_against_mixed_ratio(
                variable.value,
                mean.value,
                gradient,
                square.value,
                rate * then / (1 - product * then),
                rate * (1 - now) / (1 - product),
                self.epsilon * spread,
            )
        )
