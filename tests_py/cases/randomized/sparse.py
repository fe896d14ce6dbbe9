"""Random calls of functions of sparse and ragged tensors."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tests_py.cases import sparse
from tests_py.cases.inputs import arr
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.sparse import i32
from tests_py.cases.table import Array, Case, summed

__all__ = ["GENERATORS"]

# -- sparse ---------------------------------------------------------------------------------------


def _coordinates(draw: Draw, shape: Shape) -> Array:
    """Distinct places in any order."""
    size = prod(shape)
    flat = draw.shuffled(range(size))[: draw.integer(0, min(size, 9))]
    columns = np.unravel_index(np.array(flat, np.int64), shape)
    return np.stack(columns, -1).astype(np.int32)


def _fill_empty_rows(draw: Draw) -> Case:
    shape = draw.shape(1, 4, most_elements=60)
    indices = _coordinates(draw, shape)
    values = draw.numbers((len(indices),), "fsibt")
    default: Any = {"f": -1.5, "i": 7, "b": True, "O": "-"}[values.dtype.kind]
    return call("sparse.sparse_fill_empty_rows", indices, values, i32(shape), default)


def _regrouped(draw: Draw, shape: Shape) -> list[int]:
    """Another shape of as many elements."""
    left = prod(shape)
    factors: list[int] = []
    while left > 1 and len(factors) < 4:
        factors.append(draw.pick([n for n in range(1, left + 1) if left % n == 0]))
        left //= factors[-1]
    return [*factors, left] if left != 1 or not factors else factors


def _sparse_reshape(draw: Draw) -> Case:
    before = draw.filled_shape(1, 5, 60)
    after = _regrouped(draw, before)
    if draw.chance():
        after[draw.integer(0, len(after) - 1)] = -1
    indices = _coordinates(draw, before)
    return call("sparse.sparse_reshape", indices, i32(before), i32(after))


def _segments(function: str, draw: Draw) -> Case:
    shape = draw.shape(1, 5)
    count = draw.integer(0, 9) if shape[0] else 0
    indices = draw.ints((count,), 0, shape[0]) if count else i32([])
    segments = np.sort(draw.ints((count,), 0, 6))
    oracle = {
        "sparse.sparse_segment_sum": sparse.segment_sum,
        "sparse.sparse_segment_mean": sparse.segment_mean,
    }[function]
    tolerance = summed(lambda x, *rest: oracle(np.abs(x), *rest), count + 1)
    return call(function, draw.numbers(shape, "ffi"), indices, segments, tolerance=tolerance)


# -- ragged ---------------------------------------------------------------------------------------


def _splits(draw: Draw, rows: int, most: int = 4) -> list[int]:
    """Where so many rows of random lengths end."""
    ends = [0]
    for _ in range(rows):
        ends.append(ends[-1] + draw.integer(0, most))
    return ends


def _ragged_gather(draw: Draw) -> Case:
    rows = draw.integer(0, 5)
    nested: list[Array] = []
    count = rows
    for _ in range(draw.integer(1, 3)):
        splits = _splits(draw, count, 3)
        nested.append(i32(splits))
        count = splits[-1]
    values = draw.numbers((count, *draw.shape(0, 2, most_elements=8)), "fsibt")
    lead = draw.shape(0, 3, most_elements=12)
    lead = lead if rows else (0,)
    indices = draw.ints(lead, 0, rows) if rows else i32([])
    return call("ragged_gather", nested, values, indices, len(nested) + indices.ndim - 1)


def _ragged_range(draw: Draw) -> Case:
    rows = draw.integer(0, 5)
    whole = draw.chance()

    def column(low: int, high: int) -> Array:
        numbers = draw.ints(() if draw.chance(3) else (rows,), low, high)
        return numbers if whole else arr(numbers / 4)

    steps = column(1, 5)
    steps = steps if draw.chance() else arr(-steps, steps.dtype)
    return call("ragged_range", column(-9, 10), column(-9, 10), steps)


def _partitions(draw: Draw) -> tuple[list[Array], list[str], list[int], int]:
    """Partitions, their kinds, the natural lengths, and how many values they part."""
    rows = draw.integer(0, 4)
    parts: list[Array] = []
    types: list[str] = []
    sizes = [rows]
    named = draw.chance()
    if named:
        parts.append(i32(rows) if draw.chance() else i32([rows]))
        types.append(sparse.FIRST)
    for _ in range(draw.integer(0 if named else 1, 3)):
        splits = _splits(draw, rows, 3)
        sizes.append(max(np.diff(splits).tolist(), default=0))
        if types and draw.chance():
            parts.append(i32(np.repeat(np.arange(rows), np.diff(splits))))
            types.append(sparse.IDS)
        else:
            parts.append(i32(splits))
            types.append(sparse.SPLITS)
        rows = splits[-1]
    return parts, types, sizes, rows


def _ragged_tensor_to_tensor(draw: Draw) -> Case:
    parts, types, natural, count = _partitions(draw)
    element = draw.filled_shape(0, 2, 6)
    values = draw.numbers((count, *element), "fsibt")
    default: Any = {"f": 1.5, "i": 7, "b": True, "O": "-"}[values.dtype.kind]
    if values.dtype.kind == "f" and element and draw.chance(4):
        default = arr(draw.floats(element[-1:]))
    shape: Any = -1
    if draw.chance():
        outer = [draw.pick([-1, length, max(0, length - 1), length + 2]) for length in natural]
        shape = i32([*outer, *element])
    return call("ragged_tensor_to_tensor", shape, values, default, parts, types)


GENERATORS: dict[str, Generator] = {
    "sparse.sparse_fill_empty_rows": _fill_empty_rows,
    "sparse.sparse_reshape": _sparse_reshape,
    **{
        function: partial(_segments, function)
        for function in ("sparse.sparse_segment_sum", "sparse.sparse_segment_mean")
    },
    "ragged_gather": _ragged_gather,
    "ragged_range": _ragged_range,
    "ragged_tensor_to_tensor": _ragged_tensor_to_tensor,
}
