"""Operations on sparse and ragged tensors, which are several dense ones each."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute
from webtensor.graph.operations.rows import Row, Tensors

__all__ = ["ONLY_HERE", "ROWS"]


def gathered_rows(
    splits: Sequence[Tensor], values: Tensor, indices: Tensor, rank: int
) -> tuple[Tensor, ...]:
    """Return the splits and the values of rows."""
    nested, dense = ops.ragged_gather(splits, values, indices, rank)
    return (*nested, dense)


ROWS = {
    "SparseFillEmptyRows": Row("sparse.sparse_fill_empty_rows", 0, 1, 2, 3).dynamic().reading(0, 2),
    "SparseReshape": Row("sparse.sparse_reshape", 0, 1, 2).dynamic().reading(0, 1, 2),
    "SparseSegmentMean": Row("sparse.sparse_segment_mean", 0, 1, 2).dynamic().reading(2),
    "SparseSegmentSum": Row("sparse.sparse_segment_sum", 0, 1, 2).dynamic().reading(2),
}

#: Those that TensorFlow.js does not have, though its list has the names.
ONLY_HERE = {
    "RaggedGather": Row(gathered_rows, Tensors(0, -2), -2, -1, rank=attribute("OUTPUT_RAGGED_RANK"))
    .dynamic()
    .reading(-1),
    "RaggedRange": Row("ragged_range", 0, 1, 2).dynamic().reading(0, 1, 2),
    "RaggedTensorToTensor": Row(
        "ragged_tensor_to_tensor",
        0,
        1,
        2,
        row_partition_tensors=Tensors(3),
        row_partition_types=attribute("row_partition_types"),
    )
    .dynamic()
    .reading(0),
}
