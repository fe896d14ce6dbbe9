"""The table of operations: what computes a node of a graph, by the name of its operation.

A module has the rows of a family. Control flow, constants and inputs are the plan's business, and
hash tables, which belong to a model, are in ``webtensor.graph.tables``.
"""

from __future__ import annotations

from webtensor.graph.operations import (
    arrays,
    containers,
    elementwise,
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

#: The rows of operations that TensorFlow.js does not have.
ONLY_HERE: dict[str, Row] = {
    op: row
    for family in (
        arrays,
        elementwise,
        images,
        matrices,
        products,
        segments,
        selection,
        sparse_and_ragged,
        spectra,
        texts,
    )
    for op, row in family.ONLY_HERE.items()
}

OPERATIONS: dict[str, Row] = {
    op: row
    for family in (
        arrays,
        containers,
        elementwise,
        images,
        products,
        selection,
        sparse_and_ragged,
        spectra,
        texts,
    )
    for op, row in family.ROWS.items()
} | ONLY_HERE
