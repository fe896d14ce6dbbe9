"""FlatBuffers: tables of fields at offsets in a buffer, which are read by tables of these fields.

A table begins with the offset of another one, which has for each field where it is, or 0 if it is
absent. A ``Schema`` has a row for each field: its slot, its name and its kind. Every offset is
checked before it is followed, and each table is spent from the budget when it is read, so neither
offsets that lead elsewhere nor many that lead to the same table do harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import NUMBER_FORMATS, Buffer

__all__ = ["MAX_DEPTH", "Enumeration", "Field", "Record", "Schema", "TableType"]

#: The largest depth of tables in tables.
MAX_DEPTH = 32
#: The identifier of a format stands after the offset of the first table.
_IDENTIFIER = slice(4, 8)

_STRUCTS = {name: Struct(f"<{code}") for name, code in NUMBER_FORMATS.items()}


class Enumeration(NamedTuple):
    """The kind of numbers that an enumeration is stored as, and its names from 0 on."""

    kind: str
    names: tuple[str, ...]


class Field(NamedTuple):
    """A field of a table.

    Attributes:
        slot: its position among the table's fields.
        name: its name.
        kind: "string", the name of a kind of numbers, an enumeration, a table or a union.
        is_vector: whether it is a list.
        default: its number where it is absent, or None.
    """

    slot: int
    name: str
    kind: str
    is_vector: bool
    default: float | None


class TableType(NamedTuple):
    """The fields of a table by their names."""

    name: str
    fields: Mapping[str, Field]


class Record(dict[str, Any]):
    """The fields of a table that are present; of others ``[]`` returns the default.

    That is the number or the name of an enumeration that the schema says, "" for strings, () for
    lists, and None for tables.
    """

    __slots__ = ("schema", "type")

    def __init__(self, table_type: TableType, schema: Schema) -> None:
        super().__init__()
        self.type, self.schema = table_type, schema

    def __missing__(self, name: str) -> Any:
        return self.schema.default(self.type.fields[name])


class Schema:
    """Tables, from lines with their fields.

    A line with one word begins a table. The other lines have the slot, the name and the kind of a
    field: ``int32[]`` is a list, and ``int32 = 1`` has another default than 0. Which table of a
    union is present is in the slot before it.

    Args:
        tables: the lines.
        enumerations: the names of each enumeration.
        unions: the tables of each union, by number.
    """

    def __init__(
        self,
        tables: str,
        enumerations: Mapping[str, Enumeration] | None = None,
        unions: Mapping[str, Mapping[int, str]] | None = None,
    ) -> None:
        self.enumerations, self.unions = enumerations or {}, unions or {}
        self.types: dict[str, TableType] = {}
        for line in tables.splitlines():
            words = line.split()
            if len(words) == 1:
                fields: dict[str, Field] = {}
                self.types[words[0]] = TableType(words[0], fields)
            elif words:
                field = _field(words)
                fields[field.name] = field

    def default(self, field: Field) -> Any:
        """Return the value of a field that is absent."""
        if field.is_vector:
            return ()
        number = field.default or 0
        if field.kind in self.enumerations:
            return self.enumerations[field.kind].names[int(number)]
        if field.kind in NUMBER_FORMATS:
            return {"bool": bool, "float32": float, "float64": float}.get(field.kind, int)(number)
        return "" if field.kind == "string" else None

    def decode(
        self, name: str, data: Buffer, identifier: bytes, where: str, budget: Budget
    ) -> Record:
        """Return the first table of a file.

        Args:
            name: the table's type.
            data: the bytes of the file.
            identifier: the four bytes by which files of the format are known.
            where: what errors call the file.
            budget: limits what reading may cost.

        Raises:
            ModelFormatError: the file is of another format or broken, or it costs more than the
                budget.
        """
        view = memoryview(data).cast("B")
        if view[_IDENTIFIER] != identifier:
            raise ModelFormatError(f"{where} is no file of the format {identifier.decode()}")
        with reading(where):
            decoder = _Decoder(view, self, where, budget)
            return decoder.table(self.types[name], decoder.target(0), MAX_DEPTH)


def _field(words: list[str]) -> Field:
    slot, name, kind, *default = words
    element_kind = kind.removesuffix("[]")
    number = float(default[1]) if default else None
    return Field(int(slot), name, element_kind, element_kind != kind, number)


class _Decoder:
    def __init__(self, data: memoryview, schema: Schema, where: str, budget: Budget) -> None:
        self.data, self.schema, self.where, self.budget = data, schema, where, budget

    def broken(self, position: int, reason: str) -> ModelFormatError:
        return ModelFormatError(f"{self.where}: byte {position}: {reason}")

    def number(self, kind: str, position: int) -> Any:
        layout = _STRUCTS[kind]
        if not 0 <= position <= len(self.data) - layout.size:
            raise self.broken(position, f"the file has {len(self.data)} bytes")
        return layout.unpack_from(self.data, position)[0]

    def target(self, position: int) -> int:
        """Return the position to which the offset at a position leads."""
        offset: int = self.number("uint32", position)
        return position + offset

    def table(self, table_type: TableType, position: int, depth: int) -> Record:
        """Return a table, in which ``depth`` more levels may be."""
        if not depth:
            raise self.broken(position, f"tables are nested more than {MAX_DEPTH} levels deep")
        self.budget.spend_items(2, self.where)
        slots = position - self.number("int32", position)
        slots_end = slots + self.number("uint16", slots)
        record = Record(table_type, self.schema)
        for field in table_type.fields.values():
            offset = self.offset(slots, slots_end, field.slot)
            if offset:
                self.budget.spend_items(1, self.where)
                at = position + offset
                if field.kind in self.schema.unions:
                    value = self.union(field, slots, slots_end, position, depth)
                elif field.is_vector:
                    value = self.vector(field, self.target(at), depth)
                else:
                    value = self.value(table_type, field, at, depth)
                record[field.name] = value
        return record

    def offset(self, slots: int, slots_end: int, slot: int) -> int:
        """Return the offset of a field in its table, or 0 if it is absent."""
        position = slots + 4 + 2 * slot
        if position + 2 > slots_end:
            return 0
        offset: int = self.number("uint16", position)
        return offset

    def value(self, table_type: TableType, field: Field, position: int, depth: int) -> Any:
        """Return a single value, at the position of its bytes or of its offset."""
        kind = field.kind
        if kind in self.schema.enumerations:
            enumeration = self.schema.enumerations[kind]
            number = self.number(enumeration.kind, position)
            if not 0 <= number < len(enumeration.names):
                raise self.broken(position, f"{table_type.name}.{field.name} is {number}")
            return enumeration.names[number]
        if kind in NUMBER_FORMATS:
            number = self.number(kind, position)
            return bool(number) if kind == "bool" else number
        if kind == "string":
            return self.string(self.target(position))
        return self.table(self.schema.types[kind], self.target(position), depth - 1)

    def union(
        self, field: Field, slots: int, slots_end: int, position: int, depth: int
    ) -> Record | None:
        """Return the table of a union, or None if it is of no table of the schema."""
        type_offset = self.offset(slots, slots_end, field.slot - 1)
        number = self.number("uint8", position + type_offset) if type_offset else 0
        name = self.schema.unions[field.kind].get(number)
        if name is None:
            return None
        at = position + self.offset(slots, slots_end, field.slot)
        return self.table(self.schema.types[name], self.target(at), depth - 1)

    def vector(self, field: Field, position: int, depth: int) -> Any:
        """Return a list: of numbers a view of the file, otherwise its items."""
        count, begin = self.number("uint32", position), position + 4
        code = NUMBER_FORMATS.get(field.kind)
        width = 4 if code is None else _STRUCTS[field.kind].size
        if count * width > len(self.data) - begin:
            raise self.broken(
                position, f"{field.name} has {count} items, but the file has {len(self.data)} bytes"
            )
        if code is not None:
            return self.data[begin : begin + count * width].cast(code)
        self.budget.spend_items(count, self.where)
        targets = (self.target(begin + 4 * index) for index in range(count))
        if field.kind == "string":
            return [self.string(target) for target in targets]
        table_type = self.schema.types[field.kind]
        return [self.table(table_type, target, depth - 1) for target in targets]

    def string(self, position: int) -> str:
        size, begin = self.number("uint32", position), position + 4
        if size > len(self.data) - begin:
            raise self.broken(position, f"a text has {size} bytes, which are not there")
        self.budget.spend(size, self.where)
        try:
            return str(self.data[begin : begin + size], "utf-8")
        except UnicodeDecodeError:
            raise self.broken(position, "a text is not UTF-8") from None
