"""Random calls of sorting, and of searching in what is sorted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tests_py.cases.inputs import arr
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case

__all__ = ["GENERATORS"]


def _sortable(draw: Draw, shape: Shape) -> Array:
    """Numbers with an order: few ones with ties, many, special ones, or bools."""
    kind = draw.pick(["f", "f", "i", "b", "ties", "special"])
    if kind == "ties":
        return draw.ints(shape, 0, 3)
    if kind == "special":
        return draw.specials(shape)
    return draw.numbers(shape, kind)


def _sort(function: str, draw: Draw) -> Case:
    shape = draw.long_shape() if draw.chance(3) else draw.shape(1)
    options = (draw.axis(len(shape)), draw.chance(), draw.chance())
    return call(function, _sortable(draw, shape), *options[: draw.integer(0, 3)])


def _topk(draw: Draw) -> Case:
    x = _sortable(draw, draw.long_shape() if draw.chance(3) else draw.shape(1))
    length = x.shape[-1]
    k = draw.integer(0 if draw.chance(4) else min(1, length), length)
    has_nan = x.dtype.kind == "f" and bool(np.isnan(x).any())
    return replace(call("topk", x, k, draw.chance()), note="of special values" if has_nan else "")


def _sequence(draw: Draw, shape: Shape) -> Array:
    """Rows in order, with ties."""
    rows = draw.ints(shape, -4, 5)
    return np.sort(rows if draw.chance() else arr(rows / 2), -1)


def _wanted(draw: Draw, shape: Shape) -> Array:
    return draw.ints(shape, -6, 7) if draw.chance() else draw.floats(shape, -6, 6)


def _search(function: str, draw: Draw) -> Case:
    rows = draw.shape(1, 4)
    values_shape = (*rows[:-1], draw.integer(0, 6)) if len(rows) > 1 else draw.shape()
    sorted_rows, values = _sequence(draw, rows), _wanted(draw, values_shape)
    if function == "searchsorted" and draw.chance(6):
        args = (np.sort(draw.specials(rows), -1), draw.specials(values_shape))
        return replace(call(function, *args), note="of special values")
    if function != "searchsorted":
        return call(function, sorted_rows, values)
    side = draw.pick(["left", "right"])
    if len(rows) > 1 or draw.chance():
        return call(function, sorted_rows, values, side)
    shuffled = draw.distinct(rows)
    order = np.argsort(shuffled).astype(np.int32)
    return call(function, shuffled, values, side, sorter=order)


def _isin(draw: Draw) -> Case:
    kinds = draw.pick(["i", "f", "b", "c", "s", "mixed"])

    def operand(shape: Shape, kind: str) -> Array:
        few = draw.ints(shape, -4, 5)
        if kind == "i" or kind == "mixed":
            return few
        if kind == "c":
            return arr(few + 1j * draw.ints(shape, 0, 2), np.complex64)
        return draw.numbers(shape, kind) if kind in "bs" else arr(few)

    second = draw.pick("fi") if kinds == "mixed" else kinds
    return call(
        "isin", operand(draw.shape(), kinds), operand(draw.shape(0, 3), second), draw.chance()
    )


def _in_top_k(function: str, draw: Draw) -> Case:
    rows = draw.shape(1, 4, most_elements=60)
    classes = draw.integer(1, 7)
    scores = draw.ints((*rows, classes), 0, 4).astype(np.float32)
    if draw.chance():
        scores = draw.distinct((*rows, classes))
    targets = draw.ints(rows, -1, classes + 1)
    return call(function, scores, targets, draw.integer(1, classes))


GENERATORS: dict[str, Generator] = {
    **{function: partial(_sort, function) for function in ("sort", "argsort")},
    "topk": _topk,
    **{
        function: partial(_search, function)
        for function in ("searchsorted", "lower_bound", "upper_bound")
    },
    "isin": _isin,
    **{function: partial(_in_top_k, function) for function in ("in_top_k", "in_top_k_async")},
}
