"""Adagrad."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import moved_by_root_ratio, plus_square

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Smaller steps for weights that changed much (Duchi et al., *Adaptive subgradient*, 2011).

    ``a`` starts at ``initial_accumulator_value`` and adds the squares of the gradients up; ``w -=
    learning_rate * g / sqrt(a + epsilon)``.

    Args:
        initial_accumulator_value: a number, the initial value of the sums of squares.
        epsilon: a small number, added to the sums of squares before the root.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.Adagrad(0.5)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slot_groups = (("accumulator",),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.initial_accumulator_value = self._non_negative(
            "initial_accumulator_value", initial_accumulator_value
        )
        self.epsilon = self._non_negative("epsilon", epsilon)

    def initial_value(self, slot: str) -> float:
        return self.initial_accumulator_value

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        (accumulator,) = self.slots_of(variable)
        accumulator.assign(plus_square(accumulator.value, gradient))
        variable.assign(
            moved_by_root_ratio(
                variable.value, gradient, accumulator.value, 1.0, self.epsilon, -learning_rate
            )
        )
