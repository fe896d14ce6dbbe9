"""Losses with a margin: nothing is lost where a prediction is on the right side by 1."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import LossFunctionWrapper, Reduction, as_floats
from webtensor.keras.types import DTypeLike

__all__ = [
    "CategoricalHinge",
    "Hinge",
    "SquaredHinge",
    "categorical_hinge",
    "hinge",
    "squared_hinge",
]


def _lack(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """How far predictions are from the margin; labels that are all 0 or 1 mean -1 and 1."""
    label = as_floats(y_true)
    is_binary = wt.all(wt.equal(wt.square(label), label))
    sign = wt.where(is_binary, label * 2.0 - 1.0, label)
    return wt.relu(1.0 - sign * as_floats(y_pred))


def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(max(1 - y_true * y_pred, 0), -1)``.

    Labels are -1 or 1; where all are 0 or 1, 0 is taken for -1.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.hinge([[0.0, 1.0]], [[0.5, 0.5]]).tolist()
        [1.0]
    """
    return wt.mean(_lack(y_true, y_pred), -1)


def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(square(max(1 - y_true * y_pred, 0)), -1)``; labels as in ``hinge``."""
    return wt.mean(wt.square(_lack(y_true, y_pred)), -1)


def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``max(max((1 - y_true) * y_pred) - sum(y_true * y_pred) + 1, 0)`` along the last axis."""
    label, guess = as_floats(y_true), as_floats(y_pred)
    right = wt.sum(label * guess, -1)
    wrong = wt.max((1.0 - label) * guess, -1)
    return wt.relu(wrong - right + 1.0)


class Hinge(LossFunctionWrapper):
    """``mean(max(1 - y_true * y_pred, 0))``; labels as in ``hinge``."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "hinge",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(hinge, reduction, name, dtype)


class SquaredHinge(LossFunctionWrapper):
    """``mean(square(max(1 - y_true * y_pred, 0)))``; labels as in ``hinge``."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "squared_hinge",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(squared_hinge, reduction, name, dtype)


class CategoricalHinge(LossFunctionWrapper):
    """``max(wrong - right + 1, 0)`` of the greatest wrong score and the right one."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "categorical_hinge",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(categorical_hinge, reduction, name, dtype)
