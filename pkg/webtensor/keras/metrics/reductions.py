"""Means and sums of values, and of functions of targets and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.losses.base import FunctionArguments, as_floats, same_rank
from webtensor.keras.masks import mask_of
from webtensor.keras.metrics.base import Metric, add_to, samplewise
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config, DTypeLike

__all__ = ["Mean", "MeanMetricWrapper", "Sum"]


class Sum(Metric):
    """The weighted sum of all values.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Sum()([1.0, 3.0], sample_weight=[1.0, 0.0]).tolist()
        1.0
    """

    def __init__(self, name: str | None = "sum", dtype: DTypeLike = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> None:
        """Take values into account."""
        held, _ = samplewise(values, sample_weight, wt.sum)
        add_to(self.total, wt.sum(held))

    def result(self) -> Tensor:
        """Return the sum."""
        return self.total.value


class Mean(Metric):
    """The weighted mean of all values; each sample's is the mean over its other axes.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Mean()([1.0, 3.0, 5.0], sample_weight=[1.0, 1.0, 0.0]).tolist()
        2.0
    """

    def __init__(self, name: str | None = "mean", dtype: DTypeLike = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> None:
        """Take values into account."""
        held, weight = samplewise(values, sample_weight, wt.mean)
        add_to(self.total, wt.sum(held) if held.shape else held)
        if weight is None:
            add_to(self.count, float(held.shape[0]) if held.shape else 1.0)
        else:
            add_to(self.count, wt.sum(weight) if weight.shape else weight)

    def result(self) -> Tensor:
        """Return the mean, or 0 where there is nothing."""
        return wt.divide_no_nan(self.total.value, self.count.value)


class MeanMetricWrapper(FunctionArguments, Mean):
    """The mean of a function of ``y_true``, ``y_pred`` and further arguments.

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.MeanMetricWrapper(keras.losses.mean_squared_error)
        >>> metric([[0.0, 0.0]], [[1.0, 1.0]]).tolist()
        1.0
    """

    _config_omits: ClassVar = {"fn": ALWAYS}  # unless it is this class's, see ``get_config``

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        dtype: DTypeLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(  # type: ignore[override]  # of targets and predictions, not of values
        self, y_true: Any, y_pred: Any, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        mask = mask_of(y_pred)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        if mask is not None and sample_weight is not None:
            weight, counted = same_rank(as_floats(sample_weight), as_floats(mask))
            sample_weight = weight * counted
        elif mask is not None:
            sample_weight = mask
        super().update_state(values, sample_weight)

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        config = {**super().get_config(), **self._undeclared_arguments()}
        if type(self) is MeanMetricWrapper:
            config["fn"] = serialize_keras_object(self._fn)
        return config

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make one with the arguments in a configuration."""
        return cls(**deserialize_keras_object(config))
