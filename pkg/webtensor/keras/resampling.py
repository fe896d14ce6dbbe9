"""Resizing images of (batch, height, width, channels) as Keras does: pixels have their centres in
the middle.

What the backends have no kernel for (cubic, Lanczos, antialiasing) is two products with matrices of
weights, one for the rows and one for the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor, pi, sin
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor

__all__ = ["INTERPOLATIONS", "cropped_to_ratio", "padded_to_ratio", "ratio_size", "resized"]

INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")


# -- weights -----------------------------------------------------------------------------------


def _triangle(x: float) -> float:
    return max(0.0, 1 - x)


def _cubic(x: float) -> float:
    """Keys's cubic with the parameter -1/2."""
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((2.5 - 0.5 * x) * x - 4) * x + 2 if x < 2 else 0.0


def _lanczos(radius: int) -> Callable[[float], float]:
    def kernel(x: float) -> float:
        if x > radius:
            return 0.0
        return radius * sin(pi * x) * sin(pi * x / radius) / (pi * x) ** 2 if x > 1e-3 else 1.0

    return kernel


#: How much a pixel counts at a distance, and how far it reaches.
_KERNELS: dict[str, tuple[Callable[[float], float], int]] = {
    "bilinear": (_triangle, 1),
    "bicubic": (_cubic, 2),
    "lanczos3": (_lanczos(3), 3),
    "lanczos5": (_lanczos(5), 5),
}


@lru_cache(64)
def _weights(length: int, wanted: int, interpolation: str, antialias: bool) -> list[list[float]]:
    """Shares of the old pixels in each new one; those of a pixel add up to 1."""
    kernel, radius = _KERNELS[interpolation]
    ratio = length / wanted
    width = max(ratio, 1.0) if antialias else 1.0
    rows = []
    for place in range(wanted):
        centre = (place + 0.5) * ratio - 0.5
        first = max(ceil(centre - radius * width), 0)
        last = min(floor(centre + radius * width), length - 1)
        shares = [kernel(abs(centre - one) / width) for one in range(first, last + 1)]
        total = sum(shares)
        row = [0.0] * length
        row[first : last + 1] = [one / total for one in shares]
        rows.append(row)
    return rows


def resized(images: Tensor, size: tuple[int, int], interpolation: str, antialias: bool) -> Tensor:
    """Return images in another size; integers are rounded."""
    if interpolation == "nearest":
        return wt.image.resize_nearest_neighbor(images, size, half_pixel_centers=True)
    if images.shape[1:3] == size:
        return images
    x = wt.astype(images, float32, copy=False)
    if interpolation == "bilinear" and not antialias:
        x = wt.image.resize_bilinear(x, size, half_pixel_centers=True)
    else:
        batch, height, width, channels = x.shape
        if height != size[0]:
            rows = wt.tensor(_weights(height, size[0], interpolation, antialias), dtype=float32)
            x = wt.matmul(rows, wt.reshape(x, (batch, height, width * channels)))
        if width != size[1]:
            columns = wt.tensor(_weights(width, size[1], interpolation, antialias), dtype=float32)
            x = wt.matmul(columns, wt.reshape(x, (batch * size[0], width, channels)))
        x = wt.reshape(x, (batch, *size, channels))
    return wt.astype(wt.round(x), int32) if images.dtype is int32 else x


# -- proportions -------------------------------------------------------------------------------


def ratio_size(size: tuple[int, int], wanted: tuple[int, int]) -> tuple[int, int]:
    """Return the greatest height and width within a size that have the proportions of another."""
    height, width = size
    return (
        max(min(height, int(width * wanted[0] / wanted[1])), 1),
        max(min(width, int(height * wanted[1] / wanted[0])), 1),
    )


def cropped_to_ratio(images: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the greatest part of images about their middle that has the proportions of a size."""
    batch, height, width, channels = images.shape
    kept = ratio_size((height, width), size)
    begin = (0, (height - kept[0]) // 2, (width - kept[1]) // 2, 0)
    return wt.slice(images, begin, (batch, *kept, channels))


def padded_to_ratio(images: Tensor, size: tuple[int, int], fill: Any) -> Tensor:
    """Return images with a margin above and below, or left and right, as wide as a size needs."""
    _, height, width, _ = images.shape
    above = (max(height, int(width * size[0] / size[1])) - height) // 2
    left = (max(width, int(height * size[1] / size[0])) - width) // 2
    if above:
        return wt.pad(images, [(0, 0), (above, above), (0, 0), (0, 0)], fill)
    if left:
        return wt.pad(images, [(0, 0), (0, 0), (left, left), (0, 0)], fill)
    return images
