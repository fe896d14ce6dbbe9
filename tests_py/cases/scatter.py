"""Cases of picking and putting by tensors of indices. Oracles are plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, encoded, floats, ints
from tests_py.cases.movement import large_ints
from tests_py.cases.table import (
    FEW_ROUNDINGS,
    Array,
    Case,
    gradient_of,
    summed,
)

__all__ = ["GATHERING", "GRADIENTS", "SCATTERING"]

# -- oracles -------------------------------------------------------------------------------------


def gather(x: Array, indices: Any, axis: int = 0, batch_dims: int = 0) -> Array:
    index_array = np.asarray(indices)
    axis %= x.ndim
    batch_dims += index_array.ndim if batch_dims < 0 else 0
    if batch_dims:
        parts = zip(x, index_array, strict=True)
        rows = [gather(row, some, axis - 1, batch_dims - 1) for row, some in parts]
        shape = (*x.shape[:axis], *index_array.shape[batch_dims:], *x.shape[axis + 1 :])
        return np.array(rows, x.dtype).reshape(shape)
    return np.take(x, index_array.astype(np.int64), axis)


def gather_nd(x: Array, indices: Array) -> Array:
    depth = indices.shape[-1]
    shape = (*indices.shape[:-1], *x.shape[depth:])
    rows = [x[tuple(index)] for index in indices.reshape(-1, depth).tolist()] if depth else []
    if not depth:
        return np.broadcast_to(x, shape)
    return np.array(rows, x.dtype).reshape(shape)


def take_along_axis(x: Array, indices: Array, axis: int = -1) -> Array:
    return np.take_along_axis(x, indices.astype(np.int64), axis)


def _put(result: Array, indices: Array, updates: Array, add: bool) -> Array:
    if indices.ndim == 1 and updates.ndim == result.ndim:  # along the first axis
        indices = indices[:, None]
    depth = indices.shape[-1]
    count = int(np.prod(indices.shape[:-1]))
    rows = updates.reshape(count, *updates.shape[indices.ndim - 1 :])
    for index, row in zip(indices.reshape(-1, depth).tolist(), rows, strict=True):
        result[tuple(index)] = result[tuple(index)] + row if add else row
    return result


def scatter_nd(indices: Array, updates: Array, shape: Any) -> Array:
    return _put(np.zeros(shape, updates.dtype), indices, updates, True)


def tensor_scatter_update(tensor: Array, indices: Array, updates: Any) -> Array:
    dtype = np.result_type(tensor.dtype, np.asarray(updates).dtype)
    return _put(tensor.astype(dtype), indices, np.asarray(updates), False)


def sparse_to_dense(indices: Any, values: Any, shape: Any, default: Any = 0) -> Array:
    value_array = np.asarray(values)
    index_array = np.asarray(indices)
    index_array = index_array.reshape(-1, 1) if index_array.ndim < 2 else index_array
    dtype = np.result_type(value_array.dtype, np.asarray(default, value_array.dtype))
    result = np.full(shape, encoded(default), dtype)
    return _put(result, index_array, np.broadcast_to(value_array, (len(index_array),)), False)


def unsorted_segment_sum(x: Array, segments: Array, count: int) -> Array:
    result = np.zeros((count, *x.shape[1:]), (x * 1).dtype)
    for row, segment in zip(x, segments.tolist(), strict=True):
        if 0 <= segment < count:
            result[segment] += row
    return result


def dense_bincount(
    x: Array, weights: Any = None, size: int | None = None, binary_output: bool = False
) -> Array:
    weight_array = None if weights is None else np.asarray(weights)
    dtype = np.int64 if weight_array is None else (weight_array * 1).dtype
    length = x.max() + 1 if size is None and x.size else size or 0
    rows = x.reshape(int(np.prod(x.shape[:-1])), x.shape[-1])
    result = np.zeros((len(rows), length), dtype)
    for row in range(len(rows)):
        for column, number in enumerate(rows[row].tolist()):
            if number < length:
                weight: Any = 1
                if weight_array is not None and weight_array.size:
                    weight = weight_array.reshape(rows.shape)[row, column]
                result[row, number] += weight
    if binary_output:
        result = (dense_bincount(x, None, length) > 0).astype(dtype).reshape(result.shape)
        if weight_array is not None and weight_array.dtype == np.bool_:
            result = result.astype(np.bool_)
    return result.reshape(*x.shape[:-1], length)


def bincount(x: Array, weights: Any = None, size: int | None = None, minlength: int = 0) -> Array:
    if minlength:
        return np.bincount(x, weights, minlength)
    return dense_bincount(x, weights, size)


def confusion_matrix(labels: Array, predictions: Array, classes: int) -> Array:
    result = np.zeros((classes, classes), np.int64)
    for label, prediction in zip(labels.tolist(), predictions.tolist(), strict=True):
        if 0 <= label < classes and 0 <= prediction < classes:
            result[label, prediction] += 1
    return result


# -- picking -------------------------------------------------------------------------------------


def indices_in(shape: tuple[int, ...], lead: tuple[int, ...], seed: int = 0) -> Array:
    """Random index tuples within a shape, of shape (*lead, rank)."""
    random = np.random.default_rng([seed, *shape, *lead])
    columns = [random.integers(0, length, lead) for length in shape]
    return np.stack(columns, -1).astype(np.int32)


def _gather_cases() -> list[Case]:
    cases = []
    batched: list[tuple[tuple[int, ...], tuple[int, ...], int, int]] = [
        ((3, 5), (3, 2), 1, 1),
        ((3, 5), (3,), 1, 1),
        ((3, 5), (3, 2, 2), -1, 1),
        ((3, 5), (3, 2), 1, -1),
        ((3, 5), (2,), 1, -1),
        ((2, 3, 5, 4), (2, 3, 7), 2, -1),
        ((2, 3, 5, 4), (2, 3), -1, -2),
        ((3, 5, 4), (3, 2), 1, 1),
        ((3, 5, 4), (3, 2), 2, 1),
        ((2, 3, 5, 4), (2, 3, 7), 2, 2),
        ((2, 3, 5, 4), (2, 3), 3, 2),
        ((2, 3, 2, 5, 2, 3), (2, 3, 2, 4), 3, 3),
        ((2, 0, 5), (2, 0, 3), 2, 2),
        ((3, 5), (3, 0), 1, 1),
    ]
    for shape, indices_shape, axis, batch_dims in batched:
        length = shape[axis]
        chosen = ints(indices_shape, -length, length)
        sample = len(shape) == 3
        cases.append(
            Case("gather", (floats(shape), chosen, axis, batch_dims), gather, sample=sample)
        )
    cases += [
        Case("gather", (large_ints((3, 5)), ints((3, 4), 0, 5), 1, 1), gather),
        Case("gather", (bools((3, 5)), ints((3, 4), 0, 5), 1, 1), gather),
    ]
    cases += [
        Case("gather", (complexes((3, 5)), ints((3, 4), 0, 5), 1, 1), gather),
        Case("gather_nd", (complexes((3, 5)), indices_in((3, 5), (6,))), gather_nd),
        Case("gather_nd", (complexes((3, 5)), indices_in((3,), (2,))), gather_nd),
        Case("take_along_axis", (complexes((3, 5)), ints((2, 5), 0, 3), 0), take_along_axis),
        Case("take_along_axis", (complexes((1, 5)), ints((3, 2), 0, 5)), take_along_axis),
    ]
    picks: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
        ((5,), (3,), 1),
        ((5,), (), 1),
        ((3, 5), (4,), 2),
        ((3, 5), (4,), 1),
        ((3, 5), (2, 2), 2),
        ((3, 5), (), 2),
        ((3, 5), (2,), 0),
        ((2, 3, 4), (5,), 2),
        ((2, 3, 4), (5,), 3),
        ((2, 3, 1, 2, 4), (2, 3), 4),
        ((2, 2, 2, 2, 2, 2), (3,), 6),
        ((2, 2, 2, 2, 2, 2), (3,), 2),
        ((3, 5), (0,), 2),
        ((3, 0), (2,), 1),
        ((70, 33), (40,), 2),
    ]
    for shape, lead, depth in picks:
        indices = indices_in(shape[:depth], lead) if depth else np.zeros((*lead, 0), np.int32)
        sample = len(shape) == 3
        cases.append(Case("gather_nd", (floats(shape), indices), gather_nd, sample=sample))
    indices = indices_in((3, 5), (6,))
    cases += [
        Case("gather_nd", (large_ints((3, 5)), indices), gather_nd),
        Case("gather_nd", (bools((3, 5)), indices), gather_nd),
    ]
    along: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
        ((5,), (3,), 0),
        ((3, 5), (3, 2), 1),
        ((3, 5), (2, 5), 0),
        ((3, 5), (3, 2), -1),
        ((3, 5), (1, 2), 1),
        ((1, 5), (3, 2), 1),
        ((2, 3, 4), (2, 7, 4), 1),
        ((2, 3, 1, 2, 4), (2, 3, 1, 5, 4), 3),
        ((2, 2, 2, 2, 2, 2), (2, 2, 2, 2, 2, 3), 5),
        ((3, 5), (3, 0), 1),
        ((70, 33), (70, 40), 1),
    ]
    for shape, indices_shape, axis in along:
        length = shape[axis]
        chosen = ints(indices_shape, -length, length)
        sample = len(shape) == 2
        cases.append(
            Case("take_along_axis", (floats(shape), chosen, axis), take_along_axis, sample=sample)
        )
    cases.append(Case("take_along_axis", (bools((3, 5)), ints((3, 2), 0, 5)), take_along_axis))
    return cases


# -- putting -------------------------------------------------------------------------------------


def _sum_of(indices: Array, updates: Array, shape: Any) -> Array:
    return scatter_nd(indices, np.abs(updates), shape)


def _scatter_cases() -> list[Case]:
    cases = []
    sums = summed(_sum_of, 8)
    puts: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
        ((5,), (7,), 1),
        ((5,), (), 1),
        ((3, 5), (4,), 2),
        ((3, 5), (4,), 1),
        ((3, 5), (2, 2), 2),
        ((2, 3, 4), (5,), 2),
        ((2, 3, 4), (9,), 3),
        ((2, 3, 1, 2, 4), (2, 3), 4),
        ((2, 2, 2, 2, 2, 2), (3,), 6),
        ((3, 5), (0,), 2),
        ((3, 0), (2,), 1),
        ((70, 33), (300,), 2),
        ((1031,), (40,), 1),
    ]
    for shape, lead, depth in puts:
        indices = indices_in(shape[:depth], lead)
        updates = floats((*lead, *shape[depth:]))
        sample = len(shape) == 2
        cases.append(Case("scatter_nd", (indices, updates, shape), scatter_nd, sums, sample=sample))
        x = floats(shape, seed=1)
        cases.append(
            Case(
                "tensor_scatter_update", (x, indices, updates), tensor_scatter_update, sample=sample
            )
        )
    indices = indices_in((3, 5), (6,))
    many = indices_in((70, 300), (20_000,))
    cases += [
        Case("scatter_nd", (indices, large_ints((6,)), (3, 5)), scatter_nd),
        Case("scatter_nd", (indices, bools((6,)), (3, 5)), lambda *args: scatter_nd(*args) > 0),
        Case("scatter_nd", (many, ints((20_000,)), (70, 300)), scatter_nd, note="of very many"),
        Case(
            "tensor_scatter_update",
            (ints((3, 5)), indices, large_ints((6,))),
            tensor_scatter_update,
        ),
        Case("tensor_scatter_update", (bools((3, 5)), indices, bools((6,))), tensor_scatter_update),
        Case("tensor_scatter_update", (ints((3, 5)), indices, floats((6,))), tensor_scatter_update),
        Case(
            "tensor_scatter_update",
            (ints((70, 300)), many, ints((20_000,), 0, 100_000)),
            tensor_scatter_update,
            note="of very many",
        ),
        *(
            Case(name, args, oracle)
            for shape, updated in (((5, 3), [0, 4, 2]), ((5,), [3]), ((5,), [1, 1]))
            for along in (arr(updated, np.int32),)
            for updates in (floats((len(updated), *shape[1:])),)
            for name, args, oracle in (
                ("scatter_nd", (along, updates, shape), scatter_nd),
                ("tensor_scatter_update", (ints(shape), along, updates), tensor_scatter_update),
            )
        ),
        Case("scatter_nd", (arr([3, 1], np.int32), floats(()), (4, 2)), scatter_nd),
        Case("scatter_nd", (arr([3, 1], np.int32), floats((2,)), (4, 2, 2)), scatter_nd),
        Case("sparse_to_dense", (indices, floats((6,)), (3, 5)), sparse_to_dense),
        Case("sparse_to_dense", (indices, floats((6,)), (3, 5), 7.0), sparse_to_dense),
        Case("sparse_to_dense", (indices, 3, (3, 5), -1), sparse_to_dense),
        Case(
            "sparse_to_dense", (arr([4, 0, 2], np.int32), large_ints((3,)), (5,)), sparse_to_dense
        ),
        Case("sparse_to_dense", (3, 2.5, (5,), 1.0), sparse_to_dense),
        Case("sparse_to_dense", (indices[:, :1], bools((6,)), (3,), False), sparse_to_dense),
        Case("sparse_to_dense", (indices[:0], floats((0,)), (3, 5), 2.0), sparse_to_dense),
    ]
    z = complexes((3, 5))
    cases += [
        Case("scatter_nd", (indices, complexes((6,)), (3, 5)), scatter_nd, summed(_sum_of, 8)),
        Case("tensor_scatter_update", (z, indices, complexes((6,))), tensor_scatter_update),
        Case("tensor_scatter_update", (z, indices, floats((6,))), tensor_scatter_update),
        Case(
            "sparse_to_dense",
            (indices, complexes((6,)), (3, 5), arr(1j, np.complex64)),
            sparse_to_dense,
        ),
        Case(
            "unsorted_segment_sum",
            (z, arr([1, 0, 1], np.int32), 3),
            unsorted_segment_sum,
            FEW_ROUNDINGS,
        ),
        Case("bincount", (ints((5,), 0, 3), complexes((5,)), 3), bincount, FEW_ROUNDINGS),
        Case("bincount", (ints((5,), 0, 3), complexes((5,))), bincount, FEW_ROUNDINGS),
        Case(
            "dense_bincount",
            (ints((2, 5), 0, 3), complexes((2, 5)), 3),
            dense_bincount,
            FEW_ROUNDINGS,
        ),
    ]
    for shape, count in (
        ((7,), 3),
        ((7, 4), 5),
        ((7, 3), 5),
        ((40, 2, 3), 4),
        ((9, 1, 2, 1, 3, 1), 2),
        ((0, 3), 2),
        ((5,), 0),
        ((300, 8), 40),
    ):
        segments = ints(shape[:1], -1, count + 1)
        tolerance = summed(
            lambda x, ids, count: unsorted_segment_sum(np.abs(x), ids, count), shape[0]
        )
        cases.append(
            Case(
                "unsorted_segment_sum",
                (floats(shape), segments, count),
                unsorted_segment_sum,
                tolerance,
            )
        )
    ids = ints((30_000,), 0, 20_000)
    cases += [
        Case("unsorted_segment_sum", (large_ints((9,)), ints((9,), 0, 3), 3), unsorted_segment_sum),
        Case("unsorted_segment_sum", (bools((9, 2)), ints((9,), 0, 3), 3), unsorted_segment_sum),
        Case(
            "unsorted_segment_sum",
            (ints((30_000,)), ids, 20_000),
            unsorted_segment_sum,
            note="of very many",
        ),
    ]
    for shape, size in (
        ((9,), 5),
        ((9,), 12),
        ((4, 9), 5),
        ((0,), 3),
        ((2, 0), 3),
        ((1000,), 7),
        ((9,), 0),
    ):
        numbers = ints(shape, 0, 8)
        weights = floats(shape, 0.5, 2)
        tolerance = summed(lambda x, w, size, *rest: dense_bincount(x, np.abs(w), size), shape[-1])
        for name, oracle in (("bincount", bincount), ("dense_bincount", dense_bincount)):
            if name == "bincount" and len(shape) == 2:
                continue
            cases += [
                Case(name, (numbers, weights, size), oracle, tolerance),
                Case(name, (numbers, None, size), oracle),
                Case(name, (numbers, floats((0,)), size), oracle),
                Case(name, (numbers, ints(shape), size), oracle),
            ]
        cases += [
            Case("dense_bincount", (numbers, weights, size, True), dense_bincount),
            Case("dense_bincount", (numbers, None, size, True), dense_bincount),
        ]
    cases += [
        Case("bincount", (ints((9,), 0, 8),), bincount),
        Case("bincount", (ints((9,), 0, 8),), bincount, kwargs={"minlength": 5}),
        Case("bincount", (ints((9,), 0, 3),), bincount, kwargs={"minlength": 5}),
        Case("bincount", (ints((9,), 0, 4), bools((9,))), bincount),
        Case("dense_bincount", (ints((3, 9), 0, 8),), dense_bincount),
        Case("dense_bincount", (ints((3, 9), 0, 8), bools((3, 9)), 8, True), dense_bincount),
        Case(
            "math.confusion_matrix",
            (ints((50,), 0, 4), ints((50,), 0, 4, seed=1), 4),
            confusion_matrix,
        ),
        Case(
            "math.confusion_matrix",
            (ints((9,), -2, 7), ints((9,), -2, 7, seed=1), 4),
            confusion_matrix,
        ),
        Case(
            "math.confusion_matrix",
            (floats((30,), 0, 5), floats((30,), 0, 5, seed=1), 4),
            lambda labels, predictions, classes: confusion_matrix(
                np.trunc(labels).astype(int), np.trunc(predictions).astype(int), classes
            ),
        ),
        Case("math.confusion_matrix", (ints((0,)), ints((0,)), 3), confusion_matrix),
        Case("math.confusion_matrix", (ints((3,), 0, 1), ints((3,), 0, 1), 1), confusion_matrix),
    ]
    return cases


# -- gradients -----------------------------------------------------------------------------------


def _gradient_cases() -> list[Case]:
    x = floats((3, 4))
    indices = arr([[0, 1], [2, 3], [0, 1], [1, 0]], np.int32)
    rows = arr([[2], [0], [2]], np.int32)
    linear = [
        Case("gather", (x, ints((3, 5), -4, 4), 1, 1), gather),
        Case("gather", (floats((2, 3, 2, 2)), ints((2, 3), 0, 3), 1, 1), gather),
        Case("gather_nd", (x, indices), gather_nd),
        Case("gather_nd", (x, rows), gather_nd),
        Case("take_along_axis", (x, ints((3, 6), 0, 4), 1), take_along_axis),
        Case("take_along_axis", (floats((1, 4)), ints((3, 2), 0, 4), 1), take_along_axis),
        Case("scatter_nd", (indices, floats((4,)), (3, 4)), scatter_nd),
        Case("scatter_nd", (rows, floats((3, 2)), (3, 2)), scatter_nd),
        Case("scatter_nd", (arr([2, 0], np.int32), floats((2, 2)), (3, 2)), scatter_nd),
        Case("gather", (x, ints((3, 5), 0, 4), 1, -1), gather),
        Case("tensor_scatter_update", (x, indices, floats((4,), seed=1)), tensor_scatter_update),
        Case("tensor_scatter_update", (x, rows, floats((3, 4), seed=1)), tensor_scatter_update),
        Case("sparse_to_dense", (indices, floats((4,)), (3, 4), 1.5), sparse_to_dense),
        Case("sparse_to_dense", (indices, floats((4,)), (3, 4), floats(())), sparse_to_dense),
        Case(
            "unsorted_segment_sum",
            (floats((5, 2)), arr([1, 0, -1, 1, 9], np.int32), 3),
            unsorted_segment_sum,
        ),
        Case("unsorted_segment_sum", (floats((0, 2)), arr([], np.int32), 3), unsorted_segment_sum),
        Case("unsorted_segment_sum", (x, ints((3,), 0, 3), 0), unsorted_segment_sum),
        Case("bincount", (ints((7,), 0, 5), floats((7,)), 4), bincount),
        Case("bincount", (ints((7,), 0, 5), floats((7,)), 0), bincount),
        Case("dense_bincount", (ints((2, 7), 0, 5), floats((2, 7)), 4), dense_bincount),
        Case("dense_bincount", (ints((2, 7), 0, 5), floats((2, 7)), 0), dense_bincount),
    ]
    return list(map(gradient_of, linear))


GATHERING = _gather_cases()
SCATTERING = _scatter_cases()
GRADIENTS = _gradient_cases()
