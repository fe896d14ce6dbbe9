"""Random calls of picking and putting by tensors of indices, of segments and bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases import scatter
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case, summed

__all__ = ["GENERATORS"]


def _indices(draw: Draw, counted: Shape) -> Array:
    """Index tuples along axes, with repetitions; none where there is nothing to point at."""
    lead = (0,) if 0 in counted else draw.shape(0, 2, most_elements=20)
    columns = [draw.ints(lead, 0, length) for length in counted]
    return np.stack(columns, -1) if columns else np.zeros((*lead, 0), np.int32)


def _counted(draw: Draw, shape: Shape, least: int = 0) -> Shape:
    """The axes that indices are along."""
    return shape[: draw.integer(min(least, len(shape)), len(shape))]


def _gather_nd(draw: Draw) -> Case:
    shape = draw.shape()
    indices = _indices(draw, _counted(draw, shape))
    return call("gather_nd", draw.numbers(shape, "fibcts"), indices)


def _scatter_nd(draw: Draw) -> Case:
    shape = draw.shape(1)
    counted = _counted(draw, shape, 1)
    indices = _indices(draw, counted)
    updates = draw.numbers((*indices.shape[:-1], *shape[len(counted) :]), "ffibc")

    def sizes(indices: Array, updates: Array, shape: Shape) -> Array:
        return scatter.scatter_nd(indices, np.abs(updates), shape)

    return call("scatter_nd", indices, updates, shape, tolerance=summed(sizes, indices.size))


def _tensor_scatter_update(draw: Draw) -> Case:
    shape = draw.shape(1)
    counted = _counted(draw, shape, 1)
    indices = _indices(draw, counted)
    kinds = draw.pick(["ff", "ii", "bb", "cc", "tt", "ss", "if", "fi", "fc"])
    x = draw.numbers(shape, kinds[0])
    updates = draw.numbers((*indices.shape[:-1], *shape[len(counted) :]), kinds[1])
    return call("tensor_scatter_update", x, indices, updates)


def _sparse_to_dense(draw: Draw) -> Case:
    shape = draw.shape(1)
    indices = _indices(draw, shape)
    indices = (
        indices.reshape(-1, len(shape)) if indices.size else np.zeros((0, len(shape)), np.int32)
    )
    values = draw.numbers((len(indices),), "fibts")
    default: Any = {"f": 1.5, "i": -1, "b": True, "O": "-"}[values.dtype.kind]
    if len(shape) == 1 and draw.chance():
        indices = indices[:, 0]
    if values.dtype.kind == "f" and draw.chance(3):
        values = draw.floats(())
    args: list[Any] = [indices, values, shape]
    if values.dtype.kind == "O" or draw.chance():
        args.append(default)
    return call("sparse_to_dense", *args)


def _unsorted_segment_sum(draw: Draw) -> Case:
    shape = draw.shape(1)
    count = draw.integer(0, 6)
    segments = draw.ints(shape[:1], -2, count + 2)

    def sizes(x: Array, segments: Array, count: int) -> Array:
        return scatter.unsorted_segment_sum(np.abs(x), segments, count)

    x = draw.numbers(shape, "ffibc")
    tolerance = summed(sizes, shape[0])
    return call("unsorted_segment_sum", x, segments, count, tolerance=tolerance)


def _weights(draw: Draw, shape: Shape) -> Array | None:
    kind = draw.pick(["none", "nothing", "f", "f", "i", "b"])
    if kind == "none":
        return None
    return draw.floats((0,)) if kind == "nothing" else draw.numbers(shape, kind)


def _bincount(draw: Draw) -> Case:
    shape = draw.shape(1, 1)
    weights = _weights(draw, shape)
    size = draw.pick([None, 0, 3, 7, 12])

    def sizes(x: Array, weights: Array, size: int | None) -> Array:
        return scatter.bincount(x, np.abs(weights), size)

    x = draw.ints(shape, 0, 9)
    return call("bincount", x, weights, size, tolerance=summed(sizes, shape[0]))


def _dense_bincount(draw: Draw) -> Case:
    shape = draw.shape(1, 2)
    weights = _weights(draw, shape)
    size = draw.pick([None, 0, 3, 7, 12])

    def sizes(x: Array, weights: Array, size: int | None, binary: bool) -> Array:
        return scatter.dense_bincount(x, np.abs(weights), size)

    x = draw.ints(shape, 0, 9)
    tolerance = summed(sizes, shape[-1])
    return call("dense_bincount", x, weights, size, draw.chance(3), tolerance=tolerance)


def _confusion_matrix(draw: Draw) -> Case:
    shape, classes = draw.shape(1, 1), draw.integer(1, 6)
    outside = draw.pick([0, 0, 2])
    labels, predictions = (draw.ints(shape, -outside, classes + outside) for _ in range(2))
    return call("math.confusion_matrix", labels, predictions, classes)


GENERATORS: dict[str, Generator] = {
    "gather_nd": _gather_nd,
    "scatter_nd": _scatter_nd,
    "tensor_scatter_update": _tensor_scatter_update,
    "sparse_to_dense": _sparse_to_dense,
    "unsorted_segment_sum": _unsorted_segment_sum,
    "bincount": _bincount,
    "dense_bincount": _dense_bincount,
    "math.confusion_matrix": _confusion_matrix,
}
