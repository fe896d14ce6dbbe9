"""Nadam."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any, Unpack

from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable
from webtensor.engine.late_numbers import applied
from webtensor.keras.names import auto_name
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike
from webtensor.keras.optimizers.moments import MomentOptimizer, update_moments
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.ops.optimizer_updates import moved_against_mixed_ratio

__all__ = ["Nadam"]


class Nadam(MomentOptimizer):
    """Adam with Nesterov's momentum (Dozat, *Incorporating Nesterov momentum into Adam*, 2015).

    ``m`` and ``v`` are decaying means of the gradient and of its square. With ``u(t) = beta_1 *
    (1 - 0.96**t / 2)`` and ``p(t) = u(1) * ... * u(t)``, at step ``t``: ``w -= learning_rate *
    (u(t + 1) * m / (1 - p(t + 1)) + (1 - u(t)) * g / (1 - p(t))) / (sqrt(v / (1 - beta_2**t)) +
    epsilon)``.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Nadam(0.25).minimize(lambda: w * w).tolist(), float(w) < 1.0
        (1.0, True)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, *base, **options)
        name = auto_name("variable")
        #: The product p. It comes after the slots in ``variables``.
        self._momentum_product = HostNumber(1.0, float32, name, name)
        #: The last step, and its product p.
        self._last_product = 0, 1.0

    def _add_variables(self, variables: Sequence[Variable]) -> None:
        super()._add_variables(variables)
        if not self.built:
            self._add_auxiliary(self._momentum_product)

    def _update_each(
        self, gradients: Sequence[Tensor], variables: Sequence[Variable], learning_rate: float
    ) -> None:
        self._momentum_product.assign(applied(self._product, self.update_count + 1))
        super()._update_each(gradients, variables, learning_rate)

    def _momentum(self, step: int) -> float:
        """Return the factor u of a step."""
        return self.beta_1 * (1 - 0.5 * 0.96**step)

    def _product(self, step: int) -> float:
        """Return the product p of a step, computed anew where a file has the steps alone."""
        last_step, product = self._last_product
        if step != last_step + 1:
            product = prod(map(self._momentum, range(1, step)))
        product *= self._momentum(step)
        self._last_product = step, product
        return product

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        mean, mean_square = self.slots_of(variable)
        update_moments((mean, mean_square), gradient, self.beta_1, self.beta_2)
        step = self.update_count + 1
        product = self._momentum_product.number
        momentum, next_momentum = self._momentum(step), self._momentum(step + 1)
        # The bias correction of v, taken out of the root.
        correction = applied(sqrt, 1 - self.beta_2**step)
        rate = learning_rate * correction
        variable.assign(
            moved_against_mixed_ratio(
                variable.value,
                mean.value,
                gradient,
                mean_square.value,
                rate * next_momentum / (1 - product * next_momentum),
                rate * (1 - momentum) / (1 - product),
                self.epsilon * correction,
            )
        )
