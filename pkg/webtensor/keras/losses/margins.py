"""Losses with a margin: a prediction beyond the margin on the right side costs nothing."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import FunctionLoss, as_floats

__all__ = [
    "CategoricalHinge",
    "Hinge",
    "SquaredHinge",
    "categorical_hinge",
    "hinge",
    "squared_hinge",
]


def _distance_to_margin(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``max(1 - y_true * y_pred, 0)``; if all labels are 0 or 1, 0 stands for -1."""
    label = as_floats(y_true)
    is_binary = wt.all(wt.equal(wt.square(label), label))
    sign = wt.where(is_binary, label * 2.0 - 1.0, label)
    return wt.relu(1.0 - sign * as_floats(y_pred))


def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(max(1 - y_true * y_pred, 0), -1)``.

    Labels are -1 or 1; if all are 0 or 1, 0 stands for -1.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.hinge([[0.0, 1.0]], [[0.5, 0.5]]).tolist()
        [1.0]
    """
    return wt.mean(_distance_to_margin(y_true, y_pred), -1)


def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(square(max(1 - y_true * y_pred, 0)), -1)``; labels as in ``hinge``."""
    return wt.mean(wt.square(_distance_to_margin(y_true, y_pred)), -1)


def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``max(max((1 - y_true) * y_pred) - sum(y_true * y_pred) + 1, 0)`` along the last axis."""
    label, score = as_floats(y_true), as_floats(y_pred)
    score_of_label = wt.sum(label * score, -1)
    highest_other = wt.max((1.0 - label) * score, -1)
    return wt.relu(highest_other - score_of_label + 1.0)


class Hinge(FunctionLoss, function=hinge):
    """``mean(max(1 - y_true * y_pred, 0))``; labels are -1 and 1, or 0 and 1."""


class SquaredHinge(FunctionLoss, function=squared_hinge):
    """``mean(square(max(1 - y_true * y_pred, 0)))``; labels are -1 and 1, or 0 and 1."""


class CategoricalHinge(FunctionLoss, function=categorical_hinge):
    """``max(highest_other - score_of_label + 1, 0)``.

    ``score_of_label`` is the score of the class that the one-hot label marks, and
    ``highest_other`` the maximum of the scores of the other classes.
    """
