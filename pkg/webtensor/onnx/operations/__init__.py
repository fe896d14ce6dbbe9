"""The table of ONNX's operators: what computes a node, by the name of its operator.

A module has the rows of a family. A row's name ends in the version from which it holds: that of the
operator's last change of meaning, such as "Softmax-13", or 1. It begins with the operator's domain
where that is not ONNX's own. ``webtensor.onnx.control_flow`` has the rows of nodes with subgraphs.
"""

from __future__ import annotations

from collections import defaultdict

from webtensor.graph.operations import Row
from webtensor.onnx.operations import (
    attention,
    blocks_of_bits,
    convolutions,
    elementwise,
    fused_attention,
    losses,
    normalization,
    pooling,
    predictions,
    quantization,
    rearrangement,
    recurrent,
    reductions,
    resizing,
    sampling,
    selection,
    sequences,
    shapes,
    signals,
    texts,
    trees,
)

__all__ = ["OPERATIONS", "row_name"]

OPERATIONS: dict[str, Row] = {
    op: row
    for family in (
        attention,
        blocks_of_bits,
        convolutions,
        elementwise,
        fused_attention,
        losses,
        normalization,
        pooling,
        predictions,
        quantization,
        rearrangement,
        recurrent,
        reductions,
        resizing,
        sampling,
        selection,
        sequences,
        shapes,
        signals,
        texts,
        trees,
    )
    for op, row in family.ROWS.items()
}

#: Operators that have subgraphs, and the one whose result is its input.
_OTHERS = ("Identity", "If-1", "Loop-1", "Scan-8", "Scan-9", "SequenceMap-17")
_ROW_NAMES: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
for _name in (*OPERATIONS, *_OTHERS):
    _op, _, _version = _name.partition("-")
    _ROW_NAMES[_op].append((int(_version or 1), _name))


def row_name(domain: str, op: str, version: int) -> str | None:
    """Return the name of the row of an operator in a version of its domain.

    Example:
        >>> row_name("", "Softmax", 11), row_name("", "Softmax", 17)
        ('Softmax-1', 'Softmax-13')
    """
    full_name = f"{domain}.{op}" if domain else op
    names = [row for row in _ROW_NAMES.get(full_name, ()) if row[0] <= version]
    return max(names)[1] if names else None
