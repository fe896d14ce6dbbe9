"""Random calls of running sums and products, and of differences."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Array, Case, Tolerance

__all__ = ["GENERATORS"]


def _operand(draw: Draw, shape: tuple[int, ...], kinds: str, product: bool) -> Array:
    """Numbers of a kind; products of them stay within the range of integers."""
    kind = draw.pick(kinds)
    if kind == "f":
        return draw.floats(shape, 0.5, 1.5) if product else draw.floats(shape)
    if kind == "i":
        return draw.ints(shape, -3, 4) if product else draw.ints(shape)
    return draw.numbers(shape, kind)


def _scan(function: str, draw: Draw) -> Case:
    is_long = draw.chance(3)
    shape = draw.long_shape() if is_long else draw.shape(1)
    if function == "cumprod":
        # Around 1, so that long products neither vanish nor overflow.
        x = draw.floats(shape, 0.9, 1.1) if is_long else _operand(draw, shape, "fffibc", True)
    else:
        x = _operand(draw, shape, "fffibc", False)
    options = (draw.axis(len(shape)), draw.chance(), draw.chance())
    return call(function, x, *options[: draw.integer(0, 3)])


def _cumulative(function: str, draw: Draw) -> Case:
    shape = draw.shape(1)
    kind = draw.pick("fib")
    x = draw.floats(shape, 0.5, 1.5) if kind == "f" else _operand(draw, shape, kind, True)
    options: dict[str, Any] = {"include_initial": draw.chance()}
    if len(shape) > 1 or draw.chance():
        options["axis"] = draw.axis(len(shape))
    if kind != "f" and draw.chance():
        options["dtype"] = draw.pick(["float32", "int32"])
    return call(function, x, **options)


DIFFERENCES = Tolerance(
    "up to three differences of numbers of the size of 3", ulps=4, scale=lambda *_, **__: 12.0
)


def _diff(draw: Draw) -> Case:
    shape = draw.shape(1)
    kind = draw.pick("fibc")
    axis = draw.axis(len(shape))

    def end() -> Array:
        sizes = list(shape)
        sizes[axis] = draw.integer(0, 3)
        return draw.numbers(sizes, kind)

    ends: dict[str, Any] = {name: end() for name in ("prepend", "append") if draw.chance(3)}
    x, n = draw.numbers(shape, kind), draw.integer(0, 3)
    return call("diff", x, n, axis, tolerance=DIFFERENCES, **ends)


GENERATORS: dict[str, Generator] = {
    **{function: partial(_scan, function) for function in ("cumsum", "cumprod")},
    **{
        function: partial(_cumulative, function)
        for function in ("cumulative_sum", "cumulative_prod")
    },
    "diff": _diff,
}
