"""Protocol buffers as JSON: the same messages as in ``protobuf``, of which text editors can read.

64-bit integers are strings there, enumerations are names, bytes are in base64, and names are in
camel case. Writers differ in this, so that numbers, names as in the schema, and lists of bytes are
read, too. Fields that the schema does not have are skipped.
"""

from __future__ import annotations

import base64
import marshal
import math
import re
from array import array
from collections.abc import Callable, Mapping
from functools import cache
from struct import pack, unpack
from typing import Any, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.protobuf import MAX_DEPTH, Field, Message, MessageType, Number, Schema

__all__ = ["from_json", "to_json"]

_INTEGER = re.compile(r"[-+]?\d{1,20}")
_URL_SAFE = str.maketrans("-_", "+/")
#: Kinds that JSON has as strings, because its numbers are often read as doubles.
_LONG = frozenset({"int64", "uint64", "sint64", "fixed64", "sfixed64"})
#: What JSON's objects are; asking for a dict first is quicker.
_OBJECTS = (dict, Mapping)
#: Values that take more bytes are read each time they occur.
_LONGEST_SHARED = 1024
#: The version of ``marshal`` in which equal values are equal bytes.
_WITHOUT_REFERENCES = 2

#: Returns what decoded JSON stands for; the integer is the maximum depth of messages in it.
_Read: TypeAlias = "Callable[[_Reader, Any, int], Any]"


def from_json(
    schema: Schema, name: str, value: object, where: str, budget: Budget | None = None
) -> Message:
    """Return the message of a type that decoded JSON describes.

    Args:
        schema: has the type.
        name: that of the type.
        value: the decoded JSON.
        where: what errors call it.
        budget: limits what reading may cost.

    Raises:
        ModelFormatError: the value is no such message.

    Example:
        >>> schema = Schema('''
        ...     Dimension
        ...         1 size      int64
        ...         2 name_hint string
        ... ''')
        >>> from_json(schema, "Dimension", {"size": "-1", "nameHint": "batch"}, "shape")
        {'size': -1, 'name_hint': 'batch'}
    """
    with reading(where):
        reader = _Reader(where, budget or Budget(where))
        try:
            return reader.message(schema.types[name], value, MAX_DEPTH)
        except _MisfitError as misfit:
            raise ModelFormatError(f"{where}{misfit}") from None


