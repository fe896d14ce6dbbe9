"""Operators with which the models of scikit-learn begin or end."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from operator import mul
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers, numbers

__all__ = ["ROWS"]

#: The least probability of one class against another.
_MIN_SHARE = 1e-7


def transformed(scores: Tensor, *, name: str) -> Tensor:
    """Return scores of shape (batch, outputs) after ``post_transform``."""
    if name == "LOGISTIC":
        return ops.sigmoid(scores)
    if name == "SOFTMAX":
        return ops.softmax(scores)
    if name == "SOFTMAX_ZERO":
        is_zero = ops.less(ops.abs(scores), 1e-7)
        powers = ops.where(is_zero, 0.0, ops.exp(scores - ops.max(scores, -1, True)))
        return ops.divide_no_nan(powers, ops.sum(powers, -1, True))
    if name == "PROBIT":
        return sqrt(2) * ops.erf_inv(2.0 * scores - 1.0)
    return scores


def chosen(
    scores: Tensor, *, classes: int, is_probability: int, name: str, threshold: float
) -> tuple[Tensor, Tensor]:
    """Return the index of the class with the highest score, and the transformed scores.

    Args:
        scores: of shape (batch, classes), or (batch, 1) where a score tells two classes apart.
        classes: the number of classes.
        is_probability: whether the score of the first class follows from a single one as its
            probability does; it is else the negative.
        name: ``post_transform``.
        threshold: above which a single score is for the second class.
    """
    if scores.shape[-1] > 1 or classes != 2:
        return ops.argmax(scores, -1), transformed(scores, name=name)
    index = ops.astype(ops.greater(ops.squeeze(scores, -1), threshold), "int32")
    if name == "LOGISTIC":
        return index, ops.sigmoid(ops.concat([-scores, scores], -1))
    if name == "PROBIT":
        scores = transformed(scores, name=name)
    other: Any = 1.0 - scores if is_probability and name != "PROBIT" else -scores
    return index, ops.concat([other, scores], -1)


def class_shares(shares: list[float], *, classes: int) -> Tensor:
    """Return the probabilities of classes that follow from those of pairs (Wu et al., 2004).

    Args:
        shares: for each row and pair of classes, how improbable the first of them is.
        classes: the number of classes.
    """
    pairs = list(combinations(range(classes), 2))
    results: list[float] = []
    for start in range(0, len(shares), len(pairs)):
        against = [[0.0] * classes for _ in range(classes)]
        for (first, second), share in zip(pairs, shares[start:], strict=False):
            against[second][first] = min(max(share, _MIN_SHARE), 1.0 - _MIN_SHARE)
            against[first][second] = 1.0 - against[second][first]
        results += _coupled(against)
    return ops.tensor(results, dtype="float32", shape=(len(results) // classes, classes))


def _coupled(shares: list[list[float]]) -> list[float]:
    """Return probabilities for those of each class against each other one."""
    count = len(shares)
    matrix = [[-shares[j][i] * shares[i][j] for j in range(count)] for i in range(count)]
    for i in range(count):
        matrix[i][i] = sum(shares[j][i] ** 2 for j in range(count))
    result = [1.0 / count] * count
    for _ in range(max(100, count)):
        products = [sum(map(mul, row, result)) for row in matrix]
        mean = sum(map(mul, result, products))
        if max(abs(product - mean) for product in products) < 0.005 / count:
            break
        for i, row in enumerate(matrix):
            change = (mean - products[i]) / row[i]
            result[i] += change
            scale = 1.0 + change
            mean = (mean + change * (change * row[i] + 2.0 * products[i])) / scale**2
            products = [
                (product + change * other) / scale
                for product, other in zip(products, row, strict=True)
            ]
            result = [value / scale for value in result]
    return result


def named(index: list[int], *, labels: list[str]) -> Tensor:
    """Return the labels of some indices."""
    return ops.tensor([labels[number] for number in index], dtype="string", shape=(len(index),))


def mapped(x: Tensor, *, default: Any, dtype: str, keys: list[Any], values: list[Any]) -> Tensor:
    """Return the value of each element's key; elements without one get a default."""
    are_numbers = all(item == item and not isinstance(item, str) for item in keys + values)
    if are_numbers and 0 < len(keys) == len(values) < 256:
        hits = ops.equal(ops.expand_dims(x, -1), ops.tensor(keys[::-1]))
        index = ops.argmax(ops.astype(hits, "int32"), -1)
        value = ops.gather(ops.tensor(values[::-1], dtype=dtype), index)
        return ops.where(ops.any(hits, -1), value, default)
    table = dict(zip(map(_comparable, keys), values, strict=True))
    elements: list[Any] = ops.reshape(x, (-1,)).tolist()
    results = [table.get(_comparable(element), default) for element in elements]
    return ops.tensor(results, dtype=dtype, shape=x.shape)


def _comparable(key: Any) -> Any:
    """Return a key that equals itself, for NaN too."""
    return key if key == key else None


def features_of(x: Tensor, indices: Tensor) -> Tensor:
    """Return some columns of a matrix, or a row of elements of a vector."""
    columns = ops.gather(x, ops.reshape(indices, (-1,)), axis=-1)
    return columns if len(columns.shape) > 1 else ops.reshape(columns, (1, -1))


def flat_rows(*parts: Tensor) -> Tensor:
    """Return the elements of each row of several tensors, side by side, as floats."""
    rows = [ops.reshape(ops.astype(part, "float32"), (part.shape[0], -1)) for part in parts]
    return ops.concat(rows, 1)


ROWS: dict[str, Row] = {
    "ai.onnx.ml.ArrayFeatureExtractor-1": Operator(features_of),
    "ai.onnx.ml.Chosen-1": Operator(chosen),
    "ai.onnx.ml.ClassShares-1": Operator(class_shares, shares=numbers),
    "ai.onnx.ml.FlatRows-1": Operator(flat_rows),
    "ai.onnx.ml.Mapped-1": Operator(mapped, x=lambda value: value),
    "ai.onnx.ml.Named-1": Operator(named, index=integers),
    "ai.onnx.ml.Transformed-1": Operator(transformed),
}
