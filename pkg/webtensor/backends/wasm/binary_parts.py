"""Parts of modules, as bytes. (WebAssembly Core Specification, 5: the binary format.)"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["encoded", "run", "section", "vector"]


def encoded(number: int) -> bytes:
    """Return a number of at least 0 as LEB128."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def run(content: bytes) -> bytes:
    """Return bytes after their number."""
    return encoded(len(content)) + content


def vector(parts: Iterable[bytes]) -> bytes:
    """Return parts after their number."""
    listed = [*parts]
    return encoded(len(listed)) + b"".join(listed)


def section(identifier: int, content: bytes) -> bytes:
    """Return a section."""
    return bytes([identifier]) + run(content)
