"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from webtensor.backends.api import Elementwise, Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.parameters import broadcast_parameters
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("unary")
def unary(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    row: Elementwise,
    *parameters: float,
) -> Handle:
    """Evaluate a row for each element."""
    (x,) = inputs
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    key = (row.name, x.dtype)
    backend.compute(key, size, x.storage.handle, out, size, *parameters)
    return out


@kernel("binary")
def binary(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, row: Elementwise
) -> Handle:
    """Evaluate a row for each pair of elements, with broadcasting."""
    x, y = inputs
    size = prod(shape)
    if x.shape == y.shape:
        out = backend.allocate(size * dtype.itemsize)
        backend.compute((row.name, x.dtype), size, x.storage.handle, y.storage.handle, out, size)
        return out
    shapes = (shape, x.shape, y.shape)
    geometry = backend.parameters.address(("broadcast", *shapes), broadcast_parameters, *shapes)
    out = backend.allocate(size * dtype.itemsize)
    key = (row.name, x.dtype, "broadcast")
    backend.compute(key, size, x.storage.handle, y.storage.handle, out, geometry)
    return out


@kernel("ternary")
def ternary(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, row: Elementwise
) -> Handle:
    """Evaluate a row for each three elements, with broadcasting."""
    x, y, z = inputs
    key = (row.name, y.dtype, "broadcast")
    shapes = (shape, x.shape, y.shape, z.shape)
    geometry = backend.parameters.address(("broadcast", *shapes), broadcast_parameters, *shapes)
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    handles = (x.storage.handle, y.storage.handle, z.storage.handle)
    backend.compute(key, size, *handles, out, geometry)
    return out


@kernel("joint")
def joint(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    row: Elementwise,
    *parameters: float,
) -> Handle:
    """Evaluate a row for elements of operands of one shape."""
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    addresses = [x.storage.handle for x in inputs]
    backend.compute((row.name, dtype), size, *addresses, out, size, *parameters)
    return out


@kernel("cast")
def cast(backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType) -> Handle:
    """Convert to another dtype; float to int32 truncates and saturates, and NaN becomes 0."""
    (x,) = inputs
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    backend.call(("cast", x.dtype, dtype), size, x.storage.handle, out, size)
    return out


@kernel("fill")
def fill(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, value: Any
) -> Handle:
    """Repeat one value."""
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    number = float(value) if dtype is float32 else int(value)
    backend.call(("fill", dtype), size, out, size, number)
    return out
