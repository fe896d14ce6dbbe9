"""Operations on images."""

from __future__ import annotations

from collections.abc import Sequence

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


def cubics(size: int, output_size: int) -> Tensor:
    """Return the weights of Keys' cubic, with a = -1/2, of which TensorFlow has 1,024 samples."""
    points = (ops.arange(output_size, dtype="float32") + 0.5) * (size / output_size) - 0.5
    lower = ops.floor(points)
    centers = lower + ops.round((points - lower) * 1024.0) / 1024.0
    x = ops.abs(ops.reshape(centers, (-1, 1)) - ops.arange(size, dtype="float32"))
    far = ops.where(ops.less(x, 2.0), ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0, 0.0)
    weights = ops.where(ops.less(x, 1.0), ((1.5 * x - 2.5) * x) * x + 1.0, far)
    return weights / ops.sum(weights, 1, True)


def resized_bicubic(images: Tensor, size: Sequence[int], half_pixel_centers: bool) -> Tensor:
    """Resize images by Keys' cubic; TensorFlow 1 has another one."""
    if not half_pixel_centers:
        raise ValueError("ResizeBicubic: half_pixel_centers must be true")
    for axis, output_size in enumerate(size, 1):
        product = ops.tensordot(cubics(images.shape[axis], output_size), images, axes=([1], [axis]))
        images = ops.moveaxis(product, 0, axis)
    return images


def with_contrast(images: Tensor, factor: float) -> Tensor:
    """Scale how far pixels are from the mean of their channel."""
    mean = ops.mean(images, (-3, -2), True)
    return ops.add(ops.multiply(ops.subtract(images, mean), factor), mean)


def _kernel(name: str) -> str:
    return "cubic" if name == "keyscubic" else name


def _spatial(name: str) -> Attribute:
    return attribute(name, convert=lambda numbers: numbers[1:3])


_CORNERS = {
    "align_corners": boolean("align_corners"),
    "half_pixel_centers": boolean("half_pixel_centers"),
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
        "image.transform",
        0,
        1,
        output_shape=integers(2),
        fill_value=number(3),
        interpolation=attribute("interpolation", convert=lambda name: name.lower()),
        fill_mode=attribute("fill_mode", "constant", lambda name: name.lower()),
    ),
    "ResizeBilinear": Row("image.resize_bilinear", 0, size=integers(1), **_CORNERS),
    "ResizeNearestNeighbor": Row("image.resize_nearest_neighbor", 0, size=integers(1), **_CORNERS),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "AdjustContrastv2": Row(with_contrast, 0, factor=number(1)),
    "ExtractImagePatches": Row(
        "keras.ops.image.extract_patches",
        0,
        size=_spatial("ksizes"),
        strides=_spatial("strides"),
        dilation_rate=_spatial("rates"),
        padding=padding(),
    ),
    "HSVToRGB": Row("keras.ops.image.hsv_to_rgb", 0),
    "RGBToHSV": Row("keras.ops.image.rgb_to_hsv", 0),
    "ResizeBicubic": Row(
        resized_bicubic,
        0,
        size=integers(1),
        half_pixel_centers=boolean("half_pixel_centers"),
    ),
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
