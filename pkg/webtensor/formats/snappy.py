"""Snappy, a compression without entropy coding: literal bytes, and copies of what came before."""

from __future__ import annotations

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import Buffer

__all__ = ["uncompressed"]

_LITERAL = 0


def uncompressed(data: Buffer, where: str, budget: Budget) -> bytes:
    """Return the bytes that were compressed.

    Raises:
        ModelFormatError: the data is broken, or becomes larger than the budget allows.

    Example:
        >>> uncompressed(bytes.fromhex("08 08 616263 05 03"), "a block", Budget("a file"))
        b'abcabcab'
    """
    view = memoryview(data).cast("B")
    size, position = _size(view, where)
    budget.spend(size, where)
    result = bytearray()
    while position < len(view) and len(result) <= size:
        tag = view[position]
        position += 1
        if tag & 3 == _LITERAL:
            # Long lengths are in one to four bytes after the tag.
            extra = max(0, (tag >> 2) - 59)
            length = (_number(view, position, extra, where) if extra else tag >> 2) + 1
            position += extra
            if length > len(view) - position:
                raise ModelFormatError(f"{where}: the compressed data ends too early")
            result += view[position : position + length]
            position += length
        else:
            extra = (0, 1, 2, 4)[tag & 3]
            offset = _number(view, position, extra, where)
            length = (tag >> 2) + 1
            if extra == 1:
                offset |= (tag >> 5) << 8
                length = (tag >> 2 & 7) + 4
            position += extra
            _copy(result, offset, length, where)
    if len(result) != size:
        raise ModelFormatError(f"{where}: the compressed data is not of the size {size}")
    return bytes(result)


def _copy(result: bytearray, offset: int, length: int, where: str) -> None:
    """Append bytes that begin ``offset`` before the end, and may contain what is appended."""
    if not 0 < offset <= len(result):
        raise ModelFormatError(f"{where}: the compressed data copies from before its begin")
    start = len(result) - offset
    piece = result[start : start + length]
    result += (piece * -(-length // offset))[:length] if offset < length else piece


def _size(view: memoryview, where: str) -> tuple[int, int]:
    """Return the size of the uncompressed data, and the position after it."""
    size = 0
    for position, byte in enumerate(view[:5]):
        size |= (byte & 127) << 7 * position
        if byte < 128:
            return size, position + 1
    raise ModelFormatError(f"{where}: the compressed data has no size")


def _number(view: memoryview, position: int, size: int, where: str) -> int:
    if position + size > len(view):
        raise ModelFormatError(f"{where}: the compressed data ends too early")
    return int.from_bytes(view[position : position + size], "little")
