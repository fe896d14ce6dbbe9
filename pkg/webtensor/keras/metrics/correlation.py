"""Correlations between targets and predictions."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.config import epsilon
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.reductions import MeanMetricWrapper
from webtensor.keras.types import DTypeLike

__all__ = [
    "ConcordanceCorrelation",
    "PearsonCorrelation",
    "concordance_correlation",
    "pearson_correlation",
]

Axis = int | Sequence[int]


def _centred(x: Tensor, axis: Axis) -> tuple[Tensor, Tensor]:
    """The mean, and what differs from it."""
    mean = wt.mean(x, axis, keepdims=True)
    return mean, x - mean


def pearson_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """The covariance along ``axis``, divided by both standard deviations; NaN where one is 0.

    Example:
        >>> from webtensor import keras
        >>> round(float(keras.metrics.pearson_correlation([[0.0, 1.0]], [[3.0, 5.0]])[0]), 4)
        1.0
    """
    target, guess = same_rank(as_floats(y_true), as_floats(y_pred))
    one, other = _centred(target, axis)[1], _centred(guess, axis)[1]
    covariance = wt.mean(one * other, axis)
    deviations = (wt.sqrt(wt.mean(wt.square(part), axis)) for part in (one, other))
    return covariance / wt.multiply(*deviations)


def concordance_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """Twice the covariance along ``axis``, divided by the mean squared distance it would have.

    1 only where predictions equal targets (Lin, 1989).
    """
    target, guess = same_rank(as_floats(y_true), as_floats(y_pred))
    (mean, one), (other_mean, other) = _centred(target, axis), _centred(guess, axis)
    covariance = wt.mean(one * other, axis)
    variances = wt.mean(wt.square(one) + wt.square(other), axis)
    apart = wt.mean(wt.squared_difference(mean, other_mean), axis)
    return covariance * 2.0 / (variances + apart + epsilon())


class PearsonCorrelation(MeanMetricWrapper):
    """The mean Pearson correlation of samples along ``axis``."""

    def __init__(
        self, name: str | None = "pearson_correlation", dtype: DTypeLike = None, axis: Axis = -1
    ) -> None:
        super().__init__(pearson_correlation, name, dtype, axis=axis)


class ConcordanceCorrelation(MeanMetricWrapper):
    """The mean concordance correlation of samples along ``axis``."""

    def __init__(
        self, name: str | None = "concordance_correlation", dtype: DTypeLike = None, axis: Axis = -1
    ) -> None:
        super().__init__(concordance_correlation, name, dtype, axis=axis)
