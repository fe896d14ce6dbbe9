"""Kernels of the elementwise table, casts and fills."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from webtensor.backends.api import Elementwise
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call
from webtensor.backends.wasm.geometries import broadcast_geometry
from webtensor.dtypes import float32

__all__ = ["fill", "instructions"]

#: About how many instructions functions of ``vector_math.h`` take for an element: the time in
#: Chromium, as a multiple of a sum's (0.3 ns).
_INSTRUCTIONS: Final = {
    "vacos": 3,
    "vacosh": 15,
    "vasin": 3,
    "vasinh": 17,
    "vatan": 4,
    "vatan2": 6,
    "vatanh": 12,
    "vcos": 8,
    "vcosh": 4,
    "verf": 10,
    "verf_inv": 16,
    "vexp": 4,
    "vexpm1": 4,
    "vhypot": 4,
    "vlog": 6,
    "vlog10": 6,
    "vlog1p": 8,
    "vlog2": 6,
    "vlogaddexp": 19,
    "vpow": 40,
    "vremainder": 5,
    "vsin": 8,
    "vsinh": 9,
    "vtan": 9,
    "vtanh": 5,
}


@cache
def instructions(expression: str) -> int:
    """Return about how many instructions a row's expression takes; a sum counts as one."""
    return 1 + sum(_INSTRUCTIONS.get(name, 0) for name in re.findall(r"\w+(?=\()", expression))


def _work(of: Signature, row: Elementwise) -> int:
    return of.size * instructions(row.c)


@kernel("unary")
def unary(of: Signature, row: Elementwise, *parameters: float) -> Description:
    """Evaluate a row for each element."""
    export = (row.name, of.inputs[0].dtype)
    return one_call(of, export, of.size, *parameters, work=_work(of, row), is_shared=True)


@kernel("binary")
def binary(of: Signature, row: Elementwise) -> Description:
    """Evaluate a row for each pair of elements, with broadcasting."""
    x, y = of.inputs
    if x.shape == y.shape:
        return one_call(of, (row.name, x.dtype), of.size, work=_work(of, row), is_shared=True)
    return _with_broadcasting(of, row, x.dtype)


@kernel("ternary")
def ternary(of: Signature, row: Elementwise) -> Description:
    """Evaluate a row for each three elements, with broadcasting."""
    return _with_broadcasting(of, row, of.inputs[1].dtype)


def _with_broadcasting(of: Signature, row: Elementwise, dtype: str) -> Description:
    geometry = broadcast_geometry(of.shape, *(operand.shape for operand in of.inputs))
    return one_call(
        of, (row.name, dtype, "broadcast"), geometry, work=_work(of, row), is_shared=True
    )


@kernel("joint")
def joint(of: Signature, row: Elementwise, *parameters: float) -> Description:
    """Evaluate a row for elements of operands of one shape."""
    export = (row.name, of.dtype)
    return one_call(of, export, of.size, *parameters, work=_work(of, row), is_shared=True)


@kernel("cast")
def cast(of: Signature) -> Description:
    """Convert to another dtype; float to int32 truncates and saturates, and NaN becomes 0."""
    return one_call(of, ("cast", of.inputs[0].dtype, of.dtype), of.size, work=of.size)


@kernel("fill")
def fill(of: Signature, value: Any) -> Description:
    """Repeat one value."""
    number = float(value) if of.dtype is float32 else int(value)
    return one_call(of, ("fill", of.dtype), of.size, number, work=of.size)
