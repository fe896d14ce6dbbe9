"""The table of operations: what computes a node of a graph, by the name of its operation.

A module has the rows of a family. Control flow, constants and inputs have none: they are compiled
by ``webtensor.graph.compilation``. The rows of hash tables, which belong to a model, are in
``webtensor.graph.hash_tables``.
"""

from __future__ import annotations

from webtensor.graph.operations import (
    arrays,
    containers,
    elementwise,
    gradients,
    images,
    matrices,
    products,
    segments,
    selection,
    sparse_and_ragged,
    spectra,
    texts,
)
from webtensor.graph.operations.rows import Bound, Row

__all__ = ["ONLY_HERE", "OPERATIONS", "Bound", "Row"]

_FAMILIES = (
    arrays,
    containers,
    elementwise,
    gradients,
    images,
    matrices,
    products,
    segments,
    selection,
    sparse_and_ragged,
    spectra,
    texts,
)


def _rows(table: str) -> dict[str, Row]:
    """Return the rows of all families that have such a table."""
    return {op: row for family in _FAMILIES for op, row in vars(family).get(table, {}).items()}


#: The rows of operations that TensorFlow.js does not have.
ONLY_HERE = _rows("ONLY_HERE")

OPERATIONS = _rows("ROWS") | ONLY_HERE
