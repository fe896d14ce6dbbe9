"""An optimizer made of several, each of which updates some of the variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Any, NoReturn, Self

from webtensor.engine import Tensor, Variable
from webtensor.formats.regular_expressions import compile_pattern
from webtensor.keras.arguments import Configurable
from webtensor.keras.optimizers.base import Optimizer
from webtensor.keras.optimizers.loss_scale import LossScaleOptimizer
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.types import Config

__all__ = ["MultiOptimizer", "OptimizerMap"]


class OptimizerMap(Configurable, MutableMapping[str, Optimizer]):
    """The optimizers of variables, by the variables' paths.

    Args:
        default_optimizer: the optimizer of variables whose paths match no key.
        optimizer_map: a dictionary of optimizers, or None. A key is a path, or a regular expression
            that must match a whole path.

    Raises:
        TypeError: ``default_optimizer`` is not an optimizer, or ``optimizer_map`` is not a
            dictionary.

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
        self.optimizer_map = optimizer_map or {}

    @property
    def default_optimizer(self) -> Optimizer:
        """The optimizer of variables that no key matches."""
        return self._default_optimizer

    def __getitem__(self, key: str) -> Optimizer:
        if key in self.optimizer_map:
            return self.optimizer_map[key]
        matching = [pattern for pattern in self.optimizer_map if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(f"OptimizerMap: {key!r} is matched by more than one key: {matching}")
        return self.optimizer_map[matching[0]] if matching else self._default_optimizer

    def __setitem__(self, key: str, optimizer: Optimizer) -> None:
        if not isinstance(key, str):
            raise ValueError(f"OptimizerMap: a key must be a string, but got {key!r}")
        if key in self.optimizer_map:
            raise ValueError(f"OptimizerMap: {key!r} has an optimizer already")
        _check_inner_optimizer(optimizer, f"the key {key!r}")
        self.optimizer_map[key] = optimizer

    def __delitem__(self, key: str) -> None:
        del self.optimizer_map[key]

    def __len__(self) -> int:
        return len(self.optimizer_map)

    def __iter__(self) -> Iterator[str]:
        return iter(self.optimizer_map)

    def __call__(self, variable: Variable) -> Optimizer:
        """Return the optimizer of a variable."""
        return self[getattr(variable, "path", variable.name)]

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        """Make a map from a configuration that ``get_config`` returned."""
        optimizers = cls(
            **{
                name: deserialize_keras_object(value, custom_objects)
                for name, value in config.items()
            }
        )
        for pattern in optimizers:
            compile_pattern(pattern)
        return optimizers


def _check_inner_optimizer(optimizer: object, owner: str) -> None:
    """Raise an error unless ``optimizer`` can be the optimizer of ``owner``, a key or variable."""
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"OptimizerMap: {owner} needs an optimizer, but got {optimizer!r}")
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise ValueError(
            f"OptimizerMap: {owner} cannot have a {type(optimizer).__name__}, which is around "
            "others itself"
        )


class MultiOptimizer(Optimizer):
    """Several optimizers, each of which updates some of the variables.

    They have their own learning rates, and the ``loss_scale_factor`` of this optimizer.

    Args:
        optimizer_map: an ``OptimizerMap``, or a function of a variable that returns its optimizer.

    Raises:
        TypeError: ``optimizer_map`` is not callable; ``build`` raises it.

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
        optimizer_map: OptimizerMap | Callable[[Variable], Optimizer],
        loss_scale_factor: float | None = None,
        name: str | None = None,
    ) -> None:
        self._inner_optimizers: list[Optimizer] = []
        super().__init__(0.0, loss_scale_factor=loss_scale_factor, name=name)
        self.optimizer_map = optimizer_map
        #: By ``id(variable)``.
        self._inner_of: dict[int, Optimizer] = {}
        if isinstance(optimizer_map, OptimizerMap):
            for optimizer in (*optimizer_map.values(), optimizer_map.default_optimizer):
                self._add_inner_optimizer(optimizer)

    keyed_by_variable = (*Optimizer.keyed_by_variable, "_inner_of")

    def _add_inner_optimizer(self, optimizer: Optimizer) -> None:
        """Add an optimizer to ``optimizers``, unless it is there already."""
        if not any(inner is optimizer for inner in self._inner_optimizers):
            optimizer.loss_scale_factor = self.loss_scale_factor
            self._inner_optimizers.append(optimizer)

    def build(self, variables: Iterable[Variable]) -> None:
        if self.built:
            return
        if not callable(self.optimizer_map):
            raise TypeError(
                "MultiOptimizer: optimizer_map must be an OptimizerMap or a function, but is "
                f"{self.optimizer_map!r}"
            )
        variables = list(variables)
        for variable in variables:
            optimizer = self.optimizer_map(variable)
            _check_inner_optimizer(optimizer, f"the variable {variable.name!r}")
            self._add_inner_optimizer(optimizer)
            self._inner_of[id(variable)] = optimizer
        for optimizer, indices in self._variables_by_optimizer(variables):
            optimizer.build([variables[index] for index in indices])
        super().build(variables)

    def _variables_by_optimizer(
        self, variables: Sequence[Variable]
    ) -> Iterator[tuple[Optimizer, list[int]]]:
        """Yield each inner optimizer that has some of the variables, with their indices."""
        for optimizer in self._inner_optimizers:
            indices = [
                index
                for index, variable in enumerate(variables)
                if self._inner_of[id(variable)] is optimizer
            ]
            if indices:
                yield optimizer, indices

    @property
    def optimizers(self) -> list[Optimizer]:
        """The inner optimizers."""
        return self._inner_optimizers

    @property
    def variables(self) -> list[Variable]:
        """The variables of all optimizers."""
        inner = [
            variable for optimizer in self._inner_optimizers for variable in optimizer.variables
        ]
        return [*self._variables, *inner]

    @property
    def learning_rate(self) -> NoReturn:
        """Not available: the inner optimizers have their own learning rates."""
        raise AttributeError("MultiOptimizer: learning_rate is that of each one in optimizers")

    @learning_rate.setter
    def learning_rate(self, learning_rate: object) -> NoReturn:
        raise AttributeError("MultiOptimizer: set learning_rate of each one in optimizers")

    @property
    def loss_scale_factor(self) -> float | None:
        """The factor that the loss is multiplied by, in all inner optimizers."""
        return self._loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: float | None) -> None:
        self._loss_scale_factor = value
        for optimizer in self._inner_optimizers:
            optimizer.loss_scale_factor = value

    def apply(
        self,
        grads: Iterable[Tensor | None],
        trainable_variables: Iterable[Variable] | None = None,
    ) -> None:
        grads = list(grads)
        if not grads:
            return
        variables = self._variables_of(grads, trainable_variables)
        for optimizer, indices in self._variables_by_optimizer(variables):
            optimizer.apply(
                [grads[index] for index in indices], [variables[index] for index in indices]
            )
        self._iterations.number += 1

    def finalize_variable_values(self, var_list: Sequence[Variable]) -> None:
        for optimizer, indices in self._variables_by_optimizer(var_list):
            optimizer.finalize_variable_values([var_list[index] for index in indices])

    @classmethod
    def from_config(cls, config: Config, custom_objects: dict[str, Any] | None = None) -> Self:
        config = dict(config)
        optimizer_map = deserialize_keras_object(config.pop("optimizer_map"), custom_objects)
        return cls(optimizer_map, **config)
