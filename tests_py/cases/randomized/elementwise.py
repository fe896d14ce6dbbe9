"""Random calls of the elementwise functions: every rank, broadcasting, every dtype they take."""

from __future__ import annotations

from functools import partial

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Case
from tests_py.cases.unary import ROWS as UNARY_ROWS

__all__ = ["GENERATORS"]


def unary(function: str, low: float, high: float, kinds: str, draw: Draw) -> Case:
    shape = draw.shape()
    kind = draw.pick(kinds)
    x = draw.floats(shape, low, high) if kind == "f" else draw.numbers(shape, kind)
    return call(function, x)


GENERATORS: dict[str, Generator] = {
    row.function: partial(unary, row.function, *row.domain, "ffi" if row.integers else "f")
    for row in UNARY_ROWS
}
