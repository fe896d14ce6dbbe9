"""Adagrad."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops.optimizer_updates import moved_by_root_ratio, plus_square

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Smaller steps for what changed much (Duchi et al., *Adaptive subgradient methods*, 2011).

    ``a`` starts at ``initial_accumulator_value`` and adds the squares of the gradients up; ``w -=
    learning_rate * g / sqrt(a + epsilon)``.

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
        learning_rate: Rate = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.initial_accumulator_value = self._not_negative(
            "initial_accumulator_value", initial_accumulator_value
        )
        self.epsilon = self._not_negative("epsilon", epsilon)

    def initial_value(self, slot: str) -> float:
        return self.initial_accumulator_value

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        (total,) = self.slots_of(variable)
        total.assign(plus_square(total.value, gradient))
        variable.assign(
            moved_by_root_ratio(
                variable.value, gradient, total.value, 1.0, self.epsilon, -learning_rate
            )
        )
