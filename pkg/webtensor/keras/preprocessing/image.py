"""Images and arrays, and images of one size."""

from __future__ import annotations

from typing import Any

from webtensor.keras.utils.images import array_to_img, img_to_array, load_img, save_img
from webtensor.keras.utils.labels import as_given

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"]


def smart_resize(
    x: Any,
    size: tuple[int, int],
    interpolation: str = "bilinear",
    data_format: str = "channels_last",
) -> Any:
    """Return the middle of an image, or of a batch, in a size that has other proportions.

    Raises:
        ValueError: an argument makes no sense.
    """
    from webtensor.keras import ops

    if len(size) != 2:
        raise ValueError(f"smart_resize: size must be (height, width), but got {size!r}")
    made = ops.image.resize(
        x, tuple(size), interpolation, crop_to_aspect_ratio=True, data_format=data_format
    )
    return as_given(made, x)
