"""Loss scaling, which keeps small gradients apart from zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config
from webtensor.ops import all, isfinite, stack

__all__ = ["LossScaleOptimizer"]

#: The arguments that the optimizer inside takes instead, with the values that say nothing.
_INSIDE = {
    "weight_decay": None,
    "clipnorm": None,
    "global_clipnorm": None,
    "clipvalue": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}


class LossScaleOptimizer(Optimizer):
    """Lets another optimizer step along gradients of a multiple of the loss, as large as it can be.

    Where a gradient is not finite, no step is taken and the factor is halved; after
    ``dynamic_growth_steps`` steps it is doubled. That has to be known at each step, so each step
    waits for the device.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.LossScaleOptimizer(wt.optimizers.SGD(0.25))
        >>> optimizer.minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.5)
    """

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float = 2.0**15,
        dynamic_growth_steps: int = 2000,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(
                "LossScaleOptimizer: inner_optimizer must be an optimizer, but got "
                f"{inner_optimizer!r}"
            )
        if not kwargs.pop("dynamic", True):
            raise ValueError(
                "LossScaleOptimizer: dynamic must be True; for a factor that stays the same, set "
                "loss_scale_factor of the optimizer"
            )
        for argument, value in kwargs.items():
            if argument not in _INSIDE or value != _INSIDE[argument]:
                raise ValueError(
                    f"LossScaleOptimizer: {argument} is not supported; set it on inner_optimizer"
                )
        super().__init__(0.0, name=name)
        self.inner_optimizer = inner_optimizer
        self.initial_scale = self._not_negative("initial_scale", initial_scale)
        self.dynamic_growth_steps = dynamic_growth_steps
        inner_optimizer.loss_scale_factor = None
        #: Steps since the factor changed, and the factor.
        self.step_counter = HostNumber(0, int32, "step_counter", f"{self.name}/step_counter")
        self.dynamic_scale = HostNumber(
            self.initial_scale, float32, "dynamic_scale", f"{self.name}/dynamic_scale"
        )

    def build(self, variables: Iterable[Variable]) -> None:
        if self.built:
            return
        variables = list(variables)
        self._variables += [self.step_counter, self.dynamic_scale]
        self.inner_optimizer.build(variables)
        super().build(variables)

    @property
    def variables(self) -> list[Variable]:
        """What both optimizers remember."""
        return [*self._variables, *self.inner_optimizer.variables]

    @property
    def iterations(self) -> Any:
        """Number of steps that the optimizer inside has taken."""
        return self.inner_optimizer.iterations

    @iterations.setter
    def iterations(self, value: Any) -> None:
        self.inner_optimizer.iterations = value

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the optimizer inside."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        self.inner_optimizer.learning_rate = learning_rate

    def _loss_scale(self) -> float:
        return self.dynamic_scale.number

    def apply(
        self,
        grads: Iterable[Tensor | None],
        trainable_variables: Iterable[Variable] | None = None,
    ) -> None:
        grads = list(grads)
        if not grads:
            return
        variables = self._variables_of(grads, trainable_variables)
        scale, counter = self.dynamic_scale, self.step_counter
        found = [gradient for gradient in grads if gradient is not None]
        if found and not bool(all(stack([all(isfinite(one)) for one in found]))):
            counter.assign(0)
            scale.assign(scale.number / 2)
            return
        self.inner_optimizer.apply(
            [
                gradient
                if gradient is None or id(variable) in self._overwritten
                else gradient / scale.number
                for gradient, variable in zip(grads, variables, strict=True)
            ],
            variables,
        )
        if counter.number == self.dynamic_growth_steps - 1:
            counter.assign(0)
            scale.assign(scale.number * 2)
        else:
            counter.assign_add(1)

    def finalize_variable_values(self, var_list: Sequence[Variable]) -> None:
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self) -> Config:
        """Return the arguments that would make another such optimizer."""
        return {
            "name": self.name,
            "inner_optimizer": serialize_keras_object(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        config = dict(config)
        inner = deserialize_keras_object(config.pop("inner_optimizer"), custom_objects)
        return cls(inner, **config)
