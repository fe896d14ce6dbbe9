"""Cases of running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.table import (
    EXACT,
    Array,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["GRADIENTS", "SCANS"]

NAN, INF = math.nan, math.inf


def _scanned(combine: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    """A plain loop along the axis."""

    def scan(x: Array, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
        rows = np.moveaxis(x * 1, axis, 0)
        result = np.empty_like(rows)
        total = np.full(rows.shape[1:], neutral, rows.dtype)
        for index in range(len(rows))[:: -1 if reverse else 1]:
            after = combine(total, rows[index])
            result[index] = total if exclusive else after
            total = after
        return np.moveaxis(result, 0, axis)

    return scan


def _wrapped(x: Any) -> Any:
    return (x + 2**31) % 2**32 - 2**31 if x.dtype.kind == "i" else x


cumsum = _scanned(np.add, 0)
cumprod = _scanned(lambda total, x: _wrapped(total * x), 1)


def _length(x: Array, axis: int = 0, *options: bool) -> int:
    return x.shape[axis]


SUM = summed(lambda x, axis=0, *options: cumsum(np.abs(x), axis, *options), _length)
PRODUCT = Tolerance("up to 70 rounded products", ulps=40)


def _array_api(scan: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    def cumulative(
        x: Array, axis: int | None = None, dtype: str | None = None, include_initial: bool = False
    ) -> Array:
        dimension = 0 if axis is None else axis
        kind = {None: x.dtype, "int32": np.int64, "float32": np.float64}[dtype]
        result = scan(x.astype(kind), dimension)
        if include_initial:
            first = np.full_like(
                np.take(result, [0] if result.shape[dimension] else [], dimension), neutral
            )
            if not result.shape[dimension]:
                shape = list(result.shape)
                shape[dimension] = 1
                first = np.full(shape, neutral, result.dtype)
            result = np.concatenate([first, result], dimension)
        return result

    return cumulative


#: (shape, axis), with blocks of every kind for backends that scan in blocks of 32.
AXES: list[tuple[tuple[int, ...], int]] = [
    *(((length,), 0) for length in (1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 1031)),
    *(((3, 5), axis) for axis in (0, 1, -1)),
    *(((5, 3, 7), axis) for axis in (0, 1, 2)),
    ((4, 8), 0),
    ((70, 33), 0),
    ((70, 33), 1),
    ((2, 40, 4), 1),
    ((3, 1031), 1),
    ((2, 3, 1, 2, 4), 1),
    ((1, 2, 1, 3, 1, 2), 3),
    ((2, 1, 4), 1),
    ((0,), 0),
    ((2, 0, 3), 0),
    ((2, 0, 3), 1),
]


def _cases() -> list[Case]:
    cases = []
    for shape, axis in AXES:
        for index, (exclusive, reverse) in enumerate(product((False, True), repeat=2)):
            if index and len(shape) > 3:
                continue
            options = (axis, exclusive, reverse) if index else (axis,)
            sample = shape == (70, 33)
            cases.append(Case("cumsum", (floats(shape), *options), cumsum, SUM, sample=sample))
            # Around 1, so that long products neither vanish nor overflow.
            x = floats(shape, 0.9, 1.1)
            cases.append(Case("cumprod", (x, *options), cumprod, PRODUCT))
    whole = arr([2**30, 2**30, 2**30, -7, 2**24 + 1], np.int32)
    special = arr([1, INF, 2, -INF, 3, NAN, 4])
    for name, oracle in (("cumsum", cumsum), ("cumprod", cumprod)):
        cases += [
            Case(name, (ints((5, 40)), 1), oracle, EXACT),
            Case(name, (ints((40, 4)), 0, True, True), oracle, EXACT),
            Case(name, (whole,), oracle, EXACT, note="wrapping around"),
            Case(name, (bools((5, 9)), 1), oracle, EXACT),
            Case(name, (special,), oracle, EXACT, note="of special values"),
            Case(name, (special, 0, True, True), oracle, EXACT, note="of special values"),
            Case(name, (floats((4,)),), oracle, SUM if name == "cumsum" else PRODUCT),
        ]
    cases.append(Case("cumprod", (arr([2, 0, 3, -1, 0.5]),), cumprod, EXACT, note="with zeros"))
    for exclusive, reverse in product((False, True), repeat=2):
        options = (1, exclusive, reverse)
        cases += [
            Case("cumsum", (complexes((3, 40)), *options), cumsum, Tolerance(SUM.why, 80)),
            Case("cumprod", (complexes((3, 9)), *options), cumprod, PRODUCT),
        ]
    cases.append(Case("cumprod", (complexes((0, 2)),), cumprod))
    cases.append(Case("cumsum", (floats((100_003,)),), cumsum, SUM, note="of very many"))
    for name, oracle, tolerance in (
        ("cumulative_sum", _array_api(cumsum, 0), SUM),
        ("cumulative_prod", _array_api(cumprod, 1), PRODUCT),
    ):
        simple = Tolerance(tolerance.why, 8)
        x = floats((5, 7), 0.5, 1.5)
        initial = {"include_initial": True}
        cases += [
            Case(name, (floats((9,), 0.5, 1.5),), oracle, simple),
            Case(name, (x,), oracle, simple, kwargs={"axis": 1}),
            Case(name, (x,), oracle, simple, kwargs={"axis": -2, **initial}),
            Case(name, (ints((5, 7)),), oracle, EXACT, kwargs={"axis": 0, **initial}),
            Case(name, (ints((6,)),), oracle, simple, kwargs={"dtype": "float32"}),
            Case(name, (bools((6,)),), oracle, EXACT, kwargs=initial),
            Case(name, (floats((0,)),), oracle, EXACT, kwargs=initial),
        ]
    return cases


def _gradient_cases() -> list[Case]:
    cases = []
    for exclusive, reverse in product((False, True), repeat=2):
        for shape, axis in (((5,), 0), ((3, 4), 0), ((2, 3, 2), 1), ((1,), 0), ((2, 0), 1)):
            options = (axis, exclusive, reverse)
            cases.append(gradient_of(Case("cumsum", (floats(shape), *options), cumsum)))
            x = floats(shape, 0.5, 1.5)
            cases.append(gradient_of(Case("cumprod", (x, *options), cumprod)))
        zeros = arr([[2, 0, 3, -1], [0, 0.5, 0, 4]])
        options = (1, exclusive, reverse)
        cases += [
            gradient_of(Case("cumprod", (zeros, *options), cumprod, note="with zeros")),
            second_derivative_of(Case("cumprod", (zeros, *options), cumprod, note="with zeros")),
            second_derivative_of(Case("cumprod", (floats((4, 2), 0.5, 1.5), 0), cumprod)),
        ]
    cases.append(gradient_of(Case("cumprod", (floats((40,), 0.9, 1.1),), cumprod)))
    kwargs = {"axis": 1, "include_initial": True}
    x = floats((2, 3), 0.5, 1.5)
    product_of = Case("cumulative_prod", (x,), _array_api(cumprod, 1), kwargs=kwargs)
    sum_of = Case("cumulative_sum", (x,), _array_api(cumsum, 0), kwargs=kwargs)
    return [*cases, *map(gradient_of, (sum_of, product_of)), second_derivative_of(product_of)]


SCANS = _cases()
GRADIENTS = _gradient_cases()
