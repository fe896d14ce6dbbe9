"""Reading HDF5 in Python alone: what Keras, h5py and this library write.

From the HDF5 File Format Specification, version 3: superblocks 0 to 3; object headers 1 and 2;
groups as symbol tables or as links in their header; arrays that lie in one piece; numbers, booleans
and text. Chunks, filters, links to elsewhere and large groups of the newest format are not read
here (``UnsupportedError``).

A file may come from anywhere: each address and length is checked before it is used, objects are
read once, and all that is made of the file is spent from its budget first, so that neither loops
nor small files that claim to be large take time or memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget
from webtensor.keras.saving.element_types import ITEM_SIZES, Elements
from webtensor.keras.saving.hdf5.tree import Group

__all__ = ["SIGNATURE", "UnsupportedError", "read"]

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_UNDEFINED = 0xFFFFFFFFFFFFFFFF
#: Groups are nested no deeper.
MAX_GROUPS = 64


class UnsupportedError(ModelFormatError):
    """The file uses a part of the format that is not read here."""


class _Kind(NamedTuple):
    """A datatype: the dtype, the bytes per element, and how text lies in them."""

    dtype: str
    size: int
    text: str = ""


class _Message(NamedTuple):
    kind: int
    body: memoryview
    is_shared: bool


def read(data: Any, file: str, budget: Budget | None = None) -> Group:
    """Return what a file's bytes hold; arrays are views of these bytes.

    Raises:
        UnsupportedError: this reader is too small for it.
        ModelFormatError: it is not HDF5, is broken, or costs more than the budget allows.
    """
    view = memoryview(data).cast("B")
    return _Reader(view, file, budget or Budget(file, len(view))).root()


class _Reader:
    def __init__(self, data: memoryview, file: str, budget: Budget) -> None:
        self.data, self.file, self.budget = data, file, budget
        self.base = 0
        self.objects: set[int] = set()
        #: Bytes of arrays, which must not lie over one another.
        self.stored_bytes = 0
        self.heaps: dict[int, dict[int, memoryview]] = {}
        #: Texts in heaps, by heap, number and length: many references to one text share it.
        self.heap_texts: dict[tuple[int, int, int], bytes] = {}
        self.decoded: dict[bytes, str] = {}

    # -- bytes ---------------------------------------------------------------------------------

    def broken(self, what: str) -> ModelFormatError:
        return ModelFormatError(f"{self.file} is a broken HDF5 file: {what}")

    def unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"{self.file} is an HDF5 file with {what}, which only the package h5py reads here; "
            "install it (in Pyodide: await pyodide.loadPackage('h5py'))"
        )

    def span(self, address: int, length: int) -> memoryview:
        """The bytes at an address."""
        begin = self.base + address
        if address == _UNDEFINED or begin < 0 or length < 0 or begin + length > len(self.data):
            raise self.broken(
                f"{length} bytes are needed at {address}, but it has {len(self.data)}"
            )
        return self.data[begin : begin + length]

    def number(self, view: memoryview, at: int, size: int = 8) -> int:
        """The unsigned integer at a place in some bytes."""
        if at + size > len(view):
            raise self.broken("a record ends too early")
        return int.from_bytes(view[at : at + size], "little")

    def signed(self, view: memoryview, signature: bytes, what: str) -> None:
        if bytes(view[: len(signature)]) != signature:
            raise self.broken(f"there is no {what} where one should be")

    # -- the file ------------------------------------------------------------------------------

    def root(self) -> Group:
        if bytes(self.data[:8]) != SIGNATURE:
            raise ModelFormatError(f"{self.file} is not an HDF5 file")
        head = self.data[8 : 8 + 104]
        version = self.number(head, 0, 1)
        sizes = (5, 6) if version < 2 else (1, 2)
        if version > 3 or any(self.number(head, at, 1) != 8 for at in sizes):
            raise self.unsupported("unusual addresses")
        if version < 2:
            places = 16 + 4 * (version == 1)
            self.base = self.number(head, places)
            address = self.number(head, places + 40)
        else:
            self.base = self.number(head, 4)
            address = self.number(head, 28)
        root = self.object(address, 0)
        if not isinstance(root, Group):
            raise self.broken("its root is no group")
        return root

    def object(self, address: int, depth: int) -> Group | Elements:
        """Read a group or an array, with all that is inside."""
        if address in self.objects:
            raise self.broken("an object is linked twice")
        self.objects.add(address)
        if depth > MAX_GROUPS:
            raise self.broken(f"its groups are nested more than {MAX_GROUPS} levels deep")
        messages = list(self.header(address))
        kinds = {one.kind for one in messages}
        if 0x0008 in kinds:
            return self.array(messages)
        if not kinds & {0x0002, 0x0006, 0x0011}:
            raise self.unsupported("objects that are neither groups nor arrays")
        group = Group()
        for message in messages:
            if message.kind == 0x000C:
                name, value = self.attribute(message)
                group.attributes[name] = value
            elif message.kind == 0x0015:
                self.check_dense(message.body, 2 + 2 * (message.body[1] & 1), "many attributes")
        for name, place in self.links(messages):
            if name in group.members:
                raise self.broken(f"there are two objects with the name {name!r}")
            if name in ("", ".", "..") or "/" in name:
                raise self.broken(f"an object has the name {name!r}")
            group.members[name] = self.object(place, depth + 1)
        return group

    # -- object headers ------------------------------------------------------------------------

    def header(self, address: int) -> Iterator[_Message]:
        """The messages of an object."""
        head = self.span(address, 16)
        if bytes(head[:4]) == b"OHDR":
            yield from self.header_2(address)
            return
        if head[0] != 1:
            raise self.broken(f"there is no object at {address}")
        yield from self.chunks(address + 16, self.number(head, 8, 4), 1, 0)

    def header_2(self, address: int) -> Iterator[_Message]:
        head = self.span(address, 6)
        if head[4] != 2:
            raise self.unsupported(f"object headers of version {head[4]}")
        flags = head[5]
        at = address + 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
        width = 1 << (flags & 3)
        length = self.number(self.span(at, width), 0, width)
        yield from self.chunks(at + width, length, 2, flags)

    def chunks(self, at: int, length: int, version: int, flags: int) -> Iterator[_Message]:
        """The messages in a piece of a header, and in the pieces that continue it."""
        waiting = [self.span(at, length)]
        size_of_head = 8 if version == 1 else 4 + 2 * bool(flags & 4)
        while waiting:
            rest = waiting.pop(0)
            while len(rest) >= size_of_head:
                self.budget.spend_items(1, self.file)
                kind = self.number(rest, 0, 2 if version == 1 else 1)
                begin = 2 if version == 1 else 1
                length = self.number(rest, begin, 2)
                shared = bool(rest[begin + 2] & 2)
                if size_of_head + length > len(rest):
                    raise self.broken("a message ends too early")
                body = rest[size_of_head : size_of_head + length]
                rest = rest[size_of_head + length :]
                if kind == 0x0010:
                    piece = self.span(self.number(body, 0), self.number(body, 8))
                    if version == 2:
                        self.signed(piece, b"OCHK", "continued header")
                        piece = piece[4:-4]
                    waiting.append(piece)
                elif kind:
                    yield _Message(kind, body, shared)

    # -- groups --------------------------------------------------------------------------------

    def check_dense(self, body: memoryview, at: int, what: str) -> None:
        if self.number(body, at) != _UNDEFINED:
            raise self.unsupported(what)

    def links(self, messages: list[_Message]) -> Iterator[tuple[str, int]]:
        """Names and addresses of a group's members."""
        for message in messages:
            if message.kind == 0x0002:
                self.check_dense(message.body, 2 + 8 * (message.body[1] & 1), "large groups")
            elif message.kind == 0x0006:
                yield self.link(message.body)
            elif message.kind == 0x0011:
                heap = self.local_heap(self.number(message.body, 8))
                yield from self.symbols(self.number(message.body, 0), heap)

    def link(self, body: memoryview) -> tuple[str, int]:
        flags = self.number(body, 1, 1)
        at = 2
        if flags & 8:
            if self.number(body, at, 1):
                raise self.broken("a link leads elsewhere, which is not followed")
            at += 1
        at += 8 * bool(flags & 4) + bool(flags & 16)
        width = 1 << (flags & 3)
        length = self.number(body, at, width)
        at += width
        if at + length > len(body):
            raise self.broken("a link ends too early")
        return self.text(bytes(body[at : at + length])), self.number(body, at + length)

    def local_heap(self, address: int) -> memoryview:
        head = self.span(address, 32)
        self.signed(head, b"HEAP", "heap")
        return self.span(self.number(head, 24), self.number(head, 8))

    def symbols(self, address: int, heap: memoryview) -> Iterator[tuple[str, int]]:
        """Names and addresses in a B-tree of symbol tables."""
        waiting, visited = [address], {address}
        while waiting:
            address = waiting.pop()
            self.budget.spend_items(1, self.file)
            head = self.span(address, 24)
            if bytes(head[:4]) == b"SNOD":
                yield from self.symbol_table(address, self.number(head, 6, 2), heap)
                continue
            self.signed(head, b"TREE", "group")
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
        for at in range(0, 40 * count, 40):
            if self.number(rows, at + 16, 4) == 2:
                raise self.broken("a link leads elsewhere, which is not followed")
            name = self.number(rows, at)
            if name >= len(heap):
                raise self.broken("a name lies outside of its heap")
            yield self.terminated(heap, name), self.number(rows, at + 8)

    # -- text ----------------------------------------------------------------------------------

    def text(self, data: bytes) -> str:
        """Bytes as text; equal bytes share it."""
        if data not in self.decoded:
            self.budget.spend(len(data), self.file)
            try:
                self.decoded[data] = data.decode()
            except UnicodeDecodeError:
                raise self.broken("a text is not UTF-8") from None
        return self.decoded[data]

    def terminated(self, view: memoryview, at: int) -> str:
        """The text that begins somewhere and ends before a zero."""
        length = 1
        while True:
            held = bytes(view[at : at + length])
            end = held.find(0)
            if end >= 0:
                return self.text(held[:end])
            if at + length >= len(view):
                raise self.broken("a name has no end")
            length *= 2
            self.budget.spend(length, self.file)

    def heap_object(self, address: int, index: int) -> memoryview:
        """The bytes that a reference into a global heap stands for."""
        if address not in self.heaps:
            head = self.span(address, 16)
            self.signed(head, b"GCOL", "global heap")
            rest = self.span(address, self.number(head, 8))[16:]
            found: dict[int, memoryview] = {}
            while len(rest) >= 16 and (number := self.number(rest, 0, 2)):
                self.budget.spend_items(1, self.file)
                size = self.number(rest, 8)
                if 16 + size > len(rest):
                    raise self.broken("a global heap ends too early")
                found[number] = rest[16 : 16 + size]
                rest = rest[16 + (size + 7) // 8 * 8 :]
            self.heaps[address] = found
        if index not in self.heaps[address]:
            raise self.broken(f"a global heap has no object {index}")
        return self.heaps[address][index]

    # -- arrays and attributes -----------------------------------------------------------------

    def shape(self, body: memoryview) -> tuple[int, ...] | None:
        """The shape in a dataspace; None where there is nothing."""
        version, rank = self.number(body, 0, 1), self.number(body, 1, 1)
        if version not in (1, 2):
            raise self.broken("an array has an unknown shape")
        if version == 2 and body[3] == 2:
            return None
        begin = 8 if version == 1 else 4
        return tuple(self.number(body, begin + 8 * axis) for axis in range(rank))

    def kind(self, body: memoryview) -> _Kind:
        """The dtype in a datatype message."""
        family, bits, size = body[0] & 15, self.number(body, 1, 3), self.number(body, 4, 4)
        if not size:
            raise self.broken("a datatype has no size")
        if family in (0, 1) and bits & 1 and size > 1:
            raise self.unsupported("big-endian numbers")
        if family == 0:
            return self.known(("int" if bits & 8 else "uint") + str(8 * size), size)
        if family == 1:
            return self.known(self.float_name(body, size), size)
        if family == 3:
            return _Kind("string", size, "fixed")
        if family == 8:
            # h5py writes booleans as an enumeration of FALSE and TRUE.
            return self.known("bool" if size == 1 and bits & 0xFFFF == 2 else "", size)
        if family == 9 and bits & 15 == 1 and size == 16:
            return _Kind("string", size, "heap")
        raise self.unsupported(f"datatypes of class {family}")

    def float_name(self, body: memoryview, size: int) -> str:
        """What a float's bits are; two formats have 16."""
        exponents = self.number(body, 13, 1)
        return "bfloat16" if size == 2 and exponents == 8 else f"float{8 * size}"

    def known(self, name: str, size: int) -> _Kind:
        if ITEM_SIZES.get(name) != size:
            raise self.unsupported(f"unusual numbers of {size} bytes")
        return _Kind(name, size)

    def attribute(self, message: _Message) -> tuple[str, Any]:
        """The name and the value of an attribute; only texts and whole numbers matter here."""
        body = message.body
        version = self.number(body, 0, 1)
        if version not in (1, 2, 3) or (version > 1 and body[1]):
            raise self.unsupported("unusual attributes")
        sizes = [self.number(body, at, 2) for at in (2, 4, 6)]
        parts, at = [], 8 + (version == 3)
        for size in sizes:
            parts.append(body[at : at + size])
            at += (size + 7) // 8 * 8 if version == 1 else size
        if at > len(body):
            raise self.broken("an attribute ends too early")
        name = self.text(bytes(parts[0])).rstrip("\0")
        shape = self.shape(parts[2])
        if shape is None:
            return name, None
        return name, self.value(self.kind(parts[1]), shape, body[at:])

    def value(self, kind: _Kind, shape: tuple[int, ...], data: memoryview) -> Any:
        count = self.budget.size_of(shape, self.file)
        if count * kind.size > len(data):
            raise self.broken("an attribute ends too early")
        self.budget.spend_items(count, self.file)
        if kind.text:
            texts = [self.text(text) for text in self.texts(kind, count, data)]
            return texts if shape else texts[0]
        numbers = [
            int.from_bytes(data[at : at + kind.size], "little", signed=True)
            for at in range(0, count * kind.size, kind.size)
        ]
        return numbers if shape else numbers[0]

    def texts(self, kind: _Kind, count: int, data: memoryview) -> Iterator[bytes]:
        """Texts of a fixed length, padded, or in a global heap."""
        for at in range(0, count * kind.size, kind.size):
            row = data[at : at + kind.size]
            if kind.text == "fixed":
                self.budget.spend(kind.size, self.file)
                yield bytes(row).rstrip(b"\0")
            else:
                length, address = self.number(row, 0, 4), self.number(row, 4)
                yield self.heap_text(address, self.number(row, 12, 4), length) if length else b""

    def heap_text(self, address: int, index: int, length: int) -> bytes:
        """The text that a reference into a global heap stands for."""
        key = address, index, length
        if key not in self.heap_texts:
            held = self.heap_object(address, index)
            if length > len(held):
                raise self.broken("a text ends too early")
            self.budget.spend(length, self.file)
            self.heap_texts[key] = bytes(held[:length]).rstrip(b"\0")
        return self.heap_texts[key]

    def array(self, messages: list[_Message]) -> Elements:
        parts = {one.kind: one for one in messages}
        if any(one.is_shared for one in parts.values()):
            raise self.unsupported("shared datatypes")
        if 0x0001 not in parts or 0x0003 not in parts:
            raise self.broken("an array has no shape or no datatype")
        if 0x000B in parts:
            raise self.unsupported("compressed arrays")
        if 0x0007 in parts:
            raise self.broken("an array lies in another file, which is not followed")
        kind, shape = self.kind(parts[0x0003].body), self.shape(parts[0x0001].body)
        if shape is None:
            raise self.broken("an array has no shape")
        count = self.budget.size_of(shape, self.file)
        data = self.stored(parts[0x0008].body, count * kind.size)
        if kind.text:
            self.budget.spend_items(count, self.file)
            return Elements(shape, "string", tuple(self.texts(kind, count, data)))
        return Elements(shape, kind.dtype, data)

    def stored(self, layout: memoryview, size: int) -> memoryview:
        """The bytes of an array."""
        version, way = self.number(layout, 0, 1), self.number(layout, 1, 1)
        if version not in (3, 4) or way > 1:
            raise self.unsupported("chunked arrays")
        if way == 0:
            length = self.number(layout, 2, 2)
            data = layout[4 : 4 + length]
        elif size:
            length = self.number(layout, 10)
            data = self.span(self.number(layout, 2), length)
        else:
            length, data = 0, self.data[:0]
        if length != size or len(data) != size:
            raise self.broken(f"an array needs {size} bytes, but {length} are stored")
        self.stored_bytes += size
        if self.stored_bytes > len(self.data):
            raise self.broken("its arrays are larger than the file")
        return data
