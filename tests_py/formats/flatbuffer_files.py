"""FlatBuffers, written by the tables of a schema; parents stand before their children."""

from collections.abc import Mapping, Sequence
from struct import pack, pack_into
from typing import Any

from webtensor.formats.element_types import NUMBER_FORMATS
from webtensor.formats.flatbuffers import Field, Schema

__all__ = ["encode"]

#: Every field takes as much room in its table.
FIELD_BYTES = 8


class Writer:
    """A buffer to which tables are appended."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.data = schema, bytearray()

    def append(self, data: bytes) -> int:
        """Append bytes at a multiple of 8, and return where they begin."""
        self.data += bytes(-len(self.data) % 8)
        position = len(self.data)
        self.data += data
        return position

    def number(self, kind: str, value: Any) -> bytes:
        if kind in self.schema.enumerations:
            enumeration = self.schema.enumerations[kind]
            number = enumeration.names.index(value) if isinstance(value, str) else value
            return pack(f"<{NUMBER_FORMATS[enumeration.kind]}", number)
        return pack(f"<{NUMBER_FORMATS[kind]}", value)

    def is_number(self, kind: str) -> bool:
        return kind in NUMBER_FORMATS or kind in self.schema.enumerations

    def table(self, name: str, values: Mapping[str, Any]) -> int:
        """Append a table; of a union the value is a pair of the table's name and its values."""
        fields = {self.schema.types[name].fields[key]: value for key, value in values.items()}
        unions = [field for field in fields if field.kind in self.schema.unions]
        slots = {field.slot for field in fields} | {field.slot - 1 for field in unions}
        count = max(slots, default=-1) + 1
        offsets = [0] * count
        for index, slot in enumerate(sorted(slots)):
            offsets[slot] = 4 + FIELD_BYTES * index
        size = 4 + FIELD_BYTES * len(slots)
        slots_at = self.append(pack(f"<{2 + count}H", 4 + 2 * count, size, *offsets))
        position = self.append(bytes(size))
        pack_into("<i", self.data, position, position - slots_at)
        for field, value in fields.items():
            at = position + offsets[field.slot]
            if field in unions:
                member, value = value
                numbers = self.schema.unions[field.kind]
                self.data[position + offsets[field.slot - 1]] = next(
                    number for number, table in numbers.items() if table == member
                )
                self.link(at, self.table(member, value))
            elif self.is_number(field.kind) and not field.is_vector:
                encoded = self.number(field.kind, value)
                self.data[at : at + len(encoded)] = encoded
            else:
                self.link(at, self.child(field, value))
        return position

    def link(self, at: int, target: int) -> None:
        """Let the offset at a position lead to another one."""
        pack_into("<I", self.data, at, target - at)

    def child(self, field: Field, value: Any) -> int:
        if field.is_vector:
            return self.vector(field, value)
        return self.string(value) if field.kind == "string" else self.table(field.kind, value)

    def string(self, value: str) -> int:
        return self.append(pack("<I", len(value.encode())) + value.encode() + b"\0")

    def vector(self, field: Field, values: Sequence[Any]) -> int:
        if self.is_number(field.kind):
            if isinstance(values, bytes):
                return self.append(pack("<I", len(values)) + values)
            items = b"".join(self.number(field.kind, value) for value in values)
            return self.append(pack("<I", len(values)) + items)
        position = self.append(pack("<I", len(values)) + bytes(4 * len(values)))
        for index, value in enumerate(values):
            item = self.string(value) if field.kind == "string" else self.table(field.kind, value)
            self.link(position + 4 + 4 * index, item)
        return position


def encode(schema: Schema, name: str, values: Mapping[str, Any], identifier: bytes) -> bytes:
    """The bytes of a file."""
    writer = Writer(schema)
    writer.append(bytes(4) + identifier)
    writer.link(0, writer.table(name, values))
    return bytes(writer.data)
