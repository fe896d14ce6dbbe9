"""FlexBuffers, with eight bytes for every value."""

from struct import pack
from typing import Any

__all__ = ["flexbuffer"]

_WIDTH = 3  # 1 << 3 bytes


def flexbuffer(value: dict[str, Any]) -> bytes:
    """The bytes of a map of numbers, truth values, texts and lists of integers."""
    data = bytearray()

    def word(number: int | float) -> None:
        nonlocal data
        data += pack("<d" if isinstance(number, float) else "<q", number)

    names = sorted(value)
    offsets = {}
    for name in names:
        offsets[name] = len(data)
        data += name.encode() + b"\0"
    elsewhere = {}
    for name in names:
        item = value[name]
        if isinstance(item, (str, bytes)):
            encoded = item.encode() if isinstance(item, str) else item
            data += pack("<q", len(encoded))
            elsewhere[name] = len(data)
            data += encoded + b"\0"
        elif isinstance(item, list):
            word(len(item))
            elsewhere[name] = len(data)
            data += pack(f"<{len(item)}q", *item)
    word(len(names))
    keys = len(data)
    for name in names:
        word(len(data) - offsets[name])
    word(len(data) - keys)
    word(1 << _WIDTH)
    word(len(names))
    values = len(data)
    for name in names:
        word(len(data) - elsewhere[name] if name in elsewhere else value[name])
    for name in names:
        data.append(_packed_type(value[name]))
    offset = len(data) - values
    data += pack("<q", offset) + bytes([9 << 2 | _WIDTH, 8])
    return bytes(data)


def _packed_type(value: Any) -> int:
    kinds = {bool: 26, int: 1, float: 3, str: 5, list: 11, bytes: 25}
    return kinds[type(value)] << 2 | _WIDTH
