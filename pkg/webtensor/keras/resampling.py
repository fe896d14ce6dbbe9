"""Resizing of images (batch, height, width, channels), with half-pixel centres, as in Keras.

Interpolations for which the backends have no kernel (cubic, Lanczos, antialiasing) are two products
with matrices of weights, one for the rows and one for the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, floor, pi, sin

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor

__all__ = ["INTERPOLATIONS", "cropped_to_ratio", "padded_to_ratio", "ratio_size", "resized"]

#: The last three are TensorFlow's, which ``image_dataset_from_directory`` has in Keras.
INTERPOLATIONS = (
    "bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area", "gaussian", "mitchellcubic",
)  # fmt: skip


# -- weights -----------------------------------------------------------------------------------


def _triangle(x: float) -> float:
    return max(0.0, 1 - x)


def _cubic(x: float) -> float:
    """Return Keys's cubic convolution kernel with the parameter -1/2."""
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((2.5 - 0.5 * x) * x - 4) * x + 2 if x < 2 else 0.0


def _mitchell_cubic(x: float) -> float:
    if x < 1:
        return (21 * x - 36) * x * x + 16
    return ((36 - 7 * x) * x - 60) * x + 32 if x < 2 else 0.0


def _gaussian(x: float) -> float:
    return exp(-2 * x * x) if x < 1.5 else 0.0


def _lanczos(radius: int) -> Callable[[float], float]:
    def kernel(x: float) -> float:
        if x > radius:
            return 0.0
        return radius * sin(pi * x) * sin(pi * x / radius) / (pi * x) ** 2 if x > 1e-3 else 1.0

    return kernel


def _overlap(ratio: float) -> Callable[[float], float]:
    def kernel(x: float) -> float:
        return min((ratio + 1) / 2 - x, ratio, 1.0)

    return kernel


#: The weight of a pixel as a function of its distance, and the distance from which it is 0.
_KERNELS: dict[str, tuple[Callable[[float], float], float]] = {
    "bilinear": (_triangle, 1),
    "bicubic": (_cubic, 2),
    "lanczos3": (_lanczos(3), 3),
    "lanczos5": (_lanczos(5), 5),
    "gaussian": (_gaussian, 1.5),
    "mitchellcubic": (_mitchell_cubic, 2),
}


@lru_cache(64)
def _weights(
    old_size: int, new_size: int, interpolation: str, antialias: bool
) -> list[list[float]]:
    """Return the weights of the old pixels in each new one, whose sum is 1."""
    ratio = old_size / new_size
    width = max(ratio, 1.0) if antialias else 1.0
    if interpolation == "area":
        kernel, radius, width = _overlap(ratio), (ratio + 1) / 2, 1.0
    else:
        kernel, radius = _KERNELS[interpolation]
    rows = []
    for index in range(new_size):
        centre = (index + 0.5) * ratio - 0.5
        first = max(ceil(centre - radius * width), 0)
        last = min(floor(centre + radius * width), old_size - 1)
        weights = [kernel(abs(centre - pixel) / width) for pixel in range(first, last + 1)]
        total = sum(weights)
        row = [0.0] * old_size
        row[first : last + 1] = [weight / total for weight in weights]
        rows.append(row)
    return rows


def resized(images: Tensor, size: tuple[int, int], interpolation: str, antialias: bool) -> Tensor:
    """Scale images to a size; integers are rounded."""
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


# -- aspect ratios -----------------------------------------------------------------------------


def ratio_size(size: tuple[int, int], target: tuple[int, int]) -> tuple[int, int]:
    """Return the maximum size within ``size`` that has the aspect ratio of ``target``."""
    height, width = size
    target_height, target_width = target
    return (
        max(min(height, int(width * target_height / target_width)), 1),
        max(min(width, int(height * target_width / target_height)), 1),
    )


def cropped_to_ratio(images: Tensor, size: tuple[int, int]) -> Tensor:
    """Crop images about their centre to the aspect ratio of a size."""
    batch, height, width, channels = images.shape
    crop_height, crop_width = ratio_size((height, width), size)
    begin = (0, (height - crop_height) // 2, (width - crop_width) // 2, 0)
    return wt.slice(images, begin, (batch, crop_height, crop_width, channels))


def padded_to_ratio(images: Tensor, size: tuple[int, int], fill_value: float) -> Tensor:
    """Pad images above and below, or left and right, to the aspect ratio of a size."""
    _, height, width, _ = images.shape
    above = (max(height, int(width * size[0] / size[1])) - height) // 2
    left = (max(width, int(height * size[1] / size[0])) - width) // 2
    if above:
        return wt.pad(images, [(0, 0), (above, above), (0, 0), (0, 0)], fill_value)
    if left:
        return wt.pad(images, [(0, 0), (0, 0), (left, left), (0, 0)], fill_value)
    return images
