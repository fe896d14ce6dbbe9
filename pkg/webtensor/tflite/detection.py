"""The custom operator that makes boxes of what detectors compute for their anchors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph.operations import Row
from webtensor.graph.operations.rows import Attribute

__all__ = ["ROWS"]

#: Boxes with lower scores are never chosen.
_NEVER = -1e30
_SCALES = ("y_scale", "x_scale", "h_scale", "w_scale")


class _Settings:
    """The options of a node."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.limit = int(options["max_detections"])
        self.classes = int(options["num_classes"])
        self.classes_per_box = max(int(options.get("max_classes_per_detection", 1)), 1)
        self.per_class = int(options.get("detections_per_class", 100))
        self.score = float(options["nms_score_threshold"])
        self.overlap = float(options["nms_iou_threshold"])
        self.by_class = bool(options.get("use_regular_nms", False))
        self.scales = [float(options[name]) for name in _SCALES]
        if self.limit < 1 or self.classes < 1 or not all(self.scales):
            raise ValueError(
                "max_detections, num_classes and scales must be positive, but are "
                f"{self.limit}, {self.classes} and {self.scales}"
            )


def detections(
    encodings: Tensor, scores: Tensor, anchors: Tensor, settings: _Settings
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return boxes, their classes and scores, and how many there are.

    Args:
        encodings: (1, anchors, 4), the centers, heights and widths relative to those of anchors.
        scores: (1, anchors, classes), with the background as a further class before the others.
        anchors: (anchors, 4), their centers, heights and widths.
        settings: the options.

    Returns:
        ``max_detections`` boxes of which the last ones are zeros, as (1, boxes, 4) and (1, boxes).
    """
    with on_host("detections"):
        return _detections(encodings, scores, anchors, settings)


def _detections(
    encodings: Tensor, scores: Tensor, anchors: Tensor, settings: _Settings
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    boxes = _decoded(ops.reshape(encodings, (-1, encodings.shape[-1])), anchors, settings)
    scores = ops.reshape(scores, scores.shape[-2:])
    first = scores.shape[1] - settings.classes
    if first not in (0, 1) or scores.shape[0] != boxes.shape[0]:
        raise ValueError(f"{boxes.shape[0]} anchors, but the scores have shape {scores.shape}")
    scores = ops.slice(scores, (0, first), (-1, -1))
    choose = _chosen_by_class if settings.by_class else _chosen
    chosen = choose(boxes, scores, settings)[: settings.limit]
    missing = settings.limit - len(chosen)
    corners = boxes.tolist()
    padded = [[0.0] * 4] * missing
    results = [corners[box] for _, box, _ in chosen] + padded
    classes = [float(label) for _, _, label in chosen] + [0.0] * missing
    values = [score for score, _, _ in chosen] + [0.0] * missing
    return (
        ops.tensor([results], shape=(1, settings.limit, 4), dtype="float32"),
        ops.tensor([classes], shape=(1, settings.limit), dtype="float32"),
        ops.tensor([values], shape=(1, settings.limit), dtype="float32"),
        ops.tensor([float(len(chosen))], dtype="float32"),
    )


def _decoded(encodings: Tensor, anchors: Tensor, settings: _Settings) -> Tensor:
    """Return corners (top, left, bottom, right)."""
    scaled = ops.divide(ops.slice(encodings, (0, 0), (-1, 4)), ops.tensor(settings.scales))
    centers, sizes = ops.split(scaled, 2, 1)
    anchor_centers, anchor_sizes = ops.split(anchors, 2, 1)
    middle = ops.add(ops.multiply(centers, anchor_sizes), anchor_centers)
    half = ops.multiply(ops.multiply(ops.exp(sizes), anchor_sizes), 0.5)
    return ops.concat([ops.subtract(middle, half), ops.add(middle, half)], 1)


_Detection = tuple[float, int, int]


def _selected(boxes: Tensor, scores: Tensor, limit: int, settings: _Settings) -> list[int]:
    """Return the boxes that no better one overlaps, the best first."""
    usable = ops.where(ops.greater_equal(scores, settings.score), scores, 2 * _NEVER)
    indices = ops.image.non_max_suppression(boxes, usable, limit, settings.overlap, _NEVER)
    return [int(index) for index in indices.tolist()]


def _chosen(boxes: Tensor, scores: Tensor, settings: _Settings) -> list[_Detection]:
    """Return the best classes of boxes that no other box of any class overlaps."""
    count = min(settings.classes_per_box, settings.classes)
    best, labels = ops.topk(scores, count)
    selected = _selected(boxes, ops.max(scores, -1), settings.limit, settings)
    values, classes = best.tolist(), labels.tolist()
    return [
        (values[box][rank], box, classes[box][rank]) for box in selected for rank in range(count)
    ]


def _chosen_by_class(boxes: Tensor, scores: Tensor, settings: _Settings) -> list[_Detection]:
    """Return boxes that no other one of the same class overlaps, the best first."""
    chosen: list[_Detection] = []
    for label, column in enumerate(ops.unstack(scores, 1)):
        values = column.tolist()
        limit = min(settings.per_class, boxes.shape[0])
        selected = _selected(boxes, column, limit, settings)
        chosen += [(values[box], box, label) for box in selected]
        chosen = sorted(chosen, key=lambda detection: -detection[0])[: settings.limit]
    return chosen


_SETTINGS = Attribute(lambda node: _Settings(node.attributes))

ROWS = {
    "DetectionPostProcess": Row(detections, 0, 1, 2, settings=_SETTINGS).dynamic().reading(0, 1, 2)
}
