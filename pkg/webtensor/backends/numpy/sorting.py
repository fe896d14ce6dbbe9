"""Kernels that sort the last axis and search sorted rows. NaN is last in every order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType, int32
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("argsort")
def argsort(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    descending: bool,
    outer: int,
    length: int,
) -> Handle:
    """Return the indices that sort each row, stably."""
    x = array_of(inputs[0]).reshape(outer, length)
    if descending:
        x = ~x if inputs[0].dtype is int32 else -x
    return np.argsort(x, axis=1, kind="stable").reshape(shape)


@kernel("topk")
def topk(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    k: int,
) -> Handle:
    """Return the indices of the k largest elements of each row, in descending order."""
    order = argsort(backend, inputs, (outer, length), dtype, True, outer, length)
    return order[:, :k].reshape(shape)


@kernel("search_sorted")
def search_sorted(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    right: bool,
    outer: int,
    length: int,
    count: int,
) -> Handle:
    """Return the index at which each value would be inserted into its sorted row."""
    rows = array_of(inputs[0]).reshape(outer, length)
    values = array_of(inputs[1]).reshape(outer, count)
    side: Any = "right" if right else "left"
    positions = [np.searchsorted(row, some, side) for row, some in zip(rows, values, strict=True)]
    return np.stack(positions).reshape(shape)
