"""Integers of one or two bytes, which become int32."""

from __future__ import annotations

from struct import calcsize

__all__ = ["widened"]

#: The upper bytes of a signed number, by its highest byte.
_SIGNS = bytes([0] * 128 + [255] * 128)


def widened(data: bytes, kind: str) -> bytearray:
    """Return integers as int32; ``kind`` is their format code, b, B, h or H."""
    size = calcsize(kind)
    wide = bytearray(len(data) // size * 4)
    for index in range(size):
        wide[index::4] = data[index::size]
    if kind.islower():
        signs = data[size - 1 :: size].translate(_SIGNS)
        for index in range(size, 4):
            wide[index::4] = signs
    return wide
