"""Operations of TensorFlow that only TensorFlow Lite's models have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.graph.operations.arguments import (
    attribute,
    dilations,
    dtype,
    integer,
    integers,
    number,
    padding,
    strides,
)

__all__ = ["ROWS"]

# -- moving elements ---------------------------------------------------------------------------


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """Make channels of blocks of pixels."""
    batch, height, width, channels = x.shape
    if block_size < 1 or height % block_size or width % block_size:
        raise ValueError(f"SpaceToDepth: an image of shape {x.shape} has no blocks of {block_size}")
    rows, columns = height // block_size, width // block_size
    blocks = ops.reshape(x, (batch, rows, block_size, columns, block_size, channels))
    moved = ops.permute_dims(blocks, (0, 1, 3, 2, 4, 5))
    return ops.reshape(moved, (batch, rows, columns, block_size * block_size * channels))


def with_reversed_beginnings(x: Tensor, lengths: Tensor, seq_dim: int, batch_dim: int) -> Tensor:
    """Reverse the first elements of each sequence of a batch."""
    rank = len(x.shape)
    if not (0 <= seq_dim < rank and 0 <= batch_dim < rank and seq_dim != batch_dim):
        raise ValueError(f"ReverseSequence: no axes {seq_dim} and {batch_dim} of shape {x.shape}")
    along_time, along_batch = [1] * rank, [1] * rank
    along_time[seq_dim], along_batch[batch_dim] = x.shape[seq_dim], x.shape[batch_dim]
    positions = ops.reshape(ops.arange(x.shape[seq_dim]), along_time)
    ends = ops.reshape(ops.astype(lengths, "int32"), along_batch)
    sources = ops.where(
        ops.less(positions, ends), ops.subtract(ends, ops.add(positions, 1)), positions
    )
    return ops.take_along_axis(x, ops.broadcast_to(sources, x.shape), axis=seq_dim)


def updated_slice(x: Tensor, update: Tensor, start: Sequence[int]) -> Tensor:
    """Put a tensor in the place of a part of another one; it is moved to fit."""
    begins = [
        min(max(begin, 0), size - part)
        for begin, size, part in zip(start, x.shape, update.shape, strict=True)
    ]
    if min(begins, default=0) < 0:
        raise ValueError(f"DynamicUpdateSlice: {update.shape} does not fit into {x.shape}")
    margins = [
        [begin, size - part - begin]
        for begin, size, part in zip(begins, x.shape, update.shape, strict=True)
    ]
    inside = ops.pad(ops.ones(update.shape, "bool"), margins, False)
    return ops.where(inside, ops.pad(update, margins, 0), x)


def diagonals(x: Tensor) -> Tensor:
    """Return square matrices with vectors on their diagonals."""
    identity = ops.eye(x.shape[-1], dtype="bool")
    return ops.where(identity, ops.expand_dims(x, -1), ops.zeros((), x.dtype))


def with_diagonals(x: Tensor, diagonal: Tensor) -> Tensor:
    """Return matrices with other diagonals."""
    rows, columns = x.shape[-2:]
    is_diagonal = ops.equal(ops.reshape(ops.arange(rows), (-1, 1)), ops.arange(columns))
    missing = rows - diagonal.shape[-1]
    pads = [[0, 0]] * (len(diagonal.shape) - 1) + [[0, missing]]
    return ops.where(is_diagonal, ops.expand_dims(ops.pad(diagonal, pads, 0), -1), x)


def bits_as(x: Tensor, dtype: str) -> Tensor:
    """Return the numbers of another dtype that have the same bits."""
    if str(x.dtype) == dtype:
        return x
    raise ValueError(f"Bitcast: from {x.dtype} to {dtype} is not supported")


# -- reducing ----------------------------------------------------------------------------------


def segments(reduce: Callable[..., Tensor], start: float) -> Callable[..., Tensor]:
    """Return a function that reduces the slices of each segment, ``start`` for an empty one."""

    def reduced(x: Tensor, ids: Tensor, count: int) -> Tensor:
        numbers = ops.reshape(ops.arange(count), (count, *[1] * len(x.shape)))
        of_segment = ops.equal(numbers, ops.reshape(ids, (1, -1, *[1] * (len(x.shape) - 1))))
        empty = ops.astype(ops.tensor(start), x.dtype)
        return reduce(ops.where(of_segment, ops.expand_dims(x, 0), empty), 1)

    return reduced


def sums_of_sorted_segments(x: Tensor, ids: Tensor) -> Tensor:
    """Add up slices of each segment; the last number says how many there are."""
    numbers = ids.tolist()
    return ops.unsorted_segment_sum(x, ids, numbers[-1] + 1 if numbers else 0)


def buckets(x: Tensor, boundaries: Sequence[float]) -> Tensor:
    """Return between which boundaries numbers lie."""
    edges = ops.tensor(list(boundaries), shape=(len(boundaries),), dtype="float32")
    flat = ops.reshape(ops.astype(x, "float32"), (-1,))
    return ops.reshape(ops.upper_bound(edges, flat), x.shape)


def selected(
    boxes: Tensor, scores: Tensor, limit: int, **options: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Select boxes with Soft-NMS; return indices and scores up to a limit, and their number."""
    indices, scores = ops.image.non_max_suppression_with_score(boxes, scores, limit, **options)
    missing = [[0, limit - indices.size]]
    count = ops.tensor(indices.size, dtype="int32")
    return ops.pad(indices, missing, 0), ops.pad(scores, missing, 0.0), count


