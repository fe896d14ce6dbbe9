"""Adam, and AdamW, which applies weight decay by default."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.engine import Tensor, Variable
from webtensor.engine.late_numbers import applied
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike
from webtensor.keras.optimizers.moments import MomentOptimizer, update_moments
from webtensor.ops import maximum
from webtensor.ops.optimizer_updates import moved_against_ratio

__all__ = ["Adam", "AdamW", "update_by_adam"]


def update_by_adam(
    variable: Variable,
    gradient: Tensor,
    slots: Sequence[Variable],
    betas: tuple[float, float],
    epsilon: float,
    learning_rate: float,
    step: int,
) -> None:
    """Update a variable and its slots in step ``step``, counted from 1.

    The slots are the two moments, and with AMSGrad the maximum of the second moment.
    """
    mean, mean_square, *maximum_slot = slots
    beta_1, beta_2 = betas
    update_moments((mean, mean_square), gradient, beta_1, beta_2)
    divisor = mean_square.value
    if maximum_slot:
        divisor = maximum(maximum_slot[0].value, divisor)
        maximum_slot[0].assign(divisor)
    rate = learning_rate * applied(sqrt, 1 - beta_2**step) / (1 - beta_1**step)
    variable.assign(moved_against_ratio(variable.value, mean.value, divisor, epsilon, rate))


class Adam(MomentOptimizer):
    """Adaptive moment estimation (Kingma & Ba, *Adam*, 2014).

    ``m`` and ``v`` are decaying means of the gradient and of its square, corrected for their
    start at zero: ``w -= learning_rate * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) +
    epsilon)`` at step ``t``.

    Args:
        amsgrad: a boolean, whether to divide by the maximum of all ``v`` so far.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adam(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, *base, **options)
        self.amsgrad = amsgrad
        if amsgrad:
            self.slot_groups = (*self.slot_groups, ("velocity_hat",))

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        update_by_adam(
            variable,
            gradient,
            self.slots_of(variable),
            (self.beta_1, self.beta_2),
            self.epsilon,
            learning_rate,
            self.update_count + 1,
        )


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2017).

    Raises:
        ValueError: ``weight_decay`` is None.
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
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
