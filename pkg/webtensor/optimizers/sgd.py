"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.ops.steps import moved_against
from webtensor.optimizers.base import Optimizer

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """Stochastic gradient descent: ``w -= learning_rate * g``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.SGD(0.25).minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.5)
    """

    def __init__(self, learning_rate: float = 0.01) -> None:
        super().__init__(learning_rate)

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        variable.assign(moved_against(variable.value, gradient, self.learning_rate))


class Momentum(Optimizer):
    """Gradient descent with momentum (Polyak, 1964), or Nesterov's (Sutskever et al., 2013).

    ``v = momentum * v + g``, then ``w -= learning_rate * v``; with Nesterov's,
    ``w -= learning_rate * (g + momentum * v)``.
    """

    slots = 1

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, nesterov: bool = False
    ) -> None:
        super().__init__(learning_rate)
        self.momentum = self._not_negative("momentum", momentum)
        self.nesterov = nesterov

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        (velocity,) = slots
        velocity.assign(moved_against(gradient, velocity.value, -self.momentum))
        step = velocity.value
        if self.nesterov:
            step = gradient + step * self.momentum
        variable.assign(moved_against(variable.value, step, self.learning_rate))
