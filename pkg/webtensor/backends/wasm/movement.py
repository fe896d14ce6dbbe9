"""Kernels that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.parameters import strided_parameters
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []

#: The kernels' word for an element of 1 or 4 bytes.
_ELEMENTS = {1: "bytes", 4: "words"}


@kernel("strided")
def strided(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    strides: Shape,
    offset: int,
    *details: Any,
) -> Handle:
    """Copy a strided view out."""
    geometry = backend.parameters.address(
        ("strided", shape, strides, offset), strided_parameters, shape, strides, offset
    )
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    key = ("strided", _ELEMENTS[dtype.itemsize])
    backend.call(key, size, inputs[0].storage.handle, out, geometry)
    return out


@kernel("concat")
def concat(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    row_sizes: tuple[int, ...],
) -> Handle:
    """Join rows side by side."""
    out = backend.allocate(prod(shape) * dtype.itemsize)
    row = sum(row_sizes) * dtype.itemsize
    to: int = out
    for x, length in zip(inputs, row_sizes, strict=True):
        width = length * dtype.itemsize
        work = outer * length
        backend.call(("copy", "rows"), work, x.storage.handle, to, outer, width, row)
        to += width
    return out
