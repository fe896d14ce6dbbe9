"""Operations on images."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from functools import partial

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import (
    attribute,
    boolean,
    integers,
    number,
    numbers,
    padding,
    text,
)
from webtensor.graph.operations.rows import Attribute, Row, resolved

__all__ = ["ONLY_HERE", "ROWS"]


def scaled(
    images: Tensor,
    size: Sequence[int],
    scale: Sequence[float],
    translation: Sequence[float],
    kernel: str,
    antialias: bool,
) -> Tensor:
    """Scale images, move them, and cut them off at a size."""
    shape = (images.shape[0], *size, images.shape[3])
    resample = resolved("keras.ops.image.scale_and_translate")
    result: Tensor = resample(images, shape, scale, translation, (1, 2), kernel, antialias)
    return result


def _scale(size: int, output_size: int, align_corners: bool) -> float:
    """Return how many pixels a pixel of the output covers."""
    corner = int(align_corners and output_size > 1)
    return (size - corner) / (output_size - corner)


def cubics(size: int, output_size: int, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """Return the weights of Keys' cubic, of which TensorFlow has 1,024 samples.

    With ``half_pixel_centers`` a is -1/2, and pixels outside have no weight; otherwise, as in
    TensorFlow 1, a is -3/4, and they are the pixel at the edge.
    """
    a, half = (-0.5, 0.5) if half_pixel_centers else (-0.75, 0.0)
    scale = _scale(size, output_size, align_corners)
    points = (ops.arange(output_size, dtype="float32") + half) * scale - half
    lower = ops.floor(points)
    centers = lower + ops.round((points - lower) * 1024.0) / 1024.0
    pixels = ops.arange(-2, size + 2)
    x = ops.abs(ops.reshape(centers, (-1, 1)) - ops.astype(pixels, "float32"))
    far = ops.where(ops.less(x, 2.0), (((x - 5.0) * x + 8.0) * x - 4.0) * a, 0.0)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    weights = ops.where(ops.less(x, 1.0), near, far)
    if half_pixel_centers:
        weights = weights[:, 2:-2]
        return weights / ops.sum(weights, 1, True)
    return ops.matmul(weights, ops.one_hot(ops.clip(pixels, 0, size - 1), size))


def areas(size: int, output_size: int, align_corners: bool) -> Tensor:
    """Return the shares that pixels have in the areas of the output's pixels."""
    scale = _scale(size, output_size, align_corners)
    pixels = ops.arange(size, dtype="float32")
    ends = ops.where(ops.less(pixels, size - 1), pixels + 1.0, math.inf)
    begin = ops.reshape(ops.arange(output_size, dtype="float32") * scale, (-1, 1))
    return ops.relu(ops.minimum(begin + scale, ends) - ops.maximum(begin, pixels)) / scale


def resized(
    images: Tensor, size: Sequence[int], weights: Callable[..., Tensor], **options: bool
) -> Tensor:
    """Resize images by a matrix of weights for each axis."""
    images = ops.astype(images, "float32")
    for axis, output_size in enumerate(size, 1):
        matrix = weights(images.shape[axis], output_size, **options)
        images = ops.moveaxis(ops.tensordot(matrix, images, axes=([1], [axis])), 0, axis)
    return images


#: Longer sides of resized images have the pixels of exact positions.
_MAX_GATHERED = 1 << 16


def _rounded_pixels(
    length: int, output_size: int, align_corners: bool, half_pixel_centers: bool
) -> list[int] | None:
    """Return the pixels nearest to positions in float32, or None if exact ones give the same."""
    scale = array("f", [_scale(length, output_size, align_corners)])[0]
    points = [(index + half_pixel_centers / 2) * scale for index in range(output_size)]
    pixels = [min(int(x + align_corners / 2), length - 1) for x in array("f", points)]
    corner = int(align_corners and output_size > 1)
    step, divisor = length - corner, output_size - corner
    exact = [
        ((2 * index + half_pixel_centers) * step + align_corners * divisor) // (2 * divisor)
        for index in range(output_size)
    ]
    return None if pixels == exact else pixels


