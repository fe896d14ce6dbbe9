"""Cases of what moves elements: shapes, slices, joins, gathers, indexing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.table import Array, Case, combined, gradient_of, second_derivative_of

__all__ = ["GRADIENTS", "INDEXING", "JOINING", "MOVEMENT"]

#: Integers that float32 cannot represent: a kernel that moves them through floats breaks them.
LARGE = (2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 16_777_219, 0, -1)


def large_ints(shape: tuple[int, ...]) -> Array:
    """int32 numbers beyond float32's 24 bits."""
    return np.resize(np.array(LARGE, np.int32), shape)


def _of_each_dtype(shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    return floats(shape), large_ints(shape), bools(shape)


# -- reshape and its kin -------------------------------------------------------------------------


def _shape_cases() -> list[Case]:
    def reshaped(shape: tuple[int, ...], to: Any) -> Case:
        return Case("reshape", (floats(shape), to), np.reshape)

    reshapes: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((6,), (2, 3)),
        ((2, 3), (3, 2)),
        ((2, 3), -1),
        ((2, 3, 4), (4, -1)),
        ((2, 3, 4), (1, 24, 1)),
        ((1,), ()),
        ((), (1, 1)),
        ((2, 3, 4), (3, 2, 1, 4, 1, 1)),
        ((0, 3), (3, 0)),
        ((0, 3), (0,)),
        ((70, 33), (33, 70)),
        ((7, 9), (63,)),
        ((5, 7), (7, 5)),
    )
    cases = [reshaped(*row) for row in reshapes]
    cases += [
        Case("expand_dims", (floats((2, 3)), axis), np.expand_dims)
        for axis in (0, 1, 2, -1, -3, (0, 1), (-1, 0), (1, 3, -1), ())
    ]
    squeezes: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((1, 2, 1), None),
        ((1, 2, 1), 0),
        ((1, 2, 1), -1),
        ((1, 2, 1, 3), (0, 2)),
        ((1, 1), None),
        ((1, 0), None),
    )
    cases += [Case("squeeze", (floats(shape), axis), np.squeeze) for shape, axis in squeezes]
    cases += [
        Case("flatten", (floats((2, 3, 4)),), np.ravel),
        Case("flatten", (floats(()),), np.ravel),
        Case("clone", (large_ints((2, 3)),), np.copy),
    ]
    return cases


# -- permutations, reversals, repetitions ---------------------------------------------------------


