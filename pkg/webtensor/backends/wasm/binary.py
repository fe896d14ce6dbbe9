"""Reads and writes modules, and rewrites them for memory that threads share.

Three things in a module assume unshared memory: a flag of the memory import, the data segments, and
the start function, which clears variables. Every new instance would write the last two over what
other threads have computed. So the flag is set, data and start are removed, and the data is written
once, to zeroed memory. (WebAssembly Core Specification, 5: the binary format; threads proposal:
limits.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

__all__ = [
    "CODE",
    "DATA",
    "EXPORTS",
    "FUNCTIONS",
    "HEADER",
    "IMPORTS",
    "MEMORY_IMPORT",
    "START",
    "TYPES",
    "Reader",
    "encoded",
    "section",
    "sections",
    "shareable",
    "shared",
    "sized",
    "vector",
]

_Part = TypeVar("_Part")

#: The import of an unshared memory that has a maximum; the last byte is its flags.
MEMORY_IMPORT: Final = b"\x03env\x06memory\x02\x01"
_SHARED_MEMORY_IMPORT: Final = b"\x03env\x06memory\x02\x03"
HEADER: Final = b"\0asm\1\0\0\0"
#: The identifiers of sections.
TYPES, IMPORTS, FUNCTIONS, EXPORTS, START, CODE, DATA, _DATA_COUNT = 1, 2, 3, 7, 8, 10, 11, 12
_I32_CONST, _END = 0x41, 0x0B


class Reader:
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

    def sized(self) -> bytes:
        """Read bytes after their count."""
        return self.take(self.number())

    def vector(self, read: Callable[[Reader], _Part]) -> list[_Part]:
        """Read parts after their count."""
        return [read(self) for _ in range(self.number())]

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
    reader = Reader(module, len(HEADER))
    while reader.offset < len(module):
        start = reader.offset
        identifier = reader.byte()
        content = reader.sized()
        yield identifier, content, module[start : reader.offset]


# -- writing -------------------------------------------------------------------------------------


def encoded(number: int) -> bytes:
    """Return a number of at least 0 as LEB128."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def sized(content: bytes) -> bytes:
    """Return bytes after their count."""
    return encoded(len(content)) + content


def vector(parts: Iterable[bytes]) -> bytes:
    """Return parts after their count."""
    listed = [*parts]
    return encoded(len(listed)) + b"".join(listed)


def section(identifier: int, content: bytes) -> bytes:
    """Return a section."""
    return bytes([identifier]) + sized(content)


# -- shared memory -------------------------------------------------------------------------------


def shareable(module: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Return the module for shared memory, and the data to write there once, by address."""
    chunks = [module[: len(HEADER)]]
    data: list[tuple[int, bytes]] = []
    for identifier, content, whole in sections(module):
        if identifier == DATA:
            data = _segments(content)
        elif identifier not in (START, _DATA_COUNT):
            chunks.append(whole)
    return shared(b"".join(chunks)), data


def shared(module: bytes) -> bytes:
    """Return the module with the bit set that says that its memory is shared."""
    return module.replace(MEMORY_IMPORT, _SHARED_MEMORY_IMPORT, 1)


def _segments(content: bytes) -> list[tuple[int, bytes]]:
    """Return the segments of a data section that are not all zeros, as new memory is."""
    reader = Reader(content)
    segments = []
    for _ in range(reader.number()):
        form = (reader.byte(), reader.byte())
        address = reader.number()
        if form != (0, _I32_CONST) or reader.byte() != _END:
            raise ValueError("the module's data is not placed at constant addresses")
        data = reader.sized()
        if any(data):
            segments.append((address, data))
    return segments
