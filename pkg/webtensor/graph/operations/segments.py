"""Operations that reduce the slices of segments or of updates; TensorFlow.js has none of them.

The numbers of the segments have the shape of the first axes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod

from webtensor import ops
from webtensor.dtypes import int32
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import integer
from webtensor.graph.operations.elementwise import quotient
from webtensor.graph.operations.rows import Row
from webtensor.shapes import contiguous_strides

__all__ = ["ONLY_HERE"]

_LARGEST = 3.4028234e38


def total(x: Tensor, segments: Tensor, count: int) -> Tensor:
    """Add up the slices of each segment."""
    slices = ops.reshape(x, (segments.size, *x.shape[len(segments.shape) :]))
    return ops.unsorted_segment_sum(slices, ops.reshape(segments, (-1,)), count)


def reduction(reduce: Callable[..., Tensor], start: float) -> Callable[..., Tensor]:
    """Return what reduces the slices of each segment; ``start`` is for one without any."""

    def reduced(x: Tensor, segments: Tensor, count: int) -> Tensor:
        rest = x.shape[len(segments.shape) :]
        background = ops.astype(ops.tensor(start), x.dtype)
        if not segments.size:
            return ops.broadcast_to(background, (count, *rest))
        ones = [1] * len(rest)
        numbers = ops.reshape(ops.arange(count), (count, 1, *ones))
        is_inside = ops.equal(numbers, ops.reshape(segments, (1, segments.size, *ones)))
        slices = ops.reshape(x, (1, segments.size, *rest))
        return reduce(ops.where(is_inside, slices, background), 1)

    return reduced


def mean(x: Tensor, segments: Tensor, count: int) -> Tensor:
    """Return the mean of the slices of each segment."""
    sizes = total(ops.ones_like(x), segments, count)
    return quotient(total(x, segments, count), ops.maximum(sizes, 1))


def zero_where_empty(reduce: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return what reduces the slices of each segment, and is zero for one without any."""

    def reduced(x: Tensor, segments: Tensor, count: int) -> Tensor:
        sizes = total(ops.ones_like(x), segments, count)
        return ops.where(ops.greater(sizes, 0), reduce(x, segments, count), ops.zeros_like(sizes))

    return reduced


def _of_sorted(reduce: Callable[..., Tensor]) -> Row:
    """Return the row for segments whose numbers rise: the last says how many there are."""

    def reduced(x: Tensor, segments: Tensor) -> Tensor:
        numbers = segments.tolist()
        return reduce(x, segments, numbers[-1] + 1 if numbers else 0)

    return Row(reduced, 0, 1).dynamic().reading(1)


def scattered(
    reduce: Callable[..., Tensor], choose: Callable[..., Tensor], sign: int
) -> Callable[..., Tensor]:
    """Return what chooses between elements and the updates at indices."""

    def updated(x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        depth = indices.shape[-1]
        count, rest = prod(x.shape[:depth]), x.shape[depth:]
        strides = ops.tensor(contiguous_strides(x.shape[:depth]), (depth,), "int32")
        segments = ops.reshape(ops.sum(indices * strides, -1), (-1,))
        start = sign * (2**31 - 1) if x.dtype is int32 else sign * inf
        slices = ops.reshape(updates, (segments.size, *rest))
        chosen = reduction(reduce, start)(slices, segments, count)
        return choose(x, ops.reshape(chosen, x.shape))

    return updated


ONLY_HERE = {
    "SegmentMax": _of_sorted(zero_where_empty(reduction(ops.max, -_LARGEST))),
    "SegmentMean": _of_sorted(mean),
    "SegmentMin": _of_sorted(zero_where_empty(reduction(ops.min, _LARGEST))),
    "SegmentProd": _of_sorted(reduction(ops.prod, 1.0)),
    "SegmentSum": _of_sorted(total),
    "TensorScatterMax": Row(scattered(ops.max, ops.maximum, -1), 0, 1, 2),
    "TensorScatterMin": Row(scattered(ops.min, ops.minimum, 1), 0, 1, 2),
    "UnsortedSegmentMax": Row(reduction(ops.max, -_LARGEST), 0, 1, count=integer(2)),
    "UnsortedSegmentMin": Row(reduction(ops.min, _LARGEST), 0, 1, count=integer(2)),
    "UnsortedSegmentProd": Row(reduction(ops.prod, 1.0), 0, 1, count=integer(2)),
    "UnsortedSegmentSum": Row(total, 0, 1, count=integer(2)),
}
