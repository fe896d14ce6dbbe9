"""Cases of matrix products."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, floats, ints
from tests_py.cases.table import Array, Case, gradient_of, second_derivative_of, summed

__all__ = ["GRADIENTS", "MATMUL"]

NAN, INF = math.nan, math.inf

#: (m, k, n): each length around a tile's, alone and together, and some large ones.
SIZES = (
    *((1, 1, 1), (1, 5, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5), (7, 7, 7), (8, 8, 8)),
    *((9, 9, 9), (17, 17, 17), (1, 4, 8), (8, 4, 1), (4, 1, 4), (3, 4, 5), (5, 3, 2), (2, 9, 3)),
    *((6, 8, 8), (12, 16, 16), (7, 5, 9), (13, 11, 3), (1, 1031, 1), (3, 257, 5), (1, 64, 33)),
    *((33, 64, 1), (70, 33, 65), (64, 64, 64), (129, 65, 67), (65, 130, 31), (66, 63, 20)),
    (130, 127, 5),
)
FEW_SIZES = ((1, 5, 1), (3, 4, 5), (8, 8, 8), (7, 5, 9), (17, 9, 33), (70, 33, 65))

#: Shapes of the batches before the two matrices.
BATCHES = (
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((1,), (3,)),
    ((3,), (1,)),
    ((2, 1), (3,)),
    ((2, 3), (1, 3)),
    ((2, 3), (2, 1)),
    ((2, 1), (1, 3)),
    ((2, 1, 2), (3, 1)),
    ((2, 1, 2, 1), (1, 3, 1, 2)),
    ((1,), (1,)),
    ((1, 1), ()),
    ((0,), (0,)),
    ((0,), ()),
    ((17,), (17,)),
)

VECTORS = (
    ((4,), (4,)),
    ((5,), (5, 3)),
    ((3, 5), (5,)),
    ((5,), (2, 5, 3)),
    ((2, 3, 5), (5,)),
    ((1,), (1,)),
)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    if transpose_a and a.ndim > 1:
        a = np.swapaxes(a, -1, -2)
    if transpose_b and b.ndim > 1:
        b = np.swapaxes(b, -1, -2)
    return np.matmul(a * 1, b * 1)


def _length(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> int:
    return int(a.shape[-2 if transpose_a else -1])


DOT_PRODUCTS = summed(
    lambda a, b, *flags: matmul(
        np.nan_to_num(np.abs(a), posinf=0), np.nan_to_num(np.abs(b), posinf=0), *flags
    ),
    _length,
)


def _matrices(
    m: int, k: int, n: int, flags: tuple[bool, bool] = (False, False), batches: Any = ((), ())
) -> tuple[Array, Array]:
    a = (k, m) if flags[0] else (m, k)
    b = (n, k) if flags[1] else (k, n)
    return floats((*batches[0], *a), seed=1), floats((*batches[1], *b), seed=2)


def _case(a: Any, b: Any, *flags: bool, **fields: Any) -> Case:
    return Case("matmul", (a, b, *flags), matmul, DOT_PRODUCTS, **fields)


FLAGS = tuple(product((False, True), (False, True)))


def _matmul_cases() -> list[Case]:
    cases = [_case(*_matrices(*size), sample=size in FEW_SIZES) for size in SIZES]
    cases += [
        _case(*_matrices(*size, flags), *flags, sample=size == (7, 5, 9))
        for size in (*FEW_SIZES, (66, 63, 20), (130, 127, 5), (257, 255, 2))
        for flags in FLAGS[1:]
    ]
    for batches in BATCHES:
        cases.append(_case(*_matrices(3, 5, 2, batches=batches), sample=len(batches[0]) == 2))
        cases += [_case(*_matrices(4, 3, 5, flags, batches), *flags) for flags in FLAGS[1:]]
    cases += [_case(floats(first, seed=1), floats(second, seed=2)) for first, second in VECTORS]
    return cases + _special_cases()


def _special_cases() -> list[Case]:
    large = arr([[2**24 + 1, 3], [65537, -(2**31)]], np.int32)
    special = arr([[1, NAN, 2], [INF, 1, 1], [1, 2, 3]])
    cases = [_case(*_matrices(*size)) for size in ((0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0))]
    for first, second in (((2, 3), (2, 3)), ((3,), (3,)), ((4,), (4, 2)), ((2, 3), (3,))):
        if len(first) == len(second) == 2:
            second = (second[1], second[0])
        dot = Case("dot", (floats(first, seed=1), floats(second, seed=2)), matmul, DOT_PRODUCTS)
        cases.append(dot)
    return [
        *cases,
        _case(ints((5, 7)), ints((7, 3), seed=1), sample=True),
        _case(ints((2, 5, 7)), ints((3, 7), seed=1), False, True),
        _case(large, large, note="wrapping"),
        _case(ints((3, 8), -(2**22), 2**22), ints((8, 5), -(2**22), 2**22), note="wrapping"),
        _case(
            ints((33, 70), -(2**31), 2**31 - 1), ints((70, 9), -(2**31), 2**31 - 1), note="wrapping"
        ),
        _case(ints((3, 4)), floats((4, 2))),
        _case(bools((3, 4)), bools((4, 2), 1)),
        _case(bools((3, 4)), floats((4, 2))),
        _case(special, floats((3, 4), 0.5, 2), note="of special values"),
        _case(floats((2, 3), 0.5, 2), special, note="of special values"),
    ]


def _gradient_cases() -> list[Case]:
    cases = []
    for flags in FLAGS:
        case = _case(*_matrices(2, 3, 4, flags), *flags)
        cases += [gradient_of(case), second_derivative_of(case)]
        for batches in (((2,), (2,)), ((2,), ()), ((), (2,)), ((2, 1), (3,)), ((1,), (2,))):
            case = _case(*_matrices(2, 3, 2, flags, batches), *flags)
            cases.append(gradient_of(case))
            if batches in (((2,), (2,)), ((2,), ())):
                cases.append(second_derivative_of(case))
    for first, second in VECTORS:
        case = _case(floats(first, seed=1), floats(second, seed=2))
        cases.append(gradient_of(case))
    cases += [
        gradient_of(_case(*_matrices(7, 9, 5))),
        gradient_of(_case(*_matrices(2, 0, 3))),
        gradient_of(_case(floats((3, 2)), ints((2, 3))), (0,)),
        gradient_of(Case("dot", (floats((3,)), floats((3,), seed=1)), matmul)),
    ]
    return cases


MATMUL = _matmul_cases()
GRADIENTS = _gradient_cases()
