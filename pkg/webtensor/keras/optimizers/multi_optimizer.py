"""Several optimizers at once: each variable has its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Any, Self

from webtensor.engine import Tensor, Variable
from webtensor.keras.optimizers.base import Optimizer
from webtensor.keras.optimizers.loss_scale import LossScaleOptimizer
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config

__all__ = ["MultiOptimizer", "OptimizerMap"]


class OptimizerMap(MutableMapping[str, Optimizer]):
    """Which optimizer is for a variable, by its path.

    A key is a path, or a regular expression that a whole path must match; a path that no key
    matches is left to ``default_optimizer``.

    Raises:
        TypeError: the default is no optimizer, or ``optimizer_map`` is no dictionary.

    Example:
        >>> from webtensor import keras
        >>> optimizers = keras.optimizers.OptimizerMap(keras.optimizers.SGD(name="rest"))
        >>> optimizers["encoder/.*"] = keras.optimizers.Adam(name="encoders")
        >>> optimizers["encoder/kernel"].name, optimizers["decoder/kernel"].name
        ('encoders', 'rest')
    """

    def __init__(
        self, default_optimizer: Optimizer, optimizer_map: dict[str, Optimizer] | None = None
    ) -> None:
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(
                "OptimizerMap: default_optimizer must be an optimizer, but got "
                f"{default_optimizer!r}"
            )
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(
                f"OptimizerMap: optimizer_map must be a dictionary, but got {optimizer_map!r}"
            )
        self._default_optimizer = default_optimizer
        self._optimizer_map = optimizer_map or {}

    @property
    def default_optimizer(self) -> Optimizer:
        """The optimizer of variables that no key matches."""
        return self._default_optimizer

    def __getitem__(self, key: str) -> Optimizer:
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        matching = [one for one in self._optimizer_map if re.fullmatch(one, key)]
        if len(matching) > 1:
            raise ValueError(f"OptimizerMap: {key!r} is matched by more than one key: {matching}")
        return self._optimizer_map[matching[0]] if matching else self._default_optimizer

    def __setitem__(self, key: str, optimizer: Optimizer) -> None:
        if not isinstance(key, str):
            raise ValueError(f"OptimizerMap: a key must be a string, but got {key!r}")
        if key in self._optimizer_map:
            raise ValueError(f"OptimizerMap: {key!r} has an optimizer already")
        _require_single(optimizer, f"the key {key!r}")
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key: str) -> None:
        del self._optimizer_map[key]

    def __len__(self) -> int:
        return len(self._optimizer_map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._optimizer_map)

    def __call__(self, variable: Any) -> Optimizer:
        """Return the optimizer of a variable."""
        return self[getattr(variable, "path", variable.name)]

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        return {
            "default_optimizer": serialize_keras_object(self._default_optimizer),
            "optimizer_map": serialize_keras_object(self._optimizer_map),
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        """Make one with the arguments in a configuration."""
        return cls(
            **{name: deserialize_keras_object(one, custom_objects) for name, one in config.items()}
        )


def _require_single(optimizer: Any, place: str) -> None:
    """Raise unless something is an optimizer that may be one among several."""
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"OptimizerMap: {place} needs an optimizer, but got {optimizer!r}")
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise ValueError(
            f"OptimizerMap: {place} cannot have a {type(optimizer).__name__}, which is around "
            "others itself"
        )


class MultiOptimizer(Optimizer):
    """Lets several optimizers step at once, each with variables of its own.

    ``optimizer_map`` is an OptimizerMap, or a function of a variable that returns its optimizer.
    All have the ``loss_scale_factor`` given here, in place of theirs. ``optimizers`` are the
    others; learning rates are theirs alone.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> fast, slow = wt.Variable(1.0, name="fast"), wt.Variable(1.0, name="slow")
        >>> optimizer = keras.optimizers.MultiOptimizer(
        ...     keras.optimizers.OptimizerMap(
        ...         keras.optimizers.SGD(0.25), {"slow": keras.optimizers.SGD(0.125)}
        ...     )
        ... )
        >>> optimizer.apply([wt.ones(()), wt.ones(())], [fast, slow])
        >>> fast.tolist(), slow.tolist()
        (0.75, 0.875)
    """

    def __init__(
        self,
        optimizer_map: OptimizerMap | Callable[[Any], Optimizer],
        loss_scale_factor: float | None = None,
        name: str | None = None,
    ) -> None:
        self._inner_optimizers: list[Optimizer] = []
        super().__init__(0.0, loss_scale_factor=loss_scale_factor, name=name)
        self._optimizer_map = optimizer_map
        self._inner_of: dict[int, Optimizer] = {}
        if isinstance(optimizer_map, OptimizerMap):
            for one in (*optimizer_map.values(), optimizer_map.default_optimizer):
                self._meet(one)

    keyed_by_variable = (*Optimizer.keyed_by_variable, "_inner_of")

    def _meet(self, optimizer: Optimizer) -> None:
        """Count an optimizer among the others."""
        if not any(one is optimizer for one in self._inner_optimizers):
            optimizer.loss_scale_factor = self.loss_scale_factor
            self._inner_optimizers.append(optimizer)

    def build(self, variables: Iterable[Variable]) -> None:
        if self.built:
            return
        if not callable(self._optimizer_map):
            raise TypeError(
                "MultiOptimizer: optimizer_map must be an OptimizerMap or a function, but is "
                f"{self._optimizer_map!r}"
            )
        variables = list(variables)
        for variable in variables:
            found = self._optimizer_map(variable)
            _require_single(found, f"the variable {variable.name!r}")
            self._meet(found)
            self._inner_of[id(variable)] = found
        for optimizer, own in self._shares(variables):
            optimizer.build([variable for _, variable in own])
        super().build(variables)

    def _shares(
        self, variables: Sequence[Variable]
    ) -> Iterator[tuple[Optimizer, list[tuple[int, Variable]]]]:
        """The optimizers that have variables among these, with them and their places."""
        for optimizer in self._inner_optimizers:
            own = [
                (place, one)
                for place, one in enumerate(variables)
                if self._inner_of[id(one)] is optimizer
            ]
            if own:
                yield optimizer, own

    @property
    def optimizers(self) -> list[Optimizer]:
        """The other optimizers."""
        return self._inner_optimizers

    @property
    def variables(self) -> list[Variable]:
        """What all optimizers remember."""
        inner = [variable for one in self._inner_optimizers for variable in one.variables]
        return [*self._variables, *inner]

    @property
    def learning_rate(self) -> Any:
        """There is none."""
        raise AttributeError("MultiOptimizer: learning_rate is that of each one in optimizers")

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        raise AttributeError("MultiOptimizer: set learning_rate of each one in optimizers")

    @property
    def loss_scale_factor(self) -> float | None:
        """What the loss is multiplied by, for all optimizers."""
        return self._loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: float | None) -> None:
        self._loss_scale_factor = value
        for one in self._inner_optimizers:
            one.loss_scale_factor = value

    def apply(
        self,
        grads: Iterable[Tensor | None],
        trainable_variables: Iterable[Variable] | None = None,
    ) -> None:
        grads = list(grads)
        if not grads:
            return
        for optimizer, own in self._shares(self._variables_of(grads, trainable_variables)):
            optimizer.apply([grads[place] for place, _ in own], [one for _, one in own])
        self._iterations.number += 1

    def finalize_variable_values(self, var_list: Sequence[Variable]) -> None:
        for optimizer, own in self._shares(var_list):
            optimizer.finalize_variable_values([one for _, one in own])

    def get_config(self) -> Config:
        return {
            "optimizer_map": serialize_keras_object(self._optimizer_map),
            "loss_scale_factor": self.loss_scale_factor,
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        config = dict(config)
        chosen = deserialize_keras_object(config.pop("optimizer_map"), custom_objects)
        return cls(chosen, **config)
