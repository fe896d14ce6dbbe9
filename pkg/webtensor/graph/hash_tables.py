"""Operations on hash tables, which belong to a model: its graphs find them by name."""

from __future__ import annotations

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import Node
from webtensor.graph.operations.arguments import dtype
from webtensor.graph.operations.rows import Attribute, Row
from webtensor.graph.resources import HashTable

__all__ = ["table_rows"]


def table_rows(tables: dict[str, HashTable]) -> dict[str, Row]:
    """Return the rows of the operations on hash tables.

    A table is made when it is first used. Nodes with one ``shared_name``, or with one name where
    they have none, are the same table, in all graphs that are compiled with these rows.

    Args:
        tables: the tables of the model by their names.
    """

    def table(name: str, key_dtype: str, value_dtype: str) -> HashTable:
        if name not in tables:
            tables[name] = HashTable(key_dtype, value_dtype)
        return tables[name]

    making = Row(
        table,
        Attribute(_shared_name),
        key_dtype=dtype("key_dtype"),
        value_dtype=dtype("value_dtype"),
    )
    filling = Row(_filled, 0, 1, 2).reading(1, 2)
    finding = Row(HashTable.find, 0, 1, 2).reading(1, 2)
    operations = {
        making: ("HashTable", "HashTableV2"),
        filling: (
            *("InitializeTable", "InitializeTableV2"),
            *("LookupTableImport", "LookupTableImportV2"),
        ),
        finding: ("LookupTableFind", "LookupTableFindV2"),
        Row(_size, 0): ("LookupTableSize", "LookupTableSizeV2"),
    }
    rows: dict[str, Row] = {}
    for row, names in operations.items():
        rows |= dict.fromkeys(names, row.impure().dynamic())
    return rows


def _shared_name(node: Node) -> str:
    return str(node.attributes.get("shared_name") or node.name)


def _filled(table: HashTable, keys: Tensor, values: Tensor) -> HashTable:
    """Replace what is in a table, and return it."""
    table.fill(keys, values)
    return table


def _size(table: HashTable) -> Tensor:
    """Return the number of keys."""
    return ops.tensor(len(table.values), dtype="int32")
