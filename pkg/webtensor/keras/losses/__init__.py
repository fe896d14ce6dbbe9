"""Losses, as classes and as functions; ``base`` is what all share.

``regression``, ``margins``, ``probabilistic``, ``overlap``, ``similarity`` and ``alignment`` hold a
family each.
Functions return a value for each sample; classes weight and reduce them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.losses.alignment import CTC, ctc
from webtensor.keras.losses.base import Loss, LossFunctionWrapper
from webtensor.keras.losses.margins import (
    CategoricalHinge,
    Hinge,
    SquaredHinge,
    categorical_hinge,
    hinge,
    squared_hinge,
)
from webtensor.keras.losses.overlap import Dice, Tversky, dice, tversky
from webtensor.keras.losses.probabilistic import (
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy,
    KLDivergence,
    Poisson,
    SparseCategoricalCrossentropy,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_generalized_cross_entropy,
    kl_divergence,
    poisson,
    sparse_categorical_crossentropy,
)
from webtensor.keras.losses.regression import (
    CosineSimilarity,
    Huber,
    LogCosh,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    cosine_similarity,
    huber,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from webtensor.keras.losses.similarity import Circle, circle
from webtensor.keras.registry import Namespace

__all__ = [
    "CTC",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "CategoricalHinge",
    "Circle",
    "CosineSimilarity",
    "Dice",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "Tversky",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "categorical_hinge",
    "circle",
    "cosine_similarity",
    "ctc",
    "deserialize",
    "dice",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
    "tversky",
]

_THINGS: dict[str, Any] = {
    name: globals()[name] for name in __all__ if name not in ("deserialize", "get", "serialize")
}
_SHORT = {
    "bce": binary_crossentropy,
    "kld": kl_divergence,
    "mae": mean_absolute_error,
    "mape": mean_absolute_percentage_error,
    "mse": mean_squared_error,
    "msle": mean_squared_logarithmic_error,
}
_NAMESPACE = Namespace(
    "loss",
    {**_THINGS, "LossFunctionWrapper": LossFunctionWrapper},
    ("losses", "metrics"),
    **_SHORT,
    **{name.upper(): function for name, function in _SHORT.items()},
)


def get(identifier: Any) -> Any:
    """Return the loss that a name, a configuration, a class, a function or an object stands for.

    The name of a function, also a short one such as "mse", gives the function.

    Raises:
        ValueError: there is no such loss.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.get("mse") is keras.losses.mean_squared_error
        True
    """
    return _NAMESPACE.get(identifier)


def serialize(loss: Any) -> Any:
    """Return the configuration of a loss, or the name of a function."""
    return _NAMESPACE.serialize(loss)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the loss that a name or a configuration describes."""
    return _NAMESPACE.deserialize(name, custom_objects)
