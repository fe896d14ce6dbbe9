"""Operations on sparse and ragged tensors, which are several dense ones each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise, product
from math import inf, prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, axes, boolean, integer, integers, number
from webtensor.graph.operations.rows import Part, Row, Tensors
from webtensor.graph.resources import TensorList
from webtensor.ops.fingerprint import crossed_hash, fingerprints64
from webtensor.ops.string_elements import texts_of

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
    cells = ops.where(is_inside, rows * size + values, -1)
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
    return ops.sum(indices * ops.tensor(strides, dtype="int32"), 1)


def joined(
    indices: Sequence[Tensor], values: Sequence[Tensor], shapes: Sequence[Tensor], axis: int
) -> tuple[Tensor, ...]:
    """Return the elements of sparse tensors one after another along an axis, and the shape."""
    sizes = [shape.tolist() for shape in shapes]
    axis %= len(sizes[0])
    shape, shifted = [*sizes[0]], []
    shape[axis] = 0
    for index, size in zip(indices, sizes, strict=True):
        offsets = [0] * len(shape)
        offsets[axis] = shape[axis]
        shifted.append(index + ops.tensor(offsets))
        shape[axis] += size[axis]
    return (*reordered(ops.concat(shifted, 0), ops.concat(values, 0), shape), ops.tensor(shape))


def total(
    indices: Tensor,
    values: Tensor,
    shape: Tensor,
    other_indices: Tensor,
    other_values: Tensor,
    threshold: float,
) -> tuple[Tensor, ...]:
    """Add sparse tensors; where both have an element, a sum below the threshold is left out."""
    sums = _elements(indices, values)
    for cell, value in _elements(other_indices, other_values).items():
        if cell not in sums:
            sums[cell] = value
        elif abs(sums[cell] + value) >= threshold:
            sums[cell] += value
        else:
            del sums[cell]
    order = sorted(sums)
    elements = ops.tensor([sums[cell] for cell in order], (len(order),), values.dtype)
    return ops.tensor(order, (len(order), shape.size), "int32"), elements, shape


def _elements(indices: Tensor, values: Tensor) -> dict[tuple[int, ...], Any]:
    return dict(zip(map(tuple, indices.tolist()), values.tolist(), strict=True))


def segment_sums(
    data: Tensor, indices: Tensor, segments: Tensor, count: int = -1, power: float = 0.0
) -> Tensor:
    """Return the sums of rows of each segment, divided by a power of their number."""
    rows = ops.gather(data, indices)
    size = max((*segments.data_sync(), -1)) + 1 if count < 0 else count
    sums, counts = (
        ops.unsorted_segment_sum(x, segments, size) for x in (rows, ops.ones_like(rows))
    )
    return ops.divide_no_nan(sums, counts**power) if power else sums


def scaled(indices: Tensor, values: Tensor, dense: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the elements of a sparse tensor times those of a dense one."""
    return values * ops.gather_nd(ops.broadcast_to(dense, shape), indices)


