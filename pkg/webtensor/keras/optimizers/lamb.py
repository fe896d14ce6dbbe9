"""Lamb."""

from __future__ import annotations

from math import sqrt

from webtensor.engine import Tensor, Variable
from webtensor.engine.late_numbers import applied
from webtensor.keras.optimizers.moments import MomentOptimizer, update_moments
from webtensor.ops import square, sum
from webtensor.ops.optimizer_updates import ratio_to_root, trust_ratio

__all__ = ["Lamb"]


class Lamb(MomentOptimizer):
    """Adam whose steps are in proportion to the weights (You et al., *Large batch*, 2019).

    ``d`` is the step of Adam before the learning rate: ``w -= learning_rate * |w| / |d| * d``, or
    ``w -= learning_rate * d`` where a norm is zero.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Lamb(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, mean_square = self.slots_of(variable)
        update_moments((mean, mean_square), gradient, self.beta_1, self.beta_2)
        step = self.update_count + 1
        # The bias correction of the mean square, taken out of the root.
        correction = applied(sqrt, 1 - self.beta_2**step)
        change = ratio_to_root(
            mean.value,
            mean_square.value,
            self.epsilon * correction,
            correction / (1 - self.beta_1**step),
        )
        value = variable.value
        rate = trust_ratio(sum(square(value)), sum(square(change)), learning_rate)
        variable.assign(value - change * rate)
