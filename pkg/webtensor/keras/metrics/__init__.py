"""Metrics, as classes, and functions of which these return the mean.

``base`` has what all classes share, and ``reductions`` has means and sums. The other modules are
families: ``accuracy``, ``area_under_curve``, ``confusion``, ``correlation``, ``f_score``, ``iou``,
``margins``, ``probabilistic``, ``r2_score`` and ``regression``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config, CustomObjects
from webtensor.lazy_contents import Members, contents, lazy_contents

#: Which module of ``webtensor.keras`` has which name.
_CONTENTS = contents(
    """
    losses: binary_crossentropy binary_focal_crossentropy categorical_crossentropy
        categorical_focal_crossentropy categorical_hinge hinge huber kl_divergence log_cosh
        mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error poisson sparse_categorical_crossentropy squared_hinge
    metrics.accuracy: Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy
        SparseTopKCategoricalAccuracy TopKCategoricalAccuracy binary_accuracy
        categorical_accuracy sparse_categorical_accuracy sparse_top_k_categorical_accuracy
        top_k_categorical_accuracy
    metrics.area_under_curve: AUC
    metrics.base: Metric
    metrics.confusion: FalseNegatives FalsePositives Precision PrecisionAtRecall Recall
        RecallAtPrecision SensitivityAtSpecificity SpecificityAtSensitivity TrueNegatives
        TruePositives
    metrics.correlation: ConcordanceCorrelation PearsonCorrelation concordance_correlation
        pearson_correlation
    metrics.f_score: F1Score FBetaScore
    metrics.iou: BinaryIoU IoU MeanIoU OneHotIoU OneHotMeanIoU
    metrics.margins: CategoricalHinge Hinge SquaredHinge
    metrics.probabilistic: BinaryCrossentropy CategoricalCrossentropy KLDivergence Poisson
        SparseCategoricalCrossentropy
    metrics.r2_score: R2Score
    metrics.reductions: Mean MeanMetricWrapper Sum
    metrics.regression: CosineSimilarity LogCoshError MeanAbsoluteError
        MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError
        RootMeanSquaredError
    """
)

if TYPE_CHECKING:
    from webtensor.keras.losses import (
        binary_crossentropy as binary_crossentropy,
        binary_focal_crossentropy as binary_focal_crossentropy,
        categorical_crossentropy as categorical_crossentropy,
        categorical_focal_crossentropy as categorical_focal_crossentropy,
        categorical_hinge as categorical_hinge,
        hinge as hinge,
        huber as huber,
        kl_divergence as kl_divergence,
        log_cosh as log_cosh,
        mean_absolute_error as mean_absolute_error,
        mean_absolute_percentage_error as mean_absolute_percentage_error,
        mean_squared_error as mean_squared_error,
        mean_squared_logarithmic_error as mean_squared_logarithmic_error,
        poisson as poisson,
        sparse_categorical_crossentropy as sparse_categorical_crossentropy,
        squared_hinge as squared_hinge,
    )
    from webtensor.keras.metrics.accuracy import (
        Accuracy as Accuracy,
        BinaryAccuracy as BinaryAccuracy,
        CategoricalAccuracy as CategoricalAccuracy,
        SparseCategoricalAccuracy as SparseCategoricalAccuracy,
        SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
        TopKCategoricalAccuracy as TopKCategoricalAccuracy,
        binary_accuracy as binary_accuracy,
        categorical_accuracy as categorical_accuracy,
        sparse_categorical_accuracy as sparse_categorical_accuracy,
        sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
        top_k_categorical_accuracy as top_k_categorical_accuracy,
    )
    from webtensor.keras.metrics.area_under_curve import AUC as AUC
    from webtensor.keras.metrics.base import Metric as Metric
    from webtensor.keras.metrics.confusion import (
        FalseNegatives as FalseNegatives,
        FalsePositives as FalsePositives,
        Precision as Precision,
        PrecisionAtRecall as PrecisionAtRecall,
        Recall as Recall,
        RecallAtPrecision as RecallAtPrecision,
        SensitivityAtSpecificity as SensitivityAtSpecificity,
        SpecificityAtSensitivity as SpecificityAtSensitivity,
        TrueNegatives as TrueNegatives,
        TruePositives as TruePositives,
    )
    from webtensor.keras.metrics.correlation import *
    from webtensor.keras.metrics.f_score import *
    from webtensor.keras.metrics.iou import *
    from webtensor.keras.metrics.margins import *
    from webtensor.keras.metrics.probabilistic import *
    from webtensor.keras.metrics.r2_score import *
    from webtensor.keras.metrics.reductions import (
        Mean as Mean,
        MeanMetricWrapper as MeanMetricWrapper,
        Sum as Sum,
    )
    from webtensor.keras.metrics.regression import *
else:
    __all__ = [  # noqa: PLE0604  (they are strings)
        "deserialize",
        "get",
        "serialize",
        *(name for names in _CONTENTS.values() for name in names),
    ]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, base="webtensor.keras")

_ALIASES = {
    "bce": "BinaryCrossentropy",
    "mae": "MeanAbsoluteError",
    "mape": "MeanAbsolutePercentageError",
    "mse": "MeanSquaredError",
    "msle": "MeanSquaredLogarithmicError",
}
_NAMESPACE = Namespace(
    "metric",
    Members(
        __name__, [name for names in _CONTENTS.values() for name in names if name[0].isupper()]
    ),
    ("losses", "metrics"),
    **_ALIASES,
    **{alias.upper(): name for alias, name in _ALIASES.items()},
)


#: A name, a configuration, a class, a function or a metric; None is none.
MetricLike: TypeAlias = "str | Config | type[Metric] | Metric | Callable[..., Any] | None"


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
    return _NAMESPACE.serialize(metric)


def deserialize(config: object, custom_objects: CustomObjects | None = None) -> Any:
    """Return the metric that a name or a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
