"""Conversion between images and arrays, and scaling of images to one size."""

from __future__ import annotations

from webtensor.engine import TensorLike
from webtensor.keras.array_results import like_input
from webtensor.keras.ops import image
from webtensor.keras.utils.images import array_to_img, img_to_array, load_img, save_img

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"]


def smart_resize(
    x: TensorLike,
    size: tuple[int, int],
    interpolation: str = "bilinear",
    data_format: str = "channels_last",
) -> TensorLike:
    """Scale an image or a batch to a size, after cropping it to the aspect ratio of the size.

    Raises:
        ValueError: ``size`` is not two numbers, or an argument is unknown.
    """
    if len(size) != 2:
        raise ValueError(f"smart_resize: size must be (height, width), but got {size!r}")
    resized = image.resize(
        x, tuple(size), interpolation, crop_to_aspect_ratio=True, data_format=data_format
    )
    return like_input(resized, x)
