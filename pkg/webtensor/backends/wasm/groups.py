"""Groups of channels, each of which is convolved with filters of its own."""

from __future__ import annotations

from webtensor.backends.signatures import Spec
from webtensor.backends.wasm.descriptions import Address, Call
from webtensor.backends.wasm.geometries import strided_geometry

__all__ = ["regrouping"]


def regrouping(images: Spec, groups: int, to: Address) -> Call:
    """Describe a copy of the first operand in which its groups of channels follow one another."""
    channels = images.shape[-1]
    depth = channels // groups
    shape = groups, images.size // channels, depth
    geometry = strided_geometry(shape, (depth, channels, 1), 0)
    return Call(("strided", "words"), (Address(0), to, geometry), images.size)
