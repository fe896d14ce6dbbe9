"""What all metrics share: state on the device, and how it is updated, read and set back.

``update_state`` reads nothing from the device, so training does not wait for metrics; neither does
``result``, which returns a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from webtensor import engine, ops as wt
from webtensor.dtypes import DType
from webtensor.engine import Tensor, TensorLike
from webtensor.keras import initializers
from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.masks import mask_of
from webtensor.keras.names import auto_name, name_scope, to_snake_case
from webtensor.keras.stateless import lent, values_of
from webtensor.keras.types import DTypeLike, InitializerLike
from webtensor.keras.variables import Variable

__all__ = ["Metric", "add_to", "samplewise"]


class Metric(Configurable):
    """A number, or several, computed from what was seen since it was last set back.

    Subclasses make variables by ``add_variable``, and implement ``update_state`` and ``result``.

    Example:
        >>> from webtensor import keras
        >>> class Largest(keras.metrics.Metric):
        ...     def __init__(self):
        ...         super().__init__(name="largest")
        ...         self.held = self.add_variable((), "zeros", name="held")
        ...     def update_state(self, y_true, y_pred, sample_weight=None):
        ...         self.held.assign(wt.maximum(self.held, wt.max(y_pred)))
        ...     def result(self):
        ...         return self.held.value
        >>> Largest()([0.0, 0.0], [1.0, 3.0]).tolist()
        3.0
    """

    def __init__(self, dtype: DTypeLike = None, name: str | None = None) -> None:
        self.name = name or auto_name(to_snake_case(type(self).__name__))
        kind = getattr(dtype, "compute_dtype", dtype)
        self._dtype = held_dtype(kind)
        self._dtype_name = kind if isinstance(kind, str) else str(self._dtype)
        self._variables: list[Variable] = []

    @property
    def dtype(self) -> DType:
        """What the state is held in."""
        return self._dtype

    @property
    def variables(self) -> list[Variable]:
        """The state: variables and those of metrics, made here or found among the attributes."""
        found = {id(one): one for one in _state_in(list(vars(self).values()))}
        own = [one for one in found.values() if not isinstance(one, Metric)]
        inner = [one for one in found.values() if isinstance(one, Metric)]
        return [*own, *(held for one in inner for held in one.variables)]

    def add_variable(
        self,
        shape: Any,
        initializer: InitializerLike,
        dtype: DTypeLike = None,
        aggregation: str = "sum",
        name: str | None = None,
    ) -> Variable:
        """Make a variable that belongs to the state."""
        self._require_init()
        with name_scope(self.name.replace("/", ">")):
            made = Variable(
                initializers.get(initializer),
                shape,
                held_dtype(dtype, self._dtype),
                trainable=False,
                aggregation=aggregation,
                name=name,
            )
        self._variables.append(made)
        return made

    def add_weight(
        self,
        shape: Any = (),
        initializer: InitializerLike = None,
        dtype: DTypeLike = None,
        name: str | None = None,
    ) -> Variable:
        """Make a variable that belongs to the state, by default a number that starts at 0."""
        return self.add_variable(shape, initializer or "zeros", dtype, name=name)

    def reset_state(self) -> None:
        """Set the state back to zeros."""
        for one in self.variables:
            one.assign(wt.zeros(one.shape, one.dtype))

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch into account."""
        raise NotImplementedError(f"{type(self).__name__} does not implement update_state")

    def result(self) -> Any:
        """Return the metric's value, a tensor or a dictionary of tensors."""
        raise NotImplementedError(f"{type(self).__name__} does not implement result")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account, and return the value of all."""
        self._require_init()
        self.update_state(*args, **kwargs)
        return self.result()

    def _require_init(self) -> None:
        if "_variables" not in vars(self):
            raise RuntimeError(
                f"{type(self).__name__}: __init__ must call super().__init__() before all else"
            )

    # -- without a trace -----------------------------------------------------------------------

    def stateless_update_state(
        self, metric_variables: Sequence[Any], *args: Any, **kwargs: Any
    ) -> list[Tensor]:
        """Return what the state would be after a batch, had it been ``metric_variables``.

        Raises:
            ValueError: there are not as many of these as variables.
        """
        with lent("metric_variables", self.variables, metric_variables):
            self.update_state(*args, **kwargs)
            return values_of(self.variables)

    def stateless_result(self, metric_variables: Sequence[Any]) -> Any:
        """Return what the value would be, were the state ``metric_variables``.

        Raises:
            ValueError: there are not as many of these as variables.
        """
        with lent("metric_variables", self.variables, metric_variables):
            return self.result()

    def stateless_reset_state(self) -> list[Tensor]:
        """Return the state that ``reset_state`` would leave."""
        variables = self.variables
        with lent("metric_variables", variables, values_of(variables)):
            self.reset_state()
            return values_of(variables)

    def _config_value(self, name: str) -> Any:
        return self._dtype_name if name == "dtype" else super()._config_value(name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def _state_in(thing: Any) -> Iterator[Any]:
    """Variables and metrics in lists, tuples, sets and dictionaries."""
    if isinstance(thing, (engine.Variable, Metric)):
        yield thing
    elif isinstance(thing, (list, tuple, set, dict)):
        for one in thing.values() if isinstance(thing, dict) else thing:
            yield from _state_in(one)


def add_to(variable: Variable, amount: TensorLike) -> None:
    """Add to a part of the state."""
    variable.assign(wt.add(variable.value, amount))


def samplewise(
    values: TensorLike, sample_weight: TensorLike | None, reduce: Callable[..., Tensor]
) -> tuple[Tensor, Tensor | None]:
    """Weight values and reduce them, and the weights, to one for each sample."""
    held = as_floats(values)
    mask = mask_of(values)
    weight = None if sample_weight is None else as_floats(sample_weight)
    if weight is not None:
        if mask is not None:
            weight, counted = same_rank(weight, as_floats(mask))
            weight = weight * counted
        held, weight = same_rank(held, weight)
        rank = len(weight.shape)
        if len(held.shape) > rank:
            held = reduce(held, tuple(range(rank, len(held.shape))))
        if weight.shape != held.shape:
            weight = wt.broadcast_to(weight, held.shape)
        held = held * weight
        if rank > 1:
            weight = reduce(weight, tuple(range(1, rank)))
    if len(held.shape) > 1:
        held = reduce(held, tuple(range(1, len(held.shape))))
    return held, weight
