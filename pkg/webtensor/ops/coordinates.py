"""Conversion between rows of coordinates and flat indices in row-major order."""

from __future__ import annotations

from webtensor.dtypes import int32
from webtensor.engine import Primitive, Tensor, run
from webtensor.ops.creation import zeros
from webtensor.shapes import Shape

__all__ = ["to_coordinates", "to_flat_indices"]

_FLAT_INDICES = Primitive("flat_indices")
_COORDINATES = Primitive("coordinates")


def to_flat_indices(rows: Tensor, sizes: Shape) -> Tensor:
    """Return the flat indices, int32, of rows of coordinates in a tensor of shape ``sizes``.

    ``rows`` has shape (count, len(sizes)). Coordinates outside the tensor get the flat index one
    past the last element.
    """
    count, depth = rows.shape
    if depth == 0:
        return zeros((count,), int32)
    return run(_FLAT_INDICES, (rows,), (count,), int32, sizes)


def to_coordinates(flat_indices: Tensor, sizes: Shape) -> Tensor:
    """Return rows of coordinates, int32 of shape (count, len(sizes)), of valid flat indices."""
    shape = (flat_indices.size, len(sizes))
    if 0 in sizes:
        return zeros(shape, int32)
    return run(_COORDINATES, (flat_indices,), shape, int32, sizes)
