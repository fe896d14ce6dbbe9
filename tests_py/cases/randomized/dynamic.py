"""Random calls of functions whose result's shape depends on values."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tests_py.cases.dynamic import boolean_mask
from tests_py.cases.inputs import arr
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case

__all__ = ["GENERATORS"]

FEW = arr([1.5, 0.0, math.inf, -0.0, -math.inf, 2, 1e-30])


def _few(draw: Draw, shape: Shape, kinds: str = "fibct") -> Array:
    """An array in which many elements are alike, or zero."""
    kind = draw.pick(kinds)
    if kind == "f":
        return np.asarray(FEW[draw.ints(shape, 0, len(FEW))])
    if kind == "i":
        return draw.ints(shape, -1, 2)
    if kind == "c":
        return arr(draw.ints(shape, 0, 2) + 1j * draw.ints(shape, 0, 2), np.complex64)
    return draw.texts(shape, 2, "ab") if kind == "t" else draw.bools(shape)


def _true_indices(function: str, draw: Draw) -> Case:
    shape = draw.shape(1 if function == "nonzero" else 0)
    return call(function, _few(draw, shape, "fib" if function == "where_async" else "fibc"))


def _boolean_mask(function: str, draw: Draw) -> Case:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    first = axis % len(shape)
    masked = shape[first : draw.integer(first + 1, len(shape))]
    args = (draw.numbers(shape, "fibcts"), draw.bools(masked), axis)
    return call(function, *args, oracle=boolean_mask)


def _unique(draw: Draw) -> Case:
    shape = draw.shape(1)
    x = _few(draw, shape)
    return call("unique", x) if draw.chance(4) else call("unique", x, draw.axis(len(shape)))


def _unique_elements(function: str, draw: Draw) -> Case:
    x = _few(draw, draw.shape())
    if x.dtype.kind == "f" and draw.chance(4):
        x = np.where(draw.bools(x.shape), x, np.float32(np.nan))
    return call(function, x)


def _setdiff1d(function: str, draw: Draw) -> Case:
    kind = draw.pick("fibct")
    return call(function, _few(draw, draw.shape(1, 1), kind), _few(draw, draw.shape(1, 1), kind))


GENERATORS: dict[str, Generator] = {
    **{name: partial(_true_indices, name) for name in ("nonzero", "argwhere", "where_async")},
    **{name: partial(_boolean_mask, name) for name in ("boolean_mask", "boolean_mask_async")},
    "unique": _unique,
    **{
        name: partial(_unique_elements, name)
        for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values")
    },
    **{name: partial(_setdiff1d, name) for name in ("setdiff1d", "setdiff1d_async")},
}
