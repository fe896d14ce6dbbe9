"""Rows of coordinates and places in row-major order, each turned into the other."""

from __future__ import annotations

from webtensor.dtypes import int32
from webtensor.engine import Primitive, Tensor, run
from webtensor.ops.creation import zeros
from webtensor.shapes import Shape

__all__ = ["to_coordinates", "to_places"]

_FLAT_INDICES = Primitive("flat_indices")
_COORDINATES = Primitive("coordinates")


def to_places(rows: Tensor, lengths: Shape) -> Tensor:
    """Places, as int32, of rows of coordinates in a tensor of these lengths.

    ``rows`` has shape (count, len(lengths)). Where coordinates are outside, the place is the one
    past the last.
    """
    count, depth = rows.shape
    if depth == 0:
        return zeros((count,), int32)
    return run(_FLAT_INDICES, (rows,), (count,), int32, lengths)


def to_coordinates(places: Tensor, lengths: Shape) -> Tensor:
    """Rows of coordinates, int32 of shape (count, len(lengths)), of places that are inside."""
    shape = (places.size, len(lengths))
    if 0 in lengths:
        return zeros(shape, int32)
    return run(_COORDINATES, (places,), shape, int32, lengths)
