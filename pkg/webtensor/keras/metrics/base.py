"""What all metrics share: state on the device, and how it is updated, read and reset.

Neither ``update_state`` nor ``result``, which returns a tensor, reads values from the device, so
training does not wait for metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from webtensor import engine, ops as wt
from webtensor.dtypes import DType
from webtensor.engine import Tensor, TensorLike
from webtensor.keras import initializers
from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.masks import mask_of
from webtensor.keras.names import auto_name, name_scope, to_snake_case
from webtensor.keras.stateless import lent, values_of
from webtensor.keras.types import DTypeLike, InitializerLike
from webtensor.keras.variables import Variable

__all__ = ["Metric", "add_to", "samplewise"]


class Metric(Configurable):
    """A number, or several, computed from all batches since the last reset.

    A subclass makes the variables of its state by ``add_variable``, and implements
    ``update_state``, usually of ``y_true``, ``y_pred`` and ``sample_weight``, and ``result``.

    Args:
        dtype: a dtype's name or a policy, the dtype of the state; None is float32.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> class Maximum(keras.metrics.Metric):
        ...     def __init__(self):
        ...         super().__init__(name="maximum")
        ...         self.maximum = self.add_variable((), "zeros", name="maximum")
        ...     def update_state(self, y_true, y_pred, sample_weight=None):
        ...         self.maximum.assign(wt.maximum(self.maximum, wt.max(y_pred)))
        ...     def result(self):
        ...         return self.maximum.value
        >>> Maximum()([0.0, 0.0], [1.0, 3.0]).tolist()
        3.0
    """

    def __init__(self, dtype: DTypeLike = None, name: str | None = None) -> None:
        self.name = name or auto_name(to_snake_case(type(self).__name__))
        compute_dtype = getattr(dtype, "compute_dtype", dtype)
        self._dtype = storage_dtype(compute_dtype)
        self._dtype_name = compute_dtype if isinstance(compute_dtype, str) else str(self._dtype)
        self._variables: list[Variable] = []

    @property
    def dtype(self) -> DType:
        """The dtype of the state."""
        return self._dtype

    @property
    def variables(self) -> list[Variable]:
        """The state: all variables among the attributes, then those of metrics among them."""
        parts = {id(part): part for part in _state_in(list(vars(self).values()))}.values()
        own = [part for part in parts if not isinstance(part, Metric)]
        metrics = [part for part in parts if isinstance(part, Metric)]
        return [*own, *(variable for metric in metrics for variable in metric.variables)]

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
            variable = Variable(
                initializers.get(initializer),
                shape,
                storage_dtype(dtype, self._dtype),
                trainable=False,
                aggregation=aggregation,
                name=name,
            )
        self._variables.append(variable)
        return variable

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
        """Set the state to zeros."""
        for variable in self.variables:
            variable.assign(wt.zeros(variable.shape, variable.dtype))

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch into account."""
        raise NotImplementedError(f"{type(self).__name__} does not implement update_state")

    def result(self) -> Any:
        """Return the metric's value, a tensor or a dictionary of tensors."""
        raise NotImplementedError(f"{type(self).__name__} does not implement result")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account, and return the metric's value."""
        self._require_init()
        self.update_state(*args, **kwargs)
        return self.result()

    def _require_init(self) -> None:
        if "_variables" not in vars(self):
            raise RuntimeError(
                f"{type(self).__name__}: __init__ must call super().__init__() before all else"
            )

    # -- stateless -----------------------------------------------------------------------------

    def stateless_update_state(
        self, metric_variables: Sequence[Any], *args: Any, **kwargs: Any
    ) -> list[Tensor]:
        """Return the state after a batch that starts from the state ``metric_variables``.

        Raises:
            ValueError: the number of values is not that of the variables.
        """
        with lent("metric_variables", self.variables, metric_variables):
            self.update_state(*args, **kwargs)
            return values_of(self.variables)

    def stateless_result(self, metric_variables: Sequence[Any]) -> Any:
        """Return the metric's value for the state ``metric_variables``.

        Raises:
            ValueError: the number of values is not that of the variables.
        """
        with lent("metric_variables", self.variables, metric_variables):
            return self.result()

    def stateless_reset_state(self) -> list[Tensor]:
        """Return the state after ``reset_state``."""
        variables = self.variables
        with lent("metric_variables", variables, values_of(variables)):
            self.reset_state()
            return values_of(variables)

    def _config_value(self, name: str) -> Any:
        return self._dtype_name if name == "dtype" else super()._config_value(name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def _state_in(value: object) -> Iterator[Any]:
    """Yield the variables and metrics in nested lists, tuples, sets and dictionaries."""
    if isinstance(value, (engine.Variable, Metric)):
        yield value
    elif isinstance(value, (list, tuple, set, dict)):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _state_in(element)


def add_to(variable: Variable, amount: TensorLike) -> None:
    """Add an amount to a variable of the state."""
    variable.assign(wt.add(variable.value, amount))


def samplewise(
    values: TensorLike, sample_weight: TensorLike | None, reduce: Callable[..., Tensor]
) -> tuple[Tensor, Tensor | None]:
    """Weight values; return them and the weights, both reduced to one number for each sample."""
    mask = mask_of(values)
    values = as_floats(values)
    weight = None if sample_weight is None else as_floats(sample_weight)
    if weight is not None:
        if mask is not None:
            weight, mask_weight = same_rank(weight, as_floats(mask))
            weight = weight * mask_weight
        values, weight = same_rank(values, weight)
        rank = len(weight.shape)
        if len(values.shape) > rank:
            values = reduce(values, tuple(range(rank, len(values.shape))))
        if weight.shape != values.shape:
            weight = wt.broadcast_to(weight, values.shape)
        values = values * weight
        if rank > 1:
            weight = reduce(weight, tuple(range(1, rank)))
    if len(values.shape) > 1:
        values = reduce(values, tuple(range(1, len(values.shape))))
    return values, weight
