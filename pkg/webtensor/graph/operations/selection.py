"""Operations that reduce, search, sort and select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import (
    attribute,
    axes,
    axis,
    boolean,
    integer,
    integers,
    number,
)
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE", "ROWS"]


def _reduction(name: str) -> Row:
    return Row(name, 0, axis=axes(1), keepdims=boolean("keep_dims"))


def _scan(name: str) -> Row:
    return Row(name, 0, axis=axis(1), exclusive=boolean("exclusive"), reverse=boolean("reverse"))


def counted(x: Tensor, weights: Tensor, size: int, binary_output: bool) -> Tensor:
    """Count numbers, or add their weights if there are any, in the weights' dtype."""
    if weights.size:
        return ops.dense_bincount(x, weights, size, binary_output)
    return ops.astype(ops.dense_bincount(x, None, size, binary_output), weights.dtype)


def unique_along(x: Tensor, axis: list[int]) -> tuple[Tensor, ...]:
    """Return the different slices along an axis, of a vector without one."""
    return ops.unique(x, axis[0] if axis else 0)


def selected(boxes: Tensor, scores: Tensor, **options: Any) -> tuple[Tensor, ...]:
    """Select boxes with Soft-NMS; the third result is their number."""
    indices, kept = ops.image.non_max_suppression_with_score(boxes, scores, **options)
    return indices, kept, ops.tensor(indices.size, dtype="int32")


def buckets(x: Tensor, boundaries: Sequence[float]) -> Tensor:
    """Return between which boundaries numbers lie."""
    edges = ops.tensor(list(boundaries), shape=(len(boundaries),), dtype="float32")
    flat = ops.reshape(ops.astype(x, "float32"), (-1,))
    return ops.reshape(ops.upper_bound(edges, flat), x.shape)


_SUPPRESSION: dict[str, Any] = {
    "max_output_size": integer(2),
    "iou_threshold": number(3),
}
_SCORED = {**_SUPPRESSION, "score_threshold": number(4)}

_BOXES = {
    "NonMaxSuppressionV2": Row("image.non_max_suppression", 0, 1, **_SUPPRESSION),
    "NonMaxSuppressionV3": Row("image.non_max_suppression", 0, 1, **_SCORED),
    "NonMaxSuppressionV4": Row(
        "image.non_max_suppression_padded",
        0,
        1,
        **_SCORED,
        pad_to_max_output_size=boolean("pad_to_max_output_size"),
    ),
    "NonMaxSuppressionV5": Row(selected, 0, 1, **_SCORED, soft_nms_sigma=number(5, 0.0)),
}

ROWS = {
    # reductions
    "All": _reduction("all"),
    "Any": _reduction("any"),
    "ArgMax": Row("argmax", 0, axis=axis(1, 0)),
    "ArgMin": Row("argmin", 0, axis=axis(1, 0)),
    "Bincount": Row(counted, 0, 2, size=integer(1), binary_output=boolean("binary_output")),
    "Cumprod": _scan("cumprod"),
    "Cumsum": _scan("cumsum"),
    "DenseBincount": Row(counted, 0, 2, size=integer(1), binary_output=boolean("binary_output")),
    "EuclideanNorm": _reduction("euclidean_norm"),
    "Max": _reduction("max"),
    "Mean": _reduction("mean"),
    "Min": _reduction("min"),
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
ONLY_HERE = {"Bucketize": Row(buckets, 0, boundaries=attribute("boundaries"))}
