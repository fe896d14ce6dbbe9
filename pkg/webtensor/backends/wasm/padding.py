"""Kernels that surround elements, with a constant or with mirror images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.backends.wasm.parameters import spread_parameters
from webtensor.dtypes import DType, float32
from webtensor.shapes import Shape

__all__: list[str] = []

#: The kernels' word for an element of 1 or 4 bytes.
_ELEMENTS = {1: "bytes", 4: "words"}


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
    """Write elements over a constant, ``step`` apart from ``low`` on."""
    (x,) = inputs
    geometry = backend.parameters.address(
        ("spread", x.shape, shape, low, step), spread_parameters, x.shape, shape, low, step
    )
    size = prod(shape)
    out = backend.allocate(size * dtype.itemsize)
    constant = float(value) if dtype is float32 else int(value)
    backend.call(("fill", dtype), size, out, size, constant)
    backend.call(("spread", _ELEMENTS[dtype.itemsize]), size, x.storage.handle, out, geometry)
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
    """Pad with mirror images of the elements; the ``skipped`` outermost ones are not repeated."""
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
