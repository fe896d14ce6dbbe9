"""AdamW without a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.engine.late_numbers import applied
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
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
    all ``z``, and ``w = (1 - beta_1) * z + beta_1 * x``.

    Args:
        beta_1: a number, the share of the mean ``x`` in the weight.
        beta_2: a number, the decay of the mean of the gradient's square.
        epsilon: a small number, added to the divisor so that it is not zero.
        warmup_steps: an integer, the number of first steps in which the learning rate increases.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.ScheduleFreeAdamW(0.25).minimize(lambda: w * w).tolist(), float(w)
        (1.0, 0.75)
    """

    slot_groups = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.0025,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        warmup_steps: int = 0,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._non_negative("beta_1", beta_1)
        self.beta_2 = self._non_negative("beta_2", beta_2)
        self.epsilon = self._non_negative("epsilon", epsilon)
        self.warmup_steps = self._non_negative("warmup_steps", warmup_steps)

    def _add_variables(self, variables: Sequence[Variable]) -> None:
        super()._add_variables(variables)
        for variable in self._without_overwritten(variables):
            self.slots_of(variable)[0].assign(variable.value)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        z, mean_square = self.slots_of(variable)
        step = self.update_count + 1
        if self.warmup_steps > 0:
            learning_rate *= applied(min, step / self.warmup_steps, 1.0)
        mean_square.assign(moved_towards_square(mean_square.value, gradient, 1 - self.beta_2))
        # The bias correction of the mean square, taken out of the root.
        correction = applied(sqrt, 1 - self.beta_2**step)
        z_before = z.value
        z_after = moved_against_ratio(
            z_before,
            gradient,
            mean_square.value,
            self.epsilon * correction,
            learning_rate * correction,
        )
        z.assign(z_after)
        # beta_1 * x, computed from the weight before this step, then updated by the new z.
        z_share, mean_share = 1 - self.beta_1, 1 / step
        mean = moved_against(variable.value, z_before, z_share)
        variable.assign(
            weighted_sum(mean, z_after, 1 - mean_share, self.beta_1 * mean_share + z_share)
        )
