"""Adamax."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.moments import MomentOptimizer
from webtensor.ops.optimizer_updates import decayed_maximum, moved_against_quotient, moved_towards

__all__ = ["Adamax"]


class Adamax(MomentOptimizer):
    """Adam with the maximum of the gradients for their mean square (Kingma & Ba, 2014, 7.1).

    ``m`` is a decaying mean of the gradient, corrected for its start at zero, and ``u =
    max(beta_2 * u, |g|)``: ``w -= learning_rate / (1 - beta_1**t) * m / (u + epsilon)`` at step
    ``t``.

    Args:
        beta_2: a number, the decay of the maximum of the gradients.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adamax(0.25).minimize(lambda: w * w).tolist(), round(float(w), 4)
        (1.0, 0.75)
    """

    slot_groups = (("momentum", "norm"),)

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, norm = self.slots_of(variable)
        mean.assign(moved_towards(mean.value, gradient, 1 - self.beta_1))
        norm.assign(decayed_maximum(norm.value, gradient, self.beta_2))
        rate = learning_rate / (1 - self.beta_1 ** (self.update_count + 1))
        variable.assign(
            moved_against_quotient(variable.value, mean.value, norm.value, self.epsilon, rate)
        )
