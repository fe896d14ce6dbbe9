"""Cases of moments, norms and sums composed of reductions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.movement import large_ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    MATH,
    Array,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
)

__all__ = ["GRADIENTS", "STATISTICS"]

NAN, INF = math.nan, math.inf

AXES: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((5,), None),
    ((1,), 0),
    ((3, 5), None),
    ((3, 5), 0),
    ((3, 5), -1),
    ((3, 5), (0, 1)),
    ((5, 3, 7), 1),
    ((5, 3, 7), (0, 2)),
    ((2, 3, 1, 2, 4), (1, 4)),
    ((1, 2, 1, 3, 1, 2), (1, 3, 5)),
    ((70, 33), 1),
    ((0, 3), 1),
]

#: Sums of up to 2310 positive terms, whose relative error grows with the root of their number, and
#: a few roundings more.
SUMMED = Tolerance("a sum of positive terms, and a few operations", ulps=60)


def moments(x: Array, axis: Any = None, keepdims: bool = False) -> list[Array]:
    x = x * 1.0
    return [np.mean(x, axis=axis, keepdims=keepdims), np.var(x, axis=axis, keepdims=keepdims)]


def var(x: Array, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    center = np.mean(x * 1.0, axis=axis, keepdims=True)
    squares = np.sum((x - center) ** 2, axis=axis, keepdims=keepdims)
    count = x.size // max(1, center.size) if x.size else 0
    return squares / np.float64(max(0.0, count - correction))


def std(x: Array, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return np.sqrt(var(x, axis, correction, keepdims))


def count_nonzero(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(x != 0, axis=axis, keepdims=keepdims)


def norm(x: Array, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Any:
    size = np.abs(x * 1.0)
    rank = x.ndim
    if axis is None:
        result = norm(size.reshape(-1), ord, 0)
        return result.reshape((1,) * rank) if keepdims else result
    axes = [dimension % rank for dimension in np.atleast_1d(axis)]
    rows = np.moveaxis(size, axes, range(-len(axes), 0))
    flat = rows.reshape(*rows.shape[: rank - len(axes)], -1) if rows.size else rows
    if ord in ("euclidean", "fro") or (len(axes) == 1 and ord == 2):
        result = np.sqrt((flat**2).sum(-1))
    elif len(axes) == 1:
        if ord in (INF, -INF):
            result = flat.max(-1) if ord > 0 else flat.min(-1)
        else:
            result = (flat**ord).sum(-1) ** (1 / ord)
    elif ord == 1:
        result = rows.sum(-2).max(-1)
    else:
        result = rows.sum(-1).max(-1) if ord > 0 else rows.sum(-1).min(-1)
    if keepdims:
        for dimension in sorted(axes):
            result = np.expand_dims(result, dimension)
    return result


def euclidean_norm(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sqrt(np.sum(np.square(x * 1.0), axis=axis, keepdims=keepdims))


def log_sum_exp(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    """In extended precision, without a shift."""
    total = np.sum(np.exp(np.asarray(x, np.longdouble)), axis=axis, keepdims=keepdims)
    return np.asarray(np.log(total), np.float64)


#: The logarithm's error is relative to the greatest element and to 1.
SHIFTED = Tolerance(
    "a sum of positive terms, its logarithm, and a shift",
    ulps=40,
    scale=lambda x, axis=None, keepdims=False: 1.0,
)


def add_n(tensors: Any) -> Array:
    total = tensors[0] * 1
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def diff(x: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    ends = {
        name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None
    }
    return np.diff(x, n=n, axis=axis, **ends)


def moving_average(
    v: Array, x: Array, decay: float, step: Any = None, zero_debias: bool = True
) -> Array:
    change = (x - v) * (1 - decay)
    return v + (change / (1 - decay**step) if zero_debias else change)


def _cases() -> list[Case]:
    cases = []
    for shape, axis in AXES:
        x = floats(shape)
        sample = shape == (3, 5)
        options = (x,) if axis is None else (x, axis)
        relative = Tolerance(
            SUMMED.why, 60, scale=lambda x, *rest, **options: np.abs(x).max(initial=0) ** 2
        )
        cases += [
            Case("moments", options, moments, relative, sample=sample),
            Case("var", options, var, relative),
            Case("std", options, std, relative),
            Case("euclidean_norm", options, euclidean_norm, SUMMED),
            Case("log_sum_exp", options, log_sum_exp, SHIFTED, sample=sample),
            Case("count_nonzero", (ints(shape, -1, 2), *options[1:]), count_nonzero, EXACT),
        ]
        if shape == (5, 3, 7):
            keeping = {"keepdims": True}
            cases += [
                Case("moments", options, moments, relative, kwargs=keeping),
                Case("var", (x, axis, 1), var, relative, kwargs=keeping),
                Case("std", (x, axis, 0.5), std, relative),
                Case("euclidean_norm", options, euclidean_norm, SUMMED, kwargs=keeping),
                Case("log_sum_exp", options, log_sum_exp, SHIFTED, kwargs=keeping),
                Case("count_nonzero", options, count_nonzero, kwargs=keeping),
            ]
    vectors: list[tuple[tuple[int, ...], Any]] = [
        ((), None),
        ((5,), None),
        ((5,), 0),
        ((3, 5), None),
        ((3, 5), 1),
        ((3, 5), -2),
        ((5, 3, 7), 1),
        ((2, 3, 1, 2, 4), 4),
        ((2, 2, 2, 2, 2, 2), 3),
    ]
    for ord in ("euclidean", 1, 2, 3, 0.5, INF, -INF):
        tolerance = EXACT if ord in (INF, -INF) else SUMMED
        for shape, axis in vectors:
            for keepdims in (False, True) if shape == (3, 5) else (False,):
                args = (floats(shape, 0.1, 2), ord, axis, keepdims)
                cases.append(Case("norm", args, norm, tolerance))
    for ord in ("euclidean", "fro", 1, INF, -INF):
        for shape, pair in (
            ((3, 5), (0, 1)),
            ((3, 5), (1, 0)),
            ((5, 3, 7), (0, 2)),
            ((2, 3, 4, 5), (-1, 1)),
        ):
            for keepdims in (False, True):
                cases.append(Case("norm", (floats(shape), ord, pair, keepdims), norm, SUMMED))
    cases += [
        Case("norm", (ints((3, 5)),), norm, SUMMED),
        Case("norm", (floats((3, 0)), 2, 1), norm, EXACT),
        Case("norm", (arr([3, NAN, 4]),), norm, EXACT, note="of NaN"),
        Case("moments", (ints((3, 5)), 0), moments, SUMMED),
        *(
            Case("moments", (floats(shape), axis), moments, SUMMED, note="of several blocks")
            for shape, axis in (((3, 5001), 1), ((203, 37), 0), ((2, 65, 6), 1), ((131, 2, 3), 0))
        ),
        Case("moments", (bools((3, 5)), 1), moments, SUMMED),
        Case(
            "var",
            (floats((1000,), 1000, 1001),),
            var,
            Tolerance("no cancellation: the mean is subtracted first", ulps=20_000),
            note="far from zero",
        ),
        Case("var", (floats((1,)), 0, 1), var, EXACT, note="of one number: NaN"),
        Case("count_nonzero", (arr([0.0, -0.0, NAN, 1]),), count_nonzero),
        Case("count_nonzero", (bools((3, 5)), 1), count_nonzero),
        Case("count_nonzero", (large_ints((9,)),), count_nonzero),
        Case(
            "log_sum_exp", (arr([1000, 1000, 999]),), log_sum_exp, SHIFTED, note="of large numbers"
        ),
        Case("log_sum_exp", (arr([-1000, -1001]),), log_sum_exp, SHIFTED, note="of small numbers"),
        Case(
            "log_sum_exp",
            (arr([[INF, 1], [-INF, -INF], [-INF, 2], [NAN, 1]]), 1),
            log_sum_exp,
            SHIFTED,
            note="of special values",
        ),
        Case("log_sum_exp", (ints((3, 5)), 1), log_sum_exp, SHIFTED),
        Case("add_n", ([floats((2, 3), seed=n) for n in range(1)],), add_n),
        Case("add_n", ([floats((2, 3), 0, 1, seed=n) for n in range(5)],), add_n, FEW_ROUNDINGS),
        Case("add_n", ([large_ints((2, 3))] * 3,), add_n),
        Case("add_n", ([floats((0, 3))] * 2,), add_n),
        Case("add_n", ([floats(())] * 2,), add_n),
    ]
    z = complexes((3, 5))
    cases += [Case("norm", (z, ord, 1), norm, SUMMED) for ord in ("euclidean", 1, 3, INF, -INF)]
    cases += [
        Case("norm", (z, "fro", (0, 1)), norm, SUMMED),
        Case("euclidean_norm", (z,), lambda x: np.sqrt((np.abs(x) ** 2).sum()), SUMMED),
        Case("count_nonzero", (z, 0), count_nonzero),
        Case("add_n", ([z, z],), add_n, FEW_ROUNDINGS),
        Case("diff", (z, 1, 0), diff, FEW_ROUNDINGS),
    ]
    for shape, axis, n in (
        ((5,), -1, 1),
        ((5,), 0, 2),
        ((5,), 0, 0),
        ((5,), 0, 7),
        ((3, 5), 0, 1),
        ((3, 5), 1, 3),
        ((2, 3, 1, 2, 4), 1, 1),
        ((0, 3), 0, 1),
        ((1, 3), 0, 1),
    ):
        tolerance = Tolerance("differences of differences", 8, scale=lambda x, *rest, **ends: 8.0)
        cases.append(Case("diff", (floats(shape), n, axis), diff, tolerance))
    cases += [
        Case("diff", (large_ints((9,)),), diff),
        Case("diff", (bools((9,)),), diff),
        Case("diff", (ints((3,)), 0, 0), diff, kwargs={"prepend": ints((2,))}),
        Case(
            "diff",
            (ints((3, 5)), 1, 0),
            diff,
            kwargs={"prepend": ints((1, 5)), "append": ints((2, 5))},
        ),
        Case("moving_average", (floats((3,)), floats((3,), seed=1), 0.9, 4), moving_average, MATH),
        Case(
            "moving_average",
            (floats((2, 3)), floats((2, 3), seed=1), 0.75),
            moving_average,
            FEW_ROUNDINGS,
            kwargs={"zero_debias": False},
        ),
        Case(
            "moving_average",
            (floats(()), floats((), seed=1), 0.99, 1),
            moving_average,
            Tolerance("1 - decay**step cancels", 400),
        ),
    ]
    return cases


def _gradient_cases() -> list[Case]:
    x = floats((3, 4))
    curved = [
        Case("var", (x, 1), var),
        Case("var", (x,), var, kwargs={"correction": 1}),
        Case("std", (x, 0), std),
        Case("euclidean_norm", (x, 1), euclidean_norm),
        Case("norm", (x,), norm),
        Case("norm", (x, 3, 1), norm),
        Case("norm", (x, "fro", (0, 1)), norm),
        Case("log_sum_exp", (x,), log_sum_exp),
        Case("log_sum_exp", (x, 1), log_sum_exp),
    ]
    kinked = [
        Case("norm", (floats((3, 4), 0.1, 2), ord, axis), norm)
        for ord, axis in ((1, 1), (INF, 0), (-INF, 0), (1, (0, 1)), (INF, (0, 1)))
    ]
    linear = [
        Case("first_output", (x, "moments", 1), lambda x, name, axis: moments(x, axis)[0]),
        Case("moving_average", (x, floats((3, 4), seed=1), 0.75, 3), moving_average),
        Case("add_n", ([x, floats((3, 4), seed=1), floats((3, 4), seed=2)],), add_n),
        Case("diff", (x, 2, 1), diff),
        Case("diff", (x, 1, 0), diff, kwargs={"append": floats((2, 4))}),
    ]
    return [
        *map(gradient_of, curved + kinked + linear),
        *map(second_derivative_of, curved),
        gradient_of(Case("log_sum_exp", (arr([100, 1, 99.5]),), log_sum_exp)),
    ]


STATISTICS = _cases()
GRADIENTS = _gradient_cases()