def _view_cases() -> list[Case]:
    cases = [
        Case("permute_dims", (floats((2, 3, 4)), axes), np.transpose)
        for axes in permutations(range(3))
    ]
    for shape, axes in (
        ((3, 5), (1, 0)),
        ((70, 33), (1, 0)),
        ((7, 700), (1, 0)),
        ((600, 5), (1, 0)),
        ((75, 66), (1, 0)),
        ((19, 5, 21), (1, 0, 2)),
        ((1, 7), (1, 0)),
        ((9, 8), (-1, 0)),
        ((2, 3, 4, 5), (0, 3, 1, 2)),
        ((2, 3, 4, 5), (0, 2, 3, 1)),
        ((2, 3, 4, 5), (3, 2, 1, 0)),
        ((2, 1, 4, 1), (3, 2, 1, 0)),
        ((2, 3, 1, 2, 4), (4, 0, 3, 1, 2)),
        ((1, 2, 1, 3, 1, 2), (5, 4, 3, 2, 1, 0)),
        ((2, 2, 3, 2, 2, 3), (1, 3, 5, 0, 2, 4)),
        ((0, 3), (1, 0)),
        ((), ()),
        ((5,), (0,)),
        ((17, 5, 9), (2, 0, 1)),
    ):
        sample = len(shape) in (2, 4, 5)
        cases.append(Case("permute_dims", (floats(shape), axes), np.transpose, sample=sample))
    for x in _of_each_dtype((5, 7)):
        cases.append(Case("transpose", (x,), np.transpose))
        cases.append(Case("flip", (x, 1), np.flip))
        cases.append(Case("tile", (x, (2, 1)), np.tile))
        cases.append(Case("broadcast_to", (x, (2, 5, 7)), np.broadcast_to))
        cases.append(Case("pad", (x, [(1, 2), (0, 3)]), _pad))
    cases.append(Case("transpose", (floats((2, 3, 4)), (2, 0, 1)), np.transpose))
    cases += [
        Case("transpose", (x, (1, 0), True), lambda x, *_: np.conj(x.T))
        for x in (complexes((2, 3)), ints((2, 3)))
    ]
    for shape, axis in (
        ((5,), None),
        ((3, 4), None),
        ((3, 4), 0),
        ((3, 4), -1),
        ((2, 3, 5), (0, 2)),
        ((2, 1, 3, 1, 2), (0, 4)),
        ((1, 2, 1, 3, 1, 2), None),
        ((0, 3), 1),
        ((70, 33), 1),
        ((), None),
    ):
        cases.append(Case("flip", (floats(shape), axis), np.flip))
    tiles: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((3,), (4,)),
        ((3,), 2),
        ((2, 3), (1, 1)),
        ((2, 3), (3,)),
        ((3,), (2, 2)),
        ((2, 1, 3), (1, 4, 2)),
        ((2, 3), (2, 0)),
        ((), (3,)),
        ((0, 2), (2, 2)),
        ((5, 7), (3, 5)),
        ((1, 2, 1, 2, 1, 2), (2, 1, 1, 2, 1, 1)),
    )
    cases += [Case("tile", (floats(shape), times), np.tile) for shape, times in tiles]
    spreads: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
        ((), (3,)),
        ((1,), (5,)),
        ((3, 1), (3, 4)),
        ((1, 4), (3, 4)),
        ((3,), (2, 3)),
        ((2, 1, 3), (4, 2, 5, 3)),
        ((1,), (0,)),
        ((), ()),
        ((33, 1), (33, 70)),
        ((1, 2, 1, 3, 1, 2), (2, 2, 2, 3, 2, 2)),
    )
    cases += [Case("broadcast_to", (floats(a), b), np.broadcast_to) for a, b in spreads]
    return cases


def _pad(x: Array, paddings: Sequence[Sequence[int]], value: float = 0) -> Array:
    shape = tuple(n + sum(pair) for n, pair in zip(x.shape, paddings, strict=True))
    result = np.full(shape, value, dtype=x.dtype)
    result[tuple(slice(low, low + n) for (low, _), n in zip(paddings, x.shape, strict=True))] = x
    return result


def _pad_cases() -> list[Case]:
    rows: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((3,), [(1, 2)]),
        ((3,), [(0, 0)]),
        ((2, 3), [(1, 0), (0, 2)]),
        ((2, 3), [[2, 1], [3, 4]]),
        ((2, 3, 4), [(0, 1), (1, 0), (2, 2)]),
        ((1, 4, 5, 3), [(0, 0), (1, 1), (2, 2), (0, 0)]),
        ((2, 1, 3, 1, 2), [(0, 0), (1, 0), (0, 1), (0, 0), (1, 1)]),
        ((1, 2, 1, 3, 1, 2), [(0, 1)] * 6),
        ((0, 3), [(1, 1), (0, 0)]),
        ((), []),
        ((70, 33), [(1, 2), (3, 4)]),
    )
    cases = [
        Case("pad", (floats(shape), pads), _pad, sample=len(shape) in (2, 4))
        for shape, pads in rows
    ]
    return [
        *cases,
        Case("pad", (floats((2, 3)), [(1, 1), (1, 1)], 2.5), _pad),
        Case("pad", (floats((3,)), (1, 2)), np.pad),
        Case("pad", (floats((2, 3)), [(1, 1), (1, 1)], float("-inf")), _pad),
        Case("pad", (large_ints((2, 3)), [(1, 1), (1, 1)], 2**24 + 1), _pad),
        Case("pad", (bools((2, 3)), [(1, 1), (1, 1)], True), _pad),
    ]


# -- slices --------------------------------------------------------------------------------------


