"""Tensors as HTML, for notebooks: their text, and a picture of matrices and images.

Pictures are SVG around a PNG, without scripts and styles, which a page's policy may forbid.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from struct import pack
from typing import TYPE_CHECKING
from zlib import compress, crc32

from webtensor.dtypes import complex64, float32, string_
from webtensor.errors import ContextLostError

if TYPE_CHECKING:
    from webtensor.engine.tensor import Tensor

__all__ = ["tensor_html"]

#: Pixels of the height and width that small pictures are enlarged to at most.
_ENLARGED, _WIDEST = 160, 640
#: Rows and columns of larger tensors are left out, evenly.
_MAX_PIXELS = 256
_MAX_IMAGES = 8
_SMALLEST_IMAGE = 4
#: Tensors with more elements are not read for a picture.
_MAX_ELEMENTS = 1 << 24
_CHANNELS = (1, 3, 4)
#: Matplotlib's map "viridis" at even distances.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
#: A heat map's colours are mixed once for each level, from 0 on: for each element, it took seconds.
_LAST_LEVEL = 255
_TRANSPARENT = (0, 0, 0, 0)


def tensor_html(tensor: Tensor, text: str) -> str:
    """Return text about a tensor, with a heat map of a matrix above it; for images, themselves."""
    text = f"<pre>{escape(text)}</pre>"
    if tensor.is_disposed or tensor.dtype in (string_, complex64):
        return text
    if not 1 < tensor.size <= _MAX_ELEMENTS:
        return text
    try:
        if _is_matrix(tensor):
            return _heat_map(tensor) + text
        if _is_image(tensor.shape[-3:]) and len(tensor.shape) in (3, 4):
            return f"{_images(tensor)}<pre>Tensor({tensor._facts()})</pre>"
    except ContextLostError:
        return text
    return text


def _is_matrix(tensor: Tensor) -> bool:
    return len(tensor.shape) == 2 and min(tensor.shape) > 1


def _is_image(shape: Sequence[int]) -> bool:
    return len(shape) == 3 and min(shape[:2]) >= _SMALLEST_IMAGE and shape[2] in _CHANNELS


def _sampled(size: int) -> Sequence[int]:
    """Return indices along an axis, evenly spaced where there are too many."""
    if size <= _MAX_PIXELS:
        return range(size)
    return [index * size // _MAX_PIXELS for index in range(_MAX_PIXELS)]


def _heat_map(tensor: Tensor) -> str:
    rows, columns = map(_sampled, tensor.shape)
    elements, width = tensor.data_sync(), tensor.shape[1]
    values = [float(elements[row * width + column]) for row in rows for column in columns]
    finite = [value for value in values if isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    scale = _LAST_LEVEL / (high - low or 1.0)
    palette = [_colour(level / _LAST_LEVEL) for level in range(_LAST_LEVEL + 1)]
    pixels = [
        palette[round((value - low) * scale)] if isfinite(value) else _TRANSPARENT
        for value in values
    ]
    title = f"heat map from {low:.6g} (dark) to {high:.6g} (bright)"
    return _svg(pixels, len(columns), len(rows), title)


def _colour(part: float) -> tuple[int, ...]:
    """Return the colour of a number between 0 and 1, as RGBA."""
    position = part * (len(_COLOURS) - 1)
    index = min(int(position), len(_COLOURS) - 2)
    weight = position - index
    below, above = _COLOURS[index], _COLOURS[index + 1]
    mixed = (round(a + (b - a) * weight) for a, b in zip(below, above, strict=True))
    return *mixed, 255


def _images(tensor: Tensor) -> str:
    """Draw an image, or the first ones of a batch side by side."""
    height, width, channels = tensor.shape[-3:]
    count = min(tensor.shape[0], _MAX_IMAGES) if len(tensor.shape) == 4 else 1
    rows, columns = _sampled(height), _sampled(width)
    elements = tensor.data_sync()
    offsets = [
        ((number * height + row) * width + column) * channels
        for row in rows
        for number in range(count)
        for column in columns
    ]
    levels = [
        [float(elements[offset + channel]) for channel in range(channels)] for offset in offsets
    ]
    low, high = _range_of(levels, tensor.dtype == float32)
    scale = 255 / (high - low)
    pixels = [_pixel([(level - low) * scale for level in pixel]) for pixel in levels]
    title = f"{count} of {tensor.shape[0]} images" if len(tensor.shape) == 4 else "image"
    return _svg(pixels, len(columns) * count, len(rows), title)


def _range_of(levels: Iterable[Sequence[float]], is_float: bool) -> tuple[float, float]:
    """Return the levels of black and white: 0 and 1 or 255 where all are between, else the ends."""
    finite = [level for pixel in levels for level in pixel if isfinite(level)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    for white in (1, 255) if is_float or high <= 1 else (255,):
        if low >= 0 and high <= white:
            return 0.0, white
    return low, high if high > low else low + 1


def _pixel(levels: Sequence[float]) -> tuple[int, ...]:
    """Return the RGBA colour of grey, RGB or RGBA levels from 0 to 255."""
    rounded = [round(level) if isfinite(level) else 0 for level in levels]
    if len(rounded) == 1:
        return *rounded * 3, 255
    return (*rounded, 255) if len(rounded) == 3 else tuple(rounded)


def _svg(pixels: Iterable[Sequence[int]], width: int, height: int, title: str) -> str:
    scale = max(1, min(_ENLARGED // height, _WIDEST // width))
    size = f'width="{width * scale}" height="{height * scale}"'
    source = b64encode(_png(pixels, width, height)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}><title>{title}</title>'
        f'<image href="data:image/png;base64,{source}" {size} image-rendering="pixelated"/></svg>'
    )


def _png(pixels: Iterable[Sequence[int]], width: int, height: int) -> bytes:
    """Encode RGBA pixels (https://www.w3.org/TR/png/)."""
    data = bytes(level for pixel in pixels for level in pixel)
    stride = 4 * width
    rows = (b"\0" + data[row * stride : (row + 1) * stride] for row in range(height))
    header = pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", compress(b"".join(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(body)) + kind + body + pack(">I", crc32(kind + body))
        for kind, body in chunks
    )
