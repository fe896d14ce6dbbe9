"""Ftrl."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import follow_regularized_leader, linear_of_leader, plus_square

__all__ = ["Ftrl"]


class Ftrl(Optimizer):
    """Follow the regularized leader (McMahan et al., *Ad click prediction*, 2013).

    ``a`` starts at ``initial_accumulator_value`` and adds the squares of the gradients up. With
    ``p`` for the negative of ``learning_rate_power`` and ``b = a + g**2``, ``z += g + 2 *
    l2_shrinkage * w - (b**p - a**p) / learning_rate * w``, and ``w = (clip(z, -l1, l1) - z) /
    ((b**p + beta) / learning_rate + 2 * l2)``.

    Args:
        learning_rate_power: a number of at most 0, the power of ``a`` in the learning rate.
        initial_accumulator_value: a number, the initial value of the sums of squares.
        l1_regularization_strength: a number, ``l1`` in the formula.
        l2_regularization_strength: a number, ``l2`` in the formula.
        l2_shrinkage_regularization_strength: a number, ``l2_shrinkage`` in the formula.
        beta: a number, ``beta`` in the formula.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.Ftrl(0.5)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slot_groups = (("accumulator", "linear"),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        if not learning_rate_power <= 0:
            raise ValueError(
                "Ftrl: learning_rate_power must be negative or zero, but got "
                f"{learning_rate_power!r}"
            )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = self._non_negative(
            "initial_accumulator_value", initial_accumulator_value
        )
        self.l1_regularization_strength = self._non_negative(
            "l1_regularization_strength", l1_regularization_strength
        )
        self.l2_regularization_strength = self._non_negative(
            "l2_regularization_strength", l2_regularization_strength
        )
        self.l2_shrinkage_regularization_strength = self._non_negative(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        self.beta = beta

    def initial_value(self, slot: str) -> float:
        return self.initial_accumulator_value if slot == "accumulator" else 0.0

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        accumulator, linear = self.slots_of(variable)
        power, inverse_rate = -self.learning_rate_power, 1 / learning_rate
        linear.assign(
            linear_of_leader(
                linear.value,
                gradient,
                accumulator.value,
                variable.value,
                power,
                inverse_rate,
                2 * self.l2_shrinkage_regularization_strength,
            )
        )
        accumulator.assign(plus_square(accumulator.value, gradient))
        variable.assign(
            follow_regularized_leader(
                linear.value,
                accumulator.value,
                power,
                inverse_rate,
                self.l1_regularization_strength,
                2 * self.l2_regularization_strength + self.beta * inverse_rate,
            )
        )
