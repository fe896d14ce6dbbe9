"""Reading HDF5 in plain Python: the files that Keras, h5py and this library write.

The reader supports these parts of the HDF5 File Format Specification, version 3: superblocks 0 to
3; object headers 1 and 2; groups as symbol tables or as links in their header; contiguous arrays;
numbers, booleans and text. Chunks, filters, soft and external links, and large groups of the newest
format are unsupported (``UnsupportedError``).

Files are untrusted: each address and size is checked before it is used, objects are read once, and
memory is spent from the file's budget before it is allocated. So neither loops nor small files that
claim to be large take time or memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import ITEM_SIZES, NUMBER_FORMATS, Buffer, Elements
from webtensor.keras.saving.hdf5.specification import (
    NUMBER_TYPES,
    SIGNATURE,
    UNDEFINED,
    MessageKind,
)
from webtensor.keras.saving.hdf5.tree import Attribute, Group

__all__ = ["MAX_GROUPS", "UnsupportedError", "read"]

#: The largest depth of nested groups.
MAX_GROUPS = 64
#: The dtypes of numbers by their datatype messages.
_NUMBERS = {message: dtype for dtype, message in NUMBER_TYPES.items()}


class UnsupportedError(ModelFormatError):
    """The file uses a part of the format that this reader does not support."""


class _Datatype(NamedTuple):
    """A dtype, the bytes per element, and for text whether these are "fixed" or in a "heap"."""

    dtype: str
    size: int
    text: str = ""


class _Message(NamedTuple):
    """A message of an object header."""

    kind: int
    body: memoryview
    is_shared: bool


def read(data: Buffer, file: str, budget: Budget | None = None) -> Group:
    """Return the contents of a file; arrays are views of its bytes.

    Raises:
        UnsupportedError: the file needs h5py.
        ModelFormatError: it is not HDF5, is broken, or costs more than the budget allows.
    """
    view = memoryview(data).cast("B")
    return _Reader(view, file, budget or Budget(file, len(view))).root()


class _Reader:
    def __init__(self, data: memoryview, file: str, budget: Budget) -> None:
        self.data, self.file, self.budget = data, file, budget
        self.base = 0
        self.objects: set[int] = set()
        #: The bytes of all arrays, which must not overlap.
        self.stored_bytes = 0
        #: The objects in global heaps by their index, by the heap's address.
        self.heaps: dict[int, dict[int, memoryview]] = {}
        #: Texts in heaps by address, index and length: many references to one text share it.
        self.heap_texts: dict[tuple[int, int, int], bytes] = {}
        self.decoded: dict[bytes, str] = {}

    # -- bytes ---------------------------------------------------------------------------------

    def broken(self, problem: str) -> ModelFormatError:
        return ModelFormatError(f"{self.file} is a broken HDF5 file: {problem}")

    def unsupported(self, feature: str) -> UnsupportedError:
        return UnsupportedError(
            f"{self.file} is an HDF5 file with {feature}, which only the package h5py reads here; "
            "install it (in Pyodide: await pyodide.loadPackage('h5py'))"
        )

    def span(self, address: int, size: int) -> memoryview:
        """Return the bytes at an address."""
        start = self.base + address
        if address == UNDEFINED or start < 0 or size < 0 or start + size > len(self.data):
            raise self.broken(f"{size} bytes are needed at {address}, but it has {len(self.data)}")
        return self.data[start : start + size]

    def number(self, view: memoryview, offset: int, size: int = 8) -> int:
        """Return the unsigned integer at an offset in some bytes."""
        if offset + size > len(view):
            raise self.broken("a record ends too early")
        return int.from_bytes(view[offset : offset + size], "little")

    def check_signature(self, view: memoryview, signature: bytes, name: str) -> None:
        if bytes(view[: len(signature)]) != signature:
            raise self.broken(f"there is no {name} where one should be")

    # -- the file ------------------------------------------------------------------------------

    def root(self) -> Group:
        if bytes(self.data[:8]) != SIGNATURE:
            raise ModelFormatError(f"{self.file} is not an HDF5 file")
        head = self.data[8 : 8 + 104]
        version = self.number(head, 0, 1)
        sizes = (5, 6) if version < 2 else (1, 2)
        if version > 3 or any(self.number(head, offset, 1) != 8 for offset in sizes):
            raise self.unsupported("unusual addresses")
        if version < 2:
            addresses = 16 + 4 * (version == 1)
            self.base = self.number(head, addresses)
            address = self.number(head, addresses + 40)
        else:
            self.base = self.number(head, 4)
            address = self.number(head, 28)
        root = self.object(address, 0)
        if not isinstance(root, Group):
            raise self.broken("its root is no group")
        return root

    def object(self, address: int, depth: int) -> Group | Elements:
        """Return a group, with all objects inside it, or an array."""
        if address in self.objects:
            raise self.broken("an object is linked twice")
        self.objects.add(address)
        if depth > MAX_GROUPS:
            raise self.broken(f"its groups are nested more than {MAX_GROUPS} levels deep")
        messages = list(self.header(address))
        kinds = {message.kind for message in messages}
        if MessageKind.DATA_LAYOUT in kinds:
            return self.array(messages)
        if not kinds & {MessageKind.LINK_INFO, MessageKind.LINK, MessageKind.SYMBOL_TABLE}:
            raise self.unsupported("objects that are neither groups nor arrays")
        group = Group()
        for message in messages:
            if message.kind == MessageKind.ATTRIBUTE:
                name, value = self.attribute(message)
                group.attributes[name] = value
            elif message.kind == MessageKind.ATTRIBUTE_INFO:
                self.check_dense(message.body, 2 + 2 * (message.body[1] & 1), "many attributes")
        for name, member_address in self.links(messages):
            if name in group.members:
                raise self.broken(f"there are two objects with the name {name!r}")
            if name in ("", ".", "..") or "/" in name:
                raise self.broken(f"an object has the name {name!r}")
            group.members[name] = self.object(member_address, depth + 1)
        return group

    # -- object headers ------------------------------------------------------------------------

    def header(self, address: int) -> Iterator[_Message]:
        """Yield the messages in the header of an object."""
        head = self.span(address, 16)
        if bytes(head[:4]) == b"OHDR":
            yield from self.header_2(address)
            return
        if head[0] != 1:
            raise self.broken(f"there is no object at {address}")
        yield from self.messages(address + 16, self.number(head, 8, 4), 1, 0)

    def header_2(self, address: int) -> Iterator[_Message]:
        """Yield the messages in a header of version 2."""
        head = self.span(address, 6)
        if head[4] != 2:
            raise self.unsupported(f"object headers of version {head[4]}")
        flags = head[5]
        address += 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
        width = 1 << (flags & 3)
        size = self.number(self.span(address, width), 0, width)
        yield from self.messages(address + width, size, 2, flags)

    def messages(self, address: int, size: int, version: int, flags: int) -> Iterator[_Message]:
        """Yield the messages in a chunk of a header, and in the chunks that continue it."""
        chunks = [self.span(address, size)]
        kind_size = 2 if version == 1 else 1
        head_size = 8 if version == 1 else 4 + 2 * bool(flags & 4)
        while chunks:
            rest = chunks.pop(0)
            while len(rest) >= head_size:
                self.budget.spend_items(1, self.file)
                kind = self.number(rest, 0, kind_size)
                end = head_size + self.number(rest, kind_size, 2)
                is_shared = bool(rest[kind_size + 2] & 2)
                if end > len(rest):
                    raise self.broken("a message ends too early")
                body, rest = rest[head_size:end], rest[end:]
                if kind == MessageKind.CONTINUATION:
                    chunks.append(self.continuation(body, version))
                elif kind:
                    yield _Message(kind, body, is_shared)

    def continuation(self, body: memoryview, version: int) -> memoryview:
        """Return the next chunk of a header, without its signature and checksum."""
        chunk = self.span(self.number(body, 0), self.number(body, 8))
        if version == 1:
            return chunk
        self.check_signature(chunk, b"OCHK", "continued header")
        return chunk[4:-4]

    # -- groups --------------------------------------------------------------------------------

    def check_dense(self, body: memoryview, offset: int, feature: str) -> None:
        """Refuse members or attributes in a heap, whose address is at the offset."""
        if self.number(body, offset) != UNDEFINED:
            raise self.unsupported(feature)

    def links(self, messages: list[_Message]) -> Iterator[tuple[str, int]]:
        """Yield the names and addresses of a group's members."""
        for message in messages:
            if message.kind == MessageKind.LINK_INFO:
                self.check_dense(message.body, 2 + 8 * (message.body[1] & 1), "large groups")
            elif message.kind == MessageKind.LINK:
                yield self.link(message.body)
            elif message.kind == MessageKind.SYMBOL_TABLE:
                heap = self.local_heap(self.number(message.body, 8))
                yield from self.symbols(self.number(message.body, 0), heap)

    def link(self, body: memoryview) -> tuple[str, int]:
        flags = self.number(body, 1, 1)
        offset = 2
        if flags & 8:
            if self.number(body, offset, 1):
                raise self.broken("a link leads elsewhere, which is not followed")
            offset += 1
        offset += 8 * bool(flags & 4) + bool(flags & 16)
        width = 1 << (flags & 3)
        start = offset + width
        end = start + self.number(body, offset, width)
        if end > len(body):
            raise self.broken("a link ends too early")
        return self.text(bytes(body[start:end])), self.number(body, end)

    def local_heap(self, address: int) -> memoryview:
        head = self.span(address, 32)
        self.check_signature(head, b"HEAP", "heap")
        return self.span(self.number(head, 24), self.number(head, 8))

    def symbols(self, address: int, heap: memoryview) -> Iterator[tuple[str, int]]:
        """Yield the names and addresses in a B-tree of symbol tables."""
        waiting, visited = [address], {address}
        while waiting:
            address = waiting.pop()
            self.budget.spend_items(1, self.file)
            head = self.span(address, 24)
            if bytes(head[:4]) == b"SNOD":
                yield from self.symbol_table(address, self.number(head, 6, 2), heap)
                continue
            self.check_signature(head, b"TREE", "group")
            entries = self.number(head, 6, 2)
            if head[4]:
                raise self.broken("a group is a tree of something else")
            body = self.span(address + 24, 16 * entries + 8)
            children = [self.number(body, 16 * index + 8) for index in range(entries)]
            if len({*children} - visited) < len(children):
                raise self.broken("a group runs in circles")
            visited.update(children)
            waiting += reversed(children)

    def symbol_table(self, address: int, count: int, heap: memoryview) -> Iterator[tuple[str, int]]:
        rows = self.span(address + 8, 40 * count)
        for row in range(0, 40 * count, 40):
            if self.number(rows, row + 16, 4) == 2:
                raise self.broken("a link leads elsewhere, which is not followed")
            name_offset = self.number(rows, row)
            if name_offset >= len(heap):
                raise self.broken("a name lies outside of its heap")
            yield self.terminated(heap, name_offset), self.number(rows, row + 8)

    # -- text ----------------------------------------------------------------------------------

    def text(self, data: bytes) -> str:
        """Decode a text; equal texts are one object."""
        if data not in self.decoded:
            self.budget.spend(len(data), self.file)
            try:
                self.decoded[data] = data.decode()
            except UnicodeDecodeError:
                raise self.broken("a text is not UTF-8") from None
        return self.decoded[data]

    def terminated(self, view: memoryview, start: int) -> str:
        """Return the text that begins at an offset and ends before a zero."""
        size = 1
        while True:
            data = bytes(view[start : start + size])
            end = data.find(0)
            if end >= 0:
                return self.text(data[:end])
            if start + size >= len(view):
                raise self.broken("a name has no end")
            size *= 2
            self.budget.spend(size, self.file)

    def heap_object(self, address: int, index: int) -> memoryview:
        """Return the bytes of an object in a global heap."""
        if address not in self.heaps:
            head = self.span(address, 16)
            self.check_signature(head, b"GCOL", "global heap")
            rest = self.span(address, self.number(head, 8))[16:]
            objects: dict[int, memoryview] = {}
            while len(rest) >= 16 and (object_index := self.number(rest, 0, 2)):
                self.budget.spend_items(1, self.file)
                size = self.number(rest, 8)
                if 16 + size > len(rest):
                    raise self.broken("a global heap ends too early")
                objects[object_index] = rest[16 : 16 + size]
                rest = rest[16 + (size + 7) // 8 * 8 :]
            self.heaps[address] = objects
        if index not in self.heaps[address]:
            raise self.broken(f"a global heap has no object {index}")
        return self.heaps[address][index]

    # -- arrays and attributes -----------------------------------------------------------------

    def shape(self, body: memoryview) -> tuple[int, ...] | None:
        """Return the shape in a dataspace message, or None where there are no elements."""
        version, rank = self.number(body, 0, 1), self.number(body, 1, 1)
        if version not in (1, 2):
            raise self.broken("an array has an unknown shape")
        if version == 2 and body[3] == 2:
            return None
        sizes = 8 if version == 1 else 4
        return tuple(self.number(body, sizes + 8 * axis) for axis in range(rank))

    def datatype(self, body: memoryview) -> _Datatype:
        """Return the datatype in a datatype message."""
        type_class, bits, size = body[0] & 15, self.number(body, 1, 3), self.number(body, 4, 4)
        if not size:
            raise self.broken("a datatype has no size")
        if type_class in (0, 1):
            # The first byte has the version of the message, too, which changes nothing here.
            message = bytes((0x10 | type_class, *body[1 : 12 if type_class == 0 else 20]))
            return self.number_type(_NUMBERS.get(message, ""), size)
        # Zeros pad most texts, spaces those of Fortran.
        if type_class == 3 and bits & 15 < 2:
            return _Datatype("string", size, "fixed")
        if type_class == 5 and size == 2:
            # Keras writes bfloat16 as opaque bytes.
            return _Datatype("bfloat16", size)
        if type_class == 8:
            # h5py writes booleans as an enumeration of FALSE and TRUE.
            is_bool = size == 1 and bits & 0xFFFF == 2 and b"FALSE\0" in bytes(body)
            return self.number_type("bool" if is_bool else "", size)
        if type_class == 9 and bits & 15 == 1 and size == 16:
            return _Datatype("string", size, "heap")
        raise self.unsupported(f"datatypes of class {type_class}")

    def number_type(self, dtype: str, size: int) -> _Datatype:
        if ITEM_SIZES.get(dtype) != size:
            raise self.unsupported(f"unusual numbers of {size} bytes")
        return _Datatype(dtype, size)

    def attribute(self, message: _Message) -> tuple[str, Attribute]:
        """Return the name and the value of an attribute, which is of texts or numbers."""
        body = message.body
        version = self.number(body, 0, 1)
        if version not in (1, 2, 3) or (version > 1 and body[1]):
            raise self.unsupported("unusual attributes")
        parts, offset = [], 8 + (version == 3)
        for size in (self.number(body, size_offset, 2) for size_offset in (2, 4, 6)):
            parts.append(body[offset : offset + size])
            offset += (size + 7) // 8 * 8 if version == 1 else size
        if offset > len(body):
            raise self.broken("an attribute ends too early")
        name_part, datatype_part, shape_part = parts
        name = self.text(bytes(name_part)).rstrip("\0")
        shape = self.shape(shape_part)
        if shape is None:
            return name, None
        return name, self.value(self.datatype(datatype_part), shape, body[offset:])

    def value(self, datatype: _Datatype, shape: tuple[int, ...], data: memoryview) -> Attribute:
        """Return the value of an attribute."""
        code: Any = NUMBER_FORMATS.get(datatype.dtype)
        if len(shape) > 1 or not (datatype.text or code):
            raise self.unsupported("unusual attributes")
        count = self.budget.size_of(shape, self.file)
        if count * datatype.size > len(data):
            raise self.broken("an attribute ends too early")
        self.budget.spend_items(count, self.file)
        if datatype.text:
            texts = [self.text(text) for text in self.texts(datatype, count, data)]
            return texts if shape else texts[0]
        numbers: Any = data[: count * datatype.size].cast(code).tolist()
        value: Attribute = numbers if shape else numbers[0]
        return value

    def texts(self, datatype: _Datatype, count: int, data: memoryview) -> Iterator[bytes]:
        """Yield texts, which are padded to a fixed size or are in a global heap."""
        for start in range(0, count * datatype.size, datatype.size):
            item = data[start : start + datatype.size]
            if datatype.text == "fixed":
                self.budget.spend(datatype.size, self.file)
                yield bytes(item).rstrip(b"\0")
            else:
                size, address = self.number(item, 0, 4), self.number(item, 4)
                yield self.heap_text(address, self.number(item, 12, 4), size) if size else b""

    def heap_text(self, address: int, index: int, size: int) -> bytes:
        """Return a text in a global heap."""
        key = address, index, size
        if key not in self.heap_texts:
            data = self.heap_object(address, index)
            if size > len(data):
                raise self.broken("a text ends too early")
            self.budget.spend(size, self.file)
            self.heap_texts[key] = bytes(data[:size]).rstrip(b"\0")
        return self.heap_texts[key]

    def array(self, messages: list[_Message]) -> Elements:
        parts = {message.kind: message for message in messages}
        if any(message.is_shared for message in parts.values()):
            raise self.unsupported("shared datatypes")
        if MessageKind.DATASPACE not in parts or MessageKind.DATATYPE not in parts:
            raise self.broken("an array has no shape or no datatype")
        if MessageKind.FILTERS in parts:
            raise self.unsupported("compressed arrays")
        if MessageKind.EXTERNAL_FILES in parts:
            raise self.broken("an array lies in another file, which is not followed")
        datatype = self.datatype(parts[MessageKind.DATATYPE].body)
        shape = self.shape(parts[MessageKind.DATASPACE].body)
        if shape is None:
            raise self.broken("an array has no shape")
        count = self.budget.size_of(shape, self.file)
        data = self.array_data(parts[MessageKind.DATA_LAYOUT].body, count * datatype.size)
        if datatype.text:
            self.budget.spend_items(count, self.file)
            return Elements(shape, "string", tuple(self.texts(datatype, count, data)))
        return Elements(shape, datatype.dtype, data)

    def array_data(self, layout: memoryview, size: int) -> memoryview:
        """Return the bytes of an array, whose data layout message says where they are."""
        version, layout_class = self.number(layout, 0, 1), self.number(layout, 1, 1)
        if version not in (3, 4) or layout_class > 1:
            raise self.unsupported("chunked arrays")
        if layout_class == 0:
            stored_size = self.number(layout, 2, 2)
            data = layout[4 : 4 + stored_size]
        elif size:
            stored_size = self.number(layout, 10)
            data = self.span(self.number(layout, 2), stored_size)
        else:
            stored_size, data = 0, self.data[:0]
        if stored_size != size or len(data) != size:
            raise self.broken(f"an array needs {size} bytes, but {stored_size} are stored")
        self.stored_bytes += size
        if self.stored_bytes > len(self.data):
            raise self.broken("its arrays are larger than the file")
        return data
