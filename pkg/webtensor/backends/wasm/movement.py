"""Kernels that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.parameters import spread_parameters, strided_parameters
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__: list[str] = []

#: The kernels' word for an element of so many bytes.
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
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run = backend.functions["strided", _ELEMENTS[dtype.itemsize]]
    run(inputs[0].storage.handle, out, geometry)
    return out


@kernel("pad")
def pad(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    step: Shape,
    value: float,
) -> Handle:
    """Spread elements over a constant, ``step`` apart from ``low`` on."""
    (x,) = inputs
    geometry = backend.parameters.address(
        ("spread", x.shape, shape, low, step), spread_parameters, x.shape, shape, low, step
    )
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    constant = float(value) if dtype is float32 else int(value)
    backend.functions["fill", dtype](out, size, constant)
    backend.functions["spread", _ELEMENTS[dtype.itemsize]](x.storage.handle, out, geometry)
    return out


@kernel("mirror_pad")
def mirror_pad(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    skipped: int,
) -> Handle:
    """Surround elements with their mirror images; ``skipped`` outermost ones are not repeated."""
    (x,) = inputs
    once = (1,) * len(shape)
    geometry = backend.parameters.address(
        ("spread", x.shape, shape, low, once), spread_parameters, x.shape, shape, low, once
    )
    out = backend.allocate(prod(shape) * dtype.itemsize)
    backend.functions["spread", _ELEMENTS[dtype.itemsize]](x.storage.handle, out, geometry)
    mirror = backend.functions["mirror", "ends"]
    for axis in range(len(shape) - 1, -1, -1):
        length, own = shape[axis], x.shape[axis]
        if length != own:
            size = prod(shape[axis + 1 :]) * dtype.itemsize
            mirror(out, prod(shape[:axis]), length, size, low[axis], own, skipped)
    return out


@kernel("concat")
def concat(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    lengths: tuple[int, ...],
) -> Handle:
    """Join rows side by side."""
    copy = backend.functions["copy", "rows"]
    out = backend.allocate(prod(shape) * dtype.itemsize)
    row = sum(lengths) * dtype.itemsize
    to: int = out
    for x, length in zip(inputs, lengths, strict=True):
        width = length * dtype.itemsize
        copy(x.storage.handle, to, outer, width, row)
        to += width
    return out


@kernel("gather")
def gather(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Pick slices by index; out of range picks zeros."""
    x, indices = inputs
    run = backend.functions[("gather",)]
    out = backend.allocate(prod(shape) * dtype.itemsize)
    width = inner * dtype.itemsize
    run(x.storage.handle, indices.storage.handle, out, outer, length, width, count)
    return out


@kernel("flat_indices")
def flat_indices(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Places, in row-major order, of rows of coordinates; one past the last for those outside."""
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run = backend.functions["flat", "indices"]
    geometry = backend.parameters.integers(lengths)
    run(inputs[0].storage.handle, out, prod(shape), len(lengths), geometry)
    return out


@kernel("coordinates")
def coordinates(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, lengths: Shape
) -> Handle:
    """Coordinates of places in row-major order."""
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run = backend.functions[("coordinates",)]
    geometry = backend.parameters.integers(lengths)
    run(inputs[0].storage.handle, out, *shape, geometry)
    return out


@kernel("scatter_add")
def scatter_add(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    outer: int,
    length: int,
    inner: int,
    count: int,
) -> Handle:
    """Add slices up at their indices; those out of range are left out."""
    dy, indices = inputs
    run = backend.functions["scatter_add", dtype]
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run(dy.storage.handle, indices.storage.handle, out, outer, length, inner, count)
    return out
