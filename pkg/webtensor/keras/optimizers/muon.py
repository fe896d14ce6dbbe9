"""Muon."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt
from typing import Any, Self

from webtensor.engine import Tensor, Variable
from webtensor.formats.regular_expressions import compile_pattern
from webtensor.keras.optimizers.adam import update_by_adam
from webtensor.keras.optimizers.base import LearningRateLike, Optimizer
from webtensor.keras.types import Config
from webtensor.ops import matmul, sqrt as root, square, sum, transpose
from webtensor.ops.optimizer_updates import moved_against, weighted_sum

__all__ = ["Muon"]


class Muon(Optimizer):
    """Orthogonalized momentum for matrices, AdamW for other weights (Jordan, *Muon*, 2024).

    ``m = momentum * m + g``, with Nesterov's momentum ``g + momentum * m``, is approximated by an
    orthogonal matrix in Newton-Schulz iterations, and multiplied by ``rms_rate`` times the root of
    the maximum of its two sizes (Liu et al., 2025).

    Args:
        adam_beta_1, adam_beta_2: numbers, ``beta_1`` and ``beta_2`` of AdamW.
        adam_weight_decay: a number, the weight decay of AdamW, or None.
        epsilon: a small number, ``epsilon`` of AdamW.
        exclude_layers: a list of regular expressions; a variable whose path one of them matches is
            updated by AdamW.
        exclude_embeddings: a boolean, whether embeddings are updated by AdamW.
        muon_a, muon_b, muon_c: numbers, the coefficients of the Newton-Schulz iteration.
        adam_lr_ratio: a number, AdamW's learning rate divided by Muon's.
        momentum: a number, the decay of ``m``.
        ns_steps: an integer, the number of Newton-Schulz iterations.
        nesterov: a boolean, whether to apply Nesterov's momentum.
        rms_rate: a number that scales the steps to the root mean square of AdamW's, or None.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable([[1.0]])
        >>> optimizer = wt.optimizers.Muon(0.25)
        >>> optimizer.minimize(lambda: wt.sum(w * w)).tolist(), float(wt.sum(w)) < 1.0
        (1.0, True)
    """

    def __init__(
        self,
        learning_rate: LearningRateLike = 0.001,
        adam_beta_1: float = 0.9,
        adam_beta_2: float = 0.999,
        adam_weight_decay: float | None = 0.004,
        epsilon: float = 1e-7,
        weight_decay: float | None = 0.004,
        *base: Any,
        exclude_layers: Sequence[str] | None = None,
        exclude_embeddings: bool = True,
        muon_a: float = 3.4445,
        muon_b: float = -4.775,
        muon_c: float = 2.0315,
        adam_lr_ratio: float = 1,
        momentum: float = 0.95,
        ns_steps: int = 5,
        nesterov: bool = True,
        rms_rate: float | None = 0.2,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, *base, **options)
        self.adam_beta_1 = self._non_negative("adam_beta_1", adam_beta_1)
        self.adam_beta_2 = self._non_negative("adam_beta_2", adam_beta_2)
        self.adam_weight_decay = adam_weight_decay
        self.epsilon = self._non_negative("epsilon", epsilon)
        self.exclude_layers = exclude_layers or []
        self.exclude_embeddings = exclude_embeddings
        self.muon_a, self.muon_b, self.muon_c = muon_a, muon_b, muon_c
        self.adam_lr_ratio = adam_lr_ratio
        self.momentum = self._non_negative("momentum", momentum)
        self.ns_steps = ns_steps
        self.nesterov = nesterov
        self.rms_rate = rms_rate

    def get_config(self) -> Config:
        """Return the arguments of ``__init__``, in Keras's order."""
        config = super().get_config()
        for name in ("exclude_embeddings", "adam_weight_decay", "rms_rate"):
            config[name] = config.pop(name)
        return config

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        for pattern in config.get("exclude_layers") or ():
            compile_pattern(pattern)
        return super().from_config(config, custom_objects)

    def _add_variables(self, variables: Sequence[Variable]) -> None:
        super()._add_variables(variables)
        for variable in self._without_overwritten(variables):
            names = ["momentum", *(["velocity"] if self._is_for_adam(variable) else [])]
            self.slots_of(variable).extend(
                self.add_variable_from_reference(variable, name) for name in names
            )

    def _is_for_adam(self, variable: Variable) -> bool:
        path = getattr(variable, "path", variable.name)
        return (
            len(variable.shape) != 2
            or (self.exclude_embeddings and "embedding" in path.lower())
            or any(re.search(keyword, path) for keyword in self.exclude_layers)
        )

    def _weight_decay_of(self, variable: Variable) -> float | None:
        return self.adam_weight_decay if self._is_for_adam(variable) else self.weight_decay

    def update_step(self, gradient: Tensor, variable: Variable, learning_rate: float) -> None:
        slots = self.slots_of(variable)
        if len(slots) == 2:
            rate = learning_rate * self.adam_lr_ratio
            betas = self.adam_beta_1, self.adam_beta_2
            step = self.update_count + 1
            update_by_adam(variable, gradient, slots, betas, self.epsilon, rate, step)
            return
        (mean,) = slots
        mean.assign(weighted_sum(mean.value, gradient, self.momentum, 1.0))
        change = mean.value
        if self.nesterov:
            change = moved_against(gradient, change, -self.momentum)
        if self.rms_rate is not None:
            learning_rate *= sqrt(max(variable.shape)) * self.rms_rate
        variable.assign(moved_against(variable.value, self._orthogonal(change), learning_rate))

    def _orthogonal(self, x: Tensor) -> Tensor:
        """Return a matrix with nearly the same singular vectors and singular values near 1."""
        is_tall = x.shape[0] > x.shape[1]
        if is_tall:
            x = transpose(x)
        x = x / (root(sum(square(x))) + 1e-7)
        for _ in range(self.ns_steps):
            products = matmul(x, x, transpose_b=True)
            change = weighted_sum(products, matmul(products, products), self.muon_b, self.muon_c)
            x = weighted_sum(x, matmul(change, x), self.muon_a, 1.0)
        return transpose(x) if is_tall else x
