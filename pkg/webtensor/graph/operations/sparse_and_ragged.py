"""Operations on sparse and ragged tensors, which are several dense ones each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, boolean, integer, integers
from webtensor.graph.operations.rows import Row, Tensors

__all__ = ["ONLY_HERE", "ROWS"]


def gathered_rows(
    splits: Sequence[Tensor], values: Tensor, indices: Tensor, rank: int
) -> tuple[Tensor, ...]:
    """Return the splits and the values of rows."""
    nested, dense = ops.ragged_gather(splits, values, indices, rank)
    return (*nested, dense)


def sparse_of(splits: Sequence[Tensor], values: Tensor) -> tuple[Tensor, ...]:
    """Return the indices of the values of a ragged tensor, these, and the shape."""
    sizes = [splits[0].size - 1]
    indices = ops.reshape(ops.arange(sizes[0]), (-1, 1))
    for ends in splits:
        begins = ends.tolist()
        lengths = [last - first for first, last in pairwise(begins)]
        sizes.append(max(lengths, default=0))
        columns = [column for length in lengths for column in range(length)]
        rows = [row for row, length in enumerate(lengths) for _ in range(length)]
        parts = ops.gather(indices, ops.tensor(rows, (len(rows),), "int32"), 0)
        column = ops.tensor(columns, (len(columns), 1), "int32")
        indices = ops.concat([parts, column], 1)
    return indices, values, ops.tensor(sizes, dtype="int32")


def counted_rows(
    splits: Tensor, values: Tensor, weights: Tensor, size: int, binary_output: bool
) -> Tensor:
    """Count the numbers below ``size`` in each row of a ragged tensor, or add their weights."""
    ends = splits.tolist()
    rows = ops.tensor(
        [row for row, (first, last) in enumerate(pairwise(ends)) for _ in range(first, last)],
        (values.size,),
        "int32",
    )
    is_inside = ops.less(values, size)
    cells = ops.where(is_inside, ops.add(ops.multiply(rows, size), values), -1)
    amounts = weights if weights.size else ops.ones((values.size,), weights.dtype)
    total = (len(ends) - 1) * size
    counts = ops.reshape(ops.unsorted_segment_sum(amounts, cells, total), (-1, size))
    return ops.astype(ops.not_equal(counts, 0), weights.dtype) if binary_output else counts


def reordered(indices: Tensor, values: Tensor, shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the elements of a sparse tensor in row-major order."""
    order = ops.argsort(_flat(indices, shape))
    return ops.gather(indices, order, 0), ops.gather(values, order, 0)


def _flat(indices: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the indices of elements in row-major order."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return ops.sum(ops.multiply(indices, ops.tensor(strides, dtype="int32")), 1)


def product(
    indices: Tensor,
    values: Tensor,
    b: Tensor,
    shape: Sequence[int],
    adjoint_a: bool,
    adjoint_b: bool,
) -> Tensor:
    """Multiply a sparse matrix by a dense one."""
    row, column = (indices[:, axis] for axis in ((1, 0) if adjoint_a else (0, 1)))
    rows = ops.gather(ops.matrix_transpose(b) if adjoint_b else b, column, 0)
    parts = ops.multiply(ops.expand_dims(values, 1), rows)
    return ops.unsorted_segment_sum(parts, row, shape[1 if adjoint_a else 0])


ROWS = {
    "SparseFillEmptyRows": Row("sparse.sparse_fill_empty_rows", 0, 1, 2, 3).dynamic().reading(0, 2),
    "SparseReshape": Row("sparse.sparse_reshape", 0, 1, 2).dynamic().reading(0, 1, 2),
    "SparseSegmentMean": Row("sparse.sparse_segment_mean", 0, 1, 2).dynamic().reading(2),
    "SparseSegmentSum": Row("sparse.sparse_segment_sum", 0, 1, 2).dynamic().reading(2),
}

#: Those that TensorFlow.js does not have, even where its list has the name.
ONLY_HERE = {
    "RaggedBincount": Row(
        counted_rows, 0, 1, 3, size=integer(2), binary_output=boolean("binary_output")
    )
    .dynamic()
    .reading(0),
    "RaggedTensorToSparse": Row(sparse_of, Tensors(0, -1), -1).dynamic().reading(0),
    "SparseReorder": Row(reordered, 0, 1, shape=integers(2)),
    "SparseTensorDenseMatMul": Row(
        product,
        0,
        1,
        3,
        shape=integers(2),
        adjoint_a=boolean("adjoint_a"),
        adjoint_b=boolean("adjoint_b"),
    ),
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
