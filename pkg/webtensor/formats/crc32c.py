"""CRC-32C, the checksum of TensorFlow's files; Python's ``zlib`` has another polynomial.

A loop over bytes takes more than 100 ns for each. Large data is cut into lanes, one beside the
other, whose remainders are computed together: ``bytes.translate`` looks up a table for a byte of
every lane, and integers of any length XOR them. That takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import TypeAlias

from webtensor.formats.element_types import Buffer

__all__ = ["crc32c", "masked_crc32c"]

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_LANES = 4096
#: The fewest and the most bytes of a lane.
_LANE_BYTES = (64, 1024)
_MASK = 0xA282EAD8

#: A linear function of 32 bits, as its result for each of them.
_Matrix: TypeAlias = list[int]


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_remainder(byte) for byte in range(256)]
#: The bytes of the table's numbers, the lowest first.
_BYTE_TABLES = [bytes(number >> shift & 255 for number in _TABLE) for shift in (0, 8, 16, 24)]


def crc32c(data: Buffer, checksum: int = 0) -> int:
    """Return the checksum of bytes, which may continue those of another checksum.

    Example:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
        >>> hex(crc32c(b"6789", crc32c(b"12345")))
        '0xe3069283'
    """
    view = memoryview(data).cast("B")
    state = checksum ^ _ONES
    while (length := min(len(view) // _LANES, _LANE_BYTES[1])) >= _LANE_BYTES[0]:
        state = _in_lanes(bytes(view[: length * _LANES]), length, state)
        view = view[length * _LANES :]
    for byte in view:
        state = _TABLE[(state ^ byte) & 255] ^ state >> 8
    return state ^ _ONES


def masked_crc32c(data: Buffer, checksum: int = 0) -> int:
    """Return the checksum as it is stored; plain ones of data that has some are weak."""
    plain = crc32c(data, checksum)
    return ((plain >> 15 | plain << 17) + _MASK) & _ONES


def _in_lanes(data: bytes, length: int, state: int) -> int:
    """Return the state after data that consists of ``_LANES`` lanes of a length."""
    # The states of all lanes: their lowest bytes, then their second ones, and so on.
    planes = [0, 0, 0, 0]
    for position in range(length):
        row = int.from_bytes(data[position::length], "little") ^ planes[0]
        indices = row.to_bytes(_LANES, "little")
        looked_up = [int.from_bytes(indices.translate(table), "little") for table in _BYTE_TABLES]
        planes = [low ^ high for low, high in zip(looked_up, [*planes[1:], 0], strict=True)]
    columns = (plane.to_bytes(_LANES, "little") for plane in planes)
    skip = _skip(length)
    for low, second, third, high in zip(*columns, strict=True):
        state = skip(state) ^ (low | second << 8 | third << 16 | high << 24)
    return state


@lru_cache(4)
def _skip(length: int) -> Callable[[int], int]:
    """Return the function that a state goes through when zeros follow."""
    matrix = [1 << bit for bit in range(32)]
    step = [_TABLE[(1 << bit) & 255] ^ (1 << bit) >> 8 for bit in range(32)]
    while length:
        if length & 1:
            matrix = [_apply(step, row) for row in matrix]
        step = [_apply(step, row) for row in step]
        length >>= 1
    tables = [[_apply(matrix, byte << shift) for byte in range(256)] for shift in (0, 8, 16, 24)]
    low, second, third, high = tables
    return lambda state: (
        low[state & 255] ^ second[state >> 8 & 255] ^ third[state >> 16 & 255] ^ high[state >> 24]
    )


def _apply(matrix: _Matrix, state: int) -> int:
    return reduce(
        lambda result, bit: result ^ matrix[bit] if state >> bit & 1 else result, range(32), 0
    )
