"""Means and sums of values, and of functions of targets and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import FunctionWrapper, TargetFunction, as_floats, same_rank
from webtensor.keras.masks import mask_of
from webtensor.keras.metrics.base import Metric, add_to, samplewise
from webtensor.keras.types import DTypeLike

__all__ = ["FunctionMetric", "Mean", "MeanMetricWrapper", "Sum"]


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
        sums, _ = samplewise(values, sample_weight, wt.sum)
        add_to(self.total, wt.sum(sums))

    def result(self) -> Tensor:
        """Return the sum."""
        return self.total.value


class Mean(Metric):
    """The weighted mean of all values; that of a sample is the mean over its other axes.

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
        means, weight = samplewise(values, sample_weight, wt.mean)
        add_to(self.total, wt.sum(means) if means.shape else means)
        if weight is None:
            add_to(self.count, float(means.shape[0]) if means.shape else 1.0)
        else:
            add_to(self.count, wt.sum(weight) if weight.shape else weight)

    def result(self) -> Tensor:
        """Return the mean, or 0 if there are no values."""
        return wt.divide_no_nan(self.total.value, self.count.value)


class MeanMetricWrapper(FunctionWrapper, Mean):
    """The mean of a function of ``y_true``, ``y_pred`` and further arguments.

    Args:
        fn: a function that returns a value for each sample.
        **kwargs: the further arguments of ``fn``.

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.MeanMetricWrapper(keras.losses.mean_squared_error)
        >>> metric([[0.0, 0.0]], [[1.0, 1.0]]).tolist()
        1.0
    """

    def __init__(
        self,
        fn: TargetFunction,
        name: str | None = None,
        dtype: DTypeLike = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def update_state(  # type: ignore[override]  # of targets and predictions, not of values
        self, y_true: Any, y_pred: Any, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        mask = mask_of(y_pred)
        values = self.fn(y_true, y_pred, **self._fn_kwargs)
        if mask is not None and sample_weight is not None:
            weight, mask_weight = same_rank(as_floats(sample_weight), as_floats(mask))
            sample_weight = weight * mask_weight
        elif mask is not None:
            sample_weight = mask
        super().update_state(values, sample_weight)


class FunctionMetric(MeanMetricWrapper):
    """The mean of one of the library's functions, whose subclasses are like ``FunctionLoss``'s."""

    def __init__(self, name: str | None = None, dtype: DTypeLike = None, **kwargs: Any) -> None:
        super().__init__(self._function, name, dtype, **kwargs)

    @staticmethod
    def _constructor(default_name: str) -> Callable[..., None]:
        def initialize(
            self: FunctionMetric, name: str | None = default_name, dtype: DTypeLike = None
        ) -> None:
            FunctionMetric.__init__(self, name, dtype)

        return initialize
