"""FlexBuffers: numbers, texts, lists and maps without a schema, read as Python's own values.

Options of custom operators in TensorFlow Lite's models are FlexBuffers. The value of the file is at
its end; offsets lead backwards, and each value is spent from the budget when it is read.
"""

from __future__ import annotations

from struct import Struct
from typing import TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer, text_or_bytes

__all__ = ["FlexValue", "read_flexbuffer"]

FlexValue: TypeAlias = (
    "bool | int | float | str | bytes | list[FlexValue] | dict[str, FlexValue] | None"
)

_MAX_DEPTH = 32
_NULL, _INT, _UINT, _FLOAT, _KEY, _STRING = range(6)
_MAP, _VECTOR, _VECTOR_KEY, _BLOB, _BOOL, _VECTOR_BOOL = 9, 10, 14, 25, 26, 36
#: How numbers are stored, by their kind and their width in bytes.
_NUMBERS = {
    (kind, width): Struct(f"<{code}")
    for kind, codes in ((_INT, "bhiq"), (_UINT, "BHIQ"), (_FLOAT, " efd"))
    for width, code in zip((1, 2, 4, 8), codes, strict=True)
    if code != " "
}
#: Numbers that are stored elsewhere, and lists of numbers of one kind.
_INDIRECT = {6: _INT, 7: _UINT, 8: _FLOAT}
_TYPED = {11: _INT, 12: _UINT, 13: _FLOAT, _VECTOR_KEY: _KEY, 15: _STRING, _VECTOR_BOOL: _BOOL}
#: Lists of two, three or four numbers, whose size is not stored.
_TUPLES = {
    16 + 3 * extra + kind: (item, 2 + extra)
    for extra in range(3)
    for kind, item in enumerate((_INT, _UINT, _FLOAT))
}


def read_flexbuffer(data: Buffer, where: str, budget: Budget | None = None) -> FlexValue:
    """Return the value of a FlexBuffer.

    Args:
        data: the bytes.
        where: what errors call them.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: the bytes are broken, or the value costs more than the budget.

    Example:
        >>> read_flexbuffer(bytes([7, 0x04, 1]), "a number")
        7
    """
    view = memoryview(data).cast("B")
    reader = _Reader(view, where, budget or Budget(where, len(view)))
    with reading(where):
        if len(view) < 3:
            raise reader.broken(0)
        width = view[-1]
        return reader.value(len(view) - 2 - width, width, view[-2], _MAX_DEPTH)


class _Reader:
    def __init__(self, data: memoryview, where: str, budget: Budget) -> None:
        self.data, self.where, self.budget = data, where, budget

    def broken(self, position: int) -> ModelFormatError:
        return ModelFormatError(f"{self.where}: byte {position} of {len(self.data)} is broken")

    def number(self, kind: int, position: int, width: int) -> int | float:
        layout = _NUMBERS.get((kind, width))
        if layout is None or not 0 <= position <= len(self.data) - width:
            raise self.broken(position)
        number: int | float = layout.unpack_from(self.data, position)[0]
        return number

    def size(self, position: int, width: int) -> int:
        return int(self.number(_UINT, position, width))

    def target(self, position: int, width: int) -> int:
        return position - self.size(position, width)

    def value(self, position: int, parent_width: int, packed_type: int, depth: int) -> FlexValue:
        """Return a value, or that to which the offset at the position leads."""
        self.budget.spend_items(1, self.where)
        kind, width = packed_type >> 2, 1 << (packed_type & 3)
        if kind == _NULL:
            return None
        if kind in (_INT, _UINT, _FLOAT):
            return self.number(kind, position, parent_width)
        if kind == _BOOL:
            return bool(self.number(_UINT, position, parent_width))
        target = self.target(position, parent_width)
        if kind in _INDIRECT:
            return self.number(_INDIRECT[kind], target, width)
        if kind == _KEY:
            return self.key(target)
        if kind in (_STRING, _BLOB):
            contents = self.span(target, self.size(target - width, width))
            # Messages of protocol buffers are stored as texts, too.
            return text_or_bytes(contents) if kind == _STRING else bytes(contents)
        if not depth:
            raise ModelFormatError(f"{self.where}: lists are nested more than {_MAX_DEPTH} deep")
        if kind == _MAP:
            return self.map(target, width, depth - 1)
        return self.list(kind, target, width, depth - 1)

    def span(self, position: int, size: int) -> memoryview:
        if not 0 <= position <= len(self.data) - size:
            raise self.broken(position)
        self.budget.spend(size, self.where)
        return self.data[position : position + size]

    def key(self, position: int) -> str:
        end = position
        while end < len(self.data) and self.data[end]:
            end += 1
        return str(self.span(position, end - position), "utf-8")

    def list(self, kind: int, target: int, width: int, depth: int) -> list[FlexValue]:
        if kind in _TUPLES:
            item_kind, size = _TUPLES[kind]
        else:
            item_kind, size = _TYPED.get(kind, kind), self.size(target - width, width)
        self.span(target, size * width)
        if kind == _VECTOR:
            types = self.span(target + size * width, size)
        elif kind in _TYPED or kind in _TUPLES:
            types = memoryview(bytes([item_kind << 2]) * size)
        else:
            raise self.broken(target)
        return [
            self.value(target + index * width, width, packed_type, depth)
            for index, packed_type in enumerate(types)
        ]

    def map(self, target: int, width: int, depth: int) -> dict[str, FlexValue]:
        keys = self.target(target - 3 * width, width)
        key_width = self.size(target - 2 * width, width)
        values = self.list(_VECTOR, target, width, depth)
        names = self.list(_VECTOR_KEY, keys, key_width, depth)
        return {str(name): value for name, value in zip(names, values, strict=True)}
