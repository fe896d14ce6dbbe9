"""Integers of variable size: seven bits a byte, the lowest first, as in protocol buffers."""

from __future__ import annotations

__all__ = ["read_varint", "write_varint"]

#: The shift after ten bytes, the most that 64 bits take.
_MAX_BITS = 70


def read_varint(data: memoryview | bytes, position: int, end: int) -> tuple[int, int]:
    """Return the unsigned integer at a position, and the position after it.

    Raises:
        ValueError: it is longer than ten bytes, or does not end before ``end``.

    Example:
        >>> read_varint(bytes([150, 1]), 0, 2)
        (150, 2)
    """
    value = shift = 0
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift == _MAX_BITS:
            raise ValueError("an integer has more than 64 bits")
    raise ValueError("an integer has no end")


def write_varint(value: int) -> bytes:
    """Return the bytes of an unsigned integer.

    Example:
        >>> write_varint(150).hex()
        '9601'
    """
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
