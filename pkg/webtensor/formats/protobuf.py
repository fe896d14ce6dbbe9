"""Protocol buffers: messages as bytes, which are read and written by tables of their fields.

A ``Schema`` is a table with a row for each field of each message type: its number, its name and its
kind. ``decode`` makes a ``Message`` of bytes, a mapping of the fields that are present; ``encode``
makes bytes of such a mapping. ``protobuf_json`` reads the other form of messages, JSON, by the same
tables.

As the format's specification asks, fields that the schema does not have are skipped, the last of
several values counts, parts of one message are merged, and lists of numbers may be packed or not.
Bytes stay views of the file, and lists of numbers are arrays, so that a message takes a small
multiple of its size; the budget is spent before memory is allocated.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from struct import Struct
from typing import Any, Literal, NamedTuple, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.varints import read_varint, write_varint

__all__ = ["MAX_DEPTH", "Field", "Message", "MessageType", "Number", "Schema"]

#: The largest depth of messages in messages, as in the libraries of the format's authors.
MAX_DEPTH = 100
_MAX_FIELD = (1 << 29) - 1
_MAX_VARINT_BITS = 70
#: So many objects may be made before the budget is spent for them.
_ITEMS_AT_ONCE = 100
_MASK_32, _MASK_64 = (1 << 32) - 1, (1 << 64) - 1

# Wire types: what follows the number of a field.
_VARINT, _FIXED_64, _LENGTH, _GROUP, _END_GROUP, _FIXED_32 = range(6)

# -- kinds of fields ---------------------------------------------------------------------------


def _unsigned_32(value: int) -> int:
    return value & _MASK_32


def _unsigned_64(value: int) -> int:
    return value & _MASK_64


def _signed_32(value: int) -> int:
    return ((value & _MASK_32) ^ (1 << 31)) - (1 << 31)


def _signed_64(value: int) -> int:
    return ((value & _MASK_64) ^ (1 << 63)) - (1 << 63)


def _boolean(value: int) -> bool:
    return value & _MASK_64 != 0


def _from_zigzag_32(value: int) -> int:
    return _from_zigzag_64(value & _MASK_32)


def _from_zigzag_64(value: int) -> int:
    value &= _MASK_64
    return value >> 1 ^ -(value & 1)


def _to_zigzag(value: int) -> int:
    return value << 1 if value >= 0 else ~(value << 1)


_Format: TypeAlias = Literal["B", "i", "I", "f", "q", "Q", "d"]
_Numbers: TypeAlias = "array[Any] | memoryview[Any]"


class Number(NamedTuple):
    """A kind of numbers.

    Attributes:
        wire: its wire type.
        format: the type code of arrays of such numbers.
        default: the value of a field that is absent.
        read: returns the integer that an unsigned one of 64 bits or more stands for.
        write: returns an integer, whose lowest 64 bits a varint stores.
    """

    wire: int
    format: _Format
    default: int | float | bool = 0
    read: Callable[[int], int] = int
    write: Callable[[int], int] = int

    def holds(self, value: float) -> bool:
        """Whether a number is an integer in the range of this kind, which is one of integers."""
        return value == int(value) == self.read(self.write(int(value)) & _MASK_64)


NUMBERS = {
    "int32": Number(_VARINT, "i", read=_signed_32),
    "int64": Number(_VARINT, "q", read=_signed_64),
    "uint32": Number(_VARINT, "I", read=_unsigned_32),
    "uint64": Number(_VARINT, "Q", read=_unsigned_64),
    "sint32": Number(_VARINT, "i", read=_from_zigzag_32, write=_to_zigzag),
    "sint64": Number(_VARINT, "q", read=_from_zigzag_64, write=_to_zigzag),
    "bool": Number(_VARINT, "B", False, read=_boolean),
    "fixed32": Number(_FIXED_32, "I", read=_unsigned_32),
    "sfixed32": Number(_FIXED_32, "i", read=_signed_32),
    "float": Number(_FIXED_32, "f", 0.0),
    "fixed64": Number(_FIXED_64, "Q", read=_unsigned_64),
    "sfixed64": Number(_FIXED_64, "q", read=_signed_64),
    "double": Number(_FIXED_64, "d", 0.0),
}
_STRUCTS = {
    name: Struct(f"<{kind.format}") for name, kind in NUMBERS.items() if kind.wire != _VARINT
}
_WIDTHS = {_FIXED_32: 4, _FIXED_64: 8}
_CONTINUED_BYTES = bytes(range(128, 256))


class Field(NamedTuple):
    """A field of a message type.

    Attributes:
        number: what the field is called in bytes.
        name: what it is called in JSON and here.
        kind: "string", "bytes", the name of a number's kind, or of an enumeration or a message.
        is_repeated: whether it is a list.
        key: the kind of the keys, if it is a map of values of ``kind``, else "".
        oneof: the name of the group of fields of which at most one is present, or "".
    """

    number: int
    name: str
    kind: str
    is_repeated: bool = False
    key: str = ""
    oneof: str = ""


class MessageType:
    """The fields of a message by number and by name."""

    def __init__(self, name: str, fields: Iterable[Field], schema: Schema) -> None:
        self.name, self.schema = name, schema
        self.by_number = {field.number: field for field in fields}
        self.by_name = {field.name: field for field in self.by_number.values()}
        self._numbers = {
            field.name: None if field.key else _number_kind(field.kind, schema)
            for field in self.by_number.values()
        }

    def number(self, field: Field) -> Number | None:
        """Return the kind of a field's numbers, or None if it has none, such as maps."""
        return self._numbers[field.name]

    def default(self, name: str) -> Any:
        """Return the value of a field that is absent.

        Raises:
            KeyError: there is no such field.
        """
        field = self.by_name[name]
        if field.key:
            return {}
        if field.is_repeated:
            return ()
        number = self.number(field)
        if number is not None:
            return number.default
        if field.kind == "bytes":
            return memoryview(b"")
        return "" if field.kind == "string" else Message(self.schema.types[field.kind])

    def entry(self, field: Field) -> MessageType:
        """Return the type of the entries of a map."""
        return self._entries[field.name]

    @cached_property
    def _entries(self) -> dict[str, MessageType]:
        return {
            field.name: MessageType(
                f"{self.name}.{field.name}",
                (Field(1, "key", field.key), Field(2, "value", field.kind)),
                self.schema,
            )
            for field in self.by_number.values()
            if field.key
        }


