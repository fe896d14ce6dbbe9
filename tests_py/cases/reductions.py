"""Cases of the reductions, over every kind of axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, distinct, floats, ints
from tests_py.cases.table import (
    EXACT,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["ARG_REDUCTIONS", "GRADIENTS", "REDUCTIONS"]

NAN, INF = math.nan, math.inf

Axis = int | tuple[int, ...] | None

#: (shape, axis): every set of axes of ranks up to 3, and some beyond.
AXES: list[tuple[tuple[int, ...], Axis]] = [
    ((), None),
    *(((length,), 0) for length in (1, 2, 3, 4, 5, 7, 8, 9, 17, 1031)),
    *((((3, 5)), axes) for axes in (None, 0, 1, -1, (0, 1))),
    *(((4, 8), axis) for axis in (0, 1)),
    *(((5, 3, 7), axes) for count in (1, 2, 3) for axes in combinations(range(3), count)),
    ((5, 3, 7), ()),
    ((5, 3, 7), (-1, 0)),
    ((2, 3, 4, 5), (1, 2)),
    ((2, 3, 4, 5), (0, 3)),
    ((2, 3, 4, 5), (0, 2)),
    ((2, 1, 4, 1), (1, 3)),
    ((2, 1, 4, 1), (0, 2)),
    ((2, 3, 1, 2, 4), (0, 2, 4)),
    ((1, 2, 1, 3, 1, 2), (1, 3, 5)),
    ((2, 2, 3, 2, 2, 2), (0, 3)),
    ((70, 33), None),
    ((70, 33), 0),
    ((70, 33), 1),
    ((3, 1031), 1),
    ((1031, 3), 0),
    ((1, 1, 1), None),
]
FEW_AXES: list[tuple[tuple[int, ...], Axis]] = [
    ((17,), None),
    ((5, 3, 7), 1),
    ((5, 3, 7), (0, 2)),
    ((4, 9), -1),
]
#: Over zero elements, or with an empty result.
EMPTY: list[tuple[tuple[int, ...], Axis]] = [((0,), None), ((2, 0, 3), 1), ((0, 3), 1), ((0, 3), 0)]


def _count(x: Any, axis: Axis = None, keepdims: bool = False) -> int:
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis).astype(int)
    return int(np.prod([x.shape[dimension] for dimension in axes]))


SUM = summed(lambda x, *axes, **options: np.sum(np.abs(x), *axes, **options), _count)
MEAN = summed(lambda x, *axes, **options: _mean(np.abs(x), *axes, **options), _count)
PRODUCT = Tolerance("n rounded products, n up to 35", ulps=20)


def _wrapping_product(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Integer product modulo 2**32; floats are plain."""
    if x.dtype.kind == "f":
        return np.prod(x, axis=axis, keepdims=keepdims)
    whole = np.prod(np.asarray(x * 1, dtype=object), axis=axis, keepdims=keepdims)
    return np.asarray(np.mod(whole, 2**32)).astype(np.int64)


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: function(x != 0, axis=axis, keepdims=keepdims)


