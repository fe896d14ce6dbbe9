"""Operations that reduce, search, sort and select."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops
from webtensor.dtypes import int32
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import (
    attribute,
    axes,
    axis,
    boolean,
    integer,
    integers,
    number,
    numbers,
)
from webtensor.graph.operations.rows import Part, Row, resolved
from webtensor.ops.image.suppression import Options, select

__all__ = ["ONLY_HERE", "ROWS"]


def _reduction(function: str | Callable[..., Tensor]) -> Row:
    return Row(function, 0, axis=axes(1), keepdims=boolean("keep_dims"))


def _scan(function: str | Callable[..., Tensor]) -> Row:
    return Row(
        function, 0, axis=axis(1), exclusive=boolean("exclusive"), reverse=boolean("reverse")
    )


def extremum(
    reduce: Callable[..., Tensor], start: float, integer_start: int
) -> Callable[..., Tensor]:
    """Return what reduces tensors to their maxima or minima; those of no elements are a start."""

    def reduced(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
        if x.size:
            return reduce(x, axis, keepdims)
        number = integer_start if x.dtype is int32 else start
        return ops.full_like(ops.sum(x, axis, keepdims), number)

    return reduced


def of_same_dtype(reduce: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return what reduces tensors; integers are rounded towards zero, as in TensorFlow."""

    def reduced(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
        return ops.astype(reduce(x, axis, keepdims), x.dtype, copy=False)

    return reduced


def logarithms_of_sums(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """Return the logarithms of the sums of the exponentials up to each element."""
    first, last = exclusive and not reverse, exclusive and reverse
    margins = [[0, 0] for _ in x.shape]
    margins[axis] = [int(first), int(last)]
    scan = resolved("keras.ops.associative_scan")
    sums = scan(ops.logaddexp, ops.pad(x, margins, -math.inf), reverse, axis)
    return ops.take(sums, ops.arange(x.shape[axis]) + int(last), axis)


def counted(x: Tensor, weights: Tensor, size: int, binary_output: bool) -> Tensor:
    """Count numbers, or add their weights if there are any, in the weights' dtype."""
    if not x.shape:
        x, weights = ops.flatten(x), ops.flatten(weights)
    if weights.size:
        return ops.dense_bincount(x, weights, size, binary_output)
    return ops.astype(ops.dense_bincount(x, None, size, binary_output), weights.dtype)


def counted_flat(x: Tensor, weights: Tensor, size: int, binary_output: bool) -> Tensor:
    """Count the numbers of a tensor of any rank together."""
    return counted(ops.flatten(x), ops.flatten(weights), size, binary_output)


def unique_along(x: Tensor, axis: list[int]) -> tuple[Tensor, ...]:
    """Return the different slices along an axis, of a vector without one."""
    return ops.unique(x, axis[0] if axis else 0)


def unique_with_counts(x: Tensor) -> tuple[Tensor, ...]:
    """Return the different elements of a vector, and how many are the same."""
    values, indices = ops.unique(x)
    return values, indices, ops.bincount(indices, None, values.size)


def selected(
    boxes: Tensor,
    scores: Tensor,
    max_output_size: int,
    iou_threshold: float,
    score_threshold: float = -math.inf,
    sigma: float = 0.0,
    is_padded: bool = False,
) -> tuple[Tensor, ...]:
    """Select boxes; return their indices, their scores, and how many there are.

    TensorFlow suppresses boxes that overlap others by more than the threshold, in float32, whereas
    ``select`` suppresses those that overlap by just as much. With Soft-NMS it suppresses none.
    """
    half_step = math.ulp(iou_threshold) * 2**28  # of float32
    bound = 2.0 if sigma else iou_threshold + half_step
    options = Options(min(max_output_size, scores.size), bound, score_threshold, sigma)
    indices, numbers = select(boxes, scores, options)
    count = len(indices)
    missing = [0] * (max_output_size - count if is_padded else 0)
    return (
        ops.tensor(indices + missing, dtype="int32"),
        ops.tensor(numbers + missing, dtype="float32"),
        ops.tensor(count, dtype="int32"),
    )


def in_top_k(predictions: Tensor, targets: Tensor, k: int) -> Tensor:
    """Return whether fewer than k classes are above the target, and the row is finite."""
    labels = ops.clip(targets, 0, predictions.shape[1] - 1)
    scores = ops.reshape(ops.gather(predictions, labels, 1, 1), (-1, 1))
    count = ops.sum(ops.greater(predictions, scores), -1)
    usable = ops.logical_and(ops.equal(labels, targets), ops.all(ops.isfinite(predictions), -1))
    return ops.logical_and(usable, ops.less(count, k))


def buckets(x: Tensor, boundaries: Sequence[float]) -> Tensor:
    """Return between which boundaries numbers lie."""
    edges = ops.tensor(list(boundaries), shape=(len(boundaries),), dtype="float32")
    flat = ops.reshape(ops.astype(x, "float32"), (-1,))
    return ops.reshape(ops.upper_bound(edges, flat), x.shape)


def histogram(x: Tensor, bounds: Sequence[float], bins: int) -> Tensor:
    """Count numbers between two bounds in bins of equal width; those beyond are at the ends."""
    low, high = bounds
    positions = (ops.astype(x, "float32") - low) * (bins / (high - low))
    indices = ops.astype(ops.floor(ops.clip(positions, 0, bins - 1)), "int32")
    return ops.bincount(ops.reshape(indices, (-1,)), None, bins)


def half_square(x: Tensor) -> Tensor:
    """Return half the sum of the squares of all elements."""
    return ops.sum(ops.square(x)) * 0.5


def selected_of_classes(
    boxes: Tensor,
    scores: Tensor,
    class_limit: int,
    limit: int,
    iou_threshold: float,
    score_threshold: float,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Tensor, ...]:
    """Select boxes of each class, then the best; return boxes, scores, classes, counts.

    The boxes have shape (batch, boxes, classes or 1, 4), the scores (batch, boxes, classes).
    """
    batch, _, classes = scores.shape
    size = min(limit, class_limit * classes) if pad_per_class else limit
    rows: list[list[list[float]]] = []
    for image in range(batch):
        selection: list[tuple[float, int, list[float]]] = []
        for index in range(classes):
            class_boxes = boxes[image, :, min(index, boxes.shape[2] - 1)]
            class_scores = scores[image, :, index]
            indices, numbers, _ = selected(
                class_boxes, class_scores, class_limit, iou_threshold, score_threshold
            )
            corners = class_boxes.tolist()
            selection += [
                (-number, index, corners[box])
                for box, number in zip(indices.tolist(), numbers.tolist(), strict=True)
            ]
        best = sorted(selection, key=lambda row: row[:2])[:size]
        rows.append([[-score, float(index), *corners] for score, index, corners in best])
    counts = [len(row) for row in rows]
    padded = [row + [[0.0] * 6] * (size - len(row)) for row in rows]
    table = ops.tensor(padded, (batch, size, 6), "float32")
    corners_of = table[..., 2:]
    if clip_boxes:
        corners_of = ops.clip(corners_of, 0.0, 1.0)
    return corners_of, table[..., 0], table[..., 1], ops.tensor(counts, (batch,), "int32")


def _numbers(x: Tensor) -> list[int]:
    """Return the elements of a tensor of any rank."""
    numbers: list[int] = ops.reshape(x, (-1,)).tolist()
    return numbers


def partitioned(x: Tensor, partitions: Tensor, count: int) -> list[Tensor]:
    """Return the slices of each partition."""
    slices = ops.reshape(x, (partitions.size, *x.shape[len(partitions.shape) :]))
    rows: list[list[int]] = [[] for _ in range(count)]
    for row, partition in enumerate(_numbers(partitions)):
        rows[partition].append(row)
    return [ops.gather(slices, ops.tensor(part, (len(part),), "int32")) for part in rows]


def stitched(indices: Sequence[Tensor], parts: Sequence[Tensor]) -> Tensor:
    """Put slices at their indices, of which the last counts; those between are zeros."""
    rest = parts[0].shape[len(indices[0].shape) :]
    slices = [
        ops.reshape(part, (index.size, *rest)) for index, part in zip(indices, parts, strict=True)
    ]
    numbers = [number for index in indices for number in _numbers(index)]
    rows = {number: row for row, number in enumerate(numbers)}
    size = max(rows, default=-1) + 1
    if len(rows) < size:
        slices.append(ops.zeros((1, *rest), parts[0].dtype))
    order = [rows.get(number, len(numbers)) for number in range(size)]
    return ops.gather(ops.concat(slices, 0), ops.tensor(order, (size,), "int32"))


_SUPPRESSION: dict[str, Any] = {
    "max_output_size": integer(2),
    "iou_threshold": number(3),
}
_SCORED = {**_SUPPRESSION, "score_threshold": number(4)}

_PADDED = {**_SCORED, "is_padded": boolean("pad_to_max_output_size")}
_BOXES = {
    "NonMaxSuppressionV2": Row(selected, 0, 1, **_SUPPRESSION),
    "NonMaxSuppressionV3": Row(selected, 0, 1, **_SCORED),
    "NonMaxSuppressionV4": Row(
        lambda *inputs, **options: selected(*inputs, **options)[::2], 0, 1, **_PADDED
    ),
    "NonMaxSuppressionV5": Row(selected, 0, 1, **_PADDED, sigma=number(5, 0.0)),
}

ROWS = {
    # reductions
    "All": _reduction("all"),
    "Any": _reduction("any"),
    "ArgMax": Row("argmax", 0, axis=axis(1, 0)),
    "ArgMin": Row("argmin", 0, axis=axis(1, 0)),
    "Bincount": Row(counted_flat, 0, 2, size=integer(1), binary_output=boolean("binary_output")),
    "Cumprod": _scan("cumprod"),
    "Cumsum": _scan("cumsum"),
    "DenseBincount": Row(counted, 0, 2, size=integer(1), binary_output=boolean("binary_output")),
    "EuclideanNorm": _reduction(of_same_dtype(ops.euclidean_norm)),
    "Max": _reduction(extremum(ops.max, -math.inf, -(2**31))),
    "Mean": _reduction(of_same_dtype(ops.mean)),
    "Min": _reduction(extremum(ops.min, math.inf, 2**31 - 1)),
    "Prod": _reduction("prod"),
    "Sum": _reduction("sum"),
    # searching and sorting
    "ListDiff": Row("setdiff1d", 0, 1).dynamic().reading(0, 1),
    "LowerBound": Row("lower_bound", 0, 1),
    "TopKV2": Row("topk", 0, k=integer(1), sorted=boolean("sorted", True)),
    "Unique": Row("unique", 0).dynamic().reading(0),
    "UniqueV2": Row(unique_along, 0, axis=integers(1)).dynamic().reading(0),
    "UpperBound": Row("upper_bound", 0, 1),
    "Where": Row("argwhere", 0).dynamic().reading(0),
    # boxes
    **{op: row.reading(0, 1).dynamic() for op, row in _BOXES.items()},
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "Bucketize": Row(buckets, 0, boundaries=attribute("boundaries")),
    "CombinedNonMaxSuppression": Row(
        selected_of_classes,
        0,
        1,
        class_limit=integer(2),
        limit=integer(3),
        iou_threshold=number(4),
        score_threshold=number(5),
        pad_per_class=boolean("pad_per_class"),
        clip_boxes=boolean("clip_boxes", True),
    )
    .dynamic()
    .reading(0, 1),
    "CumulativeLogsumexp": _scan(logarithms_of_sums),
    "DynamicPartition": Row(partitioned, 0, 1, count=attribute("num_partitions"))
    .dynamic()
    .reading(1),
    "HistogramFixedWidth": Row(histogram, 0, bounds=numbers(1), bins=integer(2)),
    "InTopK": Row(in_top_k, 0, 1, k=attribute("k")),
    "InTopKV2": Row(in_top_k, 0, 1, k=integer(2)),
    "L2Loss": Row(half_square, 0),
    "UniqueWithCounts": Row(unique_with_counts, 0).dynamic().reading(0),
    **dict.fromkeys(
        ("DynamicStitch", "ParallelDynamicStitch"),
        Row(stitched, Part(0, 2), Part(1, 2)).dynamic().reading(Part(0, 2)),
    ),
}
