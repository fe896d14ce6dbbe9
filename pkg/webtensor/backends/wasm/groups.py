"""Groups of channels, each of which is convolved with filters of its own."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.backends.signatures import Spec
from webtensor.backends.wasm.descriptions import Address, Call
from webtensor.backends.wasm.geometries import strided_geometry

__all__ = ["Regrouped", "regrouped"]


class Regrouped(NamedTuple):
    """Images whose groups of channels follow one another.

    Attributes:
        address: where they are.
        calls: what copies them there.
        scratch: the size of the block for that, if it is needed.
    """

    address: Address
    calls: tuple[Call, ...] = ()
    scratch: tuple[int, ...] = ()


def regrouped(images: Spec, groups: int, to: Address) -> Regrouped:
    """Describe a copy of the first operand, or the operand itself if it has one group."""
    if groups == 1:
        return Regrouped(Address(0))
    channels = images.shape[-1]
    depth = channels // groups
    shape = groups, images.size // channels, depth
    geometry = strided_geometry(shape, (depth, channels, 1), 0)
    copy = Call(("strided", "words"), (Address(0), to, geometry), images.size)
    return Regrouped(to, (copy,), (4 * images.size,))
