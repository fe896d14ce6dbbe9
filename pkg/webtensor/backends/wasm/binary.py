"""Rewrites a compiled module for memory that threads share.

Three things in a module assume unshared memory: a flag of the memory import, the data segments, and
the start function, which clears variables. Every new instance would write the last two over what
other threads have computed. So the flag is set, data and start are removed, and the data is written
once, to zeroed memory. (WebAssembly Core Specification, 5.5: sections; threads proposal: limits.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

__all__ = ["DATA", "MEMORY_IMPORT", "START", "sections", "shareable", "shared"]

#: The import of an unshared memory that has a maximum; the last byte is its flags.
MEMORY_IMPORT: Final = b"\x03env\x06memory\x02\x01"
_SHARED_MEMORY_IMPORT: Final = b"\x03env\x06memory\x02\x03"
_HEADER_BYTES: Final = 8
START, DATA, _DATA_COUNT = 8, 11, 12
_I32_CONST, _END = 0x41, 0x0B


class _Reader:
    """Reads numbers from a module's bytes."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data = data
        self.offset = offset

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """Read a LEB128 number; signed ones that are negative do not occur here."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    def take(self, count: int) -> bytes:
        if self.offset + count > len(self.data):
            raise ValueError("the module is cut off")
        self.offset += count
        return self.data[self.offset - count : self.offset]


def sections(module: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the identifier of each section, its content, and all of its bytes.

    Raises:
        ValueError: the module is cut off.
    """
    reader = _Reader(module, _HEADER_BYTES)
    while reader.offset < len(module):
        start = reader.offset
        identifier = reader.byte()
        content = reader.take(reader.number())
        yield identifier, content, module[start : reader.offset]


def shareable(module: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Return the module for shared memory, and the data to write there once, by address."""
    chunks = [module[:_HEADER_BYTES]]
    data: list[tuple[int, bytes]] = []
    for identifier, content, section in sections(module):
        if identifier == DATA:
            data = _segments(content)
        elif identifier not in (START, _DATA_COUNT):
            chunks.append(section)
    return shared(b"".join(chunks)), data


def shared(module: bytes) -> bytes:
    """Return the module with the bit set that says that its memory is shared."""
    return module.replace(MEMORY_IMPORT, _SHARED_MEMORY_IMPORT, 1)


def _segments(section: bytes) -> list[tuple[int, bytes]]:
    """Return the segments of a data section that are not all zeros, as new memory is."""
    reader = _Reader(section)
    segments = []
    for _ in range(reader.number()):
        form = (reader.byte(), reader.byte())
        address = reader.number()
        if form != (0, _I32_CONST) or reader.byte() != _END:
            raise ValueError("the module's data is not placed at constant addresses")
        content = reader.take(reader.number())
        if any(content):
            segments.append((address, content))
    return segments
