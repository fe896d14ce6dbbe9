"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("sequence")
def sequence(of: Signature, arrays: Arrays, start: float, step: float, last: float) -> Handle:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    numbers = np.arange(of.size, dtype=np.float64)
    numbers *= step
    numbers += start
    numbers[-1] = last
    return numbers.astype(of.dtype.name)


@kernel("ragged_sequence")
def ragged_sequence(of: Signature, arrays: Arrays) -> Handle:
    """Element ``i`` of row ``r`` is ``starts[r] + i * deltas[r]``; rows begin at ``splits``."""
    starts, deltas, splits = arrays
    counts = np.diff(splits)
    index_in_row = np.arange(of.size) - np.repeat(splits[:-1], counts)
    double = np.float64
    steps = index_in_row * np.repeat(deltas.astype(double), counts)
    return (np.repeat(starts.astype(double), counts) + steps).astype(of.dtype.name)


@kernel("eye")
def eye(of: Signature, arrays: Arrays, k: int) -> Handle:
    """Ones at (row, row + k), else zeros."""
    rows, columns = of.shape
    return np.eye(rows, columns, k, dtype=of.dtype.name)
