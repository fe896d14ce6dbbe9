"""Accuracies: how often predictions are right."""

from __future__ import annotations

from typing import ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.reductions import MeanMetricWrapper
from webtensor.keras.types import DTypeLike

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "SparseCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "accuracy",
    "binary_accuracy",
    "categorical_accuracy",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]


def _flags(value: Tensor) -> Tensor:
    return wt.astype(value, float32)


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where predictions equal targets, else 0."""
    return _flags(wt.equal(*same_rank(wt.asarray(y_true), wt.asarray(y_pred))))


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    """1 where a prediction is on the target's side of ``threshold``, else 0.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.binary_accuracy([0.0, 1.0], [0.2, 0.3]).tolist()
        [1.0, 0.0]
    """
    target, guess = same_rank(as_floats(y_true), as_floats(y_pred))
    return _flags(wt.equal(target, _flags(wt.greater(guess, threshold))))


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where the greatest prediction along the last axis is the greatest target, else 0."""
    target = wt.argmax(wt.asarray(y_true), -1)
    return _flags(wt.equal(target, wt.argmax(as_floats(y_pred), -1)))


def _labels(y_true: TensorLike, guess: Tensor) -> Tensor:
    """Labels as int32 without an axis of length 1 at the end."""
    labels = wt.astype(wt.asarray(y_true), int32, copy=False)
    if len(labels.shape) == len(guess.shape) and labels.shape[-1] == 1:
        labels = wt.squeeze(labels, -1)
    return labels


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where the greatest prediction along the last axis is that of the label, else 0.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.sparse_categorical_accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]]).tolist()
        [1.0, 0.0]
    """
    guess = as_floats(y_pred)
    return _flags(wt.equal(_labels(y_true, guess), wt.argmax(guess, -1)))


def _in_top(labels: Tensor, guess: Tensor, k: int) -> Tensor:
    """1 where fewer than ``k`` predictions are greater than that of the label, else 0."""
    hot = wt.one_hot(labels, guess.shape[-1], dtype=float32)
    wanted = wt.sum(hot * guess, -1, keepdims=True)
    greater = wt.sum(_flags(wt.greater(guess, wanted)), -1)
    return _flags(wt.less(greater, float(k)))


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """1 where the greatest target's prediction is among the ``k`` greatest, else 0.

    Leading axes are joined.
    """
    guess = as_floats(y_pred)
    labels = wt.argmax(wt.asarray(y_true), -1)
    return _in_top(labels, guess, k)


def sparse_top_k_categorical_accuracy(
    y_true: TensorLike, y_pred: TensorLike, k: int = 5, from_sorted_ids: bool = False
) -> Tensor:
    """1 where the label's prediction is among the ``k`` greatest, else 0.

    With ``from_sorted_ids``, predictions are labels, the most probable first.
    """
    guess = wt.asarray(y_pred)
    labels = _labels(y_true, guess)
    if from_sorted_ids:
        first = wt.astype(guess[..., :k], int32, copy=False)
        return _flags(wt.any(wt.equal(wt.expand_dims(labels, -1), first), -1))
    return _in_top(labels, as_floats(guess), k)


class Accuracy(MeanMetricWrapper):
    """How often predictions equal targets.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Accuracy()([1, 2, 3, 4], [0, 2, 3, 4]).tolist()
        0.75
    """

    def __init__(self, name: str | None = "accuracy", dtype: DTypeLike = None) -> None:
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the targets' side of ``threshold``."""

    def __init__(
        self, name: str | None = "binary_accuracy", dtype: DTypeLike = None, threshold: float = 0.5
    ) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the greatest prediction is that of the one-hot label."""

    def __init__(self, name: str | None = "categorical_accuracy", dtype: DTypeLike = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the greatest prediction is that of the label, an integer."""

    def __init__(
        self, name: str | None = "sparse_categorical_accuracy", dtype: DTypeLike = None
    ) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the prediction of the one-hot label is among the ``k`` greatest."""

    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: DTypeLike = None
    ) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the prediction of the label is among the ``k`` greatest."""

    _config_omits: ClassVar = {"from_sorted_ids": False}

    def __init__(
        self,
        k: int = 5,
        name: str | None = "sparse_top_k_categorical_accuracy",
        dtype: DTypeLike = None,
        from_sorted_ids: bool = False,
    ) -> None:
        super().__init__(
            sparse_top_k_categorical_accuracy, name, dtype, k=k, from_sorted_ids=from_sorted_ids
        )