def nearest(
    images: Tensor, size: Sequence[int], align_corners: bool, half_pixel_centers: bool
) -> Tensor:
    """Resize images to the nearest pixels: those in float32, in which TensorFlow computes."""
    options = align_corners, half_pixel_centers
    for axis, output_size in enumerate(size, 1):
        length = images.shape[axis]
        may_differ = align_corners or (length and output_size % length and length % output_size)
        if length and may_differ and output_size < _MAX_GATHERED:
            pixels = _rounded_pixels(length, output_size, *options)
            if pixels is not None:
                images = ops.gather(images, pixels, axis)
    return ops.image.resize_nearest_neighbor(images, size, *options)


def with_contrast(images: Tensor, factor: float) -> Tensor:
    """Scale how far pixels are from the mean of their channel."""
    mean = ops.mean(images, (-3, -2), True)
    return (images - mean) * factor + mean


def in_hsv(change: Callable[[Tensor, float], Tensor], channel: int) -> Callable[..., Tensor]:
    """Return what changes the hue or the saturation of pixels by a number."""

    def changed(images: Tensor, amount: float) -> Tensor:
        pixels = resolved("keras.ops.image.rgb_to_hsv")(ops.reshape(images, (1, -1, 3)))
        channels = [*ops.unstack(pixels, -1)]
        channels[channel] = change(channels[channel], amount)
        pixels = resolved("keras.ops.image.hsv_to_rgb")(ops.stack(channels, -1))
        return ops.reshape(pixels, images.shape)

    return changed


def _kernel(name: str) -> str:
    return "cubic" if name == "keyscubic" else name


def _spatial(name: str) -> Attribute:
    return attribute(name, convert=lambda numbers: numbers[1:3])


_CORNERS = {
    "align_corners": boolean("align_corners"),
    "half_pixel_centers": boolean("half_pixel_centers"),
}

_TRANSFORM = {
    "interpolation": attribute("interpolation", convert=lambda name: name.lower()),
    "fill_mode": attribute("fill_mode", "constant", lambda name: name.lower()),
}

ROWS = {
    "CropAndResize": Row(
        "image.crop_and_resize",
        0,
        1,
        2,
        crop_size=integers(3),
        method=text("method", "bilinear"),
        extrapolation_value=attribute("extrapolation_value", 0.0),
    ),
    "ImageProjectiveTransformV3": Row(
        "image.transform", 0, 1, output_shape=integers(2), fill_value=number(3), **_TRANSFORM
    ),
    "ResizeBilinear": Row("image.resize_bilinear", 0, size=integers(1), **_CORNERS),
    "ResizeNearestNeighbor": Row(nearest, 0, size=integers(1), **_CORNERS),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "AdjustContrastv2": Row(with_contrast, 0, factor=number(1)),
    "AdjustHue": Row(in_hsv(lambda hue, angle: (hue + angle) % 1.0, 0), 0, amount=number(1)),
    "AdjustSaturation": Row(
        in_hsv(lambda x, factor: ops.clip(x * factor, 0.0, 1.0), 1), 0, amount=number(1)
    ),
    "ExtractImagePatches": Row(
        "keras.ops.image.extract_patches",
        0,
        size=_spatial("ksizes"),
        strides=_spatial("strides"),
        dilation_rate=_spatial("rates"),
        padding=padding(),
    ),
    "HSVToRGB": Row("keras.ops.image.hsv_to_rgb", 0),
    "ImageProjectiveTransformV2": Row(
        "image.transform", 0, 1, output_shape=integers(2), **_TRANSFORM
    ),
    "RGBToHSV": Row("keras.ops.image.rgb_to_hsv", 0),
    "ResizeArea": Row(
        partial(resized, weights=areas),
        0,
        size=integers(1),
        align_corners=boolean("align_corners"),
    ),
    "ResizeBicubic": Row(partial(resized, weights=cubics), 0, size=integers(1), **_CORNERS),
    "ScaleAndTranslate": Row(
        scaled,
        0,
        size=integers(1),
        scale=numbers(2),
        translation=numbers(3),
        kernel=attribute("kernel_type", "lanczos3", _kernel),
        antialias=boolean("antialias", True),
    ),
}
