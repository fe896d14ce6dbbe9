"""What files store: arrays of more dtypes than tensors have, and texts that may be bytes.

All files that are read or written here store elements in row-major order and little-endian.
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["ITEM_SIZES", "NUMBER_FORMATS", "Buffer", "Elements", "text_or_bytes"]

Buffer: TypeAlias = bytes | bytearray | memoryview

#: Bytes per element, for each dtype of arrays in files.
ITEM_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "complex64": 8,
}

_Format: TypeAlias = Literal["b", "B", "h", "H", "i", "I", "q", "Q", "f", "d"]
#: The format codes of ``struct`` and memoryviews, for the dtypes that Python has numbers for.
NUMBER_FORMATS: dict[str, _Format] = {
    "bool": "B",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}


class Elements(NamedTuple):
    """An array in a file; ``data`` is a buffer, or a tuple of bytes where ``dtype`` is "string"."""

    shape: tuple[int, ...]
    dtype: str
    data: Any

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


def text_or_bytes(data: Buffer) -> str | bytes:
    """Return the text that bytes stand for in UTF-8, or the bytes if they are none."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return bytes(data)
