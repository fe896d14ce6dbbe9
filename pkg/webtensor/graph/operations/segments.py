"""Operations that reduce the slices of segments; TensorFlow.js has none of them.

The numbers of the segments have the shape of the first axes.
"""

from __future__ import annotations

from collections.abc import Callable

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import integer
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE"]

Reduction = Callable[[Tensor, Tensor, int], Tensor]
_LARGEST = 3.4028234e38


def total(x: Tensor, segments: Tensor, count: int) -> Tensor:
    """Add up the slices of each segment."""
    slices = ops.reshape(x, (segments.size, *x.shape[len(segments.shape) :]))
    return ops.unsorted_segment_sum(slices, ops.reshape(segments, (-1,)), count)


def reduction(reduce: Callable[..., Tensor], start: float) -> Reduction:
    """Return what reduces the slices of each segment; ``start`` is for one without any."""

    def reduced(x: Tensor, segments: Tensor, count: int) -> Tensor:
        rest = x.shape[len(segments.shape) :]
        ones = [1] * len(rest)
        numbers = ops.reshape(ops.arange(count), (count, 1, *ones))
        is_inside = ops.equal(numbers, ops.reshape(segments, (1, segments.size, *ones)))
        slices = ops.reshape(x, (1, segments.size, *rest))
        return reduce(ops.where(is_inside, slices, ops.astype(ops.tensor(start), x.dtype)), 1)

    return reduced


def mean(x: Tensor, segments: Tensor, count: int) -> Tensor:
    """Return the means of the slices of each segment, and 0 for one without any."""
    sizes = total(ops.ones(segments.shape), segments, count)
    shape = (count, *[1] * (len(x.shape) - len(segments.shape)))
    return ops.divide(total(x, segments, count), ops.maximum(ops.reshape(sizes, shape), 1.0))


_LARGEST_OF, _SMALLEST_OF = reduction(ops.max, -_LARGEST), reduction(ops.min, _LARGEST)
_PRODUCT_OF = reduction(ops.prod, 1.0)


def sorted_segments(reduce: Reduction, is_zero_when_empty: bool = False) -> Row:
    """Return the row of segments whose numbers rise: the last says how many there are."""

    def reduced(x: Tensor, segments: Tensor) -> Tensor:
        numbers = segments.tolist()
        count = numbers[-1] + 1 if numbers else 0
        result = reduce(x, segments, count)
        if not is_zero_when_empty:
            return result
        is_empty = ops.equal(total(ops.ones_like(segments), segments, count), 0)
        shape = (count, *[1] * (len(x.shape) - 1))
        return ops.where(ops.reshape(is_empty, shape), ops.zeros((), x.dtype), result)

    return Row(reduced, 0, 1).dynamic().reading(1)


ONLY_HERE = {
    "SegmentMax": sorted_segments(_LARGEST_OF, is_zero_when_empty=True),
    "SegmentMean": sorted_segments(mean),
    "SegmentMin": sorted_segments(_SMALLEST_OF, is_zero_when_empty=True),
    "SegmentProd": sorted_segments(_PRODUCT_OF),
    "SegmentSum": sorted_segments(total),
    "UnsortedSegmentMax": Row(_LARGEST_OF, 0, 1, count=integer(2)),
    "UnsortedSegmentMin": Row(_SMALLEST_OF, 0, 1, count=integer(2)),
    "UnsortedSegmentProd": Row(_PRODUCT_OF, 0, 1, count=integer(2)),
    "UnsortedSegmentSum": Row(total, 0, 1, count=integer(2)),
}
