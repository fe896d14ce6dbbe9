"""Kernels that resample images."""

from __future__ import annotations

from typing import Any

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.geometry import Resize, Sampling

__all__: list[str] = []


# -- resizing -----------------------------------------------------------------------------------


def _taps(
    length: int, outputs: int, step: int, offset: int, divisor: int
) -> tuple[Array, Array, Array]:
    """Return the two indices that each output reads along an axis, and the second's weight."""
    positions = np.arange(outputs) * step + offset
    low = positions // divisor
    fraction = (positions - low * divisor).astype(np.float32) / np.float32(divisor)
    return np.clip(low, 0, length - 1), np.clip(low + 1, 0, length - 1), fraction


def _axes(sizes: Resize) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    rows = _taps(sizes.in_height, sizes.out_height, *sizes[6:9])
    columns = _taps(sizes.in_width, sizes.out_width, *sizes[9:12])
    return rows, columns


def _along(axis: int, fraction: Array) -> Array:
    """Reshape weights so that they broadcast along an axis of images."""
    return fraction.reshape((-1,) + (1,) * (3 - axis))


@kernel("resize_bilinear")
def resize_bilinear(of: Signature, arrays: Arrays, sizes: Resize) -> Handle:
    """Interpolate along the width, then along the height."""
    x = arrays[0]
    rows, columns = _axes(sizes)
    for axis, (first, second, fraction) in ((2, columns), (1, rows)):
        weight = _along(axis, fraction)
        low, high = np.take(x, first, axis), np.take(x, second, axis)
        x = np.where(weight == 0, low, low + (high - low) * weight)
    return x


@kernel("resize_bilinear_gradient")
def resize_bilinear_gradient(of: Signature, arrays: Arrays, sizes: Resize) -> Handle:
    """Transpose of ``resize_bilinear``."""
    dy = arrays[0]
    rows, columns = _axes(sizes)
    for axis, (first, second, fraction) in ((1, rows), (2, columns)):
        weight = _along(axis, fraction)
        total = np.zeros((*dy.shape[:axis], of.shape[axis], *dy.shape[axis + 1 :]), dtype=dy.dtype)
        for indices, share in ((first, 1 - weight), (second, weight)):
            index: Any = (slice(None),) * axis + (indices,)
            np.add.at(total, index, dy * share)
        dy = total
    return dy


@kernel("resize_nearest")
def resize_nearest(of: Signature, arrays: Arrays, sizes: Resize) -> Handle:
    """Pick the nearest pixels."""
    (rows, *_), (columns, *_) = _axes(sizes)
    return arrays[0][:, rows[:, None], columns]


@kernel("resize_nearest_gradient")
def resize_nearest_gradient(of: Signature, arrays: Arrays, sizes: Resize) -> Handle:
    """Transpose of ``resize_nearest``."""
    (rows, *_), (columns, *_) = _axes(sizes)
    total = np.zeros(of.shape, dtype=of.dtype.name)
    index: Any = (slice(None), rows[:, None], columns)
    np.add.at(total, index, arrays[0])
    return total


# -- projective sampling ------------------------------------------------------------------------


def _reflected(x: Array, length: int) -> Array:
    """Reflect indices: [abcd] continues as [dcba|abcd|dcba]."""
    if length <= 1:
        return np.zeros_like(x)
    period = np.float32(2 * length)
    negative = np.trunc(-x / period) * period + x
    negative = np.where(negative < -length, negative + period, -negative - 1)
    positive = x - np.trunc(x / period) * period
    positive = np.where(positive >= length, period - positive - 1, positive)
    return np.where(x < 0, negative, np.where(x > length - 1, positive, x))


def _wrapped(x: Array, length: int) -> Array:
    """Wrap indices: [abcd] continues as [abcd|abcd|abcd]."""
    if length <= 1:
        return np.zeros_like(x)
    period, last = np.float32(length), np.float32(length - 1)
    negative = x + (np.trunc(-x / last) + 1) * period
    positive = x - np.trunc(x / last) * period
    return np.where(x < 0, negative, np.where(x > last, positive, x))


def _mapped(x: Array, length: int, fill_mode: int) -> Array:
    """Map a coordinate, which may be outside the image, to the one that is read."""
    if fill_mode == 0:
        return x
    if fill_mode == 1:
        x = _reflected(x, length)
    elif fill_mode == 2:
        x = _wrapped(x, length)
    return np.clip(x, 0, np.float32(length - 1))


def _inside(x: Array, length: int, fill_mode: int) -> Array:
    """Whether anything of an image may be read for a coordinate."""
    if fill_mode == 4:
        slack = np.float32(1e-6) * np.float32(length)
        return np.asarray((x >= -slack) & (x <= length - 1 + slack))
    if fill_mode == 0:
        return np.asarray((x > -2) & (x < length + 1))
    return np.isfinite(x)


def _nearest(x: Array) -> Array:
    low = np.floor(x)
    return low + (x - low >= 0.5)


def _blend(first: Array, second: Array, weight: Array) -> Array:
    """Interpolate; with a weight of 0 the second does not count, even if it is infinite or NaN."""
    return np.where(weight == 0, first, (np.float32(1) - weight) * first + weight * second)


@kernel("sample")
def sample(of: Signature, arrays: Arrays, sizes: Sampling, fill: float) -> Handle:
    """Read images at projected coordinates; see ``wasm_build/source/image.c``."""
    images, transforms, indices = arrays
    t = transforms[:, :, None, None]
    x = np.arange(sizes.out_width, dtype=np.float32)
    y = np.arange(sizes.out_height, dtype=np.float32)[:, None]
    projection = t[:, 6] * x + t[:, 7] * y + np.float32(1)
    coordinates = []
    inside = (projection != 0) & ((indices >= 0) & (indices < sizes.batch))[:, None, None]
    for row, length in ((3, sizes.in_height), (0, sizes.in_width)):
        coordinate = (t[:, row] * x + t[:, row + 1] * y + t[:, row + 2]) / projection
        inside &= _inside(coordinate, length, sizes.fill_mode)
        coordinates.append(_mapped(np.where(inside, coordinate, 0), length, sizes.fill_mode))
    at = np.clip(indices, 0, sizes.batch - 1)[:, None, None]

    def read(row: Array, column: Array) -> Array:
        valid = (row >= 0) & (row < sizes.in_height) & (column >= 0) & (column < sizes.in_width)
        rows = np.clip(row, 0, sizes.in_height - 1).astype(np.int64)
        columns = np.clip(column, 0, sizes.in_width - 1).astype(np.int64)
        return np.where(valid[..., None], images[at, rows, columns], np.float32(fill))

    down, across = coordinates
    if not sizes.bilinear:
        result = read(_nearest(down), _nearest(across))
    else:
        top, left = np.floor(down), np.floor(across)
        lower, right = (down - top)[..., None], (across - left)[..., None]
        above = _blend(read(top, left), read(top, left + 1), right)
        below = _blend(read(top + 1, left), read(top + 1, left + 1), right)
        result = _blend(above, below, lower)
    return np.where(inside[..., None], result, np.float32(fill))
