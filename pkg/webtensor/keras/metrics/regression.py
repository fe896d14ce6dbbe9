"""Metrics of losses between numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.losses.regression import (
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    normalized,
)
from webtensor.keras.metrics.reductions import (
    FunctionMetric,
    Mean,
)
from webtensor.keras.types import DTypeLike

__all__ = [
    "CosineSimilarity",
    "LogCoshError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "RootMeanSquaredError",
]


def cosine_similarity(
    y_true: TensorLike, y_pred: TensorLike, axis: int | Sequence[int] = -1
) -> Tensor:
    """The cosine of the angle between targets and predictions along ``axis``."""
    target, prediction = same_rank(as_floats(y_true), as_floats(y_pred))
    return wt.sum(normalized(target, axis) * normalized(prediction, axis), axis)


class MeanSquaredError(FunctionMetric, function=mean_squared_error):
    """``mean(square(y_true - y_pred))``."""


class MeanAbsoluteError(FunctionMetric, function=mean_absolute_error):
    """``mean(abs(y_true - y_pred))``."""


class MeanAbsolutePercentageError(FunctionMetric, function=mean_absolute_percentage_error):
    """``100 * mean(abs((y_true - y_pred) / y_true))``."""


class MeanSquaredLogarithmicError(FunctionMetric, function=mean_squared_logarithmic_error):
    """``mean(square(log(y_true + 1) - log(y_pred + 1)))``."""


class RootMeanSquaredError(Mean):
    """``sqrt(mean(square(y_true - y_pred)))``.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.RootMeanSquaredError()([[0.0, 0.0]], [[2.0, 2.0]]).tolist()
        2.0
    """

    def __init__(
        self, name: str | None = "root_mean_squared_error", dtype: DTypeLike = None
    ) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]  # of targets and predictions, not of values
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account."""
        pair = same_rank(as_floats(y_true), as_floats(y_pred))
        super().update_state(wt.squared_difference(*pair), sample_weight)

    def result(self) -> Tensor:
        """Return the square root of the mean."""
        return wt.sqrt(super().result())


class CosineSimilarity(FunctionMetric, function=cosine_similarity):
    """The mean cosine of the angle between targets and predictions.

    Args:
        axis: an integer or several, the axis of the vectors.
    """

    _config_omits: ClassVar = {"axis": -1}

    @forwards_arguments
    def __init__(
        self,
        name: str | None = "cosine_similarity",
        dtype: DTypeLike = None,
        axis: int | Sequence[int] = -1,
    ) -> None: ...


class LogCoshError(FunctionMetric, function=log_cosh):
    """``mean(log(cosh(y_pred - y_true)))``."""

    @forwards_arguments
    def __init__(self, name: str | None = "logcosh", dtype: DTypeLike = None) -> None: ...
