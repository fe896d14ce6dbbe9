"""Adadelta."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.ops.steps import moved_against, moved_towards_square
from webtensor.optimizers.base import Optimizer

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Steps whose size follows the steps before (Zeiler, *ADADELTA*, 2012), with Keras's defaults.

    ``s`` and ``u`` are decaying means of the squares of the gradient and of the steps: ``d =
    sqrt(u + epsilon) / sqrt(s + epsilon) * g``, then ``w -= learning_rate * d``. TensorFlow.js
    divides by ``s`` as it was before this gradient.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.Adadelta(1.0)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    slots = 2

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.95, epsilon: float = 1e-7
    ) -> None:
        super().__init__(learning_rate)
        self.rho = self._not_negative("rho", rho)
        self.epsilon = self._not_negative("epsilon", epsilon)

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        square, steps = slots
        square.assign(moved_towards_square(square.value, gradient, 1 - self.rho))
        ratio = (steps.value + self.epsilon).sqrt() / (square.value + self.epsilon).sqrt()
        step = ratio * gradient
        steps.assign(moved_towards_square(steps.value, step, 1 - self.rho))
        variable.assign(moved_against(variable.value, step, self.learning_rate))
