"""Writing HDF5 in plain Python, so that files are the same with and without h5py.

A file is a superblock (version 0), the bytes of arrays, the texts of attributes in global heaps,
and object headers (version 1). A group has links to its members in its header, which every HDF5
library since 1.8 reads. Files are written from start to end, so that they can be streamed into an
archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from struct import pack

from webtensor.formats.element_types import Buffer, Elements
from webtensor.keras.saving.hdf5.checksums import CHECKSUM, checksum_of
from webtensor.keras.saving.hdf5.specification import (
    NUMBER_TYPES,
    SIGNATURE,
    UNDEFINED,
    MessageKind,
)
from webtensor.keras.saving.hdf5.tree import Attribute, Group

__all__ = ["pieces"]

_SUPERBLOCK_SIZE = 96
#: The largest number of objects in a global heap, whose indices have 16 bits; the smallest size.
_MAX_TEXTS = 60_000
_MIN_HEAP_SIZE = 4096
#: The largest number of messages in an object header, one for each member of a group.
_MAX_MESSAGES = 0xFFFF


def pieces(root: Group) -> Iterator[Buffer]:
    """Yield the bytes of a file in pieces."""
    checked_root = Group()
    checked_root.members = root.members
    checked_root.attributes = {**root.attributes, CHECKSUM: checksum_of(root)}
    layout = _Layout()
    layout.add_arrays(checked_root)
    layout.collect_texts(checked_root)
    layout.add_heaps()
    root_address = layout.add_group(checked_root)
    yield _superblock(root_address, layout.end)
    yield from layout.data
    yield from layout.meta


def _superblock(root_address: int, end: int) -> bytes:
    return b"".join(
        (
            SIGNATURE,
            bytes((0, 0, 0, 0, 0, 8, 8, 0)),
            pack("<HHI", 4, 16, 0),
            pack("<QQQQ", 0, UNDEFINED, end, UNDEFINED),
            pack("<QQII16x", 0, root_address, 0, 0),
        )
    )


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class _Layout:
    """The contents of a file and their addresses."""

    def __init__(self) -> None:
        self.end = _SUPERBLOCK_SIZE
        #: The bytes of arrays with padding; after them, heaps and headers.
        self.data: list[Buffer] = []
        self.meta: list[Buffer] = []
        #: The addresses of arrays, by the ``id`` of their elements.
        self.array_addresses: dict[int, int] = {}
        #: Texts in heaps, with the number of the heap and their index in it.
        self.texts: dict[bytes, tuple[int, int]] = {}
        self.heaps: list[list[bytes]] = []
        self.heap_addresses: list[int] = []

    def append(self, contents: list[Buffer], piece: Buffer) -> int:
        """Append bytes with padding, and return their address."""
        address = self.end
        padding = bytes(-len(piece) % 8)
        contents.append(piece)
        if padding:
            contents.append(padding)
        self.end += len(piece) + len(padding)
        return address

    # -- arrays --------------------------------------------------------------------------------

    def add_arrays(self, group: Group) -> None:
        for _, elements in group.arrays():
            data = elements.data
            if elements.dtype == "string":
                data = b"".join(text.ljust(_width(elements), b"\0") for text in data)
            address = self.append(self.data, data) if data else UNDEFINED
            self.array_addresses[id(elements)] = address

    # -- texts of attributes -------------------------------------------------------------------

    def collect_texts(self, group: Group) -> None:
        """Put the texts of the attributes of a group, and of groups inside it, into heaps."""
        for value in group.attributes.values():
            for text in _encoded_texts(value):
                if text in self.texts:
                    continue
                if not self.heaps or len(self.heaps[-1]) == _MAX_TEXTS:
                    self.heaps.append([])
                self.heaps[-1].append(text)
                self.texts[text] = len(self.heaps) - 1, len(self.heaps[-1])
        for member in group.members.values():
            if isinstance(member, Group):
                self.collect_texts(member)

    def add_heaps(self) -> None:
        for heap in self.heaps:
            body = b"".join(
                pack("<HHIQ", index, 0, 0, len(text)) + _padded(text)
                for index, text in enumerate(heap, 1)
            )
            # Free space is object 0, whose size includes its own head.
            size = max(16 + len(body) + 16, _MIN_HEAP_SIZE)
            free = size - 16 - len(body)
            rest = pack("<HHIQ", 0, 0, 0, free) + bytes(free - 16)
            head = b"GCOL\1\0\0\0" + pack("<Q", size)
            self.heap_addresses.append(self.append(self.meta, head + body + rest))

    def reference(self, text: bytes) -> bytes:
        """Return the reference to a text in a heap."""
        if not text:
            return pack("<IQI", 0, 0, 0)
        heap, index = self.texts[text]
        return pack("<IQI", len(text), self.heap_addresses[heap], index)

    # -- headers -------------------------------------------------------------------------------

    def add_group(self, group: Group) -> int:
        """Append the headers of a group and of all objects in it, and return its address."""
        messages = [
            # The order of creation is not stored, and members are stored in the header.
            (MessageKind.LINK_INFO, pack("<BBQQ", 0, 0, UNDEFINED, UNDEFINED)),
            (MessageKind.GROUP_INFO, bytes((0, 0))),
        ]
        for name, member in group.members.items():
            if isinstance(member, Group):
                address = self.add_group(member)
            else:
                address = self.add_header(_array_messages(member, self.array_addresses[id(member)]))
            label = name.encode()
            link = pack("<BBBH", 1, 0x11, 1, len(label)) + label + pack("<Q", address)
            messages.append((MessageKind.LINK, link))
        for name, value in group.attributes.items():
            messages.append((MessageKind.ATTRIBUTE, self.attribute(name, value)))
        return self.add_header(messages)

    def add_header(self, messages: Iterable[tuple[int, bytes]]) -> int:
        bodies = [(kind, _padded(body)) for kind, body in messages]
        if len(bodies) > _MAX_MESSAGES:
            raise ValueError(f"a group has {len(bodies)} members, which are too many for HDF5")
        content = b"".join(pack("<HHB3x", kind, len(body), 0) + body for kind, body in bodies)
        head = pack("<BBHII4x", 1, 0, len(bodies), 1, len(content))
        return self.append(self.meta, head + content)

    def attribute(self, name: str, value: Attribute) -> bytes:
        """Return the body of an attribute message."""
        label = name.encode() + b"\0"
        shape: tuple[int, ...] = ()
        if isinstance(value, int):
            datatype, data = NUMBER_TYPES["int64"], pack("<q", value)
        else:
            datatype, texts = _HEAP_TEXT, _encoded_texts(value)
            shape = () if isinstance(value, str) else (len(texts),)
            data = b"".join(map(self.reference, texts))
        dataspace = _dataspace(shape)
        sizes = pack("<BBHHH", 1, 0, len(label), len(datatype), len(dataspace))
        return sizes + _padded(label) + _padded(datatype) + _padded(dataspace) + data


def _encoded_texts(value: Attribute) -> list[bytes]:
    """Return the texts in the value of an attribute."""
    if isinstance(value, int):
        return []
    return [str(text).encode() for text in ([value] if isinstance(value, str) else value or ())]


def _width(elements: Elements) -> int:
    """Return the size of the longest text of an array."""
    return max((len(text) for text in elements.data), default=1) or 1


def _dataspace(shape: tuple[int, ...]) -> bytes:
    return pack(f"<BBB5x{len(shape)}Q", 1, len(shape), 0, *shape)


#: Text of any length in a global heap, as UTF-8: h5py's type of str.
_HEAP_TEXT = b"\x19\x01\x01\x00" + pack("<I", 16) + b"\x10\x00\x00\x00" + pack("<IHH", 1, 0, 8)
#: An enumeration of FALSE and TRUE over 8-bit integers: h5py's type of bool.
_BOOL = (
    b"\x18\x02\x00\x00"
    + pack("<I", 1)
    + NUMBER_TYPES["int8"]
    + b"FALSE\0\0\0TRUE\0\0\0\0"
    + bytes((0, 1))
)
_DATATYPES = {**NUMBER_TYPES, "bool": _BOOL}


def _array_messages(elements: Elements, address: int) -> list[tuple[int, bytes]]:
    """Return the messages of an array's header."""
    if elements.dtype == "string":
        datatype = b"\x13\x10\x00\x00" + pack("<I", _width(elements))
        size = prod(elements.shape) * _width(elements)
    else:
        if elements.dtype not in _DATATYPES:
            raise ValueError(f"elements of dtype {elements.dtype} cannot be saved in an HDF5 file")
        datatype = _DATATYPES[elements.dtype]
        size = len(elements.data)
    return [
        (MessageKind.DATASPACE, _dataspace(elements.shape)),
        (MessageKind.DATATYPE, datatype),
        # The fill value of unwritten elements is the default, and is never written.
        (MessageKind.FILL_VALUE, bytes((2, 2, 1, 1, 0, 0, 0, 0))),
        (MessageKind.DATA_LAYOUT, pack("<BBQQ", 3, 1, address, size)),
    ]