# -- computing ---------------------------------------------------------------------------------


def gelu(x: Tensor, approximate: bool) -> Tensor:
    """Return x · Φ(x)."""
    if approximate:
        inner = ops.multiply(ops.add(x, ops.multiply(ops.pow(x, 3.0), 0.044715)), 0.7978845608)
        return ops.multiply(ops.multiply(x, 0.5), ops.add(ops.tanh(inner), 1.0))
    return ops.multiply(ops.multiply(x, 0.5), ops.add(ops.erf(ops.multiply(x, 0.5**0.5)), 1.0))


def transform(x: Tensor, fft_length: Sequence[int]) -> Tensor:
    """Return the Fourier transform of real images, of which half of the columns are enough."""
    rows, columns = fft_length
    result = ops.fft.rfft(x, n=columns)
    if rows == x.shape[-2] == 1:
        return result
    return ops.fft.fft(result, n=rows, axis=-2)


def transposed_convolution_3d(
    filter: Tensor, x: Tensor, output_shape: Sequence[int], **options: Any
) -> Tensor:
    """Convolve volumes backwards."""
    return ops.conv3d_transpose(x, filter, output_shape, **options)


_LARGEST = 3.4028234e38

ROWS = {
    "Bitcast": Row(bits_as, 0, dtype=dtype("type")),
    "Bucketize": Row(buckets, 0, boundaries=attribute("boundaries")),
    "Conv3DBackpropInputV2": Row(
        transposed_convolution_3d,
        1,
        2,
        output_shape=integers(0),
        strides=strides(),
        pad=padding(),
        dilations=dilations(),
    ),
    "DynamicUpdateSlice": Row(updated_slice, 0, 1, start=integers(2)),
    "Gelu": Row(gelu, 0, approximate=attribute("approximate")),
    "MatrixDiag": Row(diagonals, 0),
    "MatrixSetDiag": Row(with_diagonals, 0, 1),
    "NonMaxSuppressionPadded": Row(
        selected,
        0,
        1,
        limit=integer(2),
        iou_threshold=number(3),
        score_threshold=number(4),
        soft_nms_sigma=number(5),
    )
    .dynamic()
    .reading(0, 1),
    "RFFT2D": Row(transform, 0, fft_length=integers(1)),
    "ReverseSequence": Row(
        with_reversed_beginnings,
        0,
        1,
        seq_dim=attribute("seq_dim"),
        batch_dim=attribute("batch_dim"),
    ),
    "SegmentSum": Row(sums_of_sorted_segments, 0, 1).dynamic().reading(1),
    "SpaceToDepth": Row(space_to_depth, 0, block_size=attribute("block_size")),
    "UnsortedSegmentMax": Row(segments(ops.max, -_LARGEST), 0, 1, count=integer(2)),
    "UnsortedSegmentMin": Row(segments(ops.min, _LARGEST), 0, 1, count=integer(2)),
    "UnsortedSegmentProd": Row(segments(ops.prod, 1.0), 0, 1, count=integer(2)),
    "UnsortedSegmentSum": Row("unsorted_segment_sum", 0, 1, num_segments=integer(2)),
}
