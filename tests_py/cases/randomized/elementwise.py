"""Random calls of the elementwise functions: every rank, broadcasting, every dtype they take."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.binary import ROWS as BINARY_ROWS
from tests_py.cases.inputs import Array
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import EXACT, Case, summed
from tests_py.cases.unary import ROWS as UNARY_ROWS

__all__ = ["GENERATORS"]


def unary(function: str, low: float, high: float, kinds: str, draw: Draw) -> Case:
    shape = draw.shape()
    kind = draw.pick(kinds)
    x = draw.floats(shape, low, high) if kind == "f" else draw.numbers(shape, kind)
    return call(function, x)


def _two_shapes(draw: Draw) -> tuple[Shape, Shape]:
    """Shapes that broadcast together, either of which may be the smaller."""
    whole = draw.shape()
    shapes = draw.broadcastable(whole), draw.broadcastable(whole)
    return shapes if draw.chance() else (whole, shapes[1])


def _operands(row: Any, draw: Draw) -> tuple[Array, Array]:
    first, second = _two_shapes(draw)
    if row.kind == "bits":
        return draw.ints(first, -100, 100), draw.ints(second, -40, 40)
    kinds = draw.pick(("ff", "fi", "if", "ii", "bi"))
    sides = zip((first, second), kinds, (row.x, row.y), strict=True)
    x, y = (
        draw.floats(shape, *domain) if kind == "f" else draw.numbers(shape, kind)
        for shape, kind, domain in sides
    )
    if row.function == "pow" and kinds != "ff":
        # Neither 0 to a negative power, nor a power that float32 cannot hold.
        return np.asarray(np.abs(x) % 4 + 1, x.dtype), np.asarray(np.abs(y) % 4, y.dtype)
    if row.function in ("divide", "floor_divide", "remainder") and y.dtype.kind == "i":
        y = np.asarray(np.where(y == 0, 3, y), np.int32)
    return x, y


def binary(row: Any, draw: Draw) -> Case:
    return call(row.function, *_operands(row, draw))


def where(draw: Draw) -> Case:
    whole = draw.shape()
    condition, x, y = (draw.broadcastable(whole) for _ in range(3))
    kind = draw.pick("fib")
    return call("where", draw.bools(condition), draw.numbers(x, kind), draw.numbers(y, kind))


def method_where(draw: Draw) -> Case:
    case = where(draw)
    condition, x, y = case.args
    return call(
        "Tensor.where",
        x,
        condition,
        y,
        oracle=lambda x, condition, y: np.where(condition, x, y),
        tolerance=EXACT,
    )


def clip(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(), "fi")
    low, high = draw.number(-2, 0), draw.number(0, 2)
    if x.dtype.kind == "i":
        low, high = int(low), int(high)
    return call("clip", x, *draw.pick(((), (low,), (None, high), (low, high))))


def clip_by_value(draw: Draw) -> Case:
    return call("clip_by_value", draw.floats(draw.shape()), draw.number(-2, 0), draw.number(0, 2))


def unit_float(draw: Draw) -> Case:
    return call("unit_float", draw.ints(draw.shape(), -(2**31), 2**31 - 1))


def divisor_of_kept(draw: Draw) -> Case:
    bits = draw.ints(draw.shape(), -(2**31), 2**31 - 1)
    return call("divisor_of_kept", bits, draw.number(0, 1), draw.number(0, 2))


def float_between(draw: Draw) -> Case:
    bits = draw.ints(draw.shape(), -(2**31), 2**31 - 1)
    return call("float_between", bits, draw.number(-2, 2), draw.number(-2, 2), draw.number(-1, 1))


def add_n(draw: Draw) -> Case:
    shape, kind = draw.shape(), draw.pick("fi")
    tensors = [draw.numbers(shape, kind) for _ in range(draw.integer(1, 5))]
    sizes = summed(lambda tensors: np.sum(np.abs(tensors), axis=0), len)
    return call("add_n", tensors, tolerance=sizes)


#: Operators, and the functions that they are.
OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
#: Those with a form for a number on the left.
REFLECTED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


def operator(name: str, row: Any, draw: Draw) -> Case:
    x, y = _operands(row, draw)
    row_call = call(row.function, x, y)
    return call(f"Tensor.__{name}__", x, y, oracle=row_call.oracle, tolerance=row_call.tolerance)


def reflected(name: str, row: Any, draw: Draw) -> Case:
    y = draw.floats(draw.shape(), *row.y)
    x = max(draw.number(*row.x), 0.5)
    row_call = call(row.function, x, y)
    scale = row_call.tolerance.scale
    turned = None if scale is None else lambda y, x: scale(x, y)
    return call(
        f"Tensor.__r{name}__",
        y,
        x,
        oracle=lambda y, x: row_call.oracle(x, y),
        tolerance=replace(row_call.tolerance, scale=turned),
    )


def division(name: str, draw: Draw) -> Case:
    return call(f"Tensor.__{name}__", draw.ints(draw.shape(), 1, 9), draw.integer(1, 9))


def unary_operator(name: str, kinds: str, draw: Draw) -> Case:
    return call(f"Tensor.__{name}__", draw.numbers(draw.shape(), kinds))


def complex_parts(function: str, draw: Draw) -> Case:
    return call(function, draw.complexes(draw.shape()))


def complex_pair(draw: Draw) -> Case:
    shape = draw.shape()
    return call("complex", draw.floats(shape), draw.floats(shape))


BY_NAME = {row.function: row for row in BINARY_ROWS}

GENERATORS: dict[str, Generator] = {
    **{
        row.function: partial(unary, row.function, *row.domain, "ffi" if row.integers else "f")
        for row in UNARY_ROWS
    },
    **{row.function: partial(binary, row) for row in BINARY_ROWS},
    **{
        f"Tensor.__{name}__": partial(operator, name, BY_NAME[function])
        for name, function in OPERATORS.items()
    },
    **{
        f"Tensor.__r{name}__": partial(reflected, name, BY_NAME[OPERATORS[name]])
        for name in REFLECTED
    },
    "Tensor.__divmod__": partial(division, "divmod"),
    "Tensor.__rdivmod__": partial(division, "rdivmod"),
    "Tensor.__neg__": partial(unary_operator, "neg", "fi"),
    "Tensor.__pos__": partial(unary_operator, "pos", "fi"),
    "Tensor.__abs__": partial(unary_operator, "abs", "fi"),
    "Tensor.__invert__": partial(unary_operator, "invert", "b"),
    "where": where,
    "Tensor.where": method_where,
    "clip": clip,
    "clip_by_value": clip_by_value,
    "unit_float": unit_float,
    "divisor_of_kept": divisor_of_kept,
    "float_between": float_between,
    "add_n": add_n,
    "complex": complex_pair,
    **{name: partial(complex_parts, name) for name in ("real", "imag", "conj", "angle")},
}
