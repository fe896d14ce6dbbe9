"""Images and arrays, through Pillow and NumPy where they are installed."""

from __future__ import annotations

from importlib import import_module
from math import prod
from os import PathLike
from pathlib import Path, PurePath
from typing import Any

from webtensor.keras.budgets import Budget, reading
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.saving.files import label_of
from webtensor.keras.types import DTypeLike

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img"]

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
#: Pixels of an image may take this many bytes in any case: 44 million pixels.
_PIXEL_FLOOR = 44_000_000 * 4
_COLOR_MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}


def _pillow(name: str) -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(f"{name}: Pillow is needed, which is not installed") from error


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: DTypeLike = None
) -> Any:
    """Return an image of Pillow made of an array, which is stretched to 0…255 by ``scale``.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the array is no image.
    """
    image = _pillow("array_to_img")
    import numpy as np

    format = as_data_format("array_to_img", data_format)
    held = np.asarray(x, dtype="float32" if dtype is None else str(dtype))
    if held.ndim != 3:
        raise ValueError(f"array_to_img: x must have three axes, but has shape {held.shape}")
    if format == "channels_first":
        held = held.transpose(1, 2, 0)
    channels = held.shape[2]
    if channels not in _MODES:
        raise ValueError(f"array_to_img: x must have 1, 3 or 4 channels, but has {channels}")
    if scale:
        held = held - held.min()
        held = held / (held.max() or 1) * 255
    if channels > 1:
        return image.fromarray(held.astype("uint8"), _MODES[channels])
    if held.max() > 255:
        return image.fromarray(held[:, :, 0].astype("int32"), "I")
    return image.fromarray(held[:, :, 0].astype("uint8"), "L")


def img_to_array(img: Any, data_format: str | None = None, dtype: DTypeLike = None) -> Any:
    """Return the elements of an image of Pillow as a NumPy array, with an axis of channels."""
    import numpy as np

    format = as_data_format("img_to_array", data_format)
    held = np.asarray(img, dtype="float32" if dtype is None else str(dtype))
    if held.ndim == 2:
        held = held[:, :, None]
    elif held.ndim != 3:
        raise ValueError(f"img_to_array: an image has two axes or three, but shape {held.shape}")
    return held.transpose(2, 0, 1) if format == "channels_first" else held


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """Read an image of Pillow from a file or from bytes, in another size where one is given.

    Raises:
        ImportError: Pillow is not installed.
        ModelFormatError: the file is no image, is broken, or would become far larger than it is.
        ValueError: a mode is not known.
    """
    image = _pillow("load_img")
    if color_mode not in _COLOR_MODES:
        raise ValueError(
            f"load_img: color_mode must be one of {sorted(_COLOR_MODES)}, but got {color_mode!r}"
        )
    made = _decoded(image, path, color_mode)
    if target_size is None or made.size == (target_size[1], target_size[0]):
        return made
    methods = {one.name.lower(): one for one in image.Resampling}
    if interpolation not in methods:
        raise ValueError(
            f"load_img: interpolation must be one of {sorted(methods)}, but got {interpolation!r}"
        )
    height, width = target_size
    box = _middle(made.size, target_size) if keep_aspect_ratio else None
    return made.resize((width, height), methods[interpolation], box=box)


def _decoded(image: Any, path: Any, color_mode: str) -> Any:
    """The image in a file, in a mode of Pillow."""
    where = f"load_img: {label_of(path)}"
    size = Path(path).stat().st_size if isinstance(path, (str, PathLike)) else 0
    with reading(where):
        opened = image.open(path)
        Budget(where, size, floor=_PIXEL_FLOOR).spend(4 * prod(opened.size))
        if not (color_mode == "grayscale" and opened.mode in ("L", "I;16", "I")):
            opened = opened.convert(_COLOR_MODES[color_mode])
        opened.load()
        return opened


def _middle(size: tuple[int, int], target_size: Any) -> tuple[int, int, int, int]:
    """The middle part of an image that has other proportions."""
    (width, height), (wanted_height, wanted_width) = size, target_size
    kept_height = min(height, width * wanted_height // wanted_width)
    kept_width = min(width, height * wanted_width // wanted_height)
    top, left = (height - kept_height) // 2, (width - kept_width) // 2
    return left, top, left + kept_width, top + kept_height


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array to a file as an image.

    Raises:
        ImportError: Pillow is not installed.
    """
    made = array_to_img(x, data_format, scale)
    ending = PurePath(path).suffix[1:] if isinstance(path, (str, PathLike)) else ""
    is_jpeg = (file_format or ending).lower() in ("jpg", "jpeg")
    if made.mode == "RGBA" and is_jpeg:
        made = made.convert("RGB")
    made.save(path, format="jpeg" if file_format and is_jpeg else file_format, **kwargs)
