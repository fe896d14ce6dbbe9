"""Operations that only TensorFlow Lite's models have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.graph.operations.arguments import (
    attribute,
    integer,
    integers,
    number,
)

__all__ = ["ROWS"]


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


def selected(
    boxes: Tensor, scores: Tensor, limit: int, **options: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Select boxes with Soft-NMS; return indices and scores up to a limit, and their number."""
    indices, scores = ops.image.non_max_suppression_with_score(boxes, scores, limit, **options)
    missing = [[0, limit - indices.size]]
    count = ops.tensor(indices.size, dtype="int32")
    return ops.pad(indices, missing, 0), ops.pad(scores, missing, 0.0), count


ROWS = {
    "DynamicUpdateSlice": Row(updated_slice, 0, 1, start=integers(2)),
    "Gelu": Row("keras.activations.gelu", 0, approximate=attribute("approximate")),
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
}
