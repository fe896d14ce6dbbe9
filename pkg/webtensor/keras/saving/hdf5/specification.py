"""Numbers of the HDF5 File Format Specification that the reader and the writer share."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["SIGNATURE", "UNDEFINED", "MessageKind"]

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
