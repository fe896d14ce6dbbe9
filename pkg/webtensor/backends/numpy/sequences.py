"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("sequence")
def sequence(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    start: float,
    step: float,
    last: float,
) -> Handle:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    numbers = np.arange(prod(shape), dtype=np.float64)
    numbers *= step
    numbers += start
    numbers[-1] = last
    return numbers.astype(dtype.name)


@kernel("ragged_sequence")
def ragged_sequence(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType
) -> Handle:
    """Element ``i`` of row ``r`` is ``starts[r] + i * deltas[r]``; rows begin at ``splits``."""
    starts, deltas, splits = (operand.storage.handle for operand in inputs)
    counts = np.diff(splits)
    index_in_row = np.arange(prod(shape)) - np.repeat(splits[:-1], counts)
    double = np.float64
    steps = index_in_row * np.repeat(deltas.astype(double), counts)
    return (np.repeat(starts.astype(double), counts) + steps).astype(dtype.name)


@kernel("eye")
def eye(backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, k: int) -> Handle:
    """Ones at (row, row + k), else zeros."""
    rows, columns = shape
    return np.eye(rows, columns, k, dtype=dtype.name)
