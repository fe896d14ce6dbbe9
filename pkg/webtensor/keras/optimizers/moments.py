"""What Adam and its variants share: decaying means of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import moved_towards, moved_towards_square

__all__ = ["MomentOptimizer", "update_moments"]


def update_moments(
    slots: Sequence[Variable], gradient: Tensor, beta_1: float, beta_2: float
) -> None:
    """Update the decaying means of the gradient and of its square."""
    mean, mean_square = slots
    mean.assign(moved_towards(mean.value, gradient, 1 - beta_1))
    mean_square.assign(moved_towards_square(mean_square.value, gradient, 1 - beta_2))


class MomentOptimizer(Optimizer):
    """The base class of Adam and its variants.

    Args:
        beta_1: a number, the decay of the mean of the gradient.
        beta_2: a number, the decay of the mean of the gradient's square.
        epsilon: a small number, added to the divisor so that it is not zero.
    """

    slot_groups: Sequence[Sequence[str]] = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._non_negative("beta_1", beta_1)
        self.beta_2 = self._non_negative("beta_2", beta_2)
        self.epsilon = self._non_negative("epsilon", epsilon)