class _MisfitError(Exception):
    """A value is not what its field takes; ``path`` leads from the value to the whole."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{''.join(reversed(self.path))} {self.problem}"


def _misfit(value: object, expected: str) -> _MisfitError:
    return _MisfitError(f"must be {expected}, but is {value!r:.200}")


class _Reader:
    """Reads one file.

    Equal maps of messages become one, and so do equal messages in maps and lists: they are the
    attributes of a graph's nodes and the dimensions of shapes, and most occur many times.
    """

    def __init__(self, where: str, budget: Budget) -> None:
        self.where, self.budget = where, budget
        self._shared: dict[tuple[_Read, int, bytes], Any] = {}

    def message(self, message_type: MessageType, value: object, depth: int) -> Message:
        if not isinstance(value, _OBJECTS):
            raise _misfit(value, "an object")
        if not depth:
            raise _MisfitError(f"is nested more than {MAX_DEPTH} levels deep")
        self.budget.spend_items(1 + len(value), self.where)
        message = Message(message_type)
        fields = _fields(message_type)
        name = ""
        try:
            for name, item in value.items():
                if item is None or name not in fields:
                    continue
                field, read = fields[name]
                if field.oneof:
                    message.put(field, read(self, item, depth))
                else:
                    message[field.name] = read(self, item, depth)
        except _MisfitError as misfit:
            misfit.path.append(f".{name}")
            raise
        return message

    def shared(self, read: _Read, value: Any, depth: int) -> Any:
        """Return what an equal value became before, if there was one."""
        try:
            # Of what compares values with their types, this is the quickest; nothing is loaded.
            data = marshal.dumps(value, _WITHOUT_REFERENCES)
        except ValueError:  # not only JSON's types
            return read(self, value, depth)
        if len(data) > _LONGEST_SHARED:
            return read(self, value, depth)
        key = (read, depth, data)
        if key not in self._shared:
            self._shared[key] = read(self, value, depth)
        return self._shared[key]


# -- fields ------------------------------------------------------------------------------------


@cache
def _fields(message_type: MessageType) -> dict[str, tuple[Field, _Read]]:
    """Return the fields of a type by all names that they have in JSON, and what reads each."""
    by_name = {
        name: (field, _field_reader(message_type, field))
        for name, field in message_type.by_name.items()
    }
    return {**{_camel_case(name): pair for name, pair in by_name.items()}, **by_name}


def _field_reader(message_type: MessageType, field: Field) -> _Read:
    if field.key:
        return _map_reader(message_type.entry(field))
    read = _item_reader(message_type, field)
    if not field.is_repeated:
        return read
    if field.kind in message_type.schema.types:
        read = _shared_reader(read)
    read_list = _list_reader(read, message_type.number(field))
    return _texts_reader(read_list) if field.kind == "string" else read_list


def _map_reader(entry: MessageType) -> _Read:
    key_field, value_field = entry.by_name["key"], entry.by_name["value"]
    read_value = _item_reader(entry, value_field)
    has_messages = value_field.kind in entry.schema.types
    if has_messages:
        read_value = _shared_reader(read_value)
    # JSON's keys are strings.
    read_key = _truth_key if key_field.kind == "bool" else _item_reader(entry, key_field)

    def read(reader: _Reader, value: Any, depth: int) -> dict[Any, Any]:
        if not isinstance(value, _OBJECTS):
            raise _misfit(value, "an object")
        reader.budget.spend_items(len(value), reader.where)
        entries: dict[Any, Any] = {}
        key: Any = None
        try:
            for key, item in value.items():
                entries[read_key(reader, key, depth)] = read_value(reader, item, depth)
        except _MisfitError as misfit:
            misfit.path.append(f"[{key!r:.200}]")
            raise
        return entries

    return _shared_reader(read) if has_messages else read


def _shared_reader(read: _Read) -> _Read:
    return lambda reader, value, depth: reader.shared(read, value, depth)


def _list_reader(read_item: _Read, number: Number | None) -> _Read:
    def read(reader: _Reader, value: Any, depth: int) -> Any:
        if not isinstance(value, list):
            raise _misfit(value, "a list")
        items: list[Any] = []
        try:
            # What was read before a misfit is in the list, and tells its index.
            items.extend(read_item(reader, item, depth) for item in value)
        except _MisfitError as misfit:
            misfit.path.append(f"[{len(items)}]")
            raise
        return items if number is None else array(number.format, items)

    return read


def _texts_reader(read_list: _Read) -> _Read:
    """Return what reads lists of texts; ASCII texts, the usual ones, need no call each."""

    def read(reader: _Reader, value: Any, depth: int) -> Any:
        try:
            if isinstance(value, list) and "".join(value).isascii():
                return value
        except TypeError:  # not only texts
            pass
        return read_list(reader, value, depth)

    return read


def _item_reader(message_type: MessageType, field: Field) -> _Read:
    """Return what reads a single value of a field, a list or a map."""
    schema, kind = message_type.schema, field.kind
    if kind in schema.types:
        item_type = schema.types[kind]
        return lambda reader, value, depth: reader.message(item_type, value, depth - 1)
    if kind in _READERS:
        return _READERS[kind]
    number = message_type.number(field)
    if kind in schema.enumerations:
        return _enumeration_reader(kind, schema.enumerations[kind], number)
    return lambda _, value, __: _integer(value, kind, number)


def _enumeration_reader(kind: str, numbers: Mapping[str, int], number: Number | None) -> _Read:
    def read(_: _Reader, value: Any, __: int) -> int:
        if isinstance(value, str):
            if value not in numbers:
                raise _misfit(value, f"a name of {kind}")
            return numbers[value]
        return _integer(value, kind, number)

    return read


def _integer(value: object, kind: str, number: Number | None) -> int:
    if isinstance(value, str):
        value = int(value) if _INTEGER.fullmatch(value) else value
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else value
    if type(value) is not int or number is None or not number.holds(value):
        raise _misfit(value, f"an integer of kind {kind}")
    return value


def _text(_: _Reader, value: Any, __: int) -> str:
    if isinstance(value, str) and (value.isascii() or _is_unicode(value)):
        return value
    raise _misfit(value, "a text")


def _bytes(reader: _Reader, value: Any, _: int) -> memoryview:
    """Return bytes, which are text in base64 of one of its two alphabets, or a list."""
    try:
        if isinstance(value, list):
            return memoryview(bytes(value))
        if isinstance(value, str):
            reader.budget.spend(len(value), reader.where)
            padding = "=" * (-len(value) % 4)
            text = value.translate(_URL_SAFE) + padding
            return memoryview(base64.b64decode(text, validate=True))
    except (TypeError, ValueError):
        pass
    raise _misfit(value, "bytes in base64")


def _truth(_: _Reader, value: Any, __: int) -> bool:
    if not isinstance(value, bool):
        raise _misfit(value, "true or false")
    return value


def _truth_key(reader: _Reader, value: Any, depth: int) -> bool:
    return _truth(reader, {"true": True, "false": False}.get(value, value), depth)


def _float_reader(kind: str, layout: str) -> _Read:
    def read(_: _Reader, value: Any, __: int) -> float:
        try:
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                result: float = unpack(layout, pack(layout, float(value)))[0]
                return result
        except (ValueError, OverflowError):
            pass
        raise _misfit(value, f"a number of kind {kind}")

    return read


_READERS: dict[str, _Read] = {
    "string": _text,
    "bytes": _bytes,
    "bool": _truth,
    "float": _float_reader("float", "<f"),
    "double": _float_reader("double", "<d"),
}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- writing -----------------------------------------------------------------------------------


def to_json(schema: Schema, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as what JSON can hold; messages in it are mappings, too.

    Raises:
        ValueError: the type has no such field.

    Example:
        >>> schema = Schema('''
        ...     Dimension
        ...         1 size      int64
        ...         2 name_hint string
        ... ''')
        >>> to_json(schema, "Dimension", {"size": -1, "name_hint": "batch"})
        {'size': '-1', 'nameHint': 'batch'}
    """
    return _object(schema.types[name], values)


