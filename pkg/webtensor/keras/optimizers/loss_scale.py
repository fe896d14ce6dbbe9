"""Loss scaling, which keeps small gradients from underflowing to zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import signature
from typing import Any, Self

from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.optimizers.base import LearningRateLike, Optimizer
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.types import Config
from webtensor.ops import all, isfinite, stack

__all__ = ["LossScaleOptimizer"]

#: The common arguments that must be set on the inner optimizer instead, with their defaults.
_INNER_DEFAULTS = {
    name: parameter.default
    for name, parameter in signature(Optimizer).parameters.items()
    if name not in ("learning_rate", "name", "kwargs")
}


class LossScaleOptimizer(Optimizer):
    """Another optimizer with dynamic loss scaling, so that small gradients do not underflow.

    The gradients are those of the loss times a factor. In a step where a gradient is not finite,
    the variables stay as they are and the factor is halved; after ``dynamic_growth_steps`` finite
    steps it is doubled. Each step waits for the device, to find out whether gradients are finite.

    Args:
        inner_optimizer: the optimizer that updates the variables.
        initial_scale: a number, the initial factor.
        dynamic_growth_steps: an integer, the number of finite steps before the factor is doubled.

    Raises:
        TypeError: ``inner_optimizer`` is not an optimizer.
        ValueError: an argument must be set on ``inner_optimizer`` instead.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(1.0)
        >>> optimizer = wt.optimizers.LossScaleOptimizer(wt.optimizers.SGD(0.25))
        >>> optimizer.minimize(lambda: w * w).tolist(), w.tolist()
        (1.0, 0.5)
    """

    _config_omits = dict.fromkeys(("learning_rate", *_INNER_DEFAULTS), ALWAYS)

    #: It asks whether they are finite.
    _reads_gradients = True

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float = 2.0**15,
        dynamic_growth_steps: int = 2000,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(
                "LossScaleOptimizer: inner_optimizer must be an optimizer, but got "
                f"{inner_optimizer!r}"
            )
        if not kwargs.pop("dynamic", True):
            raise ValueError(
                "LossScaleOptimizer: dynamic must be True; for a constant factor, set "
                "loss_scale_factor of the optimizer"
            )
        for argument, value in kwargs.items():
            if argument not in _INNER_DEFAULTS or value != _INNER_DEFAULTS[argument]:
                raise ValueError(
                    f"LossScaleOptimizer: {argument} is not supported; set it on inner_optimizer"
                )
        super().__init__(0.0, name=name)
        self.inner_optimizer = inner_optimizer
        self.initial_scale = self._non_negative("initial_scale", initial_scale)
        self.dynamic_growth_steps = dynamic_growth_steps
        inner_optimizer.loss_scale_factor = None
        #: The number of steps since the factor last changed.
        self.step_counter = HostNumber(0, int32, "step_counter", f"{self.name}/step_counter")
        #: The factor.
        self.dynamic_scale = HostNumber(
            self.initial_scale, float32, "dynamic_scale", f"{self.name}/dynamic_scale"
        )

    def build(self, variables: Iterable[Variable]) -> None:
        if self.built:
            return
        variables = list(variables)
        self._variables += [self.step_counter, self.dynamic_scale]
        self.inner_optimizer._saves_auxiliaries = False
        self.inner_optimizer.build(variables)
        super().build(variables)

    @property
    def variables(self) -> list[Variable]:
        """The variables of both optimizers."""
        return [*self._variables, *self.inner_optimizer.variables]

    @property
    def iterations(self) -> HostNumber | Tensor:
        """The number of steps that the inner optimizer has taken."""
        return self.inner_optimizer.iterations

    @iterations.setter
    def iterations(self, value: HostNumber | TensorLike) -> None:
        self.inner_optimizer.iterations = value

    @property
    def learning_rate(self) -> HostNumber | Tensor | float:
        """The learning rate of the inner optimizer."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: LearningRateLike | TensorLike) -> None:
        self.inner_optimizer.learning_rate = learning_rate

    def _loss_scale(self) -> float:
        scale: float = self.dynamic_scale.number
        return scale

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
        are_finite = [all(isfinite(gradient)) for gradient in grads if gradient is not None]
        if are_finite and not bool(all(stack(are_finite))):
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

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        config = dict(config)
        inner_optimizer = deserialize_keras_object(config.pop("inner_optimizer"), custom_objects)
        return cls(inner_optimizer, **config)