def _number(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: function(x * 1, axis=axis, keepdims=keepdims)


def _mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    total = np.sum(x * 1.0, axis=axis, keepdims=keepdims)
    return np.divide(total, _count(x, axis))


ORACLES: dict[str, tuple[Callable[..., Any], Tolerance]] = {
    "sum": (_number(np.sum), SUM),
    "mean": (_mean, MEAN),
    "prod": (_wrapping_product, PRODUCT),
    "max": (_number(np.max), EXACT),
    "min": (_number(np.min), EXACT),
    "any": (_truth(np.any), EXACT),
    "all": (_truth(np.all), EXACT),
}


def _case(name: str, x: Any, *args: Any, **fields: Any) -> Case:
    oracle, tolerance = ORACLES[name]
    return Case(name, (x, *args), oracle, tolerance, **fields)


def _data(name: str, shape: tuple[int, ...]) -> Any:
    """Samples for which a reduction says something: products near 1, sparse truth values."""
    if name == "prod":
        return floats(shape, 0.7, 1.4)
    if name in ("any", "all"):
        rare = floats(shape, 0, 1) < 0.15
        return rare if name == "any" else ~rare
    return floats(shape)


def _reduction_cases() -> list[Case]:
    cases = []
    for name in ORACLES:
        table = AXES if name in ("sum", "max") else FEW_AXES
        for shape, axis in table:
            if name == "prod" and np.prod(shape) > 200:
                continue
            sample = shape in ((5, 3, 7), (70, 33))
            cases.append(_case(name, _data(name, shape), axis, sample=sample))
        keepdims = {"keepdims": True}
        cases += [
            _case(name, _data(name, (5, 3, 7)), axis, kwargs=keepdims) for axis in (None, 1, (0, 2))
        ]
        cases.append(_case(name, ints((5, 7)), 0))
        cases.append(_case(name, bools((5, 7)), 1))
        cases.append(_case(name, _data(name, (3, 0)), 0))
    for shape, axis in EMPTY:
        for name in ("sum", "prod", "any", "all"):
            cases.append(_case(name, _data(name, shape), axis))
    cases.append(_case("mean", floats((0,)), note="of nothing"))
    return cases + _special_cases()


def _special_cases() -> list[Case]:
    large = arr([[2**24, 1, 1], [2**31 - 1, 1, 0], [-(2**31), -1, 0]], np.int32)
    special = arr([[1, NAN, 2], [INF, 1, 2], [-INF, INF, 1], [-INF, -1, 0], [3, 2, NAN]])
    wholes = (np.arange(70 * 33, dtype=np.int32) * 7919).reshape(70, 33)
    cases = [
        _case(name, special, 1, note="of special values") for name in ("sum", "max", "min", "mean")
    ]
    cases += [
        _case("sum", large, 1, note="beyond 2**24"),
        _case("max", large, 0, note="beyond 2**24"),
        _case("min", large, 0, note="beyond 2**24"),
        _case("prod", large, 1, note="beyond 2**24"),
        _case("sum", wholes, note="wrapping"),
        _case("prod", wholes, 0, note="wrapping"),
        _case("mean", ints((9,), -(2**20), 2**20)),
        _case("max", -floats((9,), 0.5, 2), note="of negative numbers"),
        _case("min", floats((4, 9), 0.5, 2), 1, note="of positive numbers"),
        _case("any", arr([[0, 0], [0, 0.5], [NAN, 0]]), 1, note="of floats"),
        _case("all", arr([[0, 1], [2, 0.5], [NAN, 1]]), 1, note="of floats"),
        _case("sum", floats((100_003,), 0.0, 1.0), note="of very many", sample=True),
        _case("sum", np.full((1 << 18,), 0.1, np.float32), note="of very many equal numbers"),
        _case("mean", floats((3, 40_001)), 1, note="of very many"),
        _case("max", floats((100_003,)), note="of very many"),
    ]
    return cases


def _first(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims)


def _arg_cases() -> list[Case]:
    cases = []
    for name, oracle in (("argmax", _first(np.argmax)), ("argmin", _first(np.argmin))):
        for shape, axis in AXES:
            if isinstance(axis, tuple) or shape == ():
                continue
            cases.append(Case(name, (distinct(shape), axis), oracle, sample=shape == (70, 33)))
        cases += [
            Case(name, (distinct((5, 3, 7)), 1), oracle, kwargs={"keepdims": True}),
            Case(name, (distinct((5, 3)),), oracle, kwargs={"keepdims": True}),
            Case(name, (ints((6, 9), 0, 3), 1), oracle, note="of ties"),
            Case(name, (ints((9, 6), 0, 3), 0), oracle, note="of ties"),
            Case(name, (ints((1031,), 0, 9),), oracle, note="of ties"),
            Case(name, (bools((6, 9)), 1), oracle),
            Case(
                name,
                (arr([[2**24, 2**24 + 1, 3], [-(2**31), 2**31 - 1, 0]], np.int32), 1),
                oracle,
                note="beyond 2**24",
            ),
            Case(name, (arr([[1, INF, INF], [-INF, -INF, 2]]), 1), oracle, note="of infinities"),
            Case(name, (arr([[1, NAN, 3], [NAN, 5, NAN]]), 1), oracle, note="of NaN: the first"),
            Case(name, (-distinct((9,), 1, 2),), oracle, note="of negative numbers"),
            Case(name, (distinct((100_003,)),), oracle, note="of very many"),
            Case(name, (floats((0, 3)), 1), oracle),
        ]
    return cases


def _gradient_cases() -> list[Case]:
    cases = []
    shapes: list[tuple[tuple[int, ...], Axis]] = [
        *(((2, 3), axis) for axis in (None, 0, -1)),
        *(((2, 3, 2), axis) for axis in ((0, 2), 1)),
        ((), None),
        ((1, 3, 1), (0, 2)),
    ]
    for shape, axis in shapes:
        for name in ("sum", "mean", "prod", "max", "min"):
            x = floats(shape, 0.5, 2) if name == "prod" else distinct(shape)
            cases.append(gradient_of(_case(name, x, axis)))
    cases += [
        gradient_of(_case("sum", floats((2, 3)), 0, kwargs={"keepdims": True})),
        gradient_of(_case("mean", floats((2, 3)), 1, kwargs={"keepdims": True})),
        gradient_of(_case("prod", arr([[2, 0, 3], [0, 0, 4]]), 1, note="with zeros")),
        gradient_of(_case("prod", arr([[-2, 0.5, 3], [1, -1, 4]]))),
        second_derivative_of(_case("prod", floats((2, 3), 0.5, 2), 1)),
        second_derivative_of(_case("prod", floats((4,), 0.5, 2))),
        gradient_of(_case("sum", floats((0, 3)), 1)),
    ]
    return cases


REDUCTIONS = _reduction_cases()
ARG_REDUCTIONS = _arg_cases()
GRADIENTS = _gradient_cases()
