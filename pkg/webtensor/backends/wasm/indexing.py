"""Kernels that pick slices, and convert between coordinates and flat indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []

#: The kernels' word for an element of 1 or 4 bytes.
_ELEMENTS = {1: "bytes", 4: "words"}


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
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    width = inner * dtype.itemsize
    addresses = (x.storage.handle, indices.storage.handle, out)
    backend.call(("gather",), size, *addresses, outer, length, width, count)
    return out


@kernel("flat_indices")
def flat_indices(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Shape
) -> Handle:
    """Return the flat indices of rows of coordinates; one past the last for those outside."""
    run = backend.functions["flat", "indices"]
    geometry = backend.parameters.integers(sizes)
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run(inputs[0].storage.handle, out, prod(shape), len(sizes), geometry)
    return out


@kernel("coordinates")
def coordinates(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: Shape
) -> Handle:
    """Return the coordinates of flat indices in row-major order."""
    run = backend.functions[("coordinates",)]
    geometry = backend.parameters.integers(sizes)
    out = backend.allocate(prod(shape) * dtype.itemsize)
    run(inputs[0].storage.handle, out, *shape, geometry)
    return out
