"""Kernels that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("strided")
def strided(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    strides: Shape,
    offset: int,
    *details: Any,
) -> Handle:
    """Copy a strided view out."""
    flat = array_of(inputs[0]).reshape(-1)
    in_bytes = tuple(stride * dtype.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, in_bytes).copy()


@kernel("concat")
def concat(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    row_sizes: tuple[int, ...],
) -> Handle:
    """Join rows side by side."""
    rows = [array_of(x).reshape(outer, length) for x, length in zip(inputs, row_sizes, strict=True)]
    return np.concatenate(rows, axis=1).reshape(shape)
