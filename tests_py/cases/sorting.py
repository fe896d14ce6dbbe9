"""Cases of sorting, and of searching sorted rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, distinct, floats, ints
from tests_py.cases.table import Array, Case, combined, gradient_of, second_derivative_of

__all__ = ["GRADIENTS", "SEARCHING", "SORTING"]

NAN, INF = math.nan, math.inf


def _order(values: list[Any], descending: bool) -> list[int]:
    """Places in order, NaN last, by Python's own stable sort."""
    sign = -1 if descending else 1
    return sorted(
        range(len(values)),
        key=lambda index: (
            values[index] != values[index],
            sign * values[index] if values[index] == values[index] else 0,
        ),
    )


def argsort(x: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    rows = np.moveaxis(x, axis, -1)
    flat = rows.reshape(-1, rows.shape[-1]) if rows.size else rows
    if not rows.size:
        return np.zeros(x.shape, np.int64)
    indices = np.array([_order((row * 1).tolist(), descending) for row in flat])
    return np.moveaxis(indices.reshape(rows.shape), -1, axis)


def sort(x: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    return np.take_along_axis(x, argsort(x, axis, descending), axis)


def topk(x: Array, k: int = 1, sorted: bool = True) -> list[Array]:
    indices = argsort(x, -1, True)[..., :k]
    return [np.take_along_axis(x, indices, -1), indices]


#: (shape, axis): sizes around the blocks that backends sort in other ways.
AXES: list[tuple[tuple[int, ...], int]] = [
    *(((length,), 0) for length in (1, 2, 3, 7, 47, 48, 49, 127, 128, 129, 256, 257, 1031)),
    *(((3, 5), axis) for axis in (0, 1, -1)),
    *(((5, 3, 7), axis) for axis in (0, 1, 2)),
    ((4, 8), 1),
    ((70, 33), 0),
    ((33, 300), 1),
    ((2, 3, 1, 2, 4), 1),
    ((1, 2, 1, 3, 1, 2), 3),
    ((0,), 0),
    ((2, 0, 3), 1),
    ((0, 3), 1),
]
#: Without denormal numbers, which GPUs may take for zero.
SPECIAL = arr([3, NAN, -INF, 0.0, -0.0, INF, NAN, 1e-30, -1e-30, 2, INF, -2, 0.0])
LARGE = arr([2**24 + 1, -(2**31), 2**24, 2**31 - 1, 0, 2**24 + 2, -(2**24) - 1, -1], np.int32)


def _sorting_cases() -> list[Case]:
    cases = []
    for shape, axis in AXES:
        for descending in (False, True):
            options = (axis, descending)
            sample = shape == (70, 33)
            x = floats(shape)
            cases.append(Case("argsort", (x, *options), argsort, sample=sample))
            cases.append(Case("sort", (x, *options), sort))
            cases.append(Case("argsort", (ints(shape, 0, 4), *options), argsort, note="of ties"))
    for descending in (False, True):
        options = (-1, descending)
        many = np.tile(SPECIAL, 20)
        cases += [
            Case("argsort", (SPECIAL, *options), argsort, note="of special values"),
            Case("argsort", (many, *options), argsort, note="of special values"),
            Case("sort", (SPECIAL, *options), sort, note="of special values"),
            Case("argsort", (LARGE, *options), argsort, note="beyond 2**24"),
            Case("sort", (np.tile(LARGE, 40), *options), sort, note="beyond 2**24"),
            Case("argsort", (bools((5, 9)), *options), argsort),
            Case("sort", (bools((5, 9)), *options), sort),
        ]
    cases.append(Case("sort", (floats((100_003,)),), sort, note="of very many"))
    cases.append(Case("sort", (floats((5, 3)),), sort))
    for shape, k in (
        ((5,), 1),
        ((5,), 5),
        ((5,), 0),
        ((3, 7), 2),
        ((2, 3, 300), 4),
        ((2, 3, 1, 2, 4), 3),
        ((1, 1, 1, 1, 1, 1), 1),
        ((0, 3), 2),
        ((1031,), 10),
    ):
        cases.append(Case("topk", (floats(shape), k), topk, sample=len(shape) == 2))
    cases += [
        Case("topk", (ints((4, 9), 0, 3), 5), topk, note="of ties"),
        Case("topk", (LARGE, 4), topk, note="beyond 2**24"),
        Case("topk", (bools((4, 9)), 5), topk),
        Case("topk", (SPECIAL, 12), topk, note="of special values"),
        Case("topk", (floats((4, 9)),), topk),
        *(Case("topk", (rows, k), topk, note=note) for rows, k, note in _long_rows()),
    ]
    return cases


def _long_rows() -> Iterator[tuple[Array, int, str]]:
    """Rows of which backends may leave most elements out, and how many elements are taken."""
    strange = floats((2, 20011))
    strange[:, ::3] = np.nan
    strange[1, 5::7] = np.inf
    yield floats((40, 1000)), 10, "of rows"
    yield floats((3, 11003)), 7, "of long rows"
    yield ints((2, 20000), 0, 50), 40, "of ties in long rows"
    yield strange, 100, "of special values in long rows"
    yield np.full((1, 33003), np.nan, np.float32), 5, "of special values alone"
    yield np.full((1, 33003), np.iinfo(np.int32).min, np.int32), 9, "of the least integer alone"


# -- searching -----------------------------------------------------------------------------------


def searchsorted(x1: Any, x2: Any, side: str = "left", sorter: Any = None) -> Array:
    rows, values = np.asarray(x1), np.asarray(x2)
    if sorter is not None:
        rows = rows[sorter]
    if rows.ndim == 1:
        return np.asarray(np.searchsorted(rows, values, side))  # type: ignore[call-overload]
    count = int(np.prod(rows.shape[:-1]))
    flat = zip(
        rows.reshape(count, rows.shape[-1]),
        values.reshape(count, values.shape[-1]),
        strict=True,
    )
    positions = [np.searchsorted(row, some, side) for row, some in flat]  # type: ignore[call-overload]
    return np.array(positions, np.int64).reshape(values.shape)


def isin(x1: Array, x2: Array, invert: bool = False) -> Array:
    members = np.asarray(x2).ravel().tolist()
    is_member = [element in members for element in x1.ravel().tolist()]
    result = np.array(is_member, np.bool_).reshape(x1.shape)
    result &= x1 == x1
    return ~result if invert else result


def in_top_k(predictions: Array, targets: Array, k: int = 1) -> Array:
    rows = predictions.reshape(-1, predictions.shape[-1])
    result = []
    for row, target in zip(rows.tolist(), targets.ravel().tolist(), strict=True):
        first = _order(row, True)[:k]
        result.append(target in first and math.isfinite(row[int(target)]))
    return np.array(result, np.bool_).reshape(targets.shape)


def _searching_cases() -> list[Case]:
    cases = []
    for length in (1, 2, 5, 32, 1031):
        rows = np.sort(ints((length,), 0, 9).astype(np.float32))
        for side in ("left", "right"):
            values = floats((3, 7), -1, 10)
            cases += [
                Case("searchsorted", (rows, values), searchsorted, kwargs={"side": side}),
                Case("searchsorted", (rows, rows, side), searchsorted),
            ]
    batch = np.sort(ints((2, 3, 9), 0, 6), -1)
    special = np.sort(SPECIAL)
    for side in ("left", "right"):
        cases += [
            Case("searchsorted", (batch, ints((2, 3, 4), -1, 7), side), searchsorted),
            Case("searchsorted", (special, SPECIAL, side), searchsorted, note="of special values"),
            Case("searchsorted", (np.sort(LARGE), LARGE, side), searchsorted, note="beyond 2**24"),
            Case("searchsorted", (floats((0,)), floats((3,)), side), searchsorted),
            Case("searchsorted", (arr([1, 2, 3]), floats((0, 2)), side), searchsorted),
            Case("searchsorted", (arr([1, 2, 3]), 2.0, side), searchsorted),
            Case("searchsorted", (arr([1, 2, 2, 4], np.int32), arr([1.5, 2]), side), searchsorted),
            Case(
                "searchsorted",
                (bools((3,)) & False, arr([True, False], np.bool_), side),
                searchsorted,
            ),
        ]
    shuffled = distinct((9,))
    order = np.argsort(shuffled).astype(np.int32)
    kwargs = {"sorter": order}
    cases += [
        Case("searchsorted", (shuffled, floats((5,))), searchsorted, kwargs=kwargs),
        Case("lower_bound", (batch, ints((2, 3, 4), -1, 7)), searchsorted),
        Case(
            "upper_bound", (batch, ints((2, 3, 4), -1, 7)), lambda x, v: searchsorted(x, v, "right")
        ),
    ]
    for shape in ((), (1,), (5,), (3, 7), (2, 3, 4), (0, 3)):
        cases.append(Case("isin", (ints(shape, 0, 9), ints((2, 3), 0, 9, seed=1)), isin))
    cases += [
        Case("isin", (ints((9,), 0, 9), ints((3,), 0, 9), True), isin),
        Case("isin", (SPECIAL, arr([NAN, 0, INF, 7])), isin, note="of special values"),
        Case("isin", (LARGE, arr([2**24 + 1, -1], np.int32)), isin, note="beyond 2**24"),
        Case("isin", (floats((3,)), floats((0,))), isin),
        Case("isin", (ints((5,), 0, 3), arr([1.0, 2.5])), isin),
        Case("isin", (bools((4,)), arr([True], np.bool_)), isin),
    ]
    z = arr([1 + 2j, 1 - 1j, 0], np.complex64)
    cases.append(Case("isin", (z, arr([1 + 2j, 5], np.complex64)), np.isin))
    for shape, k in (
        ((4, 5), 1),
        ((4, 5), 3),
        ((4, 5), 5),
        ((2, 3, 7), 2),
        ((1, 1), 1),
        ((0, 3), 2),
    ):
        targets = ints(shape[:-1], 0, shape[-1])
        cases.append(Case("in_top_k", (floats(shape), targets, k), in_top_k))
    outside = arr([-1, 5, 2, 4], np.int32)
    cases += [
        Case("in_top_k", (floats((4, 5)), outside, 5), in_top_k, note="of no class"),
        Case(
            "in_top_k",
            (ints((9, 5), 0, 2).astype(np.float32), ints((9,), 0, 5), 2),
            in_top_k,
            note="of ties",
        ),
        Case("in_top_k", (arr([[1, NAN, 3], [NAN, 2, INF]]), arr([1, 2], np.int32), 3), in_top_k),
        Case("in_top_k", (floats((4, 5)), arr([0, 2.5, 4, NAN]), 4), in_top_k),
        Case("in_top_k_async", (floats((2, 3, 4)), ints((2, 3), 0, 4), 2), in_top_k),
        Case("in_top_k", (arr([[1, NAN, 3], [NAN, 2, INF]]), arr([0, 1], np.int32), 2), in_top_k),
    ]
    return cases


def _gradient_cases() -> list[Case]:
    cases = [
        Case("sort", (distinct(shape), axis, descending), sort)
        for shape, axis in (((5,), 0), ((3, 4), 0), ((2, 3, 4), 1), ((2, 0), 1))
        for descending in (False, True)
    ]
    cases += [
        Case("first_output", (distinct(shape), "topk", k), lambda x, name, k: topk(x, k)[0])
        for shape, k in (((5,), 2), ((3, 4), 3), ((2, 3), 0))
    ]
    squares = Case("combined", ("topk", distinct((3, 4)), 3), combined(topk))
    return [*map(gradient_of, cases), second_derivative_of(squares)]


SORTING = _sorting_cases()
SEARCHING = _searching_cases()
GRADIENTS = _gradient_cases()
