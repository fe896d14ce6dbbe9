"""Conversion between image files, images of Pillow, and NumPy arrays."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from webtensor.arguments import check_choice
from webtensor.engine import TensorLike
from webtensor.formats.budgets import reading
from webtensor.formats.files import label_of
from webtensor.formats.pillow_images import check_pixels, in_eight_bits
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.types import DTypeLike

if TYPE_CHECKING:
    from enum import IntEnum
    from io import BytesIO

    from numpy.typing import NDArray

__all__ = [
    "array_to_img",
    "decoded_image",
    "img_to_array",
    "load_img",
    "save_img",
]

#: A path, or a file object.
File: TypeAlias = "str | PathLike[str] | BytesIO"


class Image(Protocol):
    """What is used of an image of Pillow."""

    mode: str
    size: tuple[int, int]

    def convert(self, mode: str) -> Image: ...
    def load(self) -> object: ...
    def resize(
        self, size: tuple[int, int], resample: int, box: tuple[int, int, int, int] | None
    ) -> Image: ...
    def save(self, fp: File, format: str | None = None, **params: Any) -> None: ...
    def tobytes(self) -> bytes: ...


class Pillow(Protocol):
    """What is used of the module ``PIL.Image``."""

    Resampling: type[IntEnum]

    def fromarray(self, obj: NDArray[Any], mode: str) -> Image: ...
    def open(self, fp: File) -> Image: ...


_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_COLOR_MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}


def _numpy() -> Any:
    import numpy

    return numpy


def _pillow(name: str) -> Pillow:
    try:
        pillow: Pillow = import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(f"{name}: Pillow is needed, which is not installed") from error
    return pillow


def array_to_img(
    x: TensorLike, data_format: str | None = None, scale: bool = True, dtype: DTypeLike = None
) -> Image:
    """Convert an array to an image of Pillow; with ``scale``, values are stretched to 0 … 255.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: ``x`` does not have three axes, or has another number of channels than 1, 3, 4.
    """
    pillow = _pillow("array_to_img")
    np = _numpy()
    layout = as_data_format("array_to_img", data_format)
    pixels = np.asarray(x, dtype="float32" if dtype is None else str(dtype))
    if pixels.ndim != 3:
        raise ValueError(f"array_to_img: x must have three axes, but has shape {pixels.shape}")
    if layout == "channels_first":
        pixels = pixels.transpose(1, 2, 0)
    channels = pixels.shape[2]
    if channels not in _MODES:
        raise ValueError(f"array_to_img: x must have 1, 3 or 4 channels, but has {channels}")
    if scale:
        pixels = pixels - pixels.min()
        pixels = pixels / (pixels.max() or 1) * 255
    if channels > 1:
        return pillow.fromarray(pixels.astype("uint8"), _MODES[channels])
    if pixels.max() > 255:
        return pillow.fromarray(pixels[:, :, 0].astype("int32"), "I")
    return pillow.fromarray(pixels[:, :, 0].astype("uint8"), "L")


def img_to_array(
    img: Image | NDArray[Any], data_format: str | None = None, dtype: DTypeLike = None
) -> NDArray[Any]:
    """Convert an image, of Pillow or an array, to a NumPy array with an axis of channels.

    Raises:
        ValueError: the image has another number of axes than two or three.
    """
    np = _numpy()
    layout = as_data_format("img_to_array", data_format)
    pixels: NDArray[Any] = np.asarray(img, dtype="float32" if dtype is None else str(dtype))
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    elif pixels.ndim != 3:
        raise ValueError(
            f"img_to_array: an image must have two or three axes, but its shape is {pixels.shape}"
        )
    return pixels.transpose(2, 0, 1) if layout == "channels_first" else pixels


def load_img(
    path: File,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Image:
    """Read an image of Pillow from a file, and scale it to ``target_size``, (height, width).

    With ``keep_aspect_ratio``, it is cropped before it is scaled.

    Raises:
        ImportError: Pillow is not installed.
        ModelFormatError: the file is no image, is broken, or would decode to far more than its own
            size.
        ValueError: ``color_mode`` or ``interpolation`` is unknown.
    """
    pillow = _pillow("load_img")
    check_choice("load_img", "color_mode", color_mode, _COLOR_MODES)
    image = decoded_image(path, color_mode, is_scaled=False)
    if target_size is None or image.size == (target_size[1], target_size[0]):
        return image
    methods = {method.name.lower(): method for method in pillow.Resampling}
    check_choice("load_img", "interpolation", interpolation, methods)
    height, width = target_size
    box = _center_box(image.size, target_size) if keep_aspect_ratio else None
    return image.resize((width, height), methods[interpolation], box=box)


def decoded_image(path: File, color_mode: str, *, is_scaled: bool = True) -> Image:
    """Decode the image in a file, and convert it to a mode of Pillow.

    Args:
        path: the file.
        color_mode: "grayscale", "rgb" or "rgba".
        is_scaled: whether 16-bit levels become 8-bit ones, as in TensorFlow. Otherwise they stay in
            grayscale, and are clipped in colours, as in Keras.
    """
    label = f"load_img: {label_of(path)}"
    with reading(label):
        image = _pillow("load_img").open(path)
        check_pixels(image, path, label)
        if is_scaled:
            image = in_eight_bits(image, _COLOR_MODES[color_mode])
        elif not (color_mode == "grayscale" and image.mode in ("L", "I;16", "I")):
            image = image.convert(_COLOR_MODES[color_mode])
        image.load()
        return image


def _center_box(size: tuple[int, int], target_size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the largest box about the centre that has the aspect ratio of ``target_size``."""
    (width, height), (target_height, target_width) = size, target_size
    box_height = min(height, width * target_height // target_width)
    box_width = min(width, height * target_width // target_height)
    top, left = (height - box_height) // 2, (width - box_width) // 2
    return left, top, left + box_width, top + box_height


def save_img(
    path: File,
    x: TensorLike,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array to a file as an image; ``kwargs`` are those of Pillow's ``Image.save``.

    Raises:
        ImportError: Pillow is not installed.
    """
    image = array_to_img(x, data_format, scale)
    extension = PurePath(path).suffix[1:] if isinstance(path, (str, PathLike)) else ""
    is_jpeg = (file_format or extension).lower() in ("jpg", "jpeg")
    if image.mode == "RGBA" and is_jpeg:
        image = image.convert("RGB")
    image.save(path, format="jpeg" if file_format and is_jpeg else file_format, **kwargs)
