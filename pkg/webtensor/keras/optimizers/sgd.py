"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.ops.optimizer_updates import moved_against, moved_along, weighted_sum

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """Stochastic gradient descent: ``w -= learning_rate * g``.

    With ``momentum``, ``v = momentum * v - learning_rate * g`` and ``w += v``; with Nesterov's
    momentum, ``w += momentum * v - learning_rate * g``.

    Args:
        momentum: a number in [0, 1], the decay of ``v``; 0 is no momentum.
        nesterov: a boolean, whether to apply Nesterov's momentum.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.SGD(0.25).minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.5)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.momentum = self._non_negative("momentum", momentum)
        if momentum > 1:
            raise ValueError(f"SGD: momentum must be in [0, 1], but got {momentum!r}")
        self.nesterov = nesterov
        if momentum:
            self.slot_groups = (("momentum",),)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        value = variable.value
        if not self.momentum:
            variable.assign(moved_against(value, gradient, learning_rate))
            return
        (slot,) = self.slots_of(variable)
        velocity = weighted_sum(slot.value, gradient, self.momentum, -learning_rate)
        slot.assign(velocity)
        if self.nesterov:
            variable.assign(moved_along(value, velocity, gradient, self.momentum, learning_rate))
        else:
            variable.assign(value + velocity)


class Momentum(Optimizer):
    """Gradient descent with momentum as in TensorFlow.js; Keras has no such optimizer.

    ``v = momentum * v + g``, then ``w -= learning_rate * v``; with Nesterov's momentum (Sutskever
    et al., 2013), ``w -= learning_rate * (g + momentum * v)``. With a constant learning rate, it
    equals ``SGD`` with momentum.

    Args:
        momentum: a number, the decay of ``v``.
        nesterov: a boolean, whether to apply Nesterov's momentum.
    """

    slot_groups = (("momentum",),)

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.01,
        momentum: float = 0.9,
        nesterov: bool = False,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.momentum = self._non_negative("momentum", momentum)
        self.nesterov = nesterov

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        (slot,) = self.slots_of(variable)
        velocity = moved_against(gradient, slot.value, -self.momentum)
        slot.assign(velocity)
        if self.nesterov:
            momentum = -learning_rate * self.momentum
            value = moved_along(variable.value, velocity, gradient, momentum, learning_rate)
        else:
            value = moved_against(variable.value, velocity, learning_rate)
        variable.assign(value)