class Message(dict[str, Any]):
    """The fields of a message that are present; of others ``[]`` returns the default."""

    __slots__ = ("type",)

    def __init__(self, message_type: MessageType) -> None:
        self.type = message_type

    def __missing__(self, name: str) -> Any:
        return self.type.default(name)

    def which(self, oneof: str) -> str:
        """Return the name of the field of a group that is present, or ""."""
        fields = self.type.by_name
        for name in self:
            if fields[name].oneof == oneof:
                return name
        return ""

    def put(self, field: Field, value: Any) -> None:
        """Set a field, which removes the others of its group."""
        if field.oneof and self and field.name not in self:
            other = self.which(field.oneof)
            if other:
                del self[other]
        self[field.name] = value


def _number_kind(kind: str, schema: Schema) -> Number | None:
    """Return the kind of numbers that a kind is stored as; enumerations are numbers, too."""
    return NUMBERS.get("int32" if kind in schema.enumerations else kind)


class Schema:
    """Message types, from a table with a line for each of their fields.

    A line with one word begins a message type. The other lines have the number, the name and the
    kind of a field: ``string[]`` is a list, ``string:int64`` a map, and ``int64 in value`` a member
    of the group ``value``, of which at most one is present.

    Args:
        table: the lines.
        enumerations: the numbers of the names of each enumeration.

    Example:
        >>> schema = Schema('''
        ...     Point
        ...         1 name   string
        ...         2 sizes  int64[]
        ... ''')
        >>> data = schema.encode("Point", {"name": "p", "sizes": [3, -1]})
        >>> point = schema.decode("Point", data, "points.pb")
        >>> point["name"], list(point["sizes"])
        ('p', [3, -1])
    """

    def __init__(
        self, table: str, enumerations: Mapping[str, Mapping[str, int]] | None = None
    ) -> None:
        self.enumerations = enumerations or {}
        rows: dict[str, list[Field]] = {}
        for line in table.splitlines():
            words = line.split()
            if len(words) == 1:
                fields = rows[words[0]] = []
            elif words:
                fields.append(_field(words))
        self.types = {name: MessageType(name, fields, self) for name, fields in rows.items()}

    def decode(self, name: str, data: Buffer, where: str, budget: Budget | None = None) -> Message:
        """Return the message of a type in some bytes.

        Args:
            name: that of the type.
            data: the bytes.
            where: what errors call them.
            budget: limits what reading may cost; None is that of a file of this size.

        Raises:
            ModelFormatError: the bytes are no such message, or it costs more than the budget.
        """
        view = memoryview(data).cast("B")
        message = Message(self.types[name])
        with reading(where):
            budget = budget or Budget(where, len(view))
            decoder = _Decoder(view, where, budget)
            decoder.message(message, 0, len(view), MAX_DEPTH)
            decoder.pay()
        return message

    def encode(self, name: str, values: Mapping[str, Any]) -> bytes:
        """Return a message as bytes; messages in it are mappings, too.

        Raises:
            ValueError: the type has no such field, or a number is out of range.
            TypeError: a value is not of the kind of its field.
        """
        return b"".join(_pieces(self.types[name], values))


