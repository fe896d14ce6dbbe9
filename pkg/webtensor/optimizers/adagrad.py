"""Adagrad."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.ops import full_like
from webtensor.ops.steps import moved_against_root_ratio
from webtensor.optimizers.base import Optimizer

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Smaller steps for what changed much (Duchi et al., *Adaptive subgradient methods*, 2011).

    ``a`` starts at ``initial_accumulator_value`` and adds the squares of the gradients up; ``w -=
    learning_rate * g / sqrt(a + epsilon)``. Defaults are Keras's.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.Adagrad(0.5)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slots = 1

    def __init__(
        self,
        learning_rate: float = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
    ) -> None:
        super().__init__(learning_rate)
        self.initial_accumulator_value = self._not_negative(
            "initial_accumulator_value", initial_accumulator_value
        )
        self.epsilon = self._not_negative("epsilon", epsilon)

    def initial_slot(self, value: Tensor) -> Tensor:
        return full_like(value, float(self.initial_accumulator_value))

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        (total,) = slots
        total.assign(total.value + gradient * gradient)
        variable.assign(
            moved_against_root_ratio(
                variable.value, gradient, total.value, self.epsilon, self.learning_rate
            )
        )
