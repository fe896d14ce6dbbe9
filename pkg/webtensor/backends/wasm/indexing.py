"""Kernels that pick slices, and convert between coordinates and flat indices."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, Geometry, one_call
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("gather")
def gather(of: Signature, outer: int, length: int, inner: int, count: int) -> Description:
    """Pick slices by index; out of range picks zeros."""
    width = inner * of.dtype.itemsize
    return one_call(of, ("gather",), outer, length, width, count, work=of.size)


@kernel("flat_indices")
def flat_indices(of: Signature, sizes: Shape) -> Description:
    """Return the flat indices of rows of coordinates; one past the last for those outside."""
    return one_call(of, ("flat", "indices"), of.size, len(sizes), Geometry(sizes))


@kernel("coordinates")
def coordinates(of: Signature, sizes: Shape) -> Description:
    """Return the coordinates of flat indices in row-major order."""
    return one_call(of, ("coordinates",), *of.shape, Geometry(sizes))
