"""Transformations between elements, batches and windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from webtensor.data.collation import as_arrays, count_rows, row_of
from webtensor.data.functions import of_elements
from webtensor.data.iteration import Elements, Waiting, closing

__all__ = ["bucketed", "unbatched", "windowed"]


def unbatched(elements: Elements) -> Elements:
    """Split each element along its first axis."""
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            arrays = as_arrays("unbatch", element)
            for index in range(count_rows("unbatch", arrays)):
                yield row_of(arrays, index)


def windowed(
    elements: Elements, size: int, shift: int, stride: int, drop_remainder: bool
) -> Elements:
    """Collect lists of elements that are ``stride`` apart, each ``shift`` after the one before."""
    span = (size - 1) * stride + 1
    buffer: deque[Any] = deque()
    skip = 0
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            if skip:
                skip -= 1
                continue
            buffer.append(element)
            if len(buffer) == span:
                yield list(buffer)[::stride]
                skip = _advance(buffer, shift)
    while buffer and not drop_remainder:
        yield list(buffer)[::stride]
        _advance(buffer, shift)


def _advance(buffer: deque[Any], shift: int) -> int:
    """Drop elements before the next window; return how many of them are still to come."""
    count = min(shift, len(buffer))
    for _ in range(count):
        buffer.popleft()
    return shift - count


def bucketed(
    elements: Elements,
    length_of: Callable[..., Any],
    boundaries: Sequence[int],
    batch_sizes: Sequence[int],
    drop_remainder: bool,
) -> Elements:
    """Collect lists of elements of similar lengths; give them with the index of the bucket."""
    buckets: list[list[Any]] = [[] for _ in batch_sizes]
    call = of_elements("bucket_by_sequence_length", length_of)
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            length = int(call(element))
            index = sum(length >= boundary for boundary in boundaries)
            buckets[index].append(element)
            if len(buckets[index]) == batch_sizes[index]:
                yield index, buckets[index]
                buckets[index] = []
    for index, bucket in enumerate(buckets):
        if bucket and not drop_remainder:
            yield index, bucket
