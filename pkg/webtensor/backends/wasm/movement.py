"""Kernels that move elements."""

from __future__ import annotations

from typing import Any

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Address, Call, Description, one_call
from webtensor.backends.wasm.geometries import strided_geometry
from webtensor.shapes import Shape

__all__ = ["ELEMENT_WORDS"]

#: The kernels' word for an element of 1 or 4 bytes.
ELEMENT_WORDS = {1: "bytes", 4: "words"}


@kernel("strided")
def strided(of: Signature, strides: Shape, offset: int, *details: Any) -> Description:
    """Copy a strided view out."""
    geometry = strided_geometry(of.shape, strides, offset)
    return one_call(of, ("strided", ELEMENT_WORDS[of.dtype.itemsize]), geometry, work=of.size)


@kernel("concat")
def concat(of: Signature, outer: int, row_sizes: tuple[int, ...]) -> Description:
    """Join rows side by side."""
    widths = [length * of.dtype.itemsize for length in row_sizes]
    calls = []
    for index, width in enumerate(widths):
        to = Address(-1, sum(widths[:index]))
        arguments = (Address(index), to, outer, width, sum(widths))
        calls.append(Call(("copy", "rows"), arguments, outer * row_sizes[index]))
    return Description(of.bytes, tuple(calls))
