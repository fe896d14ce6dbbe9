"""Images of any kind as tensors: what the models of this package take as ``image``.

In a page, elements, bitmaps and frames of videos go through ``webtensor.browser``, so that on WebGL
their pixels stay on the GPU.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple

from webtensor.browser.pixels import read_levels, wait_until_loaded
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.environment import IN_BROWSER
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import label_of
from webtensor.formats.pillow_images import check_pixels, in_eight_bits
from webtensor.ops import astype, multiply, tensor, tile
from webtensor.shapes import Shape

__all__ = ["ImageLike", "ImageSize", "read_image", "read_image_async", "video_time"]

#: What ``read_image`` takes.
ImageLike = Any


class ImageSize(NamedTuple):
    """The size of an image in pixels."""

    height: int
    width: int


def read_image(image: ImageLike) -> tuple[Tensor, ImageSize]:
    """Return the pixels of an image, and its size.

    Args:
        image: one of

            - a tensor, a NumPy array or nested lists, of shape (height, width, channels) or
              (height, width). Channels are 1 (grey), 3 (red, green, blue), or 4 (with opacity,
              which is dropped). Integers lie from 0 to 255, floats from 0 to 1.
            - an image of Pillow.
            - the bytes or the path of a file that Pillow reads, such as PNG or JPEG. The
              orientation in its metadata is applied.
            - in a page, an ImageData, a canvas, an image, a video, an ImageBitmap or a VideoFrame;
              anywhere a mapping with ``data`` (four bytes a pixel), ``width`` and ``height``.

    Returns:
        The pixels, float32 from 0 to 255 of shape (height, width, 3), and the size.

    Raises:
        ImportError: the image is a file, and Pillow is not installed.
        ModelFormatError: Pillow cannot read the file, or it would decode to far more than its own
            size.
        OSError: there is no such file.
        TypeError: the image is something else, or a tensor that is neither int32 nor float32.
        ValueError: the image has another shape or no pixels; values of a NumPy array are out of
            range. Values of tensors are not checked, as they may be on the GPU.

    Example:
        >>> from webtensor.vision.images import read_image
        >>> pixels, size = read_image([[[1.0, 0.0, 0.2], [0.0, 0.4, 1.0]]])
        >>> size
        ImageSize(height=1, width=2)
        >>> pixels.tolist()
        [[[255.0, 0.0, 51.0], [0.0, 102.0, 255.0]]]
    """
    levels = _levels(image)
    _check_not_empty(levels.shape)
    return levels, ImageSize(*levels.shape[:2])


async def read_image_async(image: ImageLike) -> tuple[Tensor, ImageSize]:
    """Return what ``read_image`` does, after waiting until an image of the page is loaded.

    Raises:
        ImportError, OSError, TypeError, ValueError: as of ``read_image``.

    Example:
        In a page::

            pixels, size = await read_image_async(document.getElementById("photo"))
    """
    await wait_until_loaded(image)
    return read_image(image)


def video_time(image: ImageLike) -> float | None:
    """Return the time that a video of the page is at, in milliseconds; None for other images."""
    seconds = getattr(image, "currentTime", None) if _is_javascript(image) else None
    return None if seconds is None else 1000 * float(seconds)


def _is_javascript(value: object) -> bool:
    if not IN_BROWSER:
        return False
    from pyodide.ffi import JsProxy

    return isinstance(value, JsProxy)


def _is_of_page(image: ImageLike) -> bool:
    return isinstance(image, Mapping) or _is_javascript(image)


def _levels(image: ImageLike) -> Tensor:
    """Return pixels as float32 from 0 to 255 with three channels."""
    if _is_of_page(image):
        return read_levels(image)
    if isinstance(image, Tensor):
        return _scaled(image)
    if isinstance(image, Buffer):
        return _file_levels(BytesIO(image))
    if isinstance(image, (str, os.PathLike)):
        return _file_levels(image)
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(image, pillow.Image):
        return _pillow_levels(image)
    if not hasattr(image, "__array__") and not isinstance(image, (list, tuple)):
        raise TypeError(
            "image: expected a tensor, an array, an image of Pillow, the bytes or the path of an "
            f"image file, or in a page an element with pixels, but got {type(image).__name__}"
        )
    return _scaled(_array_pixels(image))


def _array_pixels(image: Any) -> Tensor:
    pixels = tensor(image)
    if hasattr(image, "max") and pixels.size and pixels.dtype in (int32, float32):
        limit = 1 if pixels.dtype is float32 else 255
        low, high = float(image.min()), float(image.max())
        if not (low >= 0 and high <= limit):
            raise ValueError(
                f"image: values of {image.dtype} arrays must lie in [0, {limit}], but they range "
                f"from {low:g} to {high:g}"
            )
    return pixels


def _file_levels(file: Any) -> Tensor:
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ImportError(
            "image: reading image files needs Pillow, which is not installed; pass the pixels as "
            "a tensor or an array instead, or install it: pip install pillow"
        ) from None
    label = f"image: {label_of(file)}"
    with reading(label), Image.open(file) as opened:
        check_pixels(opened, file, label)
        return _pillow_levels(ImageOps.exif_transpose(opened))


def _pillow_levels(image: Any) -> Tensor:
    rgba = in_eight_bits(image, "RGBA")
    # Through the bytes, as NumPy may be missing in a page.
    return read_levels({"data": rgba.tobytes(), "width": rgba.width, "height": rgba.height})


def _check_not_empty(shape: Shape) -> None:
    if 0 in shape:
        raise ValueError(f"image: there are no pixels; the shape is {shape}")


def _scaled(pixels: Tensor) -> Tensor:
    """Return the pixels of a tensor as float32 from 0 to 255 with three channels."""
    shape = pixels.shape
    if len(shape) == 2:
        pixels = pixels.reshape(*shape, 1)
    elif len(shape) != 3 or shape[2] not in (1, 3, 4):
        raise ValueError(
            "image: expected shape (height, width, channels) with 1, 3 or 4 channels, or (height, "
            f"width), but got {shape}"
        )
    _check_not_empty(shape)
    if pixels.dtype not in (int32, float32):
        raise TypeError(f"image: expected int32 or float32, but got {pixels.dtype}")
    levels = astype(pixels, float32)
    if pixels.dtype is float32:
        levels = multiply(levels, 255.0)
    if levels.shape[2] == 1:
        levels = tile(levels, (1, 1, 3))
    return levels[:, :, :3]
