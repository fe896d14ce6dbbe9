"""Numbers of the HDF5 File Format Specification that the reader and the writer share."""

from __future__ import annotations

from enum import IntEnum
from struct import pack

from webtensor.formats.element_types import ITEM_SIZES

__all__ = ["NUMBER_TYPES", "SIGNATURE", "UNDEFINED", "MessageKind"]

#: The first bytes of a file.
SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: The address of an object that does not exist.
UNDEFINED = 0xFFFFFFFFFFFFFFFF


class MessageKind(IntEnum):
    """The kinds of messages in the header of a group or an array."""

    DATASPACE = 0x0001
    LINK_INFO = 0x0002
    DATATYPE = 0x0003
    FILL_VALUE = 0x0005
    LINK = 0x0006
    EXTERNAL_FILES = 0x0007
    DATA_LAYOUT = 0x0008
    GROUP_INFO = 0x000A
    FILTERS = 0x000B
    ATTRIBUTE = 0x000C
    CONTINUATION = 0x0010
    SYMBOL_TABLE = 0x0011
    ATTRIBUTE_INFO = 0x0015


#: Of float formats: the size, the start and the width of the exponent, the width of the mantissa,
#: and the bias.
_FLOATS = {
    "float16": (2, 10, 5, 10, 15),
    "bfloat16": (2, 7, 8, 7, 127),
    "float32": (4, 23, 8, 23, 127),
    "float64": (8, 52, 11, 52, 1023),
}


def _number_type(dtype: str) -> bytes:
    if dtype in _FLOATS:
        size, exponent_start, exponent_bits, mantissa_bits, bias = _FLOATS[dtype]
        bits = bytes((0x20, 8 * size - 1, 0))
        rest = pack("<HHBBBBI", 0, 8 * size, exponent_start, exponent_bits, 0, mantissa_bits, bias)
        return b"\x11" + bits + pack("<I", size) + rest
    size = ITEM_SIZES[dtype]
    bits = bytes((0 if dtype.startswith("u") else 8, 0, 0))
    return b"\x10" + bits + pack("<IHH", size, 0, 8 * size)


#: The datatype messages of numbers by their dtypes.
NUMBER_TYPES = {
    dtype: _number_type(dtype) for dtype in ITEM_SIZES if dtype in _FLOATS or "int" in dtype
}
