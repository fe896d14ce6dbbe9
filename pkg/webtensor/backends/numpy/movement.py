"""Kernels that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("strided")
def strided(of: Signature, arrays: Arrays, strides: Shape, offset: int, *details: Any) -> Handle:
    """Copy a strided view out."""
    flat = arrays[0].reshape(-1)
    in_bytes = tuple(stride * of.dtype.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(flat[offset:], of.shape, in_bytes).copy()


@kernel("concat")
def concat(of: Signature, arrays: Arrays, outer: int, row_sizes: tuple[int, ...]) -> Handle:
    """Join rows side by side."""
    rows = [x.reshape(outer, length) for x, length in zip(arrays, row_sizes, strict=True)]
    return np.concatenate(rows, axis=1).reshape(of.shape)