def _slice(x: Array, begin: Any, size: Any = None) -> Array:
    begins = np.atleast_1d(begin)
    sizes = [-1] * len(begins) if size is None else np.atleast_1d(size)
    slices = tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begins, sizes, strict=True))
    return x[slices]


def _slice_cases() -> list[Case]:
    rows: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((7,), (2, 3)),
        ((7,), (2,)),
        ((7,), (2, -1)),
        ((7,), (7, 0)),
        ((3, 5), ((1, 2), (2, 3))),
        ((3, 5), ((0, 1), (-1, 2))),
        ((3, 5), ((1,), (2,))),
        ((2, 3, 4), ((0, 1, 2), (2, 1, 2))),
        ((2, 3, 4, 5), ((1, 0, 1, 2), (1, 3, 2, 3))),
        ((2, 3, 1, 2, 4), ((0, 1, 0, 1, 1), (2, 2, 1, 1, 2))),
        ((2, 2, 2, 2, 2, 2), ((1, 0, 1, 0, 1, 0), (1, 2, 1, 2, 1, 1))),
        ((70, 33), ((3, 5), (64, 17))),
        ((3, 5), ((0, 0), (3, 5))),
    )
    return [Case("slice", (floats(shape), *args), _slice) for shape, args in rows]


ALL = slice(None)
#: (shape, key): basic indexing as in NumPy.
KEYS: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((5,), 0),
    ((5,), -1),
    ((5,), slice(1, 3)),
    ((5,), slice(None, None, 2)),
    ((5,), slice(None, None, -1)),
    ((5,), slice(3, 0, -2)),
    ((5,), slice(-3, None)),
    ((5,), slice(10, 20)),
    ((5,), slice(-100, 100, 3)),
    ((5,), slice(4, 1)),
    ((5,), ()),
    ((5,), ...),
    ((5,), None),
    ((), ()),
    ((), None),
    ((), ...),
    ((3, 5), 1),
    ((3, 5), (1, 2)),
    ((3, 5), (-1, -2)),
    ((3, 5), (ALL, 2)),
    ((3, 5), (ALL, slice(1, 4, 2))),
    ((3, 5), (slice(None, None, -1), slice(None, None, -2))),
    ((3, 5), (..., 0)),
    ((3, 5), (None, 1)),
    ((3, 5), (ALL, None, 2)),
    ((3, 5), (..., None)),
    ((70, 33), (slice(3, 60, 7), slice(30, 2, -3))),
    ((70, 33), (slice(None, None, 2), ALL)),
    ((2, 3, 4), (1, ..., -1)),
    ((2, 3, 4), (ALL, 1)),
    ((2, 3, 4), (..., slice(None, None, -1))),
    ((2, 3, 4), (0, None, slice(1, None), None, 3)),
    ((2, 3, 4, 5), (slice(None, None, -1), 1, slice(0, 4, 3), slice(4, None, -2))),
    ((2, 3, 4, 5), (ALL, slice(1, 2), ..., 0)),
    ((2, 3, 1, 2, 4), (1, slice(None, None, 2), 0, ..., slice(1, 3))),
    ((2, 2, 3, 2, 2, 3), (0, ..., slice(None, None, -1))),
    ((2, 2, 3, 2, 2, 3), (ALL, 1, slice(None, None, 2), 0, ALL, slice(2, 0, -1))),
    ((0, 3), (ALL, 1)),
    ((0, 3), slice(None, None, -1)),
    ((4, 0), 2),
)


def _index(x: Array, key: Any) -> Array:
    def part(value: Any) -> Any:
        return np.asarray(value) if isinstance(value, list) else value

    return x[tuple(map(part, key)) if isinstance(key, tuple) else part(key)]


def _advanced_keys() -> list[Any]:
    """Keys of several indices and masks, for a shape of (4, 5, 3)."""
    rows, columns = arr([[2], [0], [-1]], np.int32), arr([4, -5], np.int32)
    mask = bools((5,))
    return [
        (rows, columns),
        (rows, ALL, arr([-1, 2], np.int32)),
        (ALL, rows, arr([0, -1], np.int32)),
        (slice(None, None, -1), rows, None, arr([1], np.int32)),
        (0, ALL, columns % 3),
        (rows, ..., 1),
        (ALL, mask),
        (arr([3], np.int32), mask, slice(1, None)),
        (..., mask, arr([-1], np.int32)),
        (bools((4, 5)), 2),
        (columns[:1] % 4, bools((5, 3)) & False),
        (None, rows, ALL, mask[:3]),
    ]


