"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

from typing import Any

from webtensor.backends.api import Elementwise
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call
from webtensor.backends.wasm.geometries import broadcast_geometry
from webtensor.dtypes import float32

__all__: list[str] = []


@kernel("unary")
def unary(of: Signature, row: Elementwise, *parameters: float) -> Description:
    """Evaluate a row for each element."""
    export = (row.name, of.inputs[0].dtype)
    return one_call(of, export, of.size, *parameters, work=of.size, shared=True)


@kernel("binary")
def binary(of: Signature, row: Elementwise) -> Description:
    """Evaluate a row for each pair of elements, with broadcasting."""
    x, y = of.inputs
    if x.shape == y.shape:
        return one_call(of, (row.name, x.dtype), of.size, work=of.size, shared=True)
    return _with_broadcasting(of, row, x.dtype)


@kernel("ternary")
def ternary(of: Signature, row: Elementwise) -> Description:
    """Evaluate a row for each three elements, with broadcasting."""
    return _with_broadcasting(of, row, of.inputs[1].dtype)


def _with_broadcasting(of: Signature, row: Elementwise, dtype: str) -> Description:
    geometry = broadcast_geometry(of.shape, *(operand.shape for operand in of.inputs))
    return one_call(of, (row.name, dtype, "broadcast"), geometry, work=of.size, shared=True)


@kernel("joint")
def joint(of: Signature, row: Elementwise, *parameters: float) -> Description:
    """Evaluate a row for elements of operands of one shape."""
    return one_call(of, (row.name, of.dtype), of.size, *parameters, work=of.size, shared=True)


@kernel("cast")
def cast(of: Signature) -> Description:
    """Convert to another dtype; float to int32 truncates and saturates, and NaN becomes 0."""
    return one_call(of, ("cast", of.inputs[0].dtype, of.dtype), of.size, work=of.size)


@kernel("fill")
def fill(of: Signature, value: Any) -> Description:
    """Repeat one value."""
    number = float(value) if of.dtype is float32 else int(value)
    return one_call(of, ("fill", of.dtype), of.size, number, work=of.size)
