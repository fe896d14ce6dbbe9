"""Cases of ops whose result's shape depends on values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, distinct, floats, ints
from tests_py.cases.movement import large_ints
from tests_py.cases.table import Array, Case, combined, gradient_of, second_derivative_of

__all__ = ["DYNAMIC", "GRADIENTS"]

NAN, INF = math.nan, math.inf


def nonzero(x: Array) -> list[Array]:
    return list(np.nonzero(x))


def boolean_mask(x: Array, mask: Array, axis: int = 0) -> Array:
    axis %= x.ndim
    return x[(slice(None),) * axis + (mask,)]


def unique(x: Array, axis: int = 0) -> list[Array]:
    rows = np.moveaxis(x, axis, 0)
    seen: list[Array] = []
    indices = []
    for row in rows:
        matches = [index for index, other in enumerate(seen) if np.array_equal(row, other)]
        if not matches:
            seen.append(row)
        indices.append(matches[0] if matches else len(seen) - 1)
    values = np.array(seen, x.dtype).reshape(len(seen), *rows.shape[1:])
    return [np.moveaxis(values, 0, axis), np.array(indices, np.int64)]


def unique_all(x: Array) -> list[Array]:
    return list(np.unique_all(x))


def unique_counts(x: Array) -> list[Array]:
    return list(np.unique_counts(x))


def unique_inverse(x: Array) -> list[Array]:
    # NumPy sorts NaN in no order unless indices are requested, too.
    values, _, inverse, _ = np.unique_all(x)
    return [values, inverse]


def unique_values(x: Array) -> Array:
    return np.unique(x, equal_nan=False)


def setdiff1d(x: Array, y: Array) -> list[Array]:
    indices = [index for index in range(len(x)) if not any(x[index] == other for other in y)]
    return [x[indices], np.array(indices, np.int64)]


def _cases() -> list[Case]:
    cases = []
    shapes: tuple[tuple[int, ...], ...] = (
        (5,),
        (1,),
        (0,),
        (3, 5),
        (2, 0),
        (2, 3, 4),
        (2, 3, 1, 2, 4),
        (1, 2, 1, 3, 1, 2),
        (70, 33),
    )
    for shape in shapes:
        x = ints(shape, -1, 2)
        sample = len(shape) == 2
        cases += [
            Case("nonzero", (x,), nonzero, sample=sample),
            Case("argwhere", (x,), np.argwhere),
            Case("unique_all", (x,), unique_all, sample=sample),
        ]
    special = arr([3, 0.0, INF, -0.0, 3, -INF, 2, INF])
    cases += [
        Case("argwhere", (bools(()),), np.argwhere),
        Case("argwhere", (arr(1.0),), np.argwhere),
        Case("nonzero", (arr([0.0, -0.0, NAN, 1]),), nonzero),
        Case("nonzero", (bools((3, 5)),), nonzero),
        Case("argwhere", (bools((3, 5)),), np.argwhere),
    ]
    for x in (large_ints((9,)), bools((9,)), floats((9,)), special, ints((4, 5), 0, 9), arr(7.0)):
        cases += [
            Case("unique_all", (x,), unique_all),
            Case("unique_counts", (x,), unique_counts),
            Case("unique_inverse", (x,), unique_inverse),
            Case("unique_values", (x,), unique_values),
        ]
    nans = arr([NAN, 1, NAN, 0])
    cases += [
        Case("unique_counts", (nans,), unique_counts, note="of NaN"),
        Case("unique_values", (nans,), unique_values, note="of NaN"),
        Case("unique", (nans,), unique, note="of NaN"),
    ]
    for shape, axis in (
        ((9,), 0),
        ((1,), 0),
        ((0,), 0),
        ((6, 2), 0),
        ((2, 6), 1),
        ((2, 6), -1),
        ((5, 1, 2), 0),
        ((2, 5, 1), 1),
        ((1, 4, 1, 2, 1), 3),
        ((1, 2, 1, 4, 1, 1), 3),
        ((3, 0), 0),
        ((0, 3), 0),
    ):
        cases.append(Case("unique", (ints(shape, 0, 2), axis), unique))
    cases += [
        Case("unique", (large_ints((9,)),), unique),
        Case("unique", (special,), unique),
        Case("unique", (bools((6, 2)),), unique),
        Case("setdiff1d", (ints((9,), 0, 6), ints((3,), 0, 6)), setdiff1d),
        Case("setdiff1d", (floats((5,)), floats((5,))), setdiff1d),
        Case("setdiff1d", (arr([1, NAN, -0.0, 2]), arr([NAN, 0, 2])), setdiff1d),
        Case("setdiff1d", (floats((3,)), floats((0,))), setdiff1d),
        Case("setdiff1d", (floats((0,)), floats((3,))), setdiff1d),
        Case("setdiff1d", (large_ints((7,)), arr([2**24 + 1], np.int32)), setdiff1d),
        Case("setdiff1d", (bools((5,)), arr([True], np.bool_)), setdiff1d),
    ]
    cases += [
        Case("where_async", (ints((2, 3), 0, 2),), np.argwhere),
        Case("boolean_mask_async", (floats((4, 5)), bools((5,)), 1), boolean_mask),
        Case("setdiff1d_async", (ints((9,), 0, 6), ints((3,), 0, 6)), setdiff1d),
    ]
    z = arr([1 + 2j, 1 - 1j, 0, 1 + 2j, -0.5j], np.complex64)
    cases += [
        Case("nonzero", (z,), nonzero),
        Case("unique", (z,), unique),
        Case("unique_all", (z,), unique_all),
        Case("setdiff1d", (z, z[1:2]), setdiff1d),
        Case("boolean_mask", (z, bools((5,))), boolean_mask),
    ]
    for shape, mask_shape, axis in (
        ((4,), (4,), 0),
        ((4, 5), (5,), 1),
        ((4, 5, 3), (5, 3), 1),
        ((4, 5, 3), (3,), -1),
        ((2, 3, 1, 2, 4), (1, 2), 2),
        ((0, 3), (3,), 1),
    ):
        cases.append(Case("boolean_mask", (floats(shape), bools(mask_shape), axis), boolean_mask))
    return cases


def _gradient_cases() -> list[Case]:
    x = arr([1.5, 0.5, 1.5, 3])

    def first(x: Any, name: str, *rest: Any) -> Any:
        # Equal elements share a value; only the first of them is picked.
        indices = {"unique": [0, 1, 3], "unique_all": [1, 0, 3], "setdiff1d": [0, 2, 3]}[name]
        return x[indices]

    linear = [
        Case("first_output", (x, "unique"), first),
        Case("first_output", (x, "unique_all"), first),
        Case("first_output", (x, "setdiff1d", [0.5]), first),
        Case("boolean_mask", (floats((3, 4)), bools((4,)), 1), boolean_mask),
    ]
    # Elements that are distinct keep their order when they are moved a little.
    apart = distinct((2, 3))
    squares = [
        Case("combined", (name, apart), combined(oracle))
        for name, oracle in (
            ("unique", unique),
            ("unique_all", unique_all),
            ("unique_counts", unique_counts),
            ("unique_inverse", unique_inverse),
            ("unique_values", unique_values),
        )
    ]
    lists = ("setdiff1d", distinct((5,)), arr([7.0, 5.0]))
    squares.append(Case("combined", lists, combined(setdiff1d)))
    return [
        *(gradient_of(case, (0,)) for case in linear + squares),
        *(second_derivative_of(case, (0,)) for case in squares),
    ]


DYNAMIC = _cases()
GRADIENTS = _gradient_cases()