def _field(words: list[str]) -> Field:
    """Return the field of a line of a table."""
    number, name, kind, *group = words
    element_kind = kind.removesuffix("[]")
    key, _, value_kind = element_kind.rpartition(":")
    oneof = group[1] if group else ""
    return Field(int(number), name, value_kind, element_kind != kind, key, oneof)


# -- reading -----------------------------------------------------------------------------------


class _Decoder:
    def __init__(self, data: memoryview, where: str, budget: Budget) -> None:
        self.data, self.where, self.budget = data, where, budget
        #: The number of objects that were made and are not yet paid for.
        self.items = 0

    def pay(self) -> None:
        """Spend the budget for objects, many at once."""
        self.budget.spend_items(self.items, self.where)
        self.items = 0

    def broken(self, position: int, reason: str) -> ModelFormatError:
        return ModelFormatError(f"{self.where}: byte {position}: {reason}")

    def message(self, message: Message, position: int, end: int, depth: int) -> None:
        """Read fields until the end of a message; ``depth`` more levels may be in it."""
        if not depth:
            raise self.broken(position, f"messages are nested more than {MAX_DEPTH} levels deep")
        fields = message.type.by_number
        while position < end:
            start = position
            tag, position = self.varint(position, end)
            number, wire = tag >> 3, tag & 7
            if not 0 < number <= _MAX_FIELD:
                raise self.broken(start, f"{message.type.name} has a field of number {number}")
            value, position = self.value(number, wire, position, end)
            field = fields.get(number)
            if field is not None:
                self.items += 1
                if self.items > _ITEMS_AT_ONCE:
                    self.pay()
                self.put(message, field, wire, value, depth)

    def varint(self, position: int, end: int) -> tuple[int, int]:
        """Return an unsigned integer, and the position after it."""
        if position < end and self.data[position] < 128:
            return self.data[position], position + 1
        try:
            return read_varint(self.data, position, end)
        except ValueError as error:
            raise self.broken(position, str(error)) from None

    def value(self, number: int, wire: int, position: int, end: int) -> tuple[Any, int]:
        """Return what follows the number of a field, and the position after it.

        That is the integer of a varint, or the begin and end of other bytes.
        """
        if wire == _VARINT:
            return self.varint(position, end)
        if wire == _GROUP:
            return None, self.end_of_group(number, position, end)
        if wire == _LENGTH:
            size, begin = self.varint(position, end)
        elif wire in _WIDTHS:
            size, begin = _WIDTHS[wire], position
        else:
            raise self.broken(position, f"field {number} has wire type {wire}")
        if size > end - begin:
            raise self.broken(
                position, f"field {number} has {size} bytes, but {end - begin} are left"
            )
        return (begin, begin + size), begin + size

    def end_of_group(self, number: int, position: int, end: int) -> int:
        """Return the position after a group, which is an old form of messages in messages."""
        groups = [number]
        while groups:
            start = position
            tag, position = self.varint(position, end)
            if tag & 7 == _GROUP:
                groups.append(tag >> 3)
                if len(groups) > MAX_DEPTH:
                    raise self.broken(start, f"groups are nested more than {MAX_DEPTH} levels deep")
            elif tag & 7 == _END_GROUP:
                if groups.pop() != tag >> 3:
                    raise self.broken(start, "a group ends that did not begin")
            else:
                _, position = self.value(tag >> 3, tag & 7, position, end)
        return position

    def put(self, message: Message, field: Field, wire: int, value: Any, depth: int) -> None:
        """Put a value into a message; of a wire type that the field does not have, it is skipped.

        Args:
            message: where the field is.
            field: the field.
            wire: the wire type.
            value: what ``value`` returned.
            depth: the levels that may be in the message.
        """
        number = message.type.number(field)
        if number is not None:
            if field.is_repeated and wire in (number.wire, _LENGTH):
                chunk = self.numbers(field, number, wire, value)
                message[field.name] = _joined(message.get(field.name), chunk)
            elif wire == number.wire:
                message.put(field, self.number(field, number, value))
        elif wire != _LENGTH:
            return
        elif field.key:
            self.items += 1
            entry = Message(message.type.entry(field))
            begin, end = value
            self.message(entry, begin, end, depth - 1)
            message.setdefault(field.name, {})[entry["key"]] = entry["value"]
        elif field.is_repeated:
            message.setdefault(field.name, []).append(self.item(message, field, value, depth))
        else:
            message.put(field, self.item(message, field, value, depth))

    def number(self, field: Field, number: Number, value: Any) -> int | float:
        if number.wire == _VARINT:
            return number.read(value)
        result: int | float = _STRUCTS[field.kind].unpack_from(self.data, value[0])[0]
        return result

    def item(self, message: Message, field: Field, span: tuple[int, int], depth: int) -> Any:
        """Return a text, bytes, or a message."""
        begin, end = span
        if field.kind == "bytes":
            self.items += 1
            return self.data[begin:end]
        if field.kind == "string":
            self.budget.spend(end - begin, self.where)
            try:
                return str(self.data[begin:end], "utf-8")
            except UnicodeDecodeError:
                name = f"{message.type.name}.{field.name}"
                raise self.broken(begin, f"the text of {name} is not UTF-8") from None
        self.items += 1
        inner = None if field.is_repeated else message.get(field.name)
        if inner is None:
            inner = Message(message.type.schema.types[field.kind])
        self.message(inner, begin, end, depth - 1)
        return inner

    def numbers(self, field: Field, number: Number, wire: int, value: Any) -> _Numbers:
        """Return numbers of a list, of which there may be one or, packed, many."""
        if wire == _VARINT:
            return array(number.format, [number.read(value)])
        begin, end = value
        chunk = self.data[begin:end]
        if number.wire != _VARINT:
            if len(chunk) % _WIDTHS[number.wire]:
                raise self.broken(begin, f"{field.name} has {len(chunk)} bytes of {field.kind}")
            return chunk.cast(number.format)
        count = len(bytes(chunk).translate(None, _CONTINUED_BYTES))
        self.budget.spend(8 * count + len(chunk), self.where)
        numbers: array[Any] = array(number.format)
        result = shift = 0
        for byte in chunk:
            result |= (byte & 127) << shift
            if byte < 128:
                numbers.append(number.read(result))
                result = shift = 0
            else:
                shift += 7
                if shift == _MAX_VARINT_BITS:
                    raise self.broken(begin, f"{field.name} has an integer of more than 64 bits")
        if shift:
            raise self.broken(begin, f"{field.name} has an integer without an end")
        return numbers


