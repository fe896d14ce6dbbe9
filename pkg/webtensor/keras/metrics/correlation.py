"""Correlations between targets and predictions."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.reductions import FunctionMetric
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = [
    "ConcordanceCorrelation",
    "PearsonCorrelation",
    "concordance_correlation",
    "pearson_correlation",
]

Axis = int | Sequence[int]


def _centred(x: Tensor, axis: Axis) -> tuple[Tensor, Tensor]:
    """Return the mean along ``axis``, and the differences from it."""
    mean = wt.mean(x, axis, keepdims=True)
    return mean, x - mean


def pearson_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """The covariance along ``axis``, divided by both standard deviations; NaN where one is 0.

    Example:
        >>> from webtensor import keras
        >>> round(float(keras.metrics.pearson_correlation([[0.0, 1.0]], [[3.0, 5.0]])[0]), 4)
        1.0
    """
    pair = same_rank(as_floats(y_true), as_floats(y_pred))
    target, prediction = (_centred(values, axis)[1] for values in pair)
    covariance = wt.mean(target * prediction, axis)
    deviations = (wt.sqrt(wt.mean(wt.square(part), axis)) for part in (target, prediction))
    return covariance / wt.multiply(*deviations)


def concordance_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """``2 * covariance / (both variances + squared difference of the means)`` along ``axis``.

    It is 1 only if predictions equal targets (Lin, 1989).
    """
    pair = same_rank(as_floats(y_true), as_floats(y_pred))
    (target_mean, target), (mean, prediction) = (_centred(values, axis) for values in pair)
    covariance = wt.mean(target * prediction, axis)
    variances = wt.mean(wt.square(target) + wt.square(prediction), axis)
    squared_bias = wt.mean(wt.squared_difference(target_mean, mean), axis)
    return covariance * 2.0 / (variances + squared_bias + epsilon())


class PearsonCorrelation(FunctionMetric, function=pearson_correlation):
    """The mean Pearson correlation of targets and predictions.

    Args:
        axis: an integer or several, the axis along which values are correlated.
    """

    @forwards_arguments
    def __init__(
        self, name: str | None = "pearson_correlation", dtype: DTypeLike = None, axis: Axis = -1
    ) -> None: ...


class ConcordanceCorrelation(FunctionMetric, function=concordance_correlation):
    """The mean concordance correlation of targets and predictions.

    Args:
        axis: an integer or several, the axis along which values are correlated.
    """

    @forwards_arguments
    def __init__(
        self, name: str | None = "concordance_correlation", dtype: DTypeLike = None, axis: Axis = -1
    ) -> None: ...
