"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from webtensor.backends.api import Elementwise, Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.dtypes import float32, int32

__all__: list[str] = []


@kernel("unary", "binary", "ternary", "joint")
def elementwise(of: Signature, arrays: Arrays, row: Elementwise, *parameters: float) -> Handle:
    """Evaluate a row's NumPy expression with broadcasting."""
    result = row.numpy(np, *arrays, *parameters)
    return result if result.shape == of.shape else np.broadcast_to(result, of.shape)


@kernel("cast")
def cast(of: Signature, arrays: Arrays) -> Handle:
    """Convert to another dtype; float to int32 saturates, and NaN becomes 0."""
    (x,) = arrays
    if of.dtype is int32 and of.inputs[0].dtype is float32:
        return np.nan_to_num(x.astype(np.float64)).clip(-(2.0**31), 2.0**31 - 1).astype(np.int32)
    return x.astype(of.dtype.name)


@kernel("fill")
def fill(of: Signature, arrays: Arrays, value: Any) -> Handle:
    """Repeat one value."""
    return np.full(of.shape, value, dtype=of.dtype.name)
