"""Adadelta."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import moved_against, moved_towards_square, ratio_of_roots

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Step sizes that adapt to the previous steps (Zeiler, *ADADELTA*, 2012).

    ``s`` and ``u`` are decaying means of the squares of the gradient and of the steps: ``d =
    sqrt(u + epsilon) / sqrt(s + epsilon) * g``, then ``w -= learning_rate * d``. TensorFlow.js
    divides by ``s`` as it was before this gradient.

    Args:
        rho: a number, the decay of the means of squares.
        epsilon: a small number, added to the means of squares before the roots.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.Adadelta(1.0)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slot_groups = (("accumulated_grad", "accumulated_delta_var"),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.rho = self._non_negative("rho", rho)
        self.epsilon = self._non_negative("epsilon", epsilon)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        gradient_square, step_square = self.slots_of(variable)
        gradient_square.assign(moved_towards_square(gradient_square.value, gradient, 1 - self.rho))
        step = ratio_of_roots(step_square.value, gradient_square.value, gradient, self.epsilon)
        step_square.assign(moved_towards_square(step_square.value, step, 1 - self.rho))
        variable.assign(moved_against(variable.value, step, learning_rate))
