"""RMSprop."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.ops.steps import moved_against_root_ratio, moved_towards, moved_towards_square
from webtensor.optimizers.base import Optimizer

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Gradients divided by the root of their mean square (Tieleman & Hinton, 2012).

    ``s`` is a decaying mean of the square of the gradient, and ``d = learning_rate * g /
    sqrt(s + epsilon)``; ``centered`` takes the square of the mean gradient off ``s``. Then ``w -=
    d``, or with ``momentum`` ``v = momentum * v + d`` and ``w -= v``. Defaults are Keras's.
    TensorFlow.js subtracts ``epsilon`` in the centered form, which can make the root NaN.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.RMSprop(0.1)
        >>> optimizer.minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        self.rho = self._not_negative("rho", rho)
        self.momentum = self._not_negative("momentum", momentum)
        self.epsilon = self._not_negative("epsilon", epsilon)
        self.centered = centered
        self.slots = 1 + bool(momentum) + bool(centered)

    def update(self, variable: Variable, gradient: Tensor, slots: list[Variable]) -> None:
        square, *others = slots
        square.assign(moved_towards_square(square.value, gradient, 1 - self.rho))
        spread = square.value
        if self.centered:
            mean = others[-1]
            mean.assign(moved_towards(mean.value, gradient, 1 - self.rho))
            # A variance; rounding alone can make it negative.
            spread = (spread - mean.value * mean.value).relu()
        if not self.momentum:
            variable.assign(
                moved_against_root_ratio(
                    variable.value, gradient, spread, self.epsilon, self.learning_rate
                )
            )
            return
        change = gradient / (spread + self.epsilon).sqrt() * self.learning_rate
        velocity = others[0]
        velocity.assign(velocity.value * self.momentum + change)
        variable.assign(variable.value - velocity.value)
