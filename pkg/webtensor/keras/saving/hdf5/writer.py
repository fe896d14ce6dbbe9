"""Writing HDF5 in Python alone, so that it is the same with and without h5py.

A file is: superblock (version 0), the arrays' bytes, texts of attributes in global heaps, and
object headers (version 1). Groups keep links to their members in their headers, which every HDF5
library since 1.8 reads. Nothing is written twice, so a file can go to where one cannot go back,
such as a member of an archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from struct import pack
from typing import Any

from webtensor.keras.saving.element_types import ITEM_SIZES, Elements
from webtensor.keras.saving.hdf5.checksums import CHECKSUM, checksum_of
from webtensor.keras.saving.hdf5.tree import Group

__all__ = ["pieces"]

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_UNDEFINED = 0xFFFFFFFFFFFFFFFF
_SUPERBLOCK = 96
_FLOATS = {
    "float16": (2, 10, 5, 10, 15),
    "float32": (4, 23, 8, 23, 127),
    "float64": (8, 52, 11, 52, 1023),
}
#: A global heap has at most this many objects, whose numbers have 16 bits, and least bytes.
_MOST_TEXTS = 60_000
_SMALLEST_HEAP = 4096
#: An object header has at most this many messages, one for each member of a group.
_MOST_MESSAGES = 0xFFFF


def pieces(root: Group) -> Iterator[Any]:
    """Yield a file's bytes, piece by piece."""
    written = Group()
    written.members = root.members
    written.attributes = {**root.attributes, CHECKSUM: checksum_of(root)}
    layout = _Layout()
    layout.note_arrays(written)
    layout.note_texts(written)
    layout.place_heaps()
    address = layout.headers(written)
    yield _superblock(address, layout.end)
    yield from layout.data
    yield from layout.meta


def _superblock(root: int, end: int) -> bytes:
    return b"".join(
        (
            _SIGNATURE,
            bytes((0, 0, 0, 0, 0, 8, 8, 0)),
            pack("<HHI", 4, 16, 0),
            pack("<QQQQ", 0, _UNDEFINED, end, _UNDEFINED),
            pack("<QQII16x", 0, root, 0, 0),
        )
    )


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class _Layout:
    """Where everything lies."""

    def __init__(self) -> None:
        self.end = _SUPERBLOCK
        #: The arrays' bytes with padding, then heaps and headers.
        self.data: list[Any] = []
        self.meta: list[bytes] = []
        self.addresses: dict[int, int] = {}
        self.texts: dict[bytes, tuple[int, int]] = {}
        self.heaps: list[list[bytes]] = []
        self.heap_addresses: list[int] = []

    def append(self, to: list[Any], piece: Any) -> int:
        address = self.end
        padding = bytes(-len(piece) % 8)
        to.append(piece)
        if padding:
            to.append(padding)
        self.end += len(piece) + len(padding)
        return address

    # -- arrays --------------------------------------------------------------------------------

    def note_arrays(self, group: Group) -> None:
        for _, elements in group.arrays():
            data = elements.data
            if elements.dtype == "string":
                data = b"".join(one.ljust(_width(elements), b"\0") for one in data)
            self.addresses[id(elements)] = self.append(self.data, data) if data else _UNDEFINED

    # -- texts of attributes -------------------------------------------------------------------

    def note_texts(self, group: Group) -> None:
        for value in group.attributes.values():
            for text in _texts_in(value):
                held = text.encode()
                if held in self.texts:
                    continue
                if not self.heaps or len(self.heaps[-1]) == _MOST_TEXTS:
                    self.heaps.append([])
                self.heaps[-1].append(held)
                self.texts[held] = len(self.heaps) - 1, len(self.heaps[-1])
        for member in group.members.values():
            if isinstance(member, Group):
                self.note_texts(member)

    def place_heaps(self) -> None:
        for heap in self.heaps:
            body = b"".join(
                pack("<HHIQ", number, 0, 0, len(text)) + _padded(text)
                for number, text in enumerate(heap, 1)
            )
            # What is left over is object 0, whose size includes its own head.
            size = max(16 + len(body) + 16, _SMALLEST_HEAP)
            free = size - 16 - len(body)
            rest = pack("<HHIQ", 0, 0, 0, free) + bytes(free - 16)
            head = b"GCOL\1\0\0\0" + pack("<Q", size)
            self.heap_addresses.append(self.append(self.meta, head + body + rest))

    def reference(self, text: str) -> bytes:
        held = text.encode()
        if not held:
            return pack("<IQI", 0, 0, 0)
        heap, number = self.texts[held]
        return pack("<IQI", len(held), self.heap_addresses[heap], number)

    # -- headers -------------------------------------------------------------------------------

    def headers(self, group: Group) -> int:
        """Place the headers of a group and of all inside it; returns the group's address."""
        messages = [
            # No order of creation is kept, and there are no large groups.
            (0x0002, pack("<BBQQ", 0, 0, _UNDEFINED, _UNDEFINED)),
            (0x000A, bytes((0, 0))),
        ]
        for name, member in group.members.items():
            if isinstance(member, Group):
                address = self.headers(member)
            else:
                address = self.header(_messages_of(member, self.addresses[id(member)]))
            held = name.encode()
            messages.append(
                (0x0006, pack("<BBBH", 1, 0x11, 1, len(held)) + held + pack("<Q", address))
            )
        for name, value in group.attributes.items():
            messages.append((0x000C, self.attribute(name, value)))
        return self.header(messages)

    def header(self, messages: Iterable[tuple[int, bytes]]) -> int:
        bodies = [(kind, _padded(body)) for kind, body in messages]
        if len(bodies) > _MOST_MESSAGES:
            raise ValueError(f"a group has {len(bodies)} members, which are too many for HDF5")
        content = b"".join(pack("<HHB3x", kind, len(body), 0) + body for kind, body in bodies)
        head = pack("<BBHII4x", 1, 0, len(bodies), 1, len(content))
        return self.append(self.meta, head + content)

    def attribute(self, name: str, value: Any) -> bytes:
        label = name.encode() + b"\0"
        shape: tuple[int, ...] = ()
        if isinstance(value, int):
            kind, data = _number_type("int64"), pack("<q", value)
        else:
            kind = _HEAP_TEXT
            shape = shape if isinstance(value, str) else (len(value),)
            data = b"".join(self.reference(text) for text in _texts_in(value))
        space = _dataspace(shape)
        sizes = pack("<BBHHH", 1, 0, len(label), len(kind), len(space))
        return sizes + _padded(label) + _padded(kind) + _padded(space) + data


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [] if isinstance(value, int) else list(value)


