"""Random calls of what makes tensors from shapes and numbers, and of casts."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Case

__all__ = ["GENERATORS"]

DTYPES = ("float32", "int32", "bool")


def of_shape(function: str, draw: Draw) -> Case:
    return call(function, draw.shape(), draw.pick(DTYPES))


def full(draw: Draw) -> Case:
    dtype = draw.pick(DTYPES)
    values = {"float32": draw.number(-2, 2), "int32": draw.integer(-99, 99), "bool": draw.chance()}
    return call("full", draw.shape(), values[dtype], dtype)


def like(function: str, draw: Draw) -> Case:
    value = (draw.integer(-9, 9),) if function == "full_like" else ()
    return call(function, draw.numbers(draw.shape(), "fi"), *value)


def arange(draw: Draw) -> Case:
    step = draw.pick((1, 2, 3, -1, -2))
    start = draw.integer(-9, 9)
    return call("arange", start, start + step * draw.integer(0, 9) + draw.integer(0, 1), step)


def linspace(draw: Draw) -> Case:
    start = draw.number(1, 3)
    return call("linspace", start, start + draw.number(0.5, 4), draw.integer(1, 6))


def eye(draw: Draw) -> Case:
    rows, columns = draw.integer(0, 6), draw.pick((None, draw.integer(0, 6)))
    return call("eye", rows, columns, draw.pick((0, 0, draw.integer(-3, 3))))


def tensor(draw: Draw) -> Case:
    shape = draw.filled_shape(1, 4, 60)
    values: Any = draw.numbers(shape, "fi")
    if values.dtype.kind == "f":
        return call("tensor", values.reshape(-1).tolist(), shape)
    return call("tensor", values.tolist())


def astype(draw: Draw) -> Case:
    x = draw.numbers(draw.shape(), "fib")
    return call("astype", x, draw.pick(DTYPES), oracle=_cast)


def _cast(x: Any, dtype: str) -> Any:
    kinds = {"float32": "float64", "int32": "int64", "bool": "bool"}
    return x.astype(kinds[dtype])


def one_hot(draw: Draw) -> Case:
    indices = draw.ints(draw.shape(0, 3, most_elements=60), -1, 7)
    values = draw.pick(((), (draw.integer(1, 9), draw.integer(-9, 0))))
    return call("one_hot", indices, draw.integer(2, 6), *values)


GENERATORS: dict[str, Generator] = {
    **{name: partial(of_shape, name) for name in ("zeros", "ones")},
    **{name: partial(like, name) for name in ("zeros_like", "ones_like", "full_like")},
    "full": full,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
    "tensor": tensor,
    "astype": astype,
    "one_hot": one_hot,
}
