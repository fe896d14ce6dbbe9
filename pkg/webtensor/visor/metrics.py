"""``wt.visor.metrics``: how good the predictions of a classification are, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from webtensor.charts.series import read_numbers

__all__ = ["ClassAccuracy", "accuracy", "confusion_matrix", "per_class_accuracy"]


class ClassAccuracy(NamedTuple):
    """The share of a class's examples that were predicted correctly, and their number."""

    accuracy: float
    examples: int


def accuracy(labels: Any, predictions: Any) -> float:
    """Return the share of predictions that are equal to their labels.

    Args:
        labels: numbers, the classes, as a tensor, an array or a list.
        predictions: numbers, the predicted classes.

    Raises:
        TypeError: an argument has something else than numbers.
        ValueError: the arguments differ in shape, or have no elements.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.metrics.accuracy(wt.tensor([1, 2, 3, 3]), wt.tensor([1, 2, 3, 4]))
        0.75
    """
    pairs = _pairs("accuracy", labels, predictions)
    if not pairs:
        raise ValueError("accuracy: labels must have elements, but there are none")
    return sum(label == prediction for label, prediction in pairs) / len(pairs)


def per_class_accuracy(
    labels: Any, predictions: Any, num_classes: int | None = None
) -> list[ClassAccuracy]:
    """Return the accuracy and the number of examples of each class.

    The accuracy of a class without examples is NaN.

    Args:
        labels: integers from 0, the classes, as a tensor, an array or a list.
        predictions: integers from 0, the predicted classes.
        num_classes: an integer; None takes the highest class, plus 1.

    Raises:
        TypeError: an argument has something else than numbers.
        ValueError: the arguments differ in shape, are no vectors, or a class is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.metrics.per_class_accuracy([0, 0, 1], [0, 1, 1])
        [ClassAccuracy(accuracy=0.5, examples=2), ClassAccuracy(accuracy=1.0, examples=1)]
    """
    matrix = _counts("per_class_accuracy", labels, predictions, num_classes)
    return [
        ClassAccuracy(row[index] / sum(row) if any(row) else float("nan"), int(sum(row)))
        for index, row in enumerate(matrix)
    ]


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: int | None = None, weights: Any = None
) -> list[list[float]]:
    """Return how often each class (rows) was taken for each (columns).

    Args:
        labels: integers from 0, the classes, as a tensor, an array or a list.
        predictions: integers from 0, the predicted classes.
        num_classes: an integer; None takes the highest class, plus 1.
        weights: what each prediction adds; None adds 1.

    Raises:
        TypeError: an argument has something else than numbers.
        ValueError: the arguments differ in shape, are no vectors, or a class is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.metrics.confusion_matrix([0, 0, 1], [0, 1, 1])
        [[1, 1], [0, 1]]
    """
    function = "confusion_matrix"
    numbers = None if weights is None else read_numbers(function, "weights", weights)
    return _counts(function, labels, predictions, num_classes, numbers)


def _pairs(function: str, labels: Any, predictions: Any) -> list[tuple[float, float]]:
    """Return each label with its prediction."""
    numbers = read_numbers(function, "labels", labels)
    others = read_numbers(function, "predictions", predictions)
    if len(numbers) != len(others):
        raise ValueError(
            f"{function}: labels and predictions must have the same size, but got "
            f"{len(numbers)} labels and {len(others)} predictions"
        )
    if len(labels) != len(predictions):
        raise ValueError(
            f"{function}: labels and predictions must have the same shape, but got "
            f"{len(labels)} and {len(predictions)} rows of {len(numbers)} numbers"
        )
    return list(zip(numbers, others, strict=True))


def _class(function: str, argument: str, number: float) -> int:
    if not number.is_integer() or number < 0:
        raise ValueError(f"{function}: {argument} must be integers from 0, but has {number:g}")
    return int(number)


def _counts(
    function: str,
    labels: Any,
    predictions: Any,
    num_classes: int | None,
    weights: Sequence[float] | None = None,
) -> list[list[float]]:
    pairs = [
        (_class(function, "labels", label), _class(function, "predictions", prediction))
        for label, prediction in _pairs(function, labels, predictions)
    ]
    if len(labels) < len(pairs):
        raise ValueError(
            f"{function}: labels and predictions must have rank 1, a class for each example, but "
            f"got {len(labels)} rows of {len(pairs)} numbers"
        )
    weights = [1] * len(pairs) if weights is None else weights
    if len(weights) != len(pairs):
        raise ValueError(
            f"{function}: weights must have a number for each prediction, but got {len(weights)} "
            f"weights and {len(pairs)} predictions"
        )
    highest = max((max(pair) for pair in pairs), default=-1)
    count = highest + 1 if num_classes is None else num_classes
    if highest >= count:
        raise ValueError(
            f"{function}: num_classes is {count}, but there is a class {highest}, counted from 0"
        )
    matrix: list[list[float]] = [[0] * count for _ in range(count)]
    for (label, prediction), weight in zip(pairs, weights, strict=True):
        matrix[label][prediction] += weight
    return matrix