def _indexing_cases() -> list[Case]:
    cases = [
        Case("Tensor.__getitem__", (floats(shape), key), _index, sample=len(shape) == 2)
        for shape, key in KEYS
    ]
    x = floats((4, 5, 3))
    chosen = arr([2, 0, -1, 2], np.int32)
    masks = (bools((4,)), bools((4, 5)), bools((4, 5, 3)), np.zeros((4,), np.bool_))
    cases += [Case("Tensor.__getitem__", (x, mask), _index) for mask in masks]
    cases += [Case("boolean_mask", (x, mask), _index) for mask in masks]
    cases += [
        Case("Tensor.__getitem__", (x, chosen), _index),
        Case("Tensor.__getitem__", (x, [3, 1]), _index),
        Case("Tensor.__getitem__", (x, (ALL, chosen)), _index),
        Case("Tensor.__getitem__", (x, (..., arr([[0, 2], [-1, 1]], np.int32))), _index),
        Case("Tensor.__getitem__", (x, (slice(1, 3), chosen, slice(None, None, -1))), _index),
        Case("Tensor.__getitem__", (x, (0, chosen)), _index),
        *(Case("Tensor.__getitem__", (x, key), _index) for key in _advanced_keys()),
        Case(
            "Tensor.__getitem__",
            (large_ints((5, 7)), (slice(None, None, -2), slice(1, 6, 2))),
            _index,
        ),
        Case(
            "Tensor.__getitem__",
            (bools((5, 7)), (slice(1, None, 3), slice(None, None, -1))),
            _index,
        ),
        Case("Tensor.__getitem__", (x > 0, x > 0.5), _index),
    ]
    return cases


# -- joining, parting, gathering -----------------------------------------------------------------


def _concat(tensors: Sequence[Array], axis: int = 0) -> Array:
    if len({tensor.dtype for tensor in tensors}) > 1:
        tensors = [tensor * 1 for tensor in tensors]
    return np.concatenate(tensors, axis)


def _split(x: Array, parts: Any, axis: int = 0) -> list[Array]:
    if isinstance(parts, int):
        return list(np.split(x, parts, axis))
    sizes = [s if s >= 0 else x.shape[axis] - sum(parts) - 1 for s in parts]
    return list(np.split(x, np.cumsum(sizes)[:-1], axis))


def _unstack(x: Array, axis: int = 0) -> list[Array]:
    return [np.take(x, index, axis) for index in range(x.shape[axis])]


def _several(shapes: Sequence[tuple[int, ...]], make: Callable[..., Array] = floats) -> list[Array]:
    return [make(shape, seed=seed) for seed, shape in enumerate(shapes)]