def dense_with_minima(indices: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a dense tensor, with minus infinity where no element is stored."""
    return ops.tensor_scatter_update(ops.full(shape, -inf), indices, values)


def softmax_of_rows(indices: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the softmax of the elements in each row, those that are not stored left out."""
    rows = ops.softmax(dense_with_minima(indices, values, shape))
    return ops.gather_nd(rows, indices)


def summed(indices: Tensor, values: Tensor, dense: Tensor, shape: Sequence[int]) -> Tensor:
    """Add a sparse tensor to a dense one."""
    return ops.scatter_nd(indices, values, shape) + dense


def reduced_sum(indices: Tensor, values: Tensor, shape: Sequence[int], **options: Any) -> Tensor:
    """Sum a sparse tensor; ``options`` are the axis and keepdims of ``ops.sum``."""
    return ops.sum(ops.scatter_nd(indices, values, shape), **options)


def reduced_max(indices: Tensor, values: Tensor, shape: Sequence[int], **options: Any) -> Tensor:
    """Return the maxima of the elements, with the options of ``ops.max``, or zero without any."""
    largest = ops.max(dense_with_minima(indices, values, shape), **options)
    return ops.where(ops.equal(largest, -inf), 0.0, largest)


def decoded(x: Tensor, lengths: Tensor, merges_repeated: bool, blank: int) -> tuple[Tensor, ...]:
    """Return the largest class of each step but the blank, as a sparse tensor, and its score.

    The classes are those of CTC, of shape (steps, batch, classes).
    """
    steps, batch, classes = x.shape
    best = ops.argmax(x, -1).tolist()
    cells: list[list[int]] = []
    labels: list[int] = []
    for example, length in enumerate(lengths.tolist()):
        count, previous = 0, -1
        for step in range(length):
            label = best[step][example]
            if label != blank % classes and not (merges_repeated and label == previous):
                cells.append([example, count])
                labels.append(label)
                count += 1
            previous = label
    longest = max((cell[1] + 1 for cell in cells), default=0)
    is_inside = ops.less(ops.reshape(ops.arange(steps), (-1, 1)), lengths)
    scores = ops.sum(ops.where(is_inside, ops.max(x, -1), 0.0), 0)
    return (
        ops.tensor(cells, (len(cells), 2), "int32"),
        ops.tensor(labels, (len(labels),), "int32"),
        ops.tensor([batch, longest], dtype="int32"),
        ops.reshape(-scores, (batch, 1)),
    )


def sliced(
    indices: Tensor, values: Tensor, shape: Tensor, start: Sequence[int], size: Sequence[int]
) -> tuple[Tensor, ...]:
    """Return the elements from a position on, up to a size."""
    stop = [first + count for first, count in zip(start, size, strict=True)]
    rows = [
        row for row, cell in enumerate(indices.tolist()) if all(map(_is_inside, cell, start, stop))
    ]
    inside = ops.tensor(rows, (len(rows),), "int32")
    ends = ops.minimum(shape, ops.tensor(stop))
    begin = ops.tensor(start)
    cells = ops.gather(indices, inside) - begin
    return cells, ops.gather(values, inside), ops.maximum(ends - begin, 0)


def _is_inside(index: int, start: int, stop: int) -> bool:
    return start <= index < stop


def multiplied(
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
    parts = ops.expand_dims(values, 1) * rows
    return ops.unsorted_segment_sum(parts, row, shape[1 if adjoint_a else 0])


def rows_of(x: Tensor) -> list[list[int]]:
    """Return the rows of integers, or of the hashes of strings."""
    if str(x.dtype) != "string":
        rows: list[list[int]] = x.tolist()
        return rows
    hashes = fingerprints64(texts_of(x))
    return [[hashes[text] for text in texts_of(row)] for row in ops.unstack(x)]


def crossed(columns: Sequence[Tensor], sparse: int, buckets: int, key: int) -> tuple[Tensor, ...]:
    """Number the combinations of the elements of columns in each row by their hashes."""
    if sparse:
        raise ValueError(f"columns must be dense, but {sparse} are sparse")
    rows = zip(*map(rows_of, columns), strict=True)
    hashes = [crossed_hash(each, key) % buckets for row in rows for each in product(*row)]
    shape = columns[0].shape[0], prod(x.shape[1] for x in columns)
    cells = ops.argwhere(ops.ones(shape, "bool"))
    return cells, ops.tensor(hashes, (len(hashes),), "int32"), ops.tensor(shape)


def packed(parts: Sequence[Tensor], is_batch: bool) -> TensorList:
    """Return the splits and the values of a ragged tensor as one value, or one for each row."""
    if not is_batch:
        return TensorList(parts, "variant", None)
    *splits, values = parts
    rows = (
        gathered_rows(splits, values, ops.tensor(row), len(splits) - 1)
        for row in range(splits[0].size - 1)
    )
    return TensorList((packed(row, False) for row in rows), "variant", None)


def unpacked(value: TensorList, rank: int) -> tuple[Tensor, ...]:
    """Return the splits and the values of a ragged tensor, or of one with such tensors as rows."""
    if value.elements and not isinstance(value.elements[0], TensorList):
        return value.elements
    rows = [[*element.elements] for element in value.elements]
    lengths = [[row[0].shape[0] - (rank > 1) for row in rows]]
    for level in range(rank - 1):
        ends = [row[level].tolist() for row in rows]
        lengths.append([stop - start for part in ends for start, stop in pairwise(part)])
    splits = [ops.tensor([0, *accumulate(part)], dtype="int32") for part in lengths]
    return (*splits, ops.concat([row[-1] for row in rows], 0))


_REDUCTION: dict[str, Any] = {"axis": axes(3), "keepdims": boolean("keep_dims")}

ROWS = {
    "SparseFillEmptyRows": Row("sparse.sparse_fill_empty_rows", 0, 1, 2, 3).dynamic().reading(0, 2),
    "SparseReshape": Row("sparse.sparse_reshape", 0, 1, 2).dynamic().reading(0, 1, 2),
    "SparseSegmentMean": Row("sparse.sparse_segment_mean", 0, 1, 2).dynamic().reading(2),
    "SparseSegmentSum": Row("sparse.sparse_segment_sum", 0, 1, 2).dynamic().reading(2),
}

#: Those that TensorFlow.js does not have, even where its list has the name.
ONLY_HERE = {
    "CTCGreedyDecoder": Row(
        decoded,
        0,
        1,
        merges_repeated=boolean("merge_repeated"),
        blank=attribute("blank_index", -1),
    )
    .dynamic()
    .reading(0, 1),
    "RaggedBincount": Row(
        counted_rows, 0, 1, 3, size=integer(2), binary_output=boolean("binary_output")
    )
    .dynamic()
    .reading(0),
    "RaggedTensorToSparse": Row(sparse_of, Tensors(0, -1), -1).dynamic().reading(Tensors(0, -1)),
    "RaggedTensorFromVariant": Row(unpacked, 0, rank=attribute("output_ragged_rank"))
    .dynamic()
    .impure(),
    "RaggedTensorToVariant": Row(packed, Tensors(), is_batch=boolean("batched_input"))
    .dynamic()
    .impure()
    .reading(Tensors(0, -1)),
    "SparseAdd": Row(total, 0, 1, 2, 3, 4, threshold=number(6)).dynamic().reading(0, 1, 3, 4),
    "SparseConcat": Row(
        joined, Part(0, 3), Part(1, 3), Part(2, 3), axis=attribute("concat_dim")
    ).reading(Part(2, 3)),
    "SparseCross": Row(
        crossed,
        Tensors(),
        sparse=attribute("N"),
        buckets=attribute("num_buckets"),
        key=attribute("hash_key"),
    )
    .dynamic()
    .reading(Tensors()),
    "SparseDenseCwiseMul": Row(scaled, 0, 1, 3, shape=integers(2)),
    "SparseReduceSum": Row(reduced_sum, 0, 1, shape=integers(2), **_REDUCTION),
    "SparseReduceMax": Row(reduced_max, 0, 1, shape=integers(2), **_REDUCTION),
    "SparseReorder": Row(reordered, 0, 1, shape=integers(2)),
    "SparseSegmentSqrtN": Row(partial(segment_sums, power=0.5), 0, 1, 2).dynamic().reading(2),
    **{
        f"SparseSegment{name}WithNumSegments": Row(
            partial(segment_sums, power=power), 0, 1, 2, count=integer(3)
        )
        for name, power in (("Mean", 1.0), ("SqrtN", 0.5), ("Sum", 0.0))
    },
    "SparseSlice": Row(sliced, 0, 1, 2, start=integers(3), size=integers(4)).dynamic().reading(0),
    "SparseSoftmax": Row(softmax_of_rows, 0, 1, shape=integers(2)),
    "SparseTensorDenseAdd": Row(summed, 0, 1, 3, shape=integers(2)),
    "SparseTensorDenseMatMul": Row(
        multiplied,
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
