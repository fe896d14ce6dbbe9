"""Losses between numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import (
    FunctionLoss,
    Reduction,
    as_floats,
    same_rank,
)
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike
from webtensor.ops.losses import huber_of_errors

__all__ = [
    "CosineSimilarity",
    "Huber",
    "LogCosh",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "cosine_similarity",
    "huber",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "normalized",
]

#: A vector with a smaller norm is divided by this instead.
_MINIMUM_NORM = 1e-12


def _pair(y_true: TensorLike, y_pred: TensorLike) -> tuple[Tensor, Tensor]:
    """Return targets and predictions as float32 tensors of the same rank."""
    return same_rank(as_floats(y_true), as_floats(y_pred))


def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(square(y_true - y_pred), -1)``.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.mean_squared_error([[1.0, 2.0]], [[1.0, 4.0]]).tolist()
        [2.0]
    """
    return wt.mean(wt.squared_difference(*_pair(y_true, y_pred)), -1)


def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(abs(y_true - y_pred), -1)``."""
    return wt.mean(wt.abs(wt.subtract(*_pair(y_true, y_pred))), -1)


def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``100 * mean(abs((y_true - y_pred) / max(abs(y_true), 1e-7)), -1)``."""
    target, prediction = _pair(y_true, y_pred)
    error = wt.abs((target - prediction) / wt.maximum(wt.abs(target), epsilon()))
    return wt.mean(error, -1) * 100.0


def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(square(log(y_true + 1) - log(y_pred + 1)), -1)``, both at least 1e-7."""
    logarithms = (wt.log1p(wt.maximum(values, epsilon())) for values in _pair(y_true, y_pred))
    return wt.mean(wt.squared_difference(*logarithms), -1)


def huber(y_true: TensorLike, y_pred: TensorLike, delta: float = 1.0) -> Tensor:
    """The mean of half the squared error, which beyond ``delta`` goes on as its tangent.

    Huber, *Robust estimation of a location parameter*, 1964.
    """
    return wt.mean(huber_of_errors(wt.subtract(*_pair(y_true, y_pred)), delta), -1)


def log_cosh(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(log(cosh(y_pred - y_true)), -1)``, without overflow."""
    target, prediction = _pair(y_true, y_pred)
    error = prediction - target
    return wt.mean(error + wt.softplus(error * -2.0), -1) - log(2)


def normalized(x: Tensor, axis: int | Sequence[int] | None) -> Tensor:
    """Divide the vectors along ``axis`` by their norm."""
    squares = wt.sum(wt.square(x), axis, keepdims=True)
    return x * wt.rsqrt(wt.maximum(squares, _MINIMUM_NORM**2))


def cosine_similarity(
    y_true: TensorLike, y_pred: TensorLike, axis: int | Sequence[int] = -1
) -> Tensor:
    """Minus the cosine of the angle between targets and predictions along ``axis``."""
    target, prediction = _pair(y_true, y_pred)
    return wt.negative(wt.sum(normalized(target, axis) * normalized(prediction, axis), axis))


class MeanSquaredError(FunctionLoss, function=mean_squared_error):
    """``mean(square(y_true - y_pred))``.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.MeanSquaredError()([[1.0, 2.0]], [[1.0, 4.0]]).tolist()
        2.0
    """


class MeanAbsoluteError(FunctionLoss, function=mean_absolute_error):
    """``mean(abs(y_true - y_pred))``."""


class MeanAbsolutePercentageError(FunctionLoss, function=mean_absolute_percentage_error):
    """``100 * mean(abs((y_true - y_pred) / y_true))``, with a divisor of at least 1e-7."""


class MeanSquaredLogarithmicError(FunctionLoss, function=mean_squared_logarithmic_error):
    """``mean(square(log(y_true + 1) - log(y_pred + 1)))``."""


class Huber(FunctionLoss, function=huber):
    """The mean of half the squared error, which beyond ``delta`` goes on as its tangent.

    Args:
        delta: a number, the error from which on the loss grows linearly.
    """

    _config_omits: ClassVar = {"delta": 1.0}

    @forwards_arguments
    def __init__(
        self,
        delta: float = 1.0,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "huber_loss",
        dtype: DTypeLike = None,
    ) -> None: ...


class LogCosh(FunctionLoss, function=log_cosh):
    """``mean(log(cosh(y_pred - y_true)))``."""


class CosineSimilarity(FunctionLoss, function=cosine_similarity):
    """Minus the cosine of the angle between targets and predictions: -1 where they are parallel.

    Args:
        axis: an integer or several, the axis of the vectors.
    """

    _config_omits: ClassVar = {"axis": -1}

    @forwards_arguments
    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "cosine_similarity",
        dtype: DTypeLike = None,
    ) -> None: ...
