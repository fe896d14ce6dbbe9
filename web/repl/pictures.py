"""`picture` shows a tensor as an image."""

import struct
import zlib
from typing import Any

#: PNG's colour types, by the number of channels.
COLOUR_TYPES = {1: 0, 3: 2, 4: 6}
BLACK, WHITE = 0, 255


class Picture:
    """An image of 8 bits per channel."""

    def __init__(self, width: int, height: int, channels: int, pixels: bytes) -> None:
        """Keep the pixels row by row."""
        self.width, self.height, self.channels, self.pixels = width, height, channels, pixels

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<Picture {self.width} × {self.height}>"

    def _repr_png_(self) -> bytes:
        row = self.width * self.channels
        starts = range(0, len(self.pixels), row)
        # A zero before each row says that it is not filtered.
        rows = b"".join(b"\0" + self.pixels[start : start + row] for start in starts)
        kind = COLOUR_TYPES[self.channels]
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, kind, 0, 0, 0)
        parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def picture(values: Any) -> Picture:
    """Show values of shape (height, width) or (height, width, channels) as an image.

    There are 1, 3 or 4 channels; values are from 0 to 1 if they are floats, else from 0 to 255.
    """
    import webtensor as wt

    tensor = wt.tensor(values) if not isinstance(values, wt.Tensor) else values
    if tensor.ndim == 2:
        tensor = wt.expand_dims(tensor, -1)
    if tensor.ndim != 3 or tensor.shape[2] not in COLOUR_TYPES or 0 in tensor.shape:
        raise ValueError(
            "picture: takes shapes (height, width) and (height, width, channels) with 1, 3 or 4 "
            f"channels; got {tensor.shape}"
        )
    height, width, channels = tensor.shape
    if tensor.dtype == "float32":
        tensor = wt.round(tensor * WHITE)
    levels = wt.astype(wt.clip(tensor, BLACK, WHITE), "int32")
    return Picture(width, height, channels, bytes(wt.reshape(levels, (-1,)).tolist()))


def _chunk(name: bytes, data: bytes) -> bytes:
    """Return a part of a PNG file, with its length before it and its checksum after it."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
