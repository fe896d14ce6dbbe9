"""Losses, as classes and as functions.

Functions return a loss for each sample; classes weight these losses and reduce them. ``base`` has
what all classes share. The other modules are families: ``regression``, ``margins``,
``probabilistic``, ``overlap``, ``similarity`` and ``alignment``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config, CustomObjects
from webtensor.lazy_contents import Members, contents, lazy_contents

_CONTENTS = contents(
    """
    alignment: CTC ctc
    base: Loss LossFunctionWrapper
    margins: CategoricalHinge Hinge SquaredHinge categorical_hinge hinge squared_hinge
    overlap: Dice Tversky dice tversky
    probabilistic: BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy
        CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy KLDivergence Poisson
        SparseCategoricalCrossentropy binary_crossentropy binary_focal_crossentropy
        categorical_crossentropy categorical_focal_crossentropy
        categorical_generalized_cross_entropy kl_divergence poisson
        sparse_categorical_crossentropy
    regression: CosineSimilarity Huber LogCosh MeanAbsoluteError MeanAbsolutePercentageError
        MeanSquaredError MeanSquaredLogarithmicError cosine_similarity huber log_cosh
        mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error
    similarity: Circle circle
    """
)

if TYPE_CHECKING:
    from webtensor.keras.losses.alignment import *
    from webtensor.keras.losses.base import (
        Loss as Loss,
        LossFunctionWrapper as LossFunctionWrapper,
    )
    from webtensor.keras.losses.margins import *
    from webtensor.keras.losses.overlap import *
    from webtensor.keras.losses.probabilistic import *
    from webtensor.keras.losses.regression import (
        CosineSimilarity as CosineSimilarity,
        Huber as Huber,
        LogCosh as LogCosh,
        MeanAbsoluteError as MeanAbsoluteError,
        MeanAbsolutePercentageError as MeanAbsolutePercentageError,
        MeanSquaredError as MeanSquaredError,
        MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
        cosine_similarity as cosine_similarity,
        huber as huber,
        log_cosh as log_cosh,
        mean_absolute_error as mean_absolute_error,
        mean_absolute_percentage_error as mean_absolute_percentage_error,
        mean_squared_error as mean_squared_error,
        mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    )
    from webtensor.keras.losses.similarity import *
else:
    __all__ = [  # noqa: PLE0604  (they are strings)
        "deserialize",
        "get",
        "serialize",
        *(name for names in _CONTENTS.values() for name in names if name != "LossFunctionWrapper"),
    ]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)

_ALIASES = {
    "bce": "binary_crossentropy",
    "kld": "kl_divergence",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mse": "mean_squared_error",
    "msle": "mean_squared_logarithmic_error",
}
_NAMESPACE = Namespace(
    "loss",
    Members(__name__, [name for names in _CONTENTS.values() for name in names]),
    ("losses", "metrics"),
    **_ALIASES,
    **{alias.upper(): name for alias, name in _ALIASES.items()},
)


#: A name, a configuration, a class, a function or a loss; None is none.
LossLike: TypeAlias = "str | Config | type[Loss] | Loss | Callable[..., Any] | None"


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
    return _NAMESPACE.serialize(loss)


def deserialize(name: object, custom_objects: CustomObjects | None = None) -> Any:
    """Return the loss that a name or a configuration describes."""
    return _NAMESPACE.deserialize(name, custom_objects)
