"""Lion."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import moved_against_sign, weighted_sum

__all__ = ["Lion"]


class Lion(Optimizer):
    """Steps of equal size, along the sign of a momentum (Chen et al., *Symbolic discovery*, 2023).

    ``w -= learning_rate * sign(beta_1 * m + (1 - beta_1) * g)``, then ``m = beta_2 * m +
    (1 - beta_2) * g``.

    Args:
        beta_1: a number in (0, 1], the share of the momentum in the direction of a step.
        beta_2: a number, the decay of the momentum.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Lion(0.25).minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.75)
    """

    slot_groups = (("momentum",),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._non_negative("beta_1", beta_1)
        self.beta_2 = self._non_negative("beta_2", beta_2)
        if not 0 < beta_1 <= 1:
            raise ValueError(f"Lion: beta_1 must be in (0, 1], but got {beta_1!r}")

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        (mean,) = self.slots_of(variable)
        beta = self.beta_1
        variable.assign(
            moved_against_sign(variable.value, mean.value, gradient, beta, 1 - beta, learning_rate)
        )
        mean.assign(weighted_sum(mean.value, gradient, self.beta_2, 1 - self.beta_2))
