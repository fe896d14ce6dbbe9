"""Protocol buffers as JSON: the same messages as in ``protobuf``, of which text editors can read.

64-bit integers are strings there, enumerations are names, bytes are in base64, and names are in
camel case. Writers differ in this, so that numbers, names as in the schema, and lists of bytes are
read, too. Fields that the schema does not have are skipped.
"""

from __future__ import annotations

import base64
import math
import re
from array import array
from collections.abc import Mapping
from struct import pack, unpack
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.protobuf import MAX_DEPTH, Field, Message, MessageType, Schema

__all__ = ["from_json", "to_json"]

_INTEGER = re.compile(r"[-+]?\d{1,20}")
_URL_SAFE = str.maketrans("-_", "+/")
#: Kinds that JSON has as strings, because its numbers are often read as doubles.
_LONG = frozenset({"int64", "uint64", "sint64", "fixed64", "sfixed64"})


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
        reader = _Reader(budget or Budget(where))
        return reader.message(schema.types[name], value, where, MAX_DEPTH)


class _Reader:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.names: dict[MessageType, dict[str, Field]] = {}

    def broken(self, path: str, value: object, wanted: str) -> ModelFormatError:
        return ModelFormatError(f"{path} must be {wanted}, but is {value!r:.200}")

    def fields(self, message_type: MessageType) -> dict[str, Field]:
        """Return the fields of a type by all names that they have in JSON."""
        if message_type not in self.names:
            by_name = message_type.by_name
            in_camel_case = {_camel_case(name): field for name, field in by_name.items()}
            self.names[message_type] = {**in_camel_case, **by_name}
        return self.names[message_type]

    def message(self, message_type: MessageType, value: object, path: str, depth: int) -> Message:
        if not isinstance(value, Mapping):
            raise self.broken(path, value, "an object")
        if not depth:
            raise ModelFormatError(f"{path} is nested more than {MAX_DEPTH} levels deep")
        self.budget.spend_items(1 + len(value), path)
        message = Message(message_type)
        fields = self.fields(message_type)
        for name, item in value.items():
            field = fields.get(name)
            if field is not None and item is not None:
                message.put(field, self.field(message_type, field, item, f"{path}.{name}", depth))
        return message

    def field(
        self, message_type: MessageType, field: Field, value: Any, path: str, depth: int
    ) -> Any:
        if field.key:
            if not isinstance(value, Mapping):
                raise self.broken(path, value, "an object")
            entry = message_type.entry(field)
            key_field, value_field = entry.by_name["key"], entry.by_name["value"]
            return {
                self.key(entry, key_field, key, path): self.item(
                    entry, value_field, item, f"{path}[{key!r:.200}]", depth
                )
                for key, item in value.items()
            }
        if not field.is_repeated:
            return self.item(message_type, field, value, path, depth)
        if not isinstance(value, list):
            raise self.broken(path, value, "a list")
        items = (
            self.item(message_type, field, item, f"{path}[{index}]", depth)
            for index, item in enumerate(value)
        )
        number = message_type.number(field)
        return list(items) if number is None else array(number.format, items)

    def key(self, entry: MessageType, field: Field, key: object, path: str) -> Any:
        """Return a key of a map, which is a string in JSON."""
        if field.kind == "bool":
            key = {"true": True, "false": False}.get(str(key), key)
        return self.item(entry, field, key, path, 1)

    def item(
        self, message_type: MessageType, field: Field, value: Any, path: str, depth: int
    ) -> Any:
        """Return a single value of a field, a list or a map."""
        schema = message_type.schema
        if field.kind in schema.types:
            return self.message(schema.types[field.kind], value, path, depth - 1)
        if field.kind in schema.enumerations:
            names = schema.enumerations[field.kind]
            if isinstance(value, str) and value not in names:
                raise self.broken(path, value, f"a name of {field.kind}")
            value = names.get(value, value) if isinstance(value, str) else value
            return self.integer(message_type, field, value, path)
        if field.kind == "string":
            return self.text(value, path)
        if field.kind == "bytes":
            return self.bytes(value, path)
        if field.kind == "bool":
            if not isinstance(value, bool):
                raise self.broken(path, value, "true or false")
            return value
        if field.kind in ("float", "double"):
            return self.float(field, value, path)
        return self.integer(message_type, field, value, path)

    def text(self, value: object, path: str) -> str:
        if not isinstance(value, str) or not _is_unicode(value):
            raise self.broken(path, value, "a text")
        return value

    def bytes(self, value: object, path: str) -> memoryview:
        """Return bytes, which are text in base64 of one of its two alphabets, or a list."""
        try:
            if isinstance(value, list):
                return memoryview(bytes(value))
            if isinstance(value, str):
                self.budget.spend(len(value), path)
                padding = "=" * (-len(value) % 4)
                text = value.translate(_URL_SAFE) + padding
                return memoryview(base64.b64decode(text, validate=True))
        except (TypeError, ValueError):
            pass
        raise self.broken(path, value, "bytes in base64")

    def integer(self, message_type: MessageType, field: Field, value: object, path: str) -> int:
        if isinstance(value, str):
            value = int(value) if _INTEGER.fullmatch(value) else value
        elif isinstance(value, float):
            value = int(value) if value.is_integer() else value
        number = message_type.number(field)
        if type(value) is not int or number is None or not number.holds(value):
            raise self.broken(path, value, f"an integer of kind {field.kind}")
        return value

    def float(self, field: Field, value: object, path: str) -> float:
        try:
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                layout = "<f" if field.kind == "float" else "<d"
                result: float = unpack(layout, pack(layout, float(value)))[0]
                return result
        except (ValueError, OverflowError):
            pass
        raise self.broken(path, value, f"a number of kind {field.kind}")


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
