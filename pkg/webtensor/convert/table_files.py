"""Files of keys and values, with which TensorFlow fills hash tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.graph.nodes import Node
from webtensor.graph.operations.arguments import dtype_name
from webtensor.ops import tensor

__all__ = ["rows_of_file"]

#: Columns that are none: the whole line, and its number.
_WHOLE_LINE, _LINE_NUMBER = -2, -1
_PARSERS: dict[str, Callable[[bytes], Any]] = {
    "string": bytes,
    "int32": int,
    "float32": float,
}


def rows_of_file(
    data: Buffer, dtypes: Sequence[str], node: Node, where: str, budget: Budget
) -> tuple[Tensor, Tensor]:
    r"""Return the keys and the values of a table that a node fills from a file.

    Args:
        data: the contents of the file.
        dtypes: the dtypes of keys and values.
        node: an ``InitializeTableFromTextFile``, whose attributes say what is in which column.
        where: what errors call the model.
        budget: limits what reading the file may cost.

    Raises:
        ModelFormatError: a line has too few columns, or no number where one is wanted.

    Example:
        >>> columns = {"key_index": -2, "value_index": -1, "offset": 1}
        >>> node = Node("t", "InitializeTableFromTextFileV2", (), (), columns)
        >>> keys, values = rows_of_file(b"a\nb\n", ["string", "int64"], node, "m", Budget("m"))
        >>> keys.tolist(), values.tolist()
        (['a', 'b'], [1, 2])
    """
    text = bytes(data)
    budget.add_file(len(text))
    budget.spend_items(2 * text.count(b"\n") + 2, where)
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    attributes: Any = node.attributes
    size = attributes.get("vocab_size", -1)
    if lines[-1:] == [b""]:
        lines.pop()
    if size > 0:
        lines = lines[:size]
    delimiter = attributes.get("delimiter", "\t")
    separator = delimiter if isinstance(delimiter, bytes) else str(delimiter).encode()
    with reading(f"{where}: the file of node {node.name!r:.200}"):
        columns = [
            _column(lines, attributes, side, dtype_name(dtype), separator)
            for side, dtype in zip(("key", "value"), dtypes, strict=True)
        ]
    return columns[0], columns[1]


def _column(
    lines: Sequence[bytes], attributes: Any, side: str, dtype: str, separator: bytes
) -> Tensor:
    index = attributes.get(f"{side}_index", 0)
    if index == _LINE_NUMBER:
        first = attributes.get("offset", 0)
        return tensor([*range(first, first + len(lines))], shape=(len(lines),), dtype=dtype)
    if dtype not in _PARSERS:
        raise ModelFormatError(f"a table has no {dtype}")
    parse = _PARSERS[dtype]
    if index == _WHOLE_LINE:
        values = [parse(line) for line in lines]
    else:
        values = [parse(line.split(separator)[index]) for line in lines]
    return tensor(values, shape=(len(values),), dtype=dtype)