def _join_cases() -> list[Case]:
    rows: tuple[tuple[Sequence[tuple[int, ...]], int], ...] = (
        ([(3,), (4,)], 0),
        ([(1,), (5,), (2,)], -1),
        ([(2, 3), (1, 3)], 0),
        ([(2, 3), (2, 4)], 1),
        ([(2, 3), (2, 1), (2, 7)], -1),
        ([(2, 3, 4), (2, 1, 4), (2, 2, 4)], 1),
        ([(1, 3, 4), (2, 3, 4)], -3),
        ([(2, 3, 4, 1), (2, 3, 4, 5)], 3),
        ([(1, 2, 1, 3, 1, 2), (1, 2, 1, 1, 1, 2)], 3),
        ([(3,), (0,), (2,)], 0),
        ([(0,), (0,)], 0),
        ([(2, 0), (2, 3)], 1),
        ([(5,)], 0),
        ([(2, 3)] * 17, 1),
        ([(3, 2)] * 40, 0),
        ([(1,)] * 33, 0),
        ([(70, 17), (70, 16)], 1),
    )
    cases = [
        Case("concat", (_several(shapes), axis), _concat, sample=len(shapes) == 3)
        for shapes, axis in rows
    ]
    x, n, p = floats((2, 3)), large_ints((2, 3)), bools((2, 3))
    cases += [
        Case("concat", ([n, n[::-1].copy()], 1), _concat),
        Case("concat", ([p, p], 0), _concat),
        Case("concat", ([ints((2, 3)), x], 0), _concat),
        Case("concat", ([p, ints((2, 3)), p], 1), _concat),
    ]
    for shape, axis, count in (
        ((3,), 0, 2),
        ((3,), -1, 3),
        ((2, 3), 1, 4),
        ((), 0, 5),
        ((2, 3, 4), 2, 2),
        ((2, 0), 1, 2),
    ):
        cases.append(Case("stack", (_several([shape] * count), axis), np.stack))
    cases.append(Case("stack", ([n, n], 1), np.stack))
    for parted, axis in (((3,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3, 4), -1), ((4, 1, 2, 2), 0)):
        cases.append(Case("unstack", (floats(parted), axis), _unstack))
    splits: tuple[tuple[tuple[int, ...], Any, int], ...] = (
        ((6,), 3, 0),
        ((6,), [1, 2, 3], 0),
        ((6,), [4, -1], 0),
        ((4, 6), 2, 1),
        ((4, 6), [1, 5], -1),
        ((2, 9, 3), 3, 1),
        ((5,), [0, 5], 0),
        ((4, 3), 4, 0),
    )
    cases += [Case("split", (floats(shape), parts, axis), _split) for shape, parts, axis in splits]
    return cases


def _gather(x: Array, indices: Any, axis: int = 0) -> Array:
    return np.take(x, np.asarray(indices, np.int64), axis)


def _take(x: Array, indices: Any, axis: int | None = None) -> Array:
    return np.take(x, indices, axis)


def _gather_cases() -> list[Case]:
    rows: tuple[tuple[tuple[int, ...], Any, int], ...] = (
        ((5,), [3, 0, 0, 4], 0),
        ((5,), [-1, -5, 2], 0),
        ((5,), 2, 0),
        ((5,), [[0, 1], [2, 3]], 0),
        ((3, 5), [2, 0], 0),
        ((3, 5), [4, 1, 1, -1], 1),
        ((3, 5), [[4, 1], [0, -2]], -1),
        ((2, 3, 4), [1, 2, 0, 1], 1),
        ((2, 3, 4), [3, 3], 2),
        ((2, 3, 4), 1, 1),
        ((2, 3, 1, 2, 4), [1, 0, 1], 3),
        ((2, 2, 2, 2, 2, 2), [1, -1], 5),
        ((5, 3), [], 0),
        ((1031, 3), [1030, 0, 517, -1], 0),
        ((70, 33), list(range(32, -1, -1)), 1),
    )
    cases = [
        Case(
            "gather", (floats(shape), arr(indices, np.int32), axis), _gather, sample=len(shape) == 2
        )
        for shape, indices, axis in rows
    ]
    chosen = arr([1, -1, 0, 2], np.int32)
    return [
        *cases,
        Case("gather", (large_ints((5, 3)), chosen, 0), _gather),
        Case("gather", (bools((5, 3)), chosen, 1), _gather),
        Case("gather", (floats((5, 3)), [4, 2]), _gather),
        Case("take", (floats((3, 4)), arr([11, 0, -1], np.int32)), _take),
        Case("take", (floats((3, 4)), arr([[1], [3]], np.int32), 1), _take),
    ]


# -- gradients -----------------------------------------------------------------------------------