def _object(message_type: MessageType, values: Mapping[str, Any]) -> dict[str, Any]:
    unknown = values.keys() - message_type.by_name.keys()
    if unknown:
        raise ValueError(f"{message_type.name} has no field {min(unknown)!r}")
    return {
        _camel_case(name): _value(message_type, message_type.by_name[name], value)
        for name, value in values.items()
    }


def _value(message_type: MessageType, field: Field, value: Any) -> Any:
    if field.key:
        return {
            str(key).lower() if isinstance(key, bool) else str(key): _item(
                message_type, field, item
            )
            for key, item in value.items()
        }
    if field.is_repeated:
        return [_item(message_type, field, item) for item in value]
    return _item(message_type, field, value)


def _item(message_type: MessageType, field: Field, value: Any) -> Any:
    schema = message_type.schema
    if field.kind in schema.types:
        return _object(schema.types[field.kind], value)
    if field.kind in schema.enumerations:
        names = {number: name for name, number in schema.enumerations[field.kind].items()}
        return names.get(value, value)
    if field.kind == "bytes":
        return base64.b64encode(value).decode()
    if field.kind == "bool":
        return bool(value)
    if field.kind in ("float", "double"):
        return value if math.isfinite(value) else _SPECIAL_FLOATS[str(float(value))]
    return str(value) if field.kind in _LONG else value


_SPECIAL_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
