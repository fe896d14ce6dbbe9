"""AdamW without a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops.optimizer_updates import (
    moved_against,
    moved_against_ratio,
    moved_towards_square,
    weighted_sum,
)

__all__ = ["ScheduleFreeAdamW"]


class ScheduleFreeAdamW(Optimizer):
    """Averages of steps instead of a schedule (Defazio et al., *The road less scheduled*, 2024).

    ``v`` is a decaying mean of the square of the gradient. ``z`` starts as the weight, and ``z -=
    learning_rate * g / (sqrt(v / (1 - beta_2**t)) + epsilon)`` at step ``t``; ``x`` is the mean of
    all ``z``, and ``w = (1 - beta_1) * z + beta_1 * x``. In the first ``warmup_steps`` the learning
    rate rises.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.ScheduleFreeAdamW(0.25).minimize(lambda: w * w).tolist(), float(w)
        (1.0, 0.75)
    """

    slot_groups = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: Rate = 0.0025,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        warmup_steps: int = 0,
        *base: Any,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._not_negative("beta_1", beta_1)
        self.beta_2 = self._not_negative("beta_2", beta_2)
        self.epsilon = self._not_negative("epsilon", epsilon)
        self.warmup_steps = self._not_negative("warmup_steps", warmup_steps)

    def _track(self, variables: Sequence[Variable]) -> None:
        super()._track(variables)
        for variable in self._moved_among(variables):
            self.slots_of(variable)[0].assign(variable.value)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        point, square = self.slots_of(variable)
        step = self.moves + 1
        if self.warmup_steps > 0:
            learning_rate *= min(step / self.warmup_steps, 1.0)
        square.assign(moved_towards_square(square.value, gradient, 1 - self.beta_2))
        # The correction of the mean, taken out of the root.
        outside = sqrt(1 - self.beta_2**step)
        before = point.value
        after = moved_against_ratio(
            before, gradient, square.value, self.epsilon * outside, learning_rate * outside
        )
        point.assign(after)
        # beta_1 * x, found in the weight before this step, and moved towards z.
        free, share = 1 - self.beta_1, 1 / step
        mean = moved_against(variable.value, before, free)
        variable.assign(weighted_sum(mean, after, 1 - share, self.beta_1 * share + free))
