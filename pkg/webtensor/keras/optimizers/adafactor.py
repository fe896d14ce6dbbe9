"""Adafactor."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Unpack

from webtensor.dtypes import int32
from webtensor.engine import Tensor, Variable
from webtensor.engine.late_numbers import applied
from webtensor.keras.optimizers.base import CommonArguments, LearningRateLike, Optimizer
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.ops import expand_dims, maximum, mean, sqrt as root, square
from webtensor.ops.optimizer_updates import moved_towards

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adam that stores means of rows and columns instead of matrices (Shazeer & Stern, 2018).

    ``s`` is a decaying mean of ``g**2 + epsilon_1``; for tensors of rank 2 or more, it is the
    product of its means along the last two axes. ``d = g / sqrt(s)`` is scaled down to a root mean
    square of at most ``clip_threshold``, and ``w -= max(epsilon_2, rms(w)) * rate * d``, where
    ``rate`` is the learning rate, at most ``1 / sqrt(t)`` at step ``t``.

    Args:
        beta_2_decay: a number, the exponent ``c`` of the weight ``t**c`` that the new square has
            in ``s`` at step ``t``.
        epsilon_1: a small number, added to the squares of the gradients.
        epsilon_2: a small number, the minimum of the weights' root mean square.
        clip_threshold: a number, the maximum root mean square of a step.
        relative_step: a boolean, which is stored for Keras and has no effect.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> wt.optimizers.Adafactor(0.25).minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.75)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 0.001,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        *base: Any,
        **options: Unpack[CommonArguments],
    ) -> None:
        super().__init__(learning_rate, *base, **options)
        self.beta_2_decay = beta_2_decay
        self.epsilon_1 = self._non_negative("epsilon_1", epsilon_1)
        self.epsilon_2 = self._non_negative("epsilon_2", epsilon_2)
        self.clip_threshold = self._non_negative("clip_threshold", clip_threshold)
        self.relative_step = relative_step

    def _add_variables(self, variables: Sequence[Variable]) -> None:
        super()._add_variables(variables)
        for variable in self._without_overwritten(variables):
            shape, name = variable.shape, variable.name
            if len(shape) >= 2:
                slots = self.slots_of(variable)
                slots.append(self.add_variable(shape[:-1], name=name))
                slots.append(self.add_variable((*shape[:-2], shape[-1]), name=name))
            else:  # Keras saves empty rows and columns, too
                for _ in range(2):
                    self._add_auxiliary(HostNumber(0, int32, name, name))
            self.slots_of(variable).append(self.add_variable_from_reference(variable, "velocity"))

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        *factors, mean_square = self.slots_of(variable)
        step = self.update_count + 1
        share = step**self.beta_2_decay
        squares = square(gradient) + self.epsilon_1
        if factors:
            rows, columns = factors
            rows.assign(moved_towards(rows.value, mean(squares, -1), share))
            columns.assign(moved_towards(columns.value, mean(squares, -2), share))
            shares = rows.value / mean(rows.value, -1, keepdims=True)
            mean_square.assign(expand_dims(shares, -1) * expand_dims(columns.value, -2))
        else:
            mean_square.assign(moved_towards(mean_square.value, squares, share))
        direction = gradient / root(mean_square.value)
        value = variable.value
        size = maximum(_root_mean_square(value), self.epsilon_2)
        excess = maximum(_root_mean_square(direction) / self.clip_threshold, 1.0)
        rate = applied(min, learning_rate, 1 / applied(sqrt, step))
        variable.assign(value - direction * (size / excess * rate))


def _root_mean_square(x: Tensor) -> Tensor:
    return root(mean(square(x)))
