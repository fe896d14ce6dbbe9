"""Metrics of losses between distributions."""

from __future__ import annotations

from webtensor.keras.losses.probabilistic import (
    binary_crossentropy,
    categorical_crossentropy,
    kl_divergence,
    poisson,
    sparse_categorical_crossentropy,
)
from webtensor.keras.metrics.reductions import MeanMetricWrapper
from webtensor.keras.types import DTypeLike

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "KLDivergence",
    "Poisson",
    "SparseCategoricalCrossentropy",
]


class KLDivergence(MeanMetricWrapper):
    """``sum(y_true * log(y_true / y_pred))``, from Kullback and Leibler."""

    def __init__(self, name: str | None = "kl_divergence", dtype: DTypeLike = None) -> None:
        super().__init__(kl_divergence, name, dtype)


class Poisson(MeanMetricWrapper):
    """``mean(y_pred - y_true * log(y_pred))``."""

    def __init__(self, name: str | None = "poisson", dtype: DTypeLike = None) -> None:
        super().__init__(poisson, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """Cross-entropy between labels of two classes and probabilities, or logits."""

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            binary_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """Cross-entropy between distributions over classes, or one-hot labels, and predicted ones."""

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(
            categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """Cross-entropy between labels, integers, and predicted distributions over classes."""

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: DTypeLike = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(
            sparse_categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )
