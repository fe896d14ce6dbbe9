"""Kernels that surround elements, with a constant or with mirror images."""

from __future__ import annotations

from math import prod
from struct import pack, unpack

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import RESULT, Address, Call, Description
from webtensor.backends.wasm.elementwise import fill
from webtensor.backends.wasm.geometries import spread_geometry
from webtensor.backends.wasm.movement import ELEMENT_WORDS
from webtensor.dtypes import float32
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("pad")
def pad(of: Signature, low: Shape, step: Shape, value: float) -> Description:
    """Write elements over a constant, ``step`` apart from ``low`` on."""
    if 0 in of.inputs[0].shape:
        return fill(of, value)
    bits = unpack("i", pack("f", value))[0] if of.dtype is float32 else int(value)
    return Description(of.bytes, (_spread(of, low, step, of.size, bits),))


@kernel("mirror_pad")
def mirror_pad(of: Signature, low: Shape, skipped: int) -> Description:
    """Pad with mirror images of the elements; the ``skipped`` outermost ones are not repeated."""
    shape, own = of.shape, of.inputs[0].shape
    calls = [_spread(of, low, (1,) * len(shape))]
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] != own[axis]:
            size = prod(shape[axis + 1 :]) * of.dtype.itemsize
            sizes = (prod(shape[:axis]), shape[axis], size, low[axis], own[axis], skipped)
            calls.append(Call(("mirror", "ends"), (RESULT, *sizes)))
    return Description(of.bytes, tuple(calls))


def _spread(of: Signature, low: Shape, step: Shape, total: int = 0, bits: int = 0) -> Call:
    """Return the call that writes the elements into the result.

    Up to ``total`` elements it writes a constant of these ``bits`` between; none if that is 0.
    """
    geometry = spread_geometry(of.inputs[0].shape, of.shape, low, step)
    export = ("spread", ELEMENT_WORDS[of.dtype.itemsize])
    return Call(export, (Address(0), RESULT, geometry, total, bits), total)