def _width(elements: Elements) -> int:
    return max((len(one) for one in elements.data), default=1) or 1


def _dataspace(shape: tuple[int, ...]) -> bytes:
    return pack(f"<BBB5x{len(shape)}Q", 1, len(shape), 0, *shape)


def _number_type(dtype: str) -> bytes:
    if dtype in _FLOATS:
        size, exponent, exponents, mantissas, bias = _FLOATS[dtype]
        bits = bytes((0x20, 8 * size - 1, 0))
        rest = pack("<HHBBBBI", 0, 8 * size, exponent, exponents, 0, mantissas, bias)
        return b"\x11" + bits + pack("<I", size) + rest
    if "int" not in dtype:
        raise ValueError(f"HDF5 files hold no {dtype} here")
    size = ITEM_SIZES[dtype]
    bits = bytes((0 if dtype.startswith("u") else 8, 0, 0))
    return b"\x10" + bits + pack("<IHH", size, 0, 8 * size)


#: Text of any length in a global heap, as UTF-8: h5py's type of str.
_HEAP_TEXT = b"\x19\x01\x01\x00" + pack("<I", 16) + b"\x10\x00\x00\x00" + pack("<IHH", 1, 0, 8)
#: An enumeration of FALSE and TRUE over 8-bit integers: h5py's type of bool.
_BOOL = (
    b"\x18\x02\x00\x00"
    + pack("<I", 1)
    + _number_type("int8")
    + b"FALSE\0\0\0TRUE\0\0\0\0"
    + bytes((0, 1))
)


def _messages_of(elements: Elements, address: int) -> list[tuple[int, bytes]]:
    if elements.dtype == "string":
        kind = b"\x13\x10\x00\x00" + pack("<I", _width(elements))
        size = prod(elements.shape) * _width(elements)
    else:
        kind = _BOOL if elements.dtype == "bool" else _number_type(elements.dtype)
        size = len(elements.data)
    return [
        (0x0001, _dataspace(elements.shape)),
        (0x0003, kind),
        # The value that fills what was never written is the default, and is written never.
        (0x0005, bytes((2, 2, 1, 1, 0, 0, 0, 0))),
        (0x0008, pack("<BBQQ", 3, 1, address, size)),
    ]
