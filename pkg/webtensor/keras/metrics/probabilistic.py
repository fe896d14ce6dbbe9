"""Metrics of losses between distributions."""

from __future__ import annotations

from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.probabilistic import (
    binary_crossentropy,
    categorical_crossentropy,
    kl_divergence,
    poisson,
    sparse_categorical_crossentropy,
)
from webtensor.keras.metrics.reductions import FunctionMetric
from webtensor.keras.types import DTypeLike

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "KLDivergence",
    "Poisson",
    "SparseCategoricalCrossentropy",
]


class KLDivergence(FunctionMetric, function=kl_divergence):
    """The mean Kullback-Leibler divergence, ``sum(y_true * log(y_true / y_pred))``."""


class Poisson(FunctionMetric, function=poisson):
    """The mean of ``y_pred - y_true * log(y_pred)``."""


class BinaryCrossentropy(FunctionMetric, function=binary_crossentropy):
    """The mean cross-entropy between labels of two classes and probabilities, or logits.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards 1/2.
    """

    @forwards_arguments
    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None: ...


class CategoricalCrossentropy(FunctionMetric, function=categorical_crossentropy):
    """The mean cross-entropy between one-hot labels, or distributions, and predicted distributions.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards the uniform
            distribution.
        axis: an integer, the axis of the classes.
    """

    @forwards_arguments
    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None: ...


class SparseCategoricalCrossentropy(FunctionMetric, function=sparse_categorical_crossentropy):
    """The mean cross-entropy between integer labels and predicted distributions over classes.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        ignore_class: an integer, a class whose samples are left out; None leaves none out.
        axis: an integer, the axis of the classes.
    """

    @forwards_arguments
    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None: ...
