"""Cases of softmax and its relatives, and of one_hot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, floats, ints
from tests_py.cases.table import Array, Case, Tolerance, gradient_of, second_derivative_of

__all__ = ["GRADIENTS", "NN"]

INF, NAN = math.inf, math.nan

LOG_SOFTMAX = Tolerance(
    "a difference of numbers of the size of the logits",
    ulps=4,
    gpu_ulps=8,
    scale=lambda x, *_: np.max(np.abs(np.where(np.isfinite(x), x, 0)) + 1.0, initial=0),
)


def _log_softmax(x: Array, axis: int = -1) -> Array:
    x = x * 1.0
    shifted = x - x.max(axis=axis, keepdims=True, initial=-INF)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _softmax(x: Array, axis: int = -1) -> Array:
    return np.exp(_log_softmax(x, axis))


def _softmax_error(x: Array, axis: int = -1) -> Array:
    """Size of the errors of each element, in ULPs of 1."""
    x = x * 1.0
    below = x.max(axis=axis, keepdims=True, initial=-INF) - x
    return _softmax(x, axis) * (6 + np.nan_to_num(below, posinf=0) / 2)


SOFTMAX = Tolerance(
    "the difference d to the largest logit is rounded by d/2 ULPs of 1, which the exponential "
    "makes a relative error; the exponential, the sum and the quotient take 6 ULP more",
    ulps=1,
    gpu_ulps=2,
    scale=_softmax_error,
)


def _cross_entropy(labels: Array, logits: Array) -> Any:
    return -(labels * _log_softmax(logits)).sum(axis=-1).mean()


CROSS_ENTROPY = Tolerance(
    "a sum and a mean of log-softmaxes",
    ulps=12,
    gpu_ulps=24,
    scale=lambda labels, logits: np.abs(logits).max() + 1.0,
)


def _one_hot(
    indices: Array, depth: int, on: float = 1, off: float = 0, dtype: str = "int32"
) -> Array:
    hot = np.asarray(indices)[..., None] == np.arange(depth)
    kinds = {"float32": np.float64, "int32": np.int64, "bool": np.bool_}
    return np.where(hot, on, off).astype(kinds[dtype])


SHAPES: tuple[tuple[int, ...], ...] = (
    *((1,), (2,), (5,), (10,), (1031,)),
    *((3, 4), (1, 7), (7, 1), (5, 10), (70, 33), (2, 1031)),
    *((2, 3, 5), (2, 3, 1, 4), (1, 2, 1, 3, 5), (1, 2, 1, 2, 1, 3)),
    *((0, 3), (3, 0)),
)


#: Rows whose largest element, at each index once, must be found, lest its exponential overflows.
LARGE_ON_DIAGONAL = np.float32(200) * np.eye(37, dtype=np.float32)


def _nn_cases() -> list[Case]:
    cases = []
    for name, oracle, tolerance in (
        ("softmax", _softmax, SOFTMAX),
        ("log_softmax", _log_softmax, LOG_SOFTMAX),
    ):
        for shape in SHAPES:
            sample = shape in ((5, 10), (70, 33))
            cases.append(Case(name, (floats(shape, -6, 6),), oracle, tolerance, sample=sample))
        cases += [Case(name, (floats((4, 5, 3)), n), oracle, tolerance) for n in (0, 1, -2)]
        large = arr([[1000, 1001, 999], [-1000, -1001, -999], [3e38, 3e38, 0], [0, -3e38, -3e38]])
        masked = arr([[0, -INF, 1], [-INF, -INF, 2]])
        cases += [
            Case(name, (large,), oracle, tolerance, note="of large logits"),
            Case(name, (masked,), oracle, tolerance, note="of masked logits"),
            Case(name, (arr([[1, NAN, 2], [0, 1, 2]]),), oracle, tolerance, note="of NaN"),
            Case(name, (ints((3, 4)),), oracle, tolerance),
            Case(name, (floats((3, 17), -80, 80),), oracle, tolerance, note="spread wide"),
            Case(name, (LARGE_ON_DIAGONAL,), oracle, tolerance, note="of one large logit each"),
        ]
    for batch, classes in ((1, 2), (5, 10), (17, 3), (64, 10)):
        labels = np.eye(classes, dtype=np.float32)[ints((batch,), 0, classes)]
        logits = floats((batch, classes), -5, 5)
        cases.append(
            Case(
                "softmax_cross_entropy",
                (labels, logits),
                _cross_entropy,
                CROSS_ENTROPY,
                sample=True,
            )
        )
    hard = np.eye(3, dtype=np.float32), arr([[1000, 0, 0], [0, -1000, 0], [0, 0, 50]])
    cases.append(
        Case("softmax_cross_entropy", hard, _cross_entropy, CROSS_ENTROPY, note="of large logits")
    )
    return cases + _one_hot_cases()


def _one_hot_cases() -> list[Case]:
    indices = arr([0, 2, 1, -1, 5, 3], np.int32)
    return [
        Case("one_hot", (indices, 4), _one_hot, sample=True),
        Case("one_hot", (indices, 1), _one_hot),
        Case("one_hot", (indices, 0), _one_hot),
        Case("one_hot", (arr(2, np.int32), 3), _one_hot),
        Case("one_hot", (ints((3, 5), 0, 10), 10), _one_hot),
        Case("one_hot", (ints((2, 1, 3), 0, 4), 4), _one_hot),
        Case("one_hot", (indices, 4, 2.5, -1.0, "float32"), _one_hot),
        Case("one_hot", (indices, 4), _one_hot, kwargs={"dtype": "float32"}),
        Case("one_hot", (indices, 4), _one_hot, kwargs={"dtype": "bool"}),
        Case("one_hot", (ints((0,)), 3), _one_hot),
        Case("one_hot", ([1, 0], 3), _one_hot),
    ]


def _gradient_cases() -> list[Case]:
    cases = []
    for name, oracle in (("softmax", _softmax), ("log_softmax", _log_softmax)):
        for shape, axis in (((4,), -1), ((2, 3), -1), ((3, 2), 0), ((2, 3, 2), 1)):
            case = Case(name, (floats(shape), axis), oracle)
            cases += [gradient_of(case), second_derivative_of(case)]
    labels = np.eye(4, dtype=np.float32)[:3]
    loss = Case("softmax_cross_entropy", (labels, floats((3, 4))), _cross_entropy)
    return [*cases, gradient_of(loss), gradient_of(loss, (1,)), second_derivative_of(loss, (1,))]


NN = _nn_cases()
GRADIENTS = _gradient_cases()
