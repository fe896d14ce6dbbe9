"""Losses, as classes and as functions.

Functions return a loss for each sample; classes weight these losses and reduce them. ``base`` has
what all classes share. The other modules are families: ``regression``, ``margins``,
``probabilistic``, ``overlap``, ``similarity`` and ``alignment``.
"""

from __future__ import annotations

from collections.abc import Callable
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
from webtensor.keras.types import Config, CustomObjects

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

_CLASSES_AND_FUNCTIONS = {
    name: globals()[name] for name in __all__ if name not in ("deserialize", "get", "serialize")
}
_ABBREVIATIONS = {
    "bce": binary_crossentropy,
    "kld": kl_divergence,
    "mae": mean_absolute_error,
    "mape": mean_absolute_percentage_error,
    "mse": mean_squared_error,
    "msle": mean_squared_logarithmic_error,
}
_NAMESPACE = Namespace(
    "loss",
    {**_CLASSES_AND_FUNCTIONS, "LossFunctionWrapper": LossFunctionWrapper},
    ("losses", "metrics"),
    **_ABBREVIATIONS,
    **{name.upper(): function for name, function in _ABBREVIATIONS.items()},
)


#: A name, a configuration, a class, a function or a loss; None is none.
LossLike = str | Config | type[Loss] | Loss | Callable[..., Any] | None


def get(identifier: LossLike) -> Any:
    """Return the loss that a name, a configuration, a class, a function or an object stands for.

    The name of a function, or an abbreviation such as "mse", stands for the function.

    Raises:
        ValueError: there is no such loss.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.get("mse") is keras.losses.mean_squared_error
        True
    """
    return _NAMESPACE.get(identifier)


def serialize(loss: LossLike) -> str | Config | None:
    """Return the configuration of a loss, or the name of a function."""
    config: str | Config | None = _NAMESPACE.serialize(loss)
    return config


def deserialize(name: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the loss that a name or a configuration describes."""
    return _NAMESPACE.deserialize(name, custom_objects)
