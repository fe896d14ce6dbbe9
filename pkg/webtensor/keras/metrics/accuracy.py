"""Accuracies: the share of correct predictions."""

from __future__ import annotations

from typing import ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.reductions import FunctionMetric
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


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where predictions equal targets, else 0."""
    is_equal = wt.equal(*same_rank(wt.asarray(y_true), wt.asarray(y_pred)))
    return wt.astype(is_equal, float32)


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    """1 where the target says whether the prediction exceeds ``threshold``, else 0.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.binary_accuracy([0.0, 1.0], [0.2, 0.3]).tolist()
        [1.0, 0.0]
    """
    target, prediction = same_rank(as_floats(y_true), as_floats(y_pred))
    predicted_class = wt.astype(wt.greater(prediction, threshold), float32)
    return wt.astype(wt.equal(target, predicted_class), float32)


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where prediction and target have their maximum at the same index, else 0.

    Maxima are those along the last axis.
    """
    label = wt.argmax(wt.asarray(y_true), -1)
    return wt.astype(wt.equal(label, wt.argmax(as_floats(y_pred), -1)), float32)


def _labels(y_true: TensorLike, prediction: Tensor) -> Tensor:
    """Return labels as int32 without a last axis of size 1."""
    labels = wt.astype(wt.asarray(y_true), int32, copy=False)
    if len(labels.shape) == len(prediction.shape) and labels.shape[-1] == 1:
        labels = wt.squeeze(labels, -1)
    return labels


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """1 where the label is the index of the prediction's maximum along the last axis, else 0.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.sparse_categorical_accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]]).tolist()
        [1.0, 0.0]
    """
    prediction = as_floats(y_pred)
    is_equal = wt.equal(_labels(y_true, prediction), wt.argmax(prediction, -1))
    return wt.astype(is_equal, float32)


def _in_top(labels: Tensor, scores: Tensor, k: int) -> Tensor:
    """1 where fewer than ``k`` scores are greater than that of the label, else 0."""
    one_hot = wt.one_hot(labels, scores.shape[-1], dtype=float32)
    score_of_label = wt.sum(one_hot * scores, -1, keepdims=True)
    num_greater = wt.sum(wt.astype(wt.greater(scores, score_of_label), float32), -1)
    return wt.astype(wt.less(num_greater, float(k)), float32)


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """1 where the class of the one-hot target is among the top ``k`` predictions, else 0."""
    labels = wt.argmax(wt.asarray(y_true), -1)
    return _in_top(labels, as_floats(y_pred), k)


def sparse_top_k_categorical_accuracy(
    y_true: TensorLike, y_pred: TensorLike, k: int = 5, from_sorted_ids: bool = False
) -> Tensor:
    """1 where the label is among the top ``k`` predictions, else 0.

    With ``from_sorted_ids``, predictions are labels, the most probable first.
    """
    prediction = wt.asarray(y_pred)
    labels = _labels(y_true, prediction)
    if from_sorted_ids:
        top = wt.astype(prediction[..., :k], int32, copy=False)
        is_in_top = wt.any(wt.equal(wt.expand_dims(labels, -1), top), -1)
        return wt.astype(is_in_top, float32)
    return _in_top(labels, as_floats(prediction), k)


class Accuracy(FunctionMetric, function=accuracy):
    """The share of predictions that equal their targets.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Accuracy()([1, 2, 3, 4], [0, 2, 3, 4]).tolist()
        0.75
    """


class BinaryAccuracy(FunctionMetric, function=binary_accuracy):
    """The share of predictions of two classes that are correct.

    Args:
        threshold: a number; larger predictions are of class 1.
    """

    @forwards_arguments
    def __init__(
        self, name: str | None = "binary_accuracy", dtype: DTypeLike = None, threshold: float = 0.5
    ) -> None: ...


class CategoricalAccuracy(FunctionMetric, function=categorical_accuracy):
    """The share of samples whose maximum prediction is that of the one-hot label."""


class SparseCategoricalAccuracy(FunctionMetric, function=sparse_categorical_accuracy):
    """The share of samples whose maximum prediction is that of the label, an integer."""


class TopKCategoricalAccuracy(FunctionMetric, function=top_k_categorical_accuracy):
    """The share of samples whose one-hot label is among the top ``k`` predictions.

    Args:
        k: an integer, the number of predictions that count.
    """

    @forwards_arguments
    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: DTypeLike = None
    ) -> None: ...


class SparseTopKCategoricalAccuracy(FunctionMetric, function=sparse_top_k_categorical_accuracy):
    """The share of samples whose label, an integer, is among the top ``k`` predictions.

    Args:
        k: an integer, the number of predictions that count.
        from_sorted_ids: a boolean, whether predictions are labels, the most probable first, instead
            of scores of the classes.
    """

    _config_omits: ClassVar = {"from_sorted_ids": False}

    @forwards_arguments
    def __init__(
        self,
        k: int = 5,
        name: str | None = "sparse_top_k_categorical_accuracy",
        dtype: DTypeLike = None,
        from_sorted_ids: bool = False,
    ) -> None: ...
