"""Cases of sparse and ragged tensors. Oracles work on nested lists of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, encoded, floats, ints
from tests_py.cases.movement import large_ints
from tests_py.cases.table import Array, Case, combined, gradient_of, second_derivative_of, summed

__all__ = ["GRADIENTS", "RAGGED", "SPARSE"]


def i32(values: Any) -> Array:
    return arr(values, np.int32)


# -- sparse --------------------------------------------------------------------------------------


def fill_empty_rows(indices: Array, values: Array, shape: Array, default: Any) -> list[Array]:
    rows: list[list[tuple[list[int], Any, int | None]]] = [[] for _ in range(shape[0])]
    for number, (index, value) in enumerate(zip(indices.tolist(), values, strict=True)):
        rows[index[0]].append((index, value, number))
    empty = [not row for row in rows]
    for number, row in enumerate(rows):
        if not row:
            row.append(([number] + [0] * (len(shape) - 1), encoded(default), None))
    elements = [element for row in rows for element in row]
    went = {number: position for position, (_, _, number) in enumerate(elements)}
    return [
        np.array([index for index, _, _ in elements], np.int64).reshape(-1, len(shape)),
        np.array([value for _, value, _ in elements], values.dtype),
        np.array(empty, np.bool_),
        np.array([went[number] for number in range(len(values))], np.int64),
    ]


def sparse_reshape(indices: Array, before: Array, after: Array) -> list[Array]:
    """By looking at where the elements of a dense tensor go."""
    dense = np.arange(int(np.prod(before))).reshape(before)
    moved = dense.reshape(after)
    numbers = [dense[tuple(index)] for index in indices]
    new_indices = [np.argwhere(moved == number)[0] for number in numbers]
    return [
        np.array(new_indices, np.int64).reshape(len(indices), len(after)),
        np.array(moved.shape, np.int64),
    ]


def segment_sum(data: Array, indices: Array, segments: Array) -> Array:
    count = segments[-1] + 1 if len(segments) else 0
    result = np.zeros((count, *data.shape[1:]), data.dtype)
    for index, segment in zip(indices, segments, strict=True):
        result[segment] += data[index]
    return result


def segment_mean(data: Array, indices: Array, segments: Array) -> Array:
    total = segment_sum(data * 1.0, indices, segments)
    for segment in range(len(total)):
        total[segment] /= max(1, int(np.sum(segments == segment)))
    return total


def _sparse_cases() -> list[Case]:
    name = "sparse.sparse_fill_empty_rows"
    rows: list[tuple[Any, Any]] = [
        ([[0, 0], [1, 0], [1, 3], [3, 2]], [5, 6]),
        ([[3, 2], [0, 0], [3, 3], [0, 1]], [5, 4]),
        ([[0, 0], [1, 1]], [2, 2]),
        ([[2]], [4]),
        ([[0, 1, 2], [2, 1, 0]], [4, 2, 3]),
    ]
    cases = []
    for coordinates, shape in rows:
        for make in (floats, ints):
            values = make((len(coordinates),))
            args = (i32(coordinates), values, i32(shape), -1)
            cases.append(Case(name, args, fill_empty_rows))
    nothing = np.zeros((0, 2), np.int32)
    cases += [
        Case(name, (nothing, floats((0,)), i32([3, 2]), 7.0), fill_empty_rows),
        Case(name, (nothing, floats((0,)), i32([0, 2]), 7.0), fill_empty_rows),
        Case(name, (i32([[1, 1]]), bools((1,)), i32([3, 2]), True), fill_empty_rows),
        Case(
            name,
            (i32([[1, 1]]), complexes((1,)), i32([3, 2]), arr(1j, np.complex64)),
            fill_empty_rows,
        ),
    ]
    reshapes: list[tuple[tuple[int, ...], tuple[int, ...], list[list[int]]]] = [
        ((2, 3, 6), (9, -1), [[0, 0, 0], [0, 0, 1], [1, 2, 3]]),
        ((2, 3, 6), (9, 4), [[1, 2, 5]]),
        ((12,), (2, 1, 6), [[11], [0], [7]]),
        ((3, 4), (12,), [[2, 3], [0, 1]]),
        ((3, 4), (-1, 2), []),
        ((2, 2, 1, 2, 2), (4, 4), [[1, 0, 0, 1, 1]]),
    ]
    for before, after, coordinates in reshapes:
        indices = np.array(coordinates, np.int32).reshape(len(coordinates), len(before))
        cases.append(
            Case("sparse.sparse_reshape", (indices, i32(before), i32(after)), sparse_reshape)
        )
    segments_of: list[tuple[tuple[int, ...], list[int], list[int]]] = [
        ((3, 2), [0, 2, 1], [0, 0, 2]),
        ((5,), [4, 4, 0, 1], [1, 1, 1, 3]),
        ((4, 2, 3), [0, 3, 3, 1, 2], [0, 0, 1, 1, 1]),
        ((2, 1, 2, 1, 2, 1), [1, 0], [0, 1]),
        ((3, 2), [], []),
    ]
    for shape, numbers, segments in segments_of:
        picked = (i32(numbers), i32(segments))
        sums = summed(lambda x, *rest: segment_sum(np.abs(x), *rest), 4)
        means = summed(lambda x, *rest: segment_mean(np.abs(x), *rest), 5)
        cases += [
            Case("sparse.sparse_segment_sum", (floats(shape), *picked), segment_sum, sums),
            Case("sparse.sparse_segment_sum", (large_ints(shape), *picked), segment_sum),
            Case("sparse.sparse_segment_mean", (floats(shape), *picked), segment_mean, means),
            Case("sparse.sparse_segment_mean", (ints(shape), *picked), segment_mean, means),
        ]
    return cases


# -- ragged --------------------------------------------------------------------------------------


def _nested(splits: list[Any], values: list[Any]) -> list[Any]:
    """Rows of rows, as lists."""
    for row_splits in reversed(splits):
        ends = np.asarray(row_splits).tolist()
        values = [values[begin:end] for begin, end in pairwise(ends)]
    return values


def ragged_gather(splits: list[Any], values: Array, indices: Any, rank: int) -> Any:
    index_array = np.asarray(indices)
    numbers = list(range(len(values)))
    rows = _nested(splits, numbers)
    level: list[Any] = [rows[index] for index in index_array.ravel().tolist()]
    nested_splits = []
    count = 1
    for length, row in zip(index_array.shape, index_array.shape[1:], strict=False):
        count *= length
        nested_splits.append(np.arange(count + 1) * row)
    if index_array.ndim == 0:
        level = level[0]
    for _ in range(len(splits) - (index_array.ndim == 0)):
        nested_splits.append(np.cumsum([0] + [len(row) for row in level]))
        level = [element for row in level for element in row]
    return [*nested_splits, values[np.array(level, np.int64)]]


def ragged_range(starts: Any, limits: Any, deltas: Any) -> list[Array]:
    columns = np.broadcast_arrays(*map(np.atleast_1d, (starts, limits, deltas)))
    rows = [np.arange(*bounds) for bounds in zip(*columns, strict=True)]
    dtype = np.result_type(*(np.asarray(value) for value in (starts, limits, deltas)))
    values = np.concatenate([np.zeros(0, dtype), *rows]).astype(dtype)
    return [np.cumsum([0, *map(len, rows)]), values]


def to_tensor(shape: Any, values: Array, default: Any, parts: list[Any], types: list[str]) -> Array:
    splits = []
    rows = 0
    for part, kind in zip(parts, types, strict=True):
        numbers = np.atleast_1d(part).tolist()
        if kind == "FIRST_DIM_SIZE":
            rows = numbers[0]
            continue
        if kind == "VALUE_ROWIDS":
            numbers = np.cumsum([0] + [numbers.count(row) for row in range(rows)]).tolist()
        splits.append(numbers)
        rows = numbers[-1]
    ragged = _nested(splits, list(values))
    depth = len(splits) + 1
    widths = []
    level: list[Any] = [ragged]
    for _ in range(depth):
        widths.append(max((len(row) for row in level), default=0))
        level = [element for row in level for element in row]
    sizes = [*widths, *values.shape[1:]]
    if np.ndim(shape):
        sizes = [own if n < 0 else n for n, own in zip(shape, sizes, strict=True)]
    result = np.empty(sizes, values.dtype)
    result[...] = encoded(default)

    def fill(target: Array, row: Any, left: int) -> None:
        for index, element in enumerate(row[: len(target)]):
            if left == 1:
                target[index] = element
            else:
                fill(target[index], element, left - 1)

    fill(result, ragged, depth)
    return result


FIRST, IDS, SPLITS = "FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"


def _ragged_cases() -> list[Case]:
    cases = []
    two = [i32([0, 2, 3, 3]), i32([0, 1, 3, 4])]
    three = [i32([0, 1, 3]), *two]
    gathers: list[tuple[list[Array], tuple[int, ...], Any]] = [
        ([i32([0, 3, 3, 5, 6])], (6,), [2, 1, 0, 2]),
        ([i32([0, 3, 3, 5, 6])], (6,), [[2, 1], [0, 3]]),
        ([i32([0, 3, 3, 5, 6])], (6, 2), [3]),
        ([i32([0, 3, 3, 5, 6])], (6,), 2),
        ([i32([0, 3, 3, 5, 6])], (6,), []),
        (two, (4,), [1, 0, 1]),
        (two, (4, 2), [[2, 0], [0, 1]]),
        (two, (4,), 0),
        (three, (4,), [1, 0]),
        (three, (4,), [[[1]], [[0]]]),
    ]
    for splits, shape, indices in gathers:
        rank = len(splits) + np.ndim(indices) - 1
        args = (splits, floats(shape), i32(indices), rank)
        cases.append(Case("ragged_gather", args, ragged_gather))
    args = (two, large_ints((4,)), i32([1, 0]), 2)
    cases.append(Case("ragged_gather", args, ragged_gather))
    cases += [
        Case("ragged_range", (i32([0, 5, 8]), i32([3, 5, 2]), i32([1, 1, -3])), ragged_range),
        Case("ragged_range", (i32([0, 5, 8]), i32([8, 7, 8]), 2), ragged_range),
        Case("ragged_range", (0, 5, 2), ragged_range),
        Case("ragged_range", (i32([-(2**31), 7]), i32([-(2**31) + 2000, 9]), 1), ragged_range),
        Case("ragged_range", (arr([0.5, 2]), arr([2, 2.5]), arr([0.5, 0.25])), ragged_range),
        Case("ragged_range", (i32([0, 3]), 5, 1), ragged_range),
        Case("ragged_range", (i32([]), i32([]), i32([])), ragged_range),
    ]
    tensors: list[tuple[Any, Array, Any, list[Any], list[str]]] = [
        (-1, floats((4,)), 0.0, [i32([0, 1, 1, 4])], [SPLITS]),
        (i32([-1, -1]), floats((4,)), 1.5, [i32([0, 1, 1, 4])], [SPLITS]),
        (i32([2, 2]), floats((9,)), 1.5, [i32([0, 3, 3, 7, 9])], [SPLITS]),
        (i32([6, 5]), floats((9,)), 1.5, [i32([0, 3, 3, 7, 9])], [SPLITS]),
        (i32([4, 4]), floats((9,)), 1.5, [i32(4), i32([0, 0, 0, 2, 2, 2, 2, 3, 3])], [FIRST, IDS]),
        (-1, floats((3,)), 1.5, [i32([3])], [FIRST]),
        (-1, floats((7,)), 9.0, [i32([0, 2, 2, 4]), i32([0, 1, 3, 3, 7])], [SPLITS, SPLITS]),
        (
            i32([2, -1, 2]),
            floats((7,)),
            9.0,
            [i32(3), i32([0, 0, 2]), i32([0, 2, 3, 7])],
            [FIRST, IDS, SPLITS],
        ),
        (-1, floats((3, 2)), 0.0, [i32([0, 2, 2, 3])], [SPLITS]),
        (i32([3, 3, 2]), floats((3, 2)), arr([8, 9]), [i32([0, 2, 2, 3])], [SPLITS]),
        (-1, floats((0,)), 0.0, [i32([0, 0, 0])], [SPLITS]),
        (i32([2, 3]), floats((0,)), 4.0, [i32([0, 0, 0])], [SPLITS]),
        (-1, large_ints((4,)), 7, [i32([0, 1, 1, 4])], [SPLITS]),
        (-1, bools((4,)), True, [i32([0, 1, 1, 4])], [SPLITS]),
    ]
    cases += [Case("ragged_tensor_to_tensor", args, to_tensor) for args in tensors]
    return cases


def _gradient_cases() -> list[Case]:
    splits = i32([0, 1, 1, 4])
    linear = [
        Case(
            "sparse.sparse_segment_sum",
            (floats((3, 2)), i32([0, 2, 0]), i32([0, 0, 2])),
            segment_sum,
        ),
        Case(
            "sparse.sparse_segment_mean",
            (floats((3, 2)), i32([0, 2, 0]), i32([0, 0, 2])),
            segment_mean,
        ),
        Case(
            "ragged_tensor_to_tensor", (-1, floats((4,)), arr(2.0), [splits], [SPLITS]), to_tensor
        ),
    ]
    squares = [
        Case(
            "combined",
            ("ragged_gather", [splits], floats((4, 2)), i32([2, 0, 2]), 1),
            combined(ragged_gather),
        ),
        Case(
            "combined",
            (
                "sparse.sparse_fill_empty_rows",
                i32([[2, 1], [0, 0]]),
                floats((2,)),
                i32([4, 2]),
                arr(-1.0),
            ),
            combined(fill_empty_rows),
        ),
    ]
    return [*map(gradient_of, linear + squares), *map(second_derivative_of, squares)]


SPARSE = _sparse_cases()
RAGGED = _ragged_cases()
GRADIENTS = _gradient_cases()
