"""Adam, and AdamW, which takes weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer, Options, Rate
from webtensor.ops import maximum
from webtensor.ops.optimizer_updates import moved_against_ratio, moved_towards, moved_towards_square

__all__ = ["Adam", "AdamW", "moved_by_adam"]


def moved_by_adam(
    value: Tensor,
    gradient: Tensor,
    slots: Sequence[Variable],
    betas: tuple[float, float],
    epsilon: float,
    learning_rate: float,
    step: int,
) -> Tensor:
    """Return what a weight becomes at a step, counted from 1, after moving its slots.

    These are two means, and with AMSGrad the greatest of the second.
    """
    mean, square, *greatest = slots
    beta_1, beta_2 = betas
    mean.assign(moved_towards(mean.value, gradient, 1 - beta_1))
    square.assign(moved_towards_square(square.value, gradient, 1 - beta_2))
    spread = square.value
    if greatest:
        spread = maximum(greatest[0].value, spread)
        greatest[0].assign(spread)
    rate = learning_rate * sqrt(1 - beta_2**step) / (1 - beta_1**step)
    return moved_against_ratio(value, mean.value, spread, epsilon, rate)


class Adam(Optimizer):
    """Adaptive moment estimation (Kingma & Ba, *Adam*, 2014).

    ``m`` and ``v`` are decaying means of the gradient and of its square, corrected for their
    start at zero: ``w -= learning_rate * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) +
    epsilon)`` at step ``t``. With ``amsgrad`` the greatest ``v`` so far takes its place.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adam(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        *base: Any,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_1 = self._not_negative("beta_1", beta_1)
        self.beta_2 = self._not_negative("beta_2", beta_2)
        self.epsilon = self._not_negative("epsilon", epsilon)
        self.amsgrad = amsgrad
        self.slot_groups = (("momentum", "velocity"), *([("velocity_hat",)] if amsgrad else []))

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, square, *greatest = self.slots_of(variable)
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        square.assign(moved_towards_square(square.value, gradient, 1 - self.beta_2))
        spread = square.value
        if greatest:
            spread = greatest[0].value.maximum(spread)
            greatest[0].assign(spread)
        step = self.moves + 1
        rate = learning_rate * sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)
        variable.assign(moved_against_ratio(variable.value, mean.value, spread, self.epsilon, rate))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2017)."""

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        *base: Any,
        **options: Any,
    ) -> None:
        if weight_decay is None:
            raise ValueError("AdamW: weight_decay must be a number, but got None")
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay, *base, **options
        )
