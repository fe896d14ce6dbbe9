"""Kernels of running sums, products and recurrences along the middle axis of three."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("scan")
def scan(
    of: Signature, arrays: Arrays, kind: str, exclusive: bool, reverse: bool, *group: int
) -> Handle:
    """Combine each element with all before it, and with itself unless exclusive."""
    function, neutral = (np.cumsum, 0) if kind == "cumsum" else (np.cumprod, 1)
    x = arrays[0].reshape(group)
    ordered = x[:, ::-1] if reverse else x
    result = function(ordered, axis=1, dtype=x.dtype)
    if exclusive:
        result = np.concatenate([np.full_like(result[:, :1], neutral), result[:, :-1]], axis=1)
    return (result[:, ::-1] if reverse else result).reshape(of.shape)


@kernel("recurrence")
def recurrence(of: Signature, arrays: Arrays, reverse: bool, *group: int) -> Handle:
    """``y[k] = a[k] * y[k - 1] + b[k]``, from the other end if reverse."""
    a, b = (array.reshape(group) for array in arrays)
    result = np.empty_like(b)
    y = np.zeros_like(b[:, 0])
    for k in range(group[1])[:: -1 if reverse else 1]:
        result[:, k] = y = a[:, k] * y + b[:, k]
    return result.reshape(of.shape)
