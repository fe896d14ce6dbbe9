"""Losses between sets of pixels, which measure how little they overlap."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import FunctionLoss, Reduction, as_floats
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = ["Dice", "Tversky", "dice", "tversky"]

Axis = int | Sequence[int] | None


def dice(y_true: TensorLike, y_pred: TensorLike, axis: Axis = None) -> Tensor:
    """``1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))`` along ``axis``.

    Example:
        >>> from webtensor import keras
        >>> round(float(keras.losses.dice([1.0, 1.0], [0.0, 1.0])), 5)
        0.33333
    """
    target, prediction = as_floats(y_true), as_floats(y_pred)
    overlap = wt.sum(target * prediction, axis)
    total = wt.sum(target, axis) + wt.sum(prediction, axis)
    return 1.0 - overlap * 2.0 / (total + epsilon())


def tversky(
    y_true: TensorLike,
    y_pred: TensorLike,
    alpha: float = 0.5,
    beta: float = 0.5,
    axis: Axis = None,
) -> Tensor:
    """``1 - overlap / (overlap + alpha * missed + beta * false)`` along ``axis``.

    ``missed`` is what only ``y_true`` has, and ``false`` what only ``y_pred`` has. Keras computes
    it so, although its documentation swaps ``alpha`` and ``beta`` (Salehi et al., *Tversky loss*,
    2017).
    """
    target, prediction = as_floats(y_true), as_floats(y_pred)
    overlap = wt.sum(target * prediction, axis)
    missed = wt.sum(target, axis) - overlap
    false = wt.sum(prediction, axis) - overlap
    total = overlap + missed * alpha + false * beta
    return 1.0 - overlap / (total + epsilon())


class Dice(FunctionLoss, function=dice):
    """``1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))``.

    Args:
        axis: an integer or several, the axes of the sums; None is all axes.
    """

    @forwards_arguments
    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "dice",
        axis: Axis = None,
        dtype: DTypeLike = None,
    ) -> None: ...


class Tversky(FunctionLoss, function=tversky):
    """The Dice loss with separate weights for missed and for false positives.

    ``1 - overlap / (overlap + alpha * missed + beta * false)``

    Args:
        alpha: a number, the weight of what only ``y_true`` has.
        beta: a number, the weight of what only ``y_pred`` has.
        axis: an integer or several, the axes of the sums; None is all axes.
    """

    @forwards_arguments
    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "tversky",
        axis: Axis = None,
        dtype: DTypeLike = None,
    ) -> None: ...
