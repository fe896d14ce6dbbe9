"""Random calls of reductions, statistics and what normalizes along an axis."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases import reductions
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Case

__all__ = ["GENERATORS"]

INF = math.inf


def _axes(draw: Draw, rank: int) -> dict[str, Any]:
    return {"axis": draw.axes_or_none(rank), "keepdims": draw.chance()}


def reduction(function: str, draw: Draw) -> Case:
    # Only some reductions have a value over nothing.
    of_nothing = function in ("sum", "prod", "any", "all")
    shape = draw.shape() if of_nothing else draw.filled_shape()
    oracle, tolerance = reductions.ORACLES[function]
    if function in ("any", "all"):
        x = draw.bools(shape) if draw.chance() else draw.ints(shape, 0, 2)
    elif function == "prod":
        x = draw.floats(shape, 0.9, 1.1)
    else:
        x = draw.numbers(shape, "ffib")
    if function == "prod" and x.size > 35:
        x = x.reshape(-1)[:24].reshape(2, 3, 4)
    axes = _axes(draw, x.ndim)
    return call(function, x, oracle=oracle, tolerance=tolerance, **axes)


def arg_reduction(function: str, draw: Draw) -> Case:
    shape = draw.filled_shape()
    x = draw.distinct(shape) if draw.chance() else draw.numbers(shape, "ib")
    axis = draw.pick((None, draw.axis(x.ndim))) if shape else None
    return call(function, x, axis, draw.chance())


def statistic(function: str, draw: Draw) -> Case:
    shape = draw.filled_shape()
    x = draw.ints(shape, -1, 2) if function == "count_nonzero" else draw.floats(shape)
    return call(function, x, **_axes(draw, x.ndim))


def spread(function: str, draw: Draw) -> Case:
    x = draw.floats((*draw.filled_shape(0, 4, 100), 3))
    return call(function, x, axis=-1, correction=draw.pick((0.0, 0.5, 1)), keepdims=draw.chance())


def norm(draw: Draw) -> Case:
    x = draw.floats(draw.filled_shape(1, 5), 0.1, 2)
    if x.ndim > 1 and draw.chance():
        axes = draw.axes(x.ndim)[:2]
        axes = tuple(sorted(dimension % x.ndim for dimension in axes)) if len(axes) == 2 else (0, 1)
        ord = draw.pick(("euclidean", "fro", 1, INF, -INF))
        return call("norm", x, ord, axes, draw.chance())
    return call("norm", x, draw.pick(("euclidean", 1, 2)), draw.axis(x.ndim), draw.chance())


def softmax(function: str, draw: Draw) -> Case:
    x = draw.floats(draw.filled_shape(1), -5, 5)
    return call(function, x, draw.axis(x.ndim))


def cross_entropy(draw: Draw) -> Case:
    rows, classes = draw.integer(1, 5), draw.integer(1, 7)
    labels = np.eye(classes, dtype=np.float32)[draw.ints((rows,), 0, classes)]
    return call("softmax_cross_entropy", labels, draw.floats((rows, classes), -4, 4))


GENERATORS: dict[str, Generator] = {
    **{name: partial(reduction, name) for name in reductions.ORACLES},
    **{name: partial(arg_reduction, name) for name in ("argmax", "argmin")},
    **{
        name: partial(statistic, name)
        for name in ("moments", "euclidean_norm", "log_sum_exp", "count_nonzero")
    },
    **{name: partial(spread, name) for name in ("var", "std")},
    "norm": norm,
    **{name: partial(softmax, name) for name in ("softmax", "log_softmax")},
    "softmax_cross_entropy": cross_entropy,
}
