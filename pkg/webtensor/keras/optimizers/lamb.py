"""Lamb."""

from __future__ import annotations

from math import sqrt
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops import square, sum
from webtensor.ops.optimizer_updates import (
    moved_towards,
    moved_towards_square,
    ratio_to_root,
    trust_ratio,
)

__all__ = ["Lamb"]


class Lamb(Optimizer):
    """Adam whose steps are as long as the weights (You et al., *Large batch optimization*, 2019).

    ``d`` is the step of Adam before the learning rate: ``w -= learning_rate * |w| / |d| * d``, or
    ``w -= learning_rate * d`` where a length is zero.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Lamb(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
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

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, spread = self.slots_of(variable)
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        spread.assign(moved_towards_square(spread.value, gradient, 1 - self.beta_2))
        step = self.moves + 1
        # The correction of the spread, taken out of the root.
        outside = sqrt(1 - self.beta_2**step)
        change = ratio_to_root(
            mean.value, spread.value, self.epsilon * outside, outside / (1 - self.beta_1**step)
        )
        value = variable.value
        rate = trust_ratio(sum(square(value)), sum(square(change)), learning_rate)
        variable.assign(value - change * rate)
