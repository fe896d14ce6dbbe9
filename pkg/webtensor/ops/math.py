"""``wt.math``: functions of TensorFlow.js's namespace of that name."""

from __future__ import annotations

from webtensor.arguments import as_positive_integer
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import as_indices, reshape
from webtensor.ops.scatter import bincount
from webtensor.ops.ternary import where

__all__ = ["confusion_matrix"]


def confusion_matrix(labels: TensorLike, predictions: TensorLike, num_classes: int) -> Tensor:
    """Count how often each class, along the rows, was predicted as which, along the columns.

    ``labels`` and ``predictions`` are int32 of rank 1, or float32, which is truncated. The result
    is int32 of shape (num_classes, num_classes); pairs of which either is no class are left out.

    Raises:
        TypeError: labels or predictions are not int32 or float32, or ``num_classes`` is no integer.
        ValueError: they are not equally many, or ``num_classes`` is not positive.

    Example:
        >>> import webtensor as wt
        >>> wt.math.confusion_matrix([0, 1, 2, 1, 0], [0, 2, 2, 1, 0], 3).tolist()
        [[2, 0, 0], [0, 1, 1], [0, 0, 1]]
    """
    name = "confusion_matrix"
    actual = _classes(name, "labels", labels)
    predicted = _classes(name, "predictions", predictions)
    if len(actual.shape) != 1 or predicted.shape != actual.shape:
        raise ValueError(
            f"{name}: labels and predictions must have rank 1 and be equally many, but got shapes "
            f"{actual.shape} and {predicted.shape}"
        )
    num_classes = as_positive_integer(name, "num_classes", num_classes)
    cells = num_classes * num_classes
    valid = (actual >= 0).logical_and(actual < num_classes)
    valid = valid.logical_and(predicted >= 0).logical_and(predicted < num_classes)
    pairs = where(valid, actual * num_classes + predicted, cells)
    return reshape(bincount(pairs, None, cells), (num_classes, num_classes))


def _classes(name: str, argument: str, value: TensorLike) -> Tensor:
    operand = as_operand(name, value)
    return as_indices(
        name, cast_to(operand, int32) if operand.dtype is float32 else operand, argument
    )
