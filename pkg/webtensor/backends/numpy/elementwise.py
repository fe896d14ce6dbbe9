"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Elementwise, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType, float32, int32
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("unary", "binary", "ternary", "joint")
def elementwise(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    row: Elementwise,
    *parameters: float,
) -> Handle:
    """Evaluate a row's NumPy expression with broadcasting."""
    result = row.numpy(np, *map(array_of, inputs), *parameters)
    return result if result.shape == shape else np.broadcast_to(result, shape)


@kernel("cast")
def cast(backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType) -> Handle:
    """Convert to another dtype; float to int32 saturates, and NaN becomes 0."""
    (x,) = map(array_of, inputs)
    if dtype is int32 and inputs[0].dtype is float32:
        return np.nan_to_num(x.astype(np.float64)).clip(-(2.0**31), 2.0**31 - 1).astype(np.int32)
    return x.astype(dtype.name)


@kernel("fill")
def fill(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, value: Any
) -> Handle:
    """Repeat one value."""
    return np.full(shape, value, dtype=dtype.name)