def _joined(numbers: _Numbers | None, chunk: _Numbers) -> _Numbers:
    """Return the numbers of a list with further ones; a view is copied only if it must be."""
    if numbers is None:
        return chunk
    if isinstance(numbers, memoryview):
        numbers = array(numbers.format, numbers)
    numbers.extend(chunk)
    return numbers


# -- writing -----------------------------------------------------------------------------------


def _pieces(message_type: MessageType, values: Mapping[str, Any]) -> list[Buffer]:
    """Return the bytes of a message, in the order of the fields' numbers."""
    unknown = values.keys() - message_type.by_name.keys()
    if unknown:
        raise ValueError(f"{message_type.name} has no field {min(unknown)!r}")
    pieces: list[Buffer] = []
    for field in sorted(message_type.by_number.values()):
        if field.name in values:
            pieces += _field_pieces(message_type, field, values[field.name])
    return pieces


def _field_pieces(message_type: MessageType, field: Field, value: Any) -> list[Buffer]:
    number = message_type.number(field)
    if field.key:
        entry = message_type.entry(field)
        entries = [_pieces(entry, {"key": key, "value": item}) for key, item in value.items()]
        return [piece for pieces in entries for piece in _with_length(field, pieces)]
    if not field.is_repeated:
        if number is None:
            return _with_length(field, _item_pieces(message_type, field, value))
        return [write_varint(field.number << 3 | number.wire), _number_bytes(field, number, value)]
    if number is None:
        items = [_item_pieces(message_type, field, item) for item in value]
        return [piece for pieces in items for piece in _with_length(field, pieces)]
    packed = b"".join(_number_bytes(field, number, item) for item in value)
    return _with_length(field, [packed]) if packed else []


def _with_length(field: Field, pieces: list[Buffer]) -> list[Buffer]:
    size = sum(len(piece) for piece in pieces)
    return [write_varint(field.number << 3 | _LENGTH) + write_varint(size), *pieces]


def _item_pieces(message_type: MessageType, field: Field, value: Any) -> list[Buffer]:
    if field.kind == "string":
        return [value.encode()]
    if field.kind == "bytes":
        return [memoryview(value).cast("B")]
    return _pieces(message_type.schema.types[field.kind], value)


def _number_bytes(field: Field, number: Number, value: float) -> bytes:
    if isinstance(number.default, int) and not number.holds(value):
        raise ValueError(f"{field.name} is {value}, which {field.kind} cannot hold")
    if number.wire != _VARINT:
        return _STRUCTS[field.kind].pack(value)
    return write_varint(number.write(int(value)) & _MASK_64)