def _gradient_cases() -> list[Case]:
    x = floats((2, 3))
    chosen = arr([1, 0, 1, -1], np.int32)
    linear = [
        Case("reshape", (x, (3, 2)), np.reshape),
        Case("flatten", (x,), np.ravel),
        Case("astype", (x, "float32"), lambda x, _: x),
        Case("expand_dims", (x, 1), np.expand_dims),
        Case("squeeze", (floats((1, 3, 1)),), np.squeeze),
        Case("permute_dims", (floats((2, 3, 2)), (2, 0, 1)), np.transpose),
        Case("permute_dims", (floats((2, 1, 3)), (1, 0, 2)), np.transpose),
        Case("transpose", (x,), np.transpose),
        Case("flip", (x, 1), np.flip),
        Case("flip", (x,), np.flip),
        Case("tile", (x, (2, 3)), np.tile),
        Case("tile", (floats((3,)), (2, 2)), np.tile),
        Case("broadcast_to", (floats((2, 1)), (3, 2, 3)), np.broadcast_to),
        Case("broadcast_to", (floats(()), (2,)), np.broadcast_to),
        Case("broadcast_to", (floats((1,)), (0,)), np.broadcast_to),
        Case("pad", (x, [(1, 0), (2, 1)]), _pad),
        Case("pad", (floats((0, 2)), [(1, 0), (0, 1)]), _pad),
        Case("slice", (x, (0, 1), (2, 2)), _slice),
        Case("slice", (floats((2, 3, 2)), (1,), (1,)), _slice),
        Case("slice", (x, (0, 1), (2, 0)), _slice),
        Case("concat", ([x, floats((2, 1), seed=1)], 1), _concat),
        Case("concat", ([x, floats((1, 3), seed=1), floats((0, 3))], 0), _concat),
        Case("concat", (_several([(1,)] * 9),), _concat),
        Case("concat", ([x, ints((2, 3))], 0), _concat),
        Case("stack", ([x, floats((2, 3), seed=1)], 1), np.stack),
        Case("gather", (x, chosen, 1), _gather),
        Case("gather", (x, arr([[0, 1], [1, 1]], np.int32), 0), _gather),
        Case("gather", (x, arr([], np.int32), 0), _gather),
        Case("take", (x, chosen), _take),
        Case(
            "Tensor.__getitem__",
            (floats((5, 4)), (slice(None, None, 2), slice(None, None, -1))),
            _index,
        ),
        Case("Tensor.__getitem__", (floats((5, 4)), (slice(4, 0, -2), 1)), _index),
        Case("Tensor.__getitem__", (x, (..., None, 0)), _index),
        Case("Tensor.__getitem__", (x, bools((2, 3))), _index),
        Case("Tensor.__getitem__", (x, (ALL, chosen)), _index),
        Case("boolean_mask", (x, arr([True, False], np.bool_)), _index),
    ]
    curved = [
        Case("combined", ("split", floats((6,)), [1, 2, 3], 0), combined(_split)),
        Case("combined", ("split", floats((2, 6)), 3, 1), combined(_split)),
        Case("combined", ("unstack", floats((2, 3)), 1), combined(_unstack)),
        Case(
            "combined",
            ("broadcast_arrays", floats((2, 1)), floats((3,), seed=1)),
            combined(lambda *arrays: list(np.broadcast_arrays(*arrays))),
        ),
    ]
    # A linear function's second derivative shows once what it gives is squared.
    squared = [
        Case("composed", (x, floats((3, 2)), *names), oracle)
        for names, oracle in (
            (("transpose", "square"), lambda x, y, *_: x.T**2),
            (("matmul", "square"), lambda x, y, *_: (x @ y) ** 2),
            (("matmul", "tanh", "sum"), lambda x, y, *_: np.tanh(x @ y).sum()),
            (("flip", "exp", "mean"), lambda x, y, *_: np.exp(x).mean()),
            (("softmax", "log", "sum"), lambda x, y, *_: np.log(_softmax(x)).sum()),
        )
    ]
    return [
        *map(gradient_of, linear + curved),
        *map(second_derivative_of, curved),
        *(gradient_of(case, _sources(case)) for case in squared),
        *(second_derivative_of(case, _sources(case)) for case in squared),
    ]


def _sources(case: Case) -> tuple[int, ...]:
    return (0, 1) if case.args[2] == "matmul" else (0,)


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


MOVEMENT = _shape_cases() + _view_cases() + _pad_cases() + _slice_cases()
INDEXING = _indexing_cases()
JOINING = _join_cases() + _gather_cases()
GRADIENTS = _gradient_cases()
