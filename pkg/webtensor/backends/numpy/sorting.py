"""Kernels that sort the last axis and search sorted rows. NaN is last in every order."""

from __future__ import annotations

from typing import Any

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.dtypes import int32

__all__: list[str] = []


@kernel("argsort")
def argsort(of: Signature, arrays: Arrays, descending: bool, outer: int, length: int) -> Handle:
    """Return the indices that sort each row, stably."""
    x = arrays[0].reshape(outer, length)
    if descending:
        x = ~x if of.inputs[0].dtype is int32 else -x
    return np.argsort(x, axis=1, kind="stable").reshape(of.shape)


@kernel("topk")
def topk(of: Signature, arrays: Arrays, outer: int, length: int, k: int) -> Handle:
    """Return the indices of the k largest elements of each row, in descending order."""
    order = argsort(of._replace(shape=(outer, length)), arrays, True, outer, length)
    return order[:, :k].reshape(of.shape)


@kernel("search_sorted")
def search_sorted(
    of: Signature, arrays: Arrays, right: bool, outer: int, length: int, count: int
) -> Handle:
    """Return the index at which each value would be inserted into its sorted row."""
    rows = arrays[0].reshape(outer, length)
    values = arrays[1].reshape(outer, count)
    side: Any = "right" if right else "left"
    positions = [np.searchsorted(row, some, side) for row, some in zip(rows, values, strict=True)]
    return np.stack(positions).reshape(of.shape)
