"""Metrics, as classes, and functions of which these return the mean.

``base`` has what all classes share, and ``reductions`` has means and sums. The other modules are
families: ``accuracy``, ``confusion``, ``correlation``, ``f_score``, ``iou``, ``probabilistic`` and
``regression``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.keras.losses import (
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kl_divergence,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from webtensor.keras.metrics.accuracy import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from webtensor.keras.metrics.base import Metric
from webtensor.keras.metrics.confusion import (
    AUC,
    FalseNegatives,
    FalsePositives,
    Precision,
    PrecisionAtRecall,
    Recall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from webtensor.keras.metrics.correlation import (
    ConcordanceCorrelation,
    PearsonCorrelation,
    concordance_correlation,
    pearson_correlation,
)
from webtensor.keras.metrics.f_score import F1Score, FBetaScore
from webtensor.keras.metrics.iou import (
    BinaryIoU,
    IoU,
    MeanIoU,
    OneHotIoU,
    OneHotMeanIoU,
)
from webtensor.keras.metrics.probabilistic import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    KLDivergence,
    Poisson,
    SparseCategoricalCrossentropy,
)
from webtensor.keras.metrics.reductions import (
    Mean,
    MeanMetricWrapper,
    Sum,
)
from webtensor.keras.metrics.regression import (
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    R2Score,
    RootMeanSquaredError,
    SquaredHinge,
)
from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config, CustomObjects

__all__ = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "BinaryIoU",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "IoU",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanIoU",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "OneHotIoU",
    "OneHotMeanIoU",
    "PearsonCorrelation",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "binary_accuracy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "concordance_correlation",
    "deserialize",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "pearson_correlation",
    "poisson",
    "serialize",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy",
    "squared_hinge",
    "top_k_categorical_accuracy",
]

_CLASSES = {name: globals()[name] for name in __all__ if isinstance(globals().get(name), type)}
_ABBREVIATIONS = {
    "bce": BinaryCrossentropy,
    "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError,
    "mse": MeanSquaredError,
    "msle": MeanSquaredLogarithmicError,
}
_NAMESPACE = Namespace(
    "metric",
    _CLASSES,
    ("losses", "metrics"),
    **_ABBREVIATIONS,
    **{name.upper(): metric for name, metric in _ABBREVIATIONS.items()},
)


#: A name, a configuration, a class, a function or a metric; None is none.
MetricLike = str | Config | type[Metric] | Metric | Callable[..., Any] | None


def get(identifier: MetricLike) -> Any:
    """Return the metric that a name, a configuration, a class, a function or an object stands for.

    Raises:
        ValueError: there is no such metric.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.get("mse")
        <MeanSquaredError name=mean_squared_error>
    """
    return _NAMESPACE.get(identifier)


def serialize(metric: MetricLike) -> str | Config | None:
    """Return the configuration of a metric."""
    config: str | Config | None = _NAMESPACE.serialize(metric)
    return config


def deserialize(config: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the metric that a name or a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
