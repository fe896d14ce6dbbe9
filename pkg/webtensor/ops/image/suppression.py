"""Choosing boxes by score, without those that overlap a better one.

The number of chosen boxes depends on their values, and each choice on the previous ones. A backend
may have a kernel for it (the WASM backend does); otherwise, and if scores are lowered, boxes and
scores are read to the host and chosen there. The functions ``…_async`` await the reads; the others
block.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import exp, inf
from typing import Any, NamedTuple

from webtensor.arguments import as_fraction, as_non_negative_integer, as_number
from webtensor.dtypes import float32, int32
from webtensor.engine import Primitive, Tensor, TensorLike, backend, from_host, run
from webtensor.ops.casting import as_float

__all__ = [
    "Options",
    "PaddedSelection",
    "ScoredSelection",
    "non_max_suppression",
    "non_max_suppression_async",
    "non_max_suppression_padded",
    "non_max_suppression_padded_async",
    "non_max_suppression_with_score",
    "non_max_suppression_with_score_async",
    "select",
]


class ScoredSelection(NamedTuple):
    """Indices of the chosen boxes, int32, and their scores, float32, which may be lowered."""

    selected_indices: Tensor
    selected_scores: Tensor


class PaddedSelection(NamedTuple):
    """Indices of the chosen boxes, int32, perhaps padded with 0, and their number, a scalar."""

    selected_indices: Tensor
    valid_outputs: Tensor


class Options(NamedTuple):
    max_output_size: int
    iou_threshold: float
    score_threshold: float
    sigma: float = 0.0


def _checked(
    name: str, boxes: TensorLike, scores: TensorLike, options: Options
) -> tuple[Tensor, Tensor, Options]:
    box_corners = as_float(name, "boxes", boxes)
    ranks = as_float(name, "scores", scores)
    if len(box_corners.shape) != 2 or box_corners.shape[1] != 4:
        raise ValueError(f"{name}: boxes must have shape (count, 4), but got {box_corners.shape}")
    count = box_corners.shape[0]
    if ranks.shape != (count,):
        raise ValueError(
            f"{name}: scores must have shape ({count},), one for each box, but got {ranks.shape}"
        )
    size = as_non_negative_integer(name, "max_output_size", options.max_output_size)
    checked_options = Options(
        min(size, count),
        as_fraction(name, "iou_threshold", options.iou_threshold),
        as_number(name, "score_threshold", options.score_threshold),
        as_fraction(name, "soft_nms_sigma", options.sigma),
    )
    return box_corners, ranks, checked_options


# -- the algorithm ------------------------------------------------------------------------------

Box = tuple[float, float, float, float, float]


def _box(boxes: Any, index: int) -> Box:
    """Minimum y and x, maximum y and x, and area."""
    y1, x1, y2, x2 = boxes[4 * index : 4 * index + 4]
    if y1 > y2:
        y1, y2 = y2, y1
    if x1 > x2:
        x1, x2 = x2, x1
    return y1, x1, y2, x2, (y2 - y1) * (x2 - x1)


def _overlap(first: Box, second: Box) -> float:
    """Intersection over union; 0 for boxes without area."""
    top, left, bottom, right, area = first
    other_top, other_left, other_bottom, other_right, other_area = second
    height = (bottom if bottom < other_bottom else other_bottom) - (
        top if top > other_top else other_top
    )
    width = (right if right < other_right else other_right) - (
        left if left > other_left else other_left
    )
    if height <= 0 or width <= 0 or area <= 0 or other_area <= 0:
        return 0.0
    shared = height * width
    return shared / (area + other_area - shared)


def _choose(boxes: Any, scores: Any, options: Options) -> tuple[list[int], list[float]]:
    """Return the indices and the scores of the chosen boxes, the best first.

    A box that overlaps a chosen one by the threshold or more is left out. With a ``sigma``, smaller
    overlaps lower its score (soft-NMS, Bodla et al., 2017), and it is considered again later.
    """
    max_output_size, iou_threshold, score_threshold, sigma = options
    # Ordered by score, then index. The last number counts the chosen boxes compared with already.
    waiting = [(-score, index, 0) for index, score in enumerate(scores) if score > score_threshold]
    heapify(waiting)
    scale = -0.5 / sigma if sigma > 0 else 0.0
    chosen: list[Box] = []
    indices: list[int] = []
    chosen_scores: list[float] = []
    while waiting and len(chosen) < max_output_size:
        negative, index, compared = heappop(waiting)
        score = -negative
        box = _box(boxes, index)
        for other in reversed(chosen[compared:]):
            overlap = _overlap(box, other)
            if overlap >= iou_threshold:
                score = -inf
            elif scale:
                score *= exp(scale * overlap * overlap)
            if score <= score_threshold:
                break
        else:
            if score == -negative:
                indices.append(index)
                chosen_scores.append(score)
                chosen.append(box)
            else:
                heappush(waiting, (-score, index, len(chosen)))
    return indices, chosen_scores


#: Returns the number of chosen boxes, then their indices; attributes are (maximum number,
#: IoU threshold, score threshold).
_SUPPRESS = Primitive("non_max_suppression")


def _on_device(boxes: Tensor, scores: Tensor, options: Options) -> Tensor | None:
    """Choose with the active backend's kernel, if it has one and no score is to be lowered."""
    if options.sigma or not options.max_output_size or _SUPPRESS.kernel not in backend().kernels:
        return None
    shape = (options.max_output_size + 1,)
    return run(_SUPPRESS, (boxes, scores), shape, int32, *options[:3])


def _counted(selection: Any, scores: Any) -> tuple[list[int], list[float]]:
    """Read what the kernel gave."""
    indices = selection[1 : 1 + selection[0]].tolist()
    return indices, [scores[index] for index in indices]


def select(boxes: Tensor, scores: Tensor, options: Options) -> tuple[list[int], list[float]]:
    """Return the numbers and the scores of the chosen boxes, waiting for the device."""
    selection = _on_device(boxes, scores, options)
    if selection is not None:
        return _counted(selection.data_sync(), scores.data_sync())
    return _choose(boxes.data_sync(), scores.data_sync(), options)


async def _select_async(
    boxes: Tensor, scores: Tensor, options: Options
) -> tuple[list[int], list[float]]:
    """Do what ``select`` does without blocking the page."""
    selection = _on_device(boxes, scores, options)
    if selection is not None:
        return _counted(await selection.data(), await scores.data())
    return _choose(await boxes.data(), await scores.data(), options)


def _chosen(name: str, indices: list[int]) -> Tensor:
    return from_host(name, indices, int32)


def _padded(
    name: str, indices: list[int], max_output_size: int, pad_to_max_output_size: bool
) -> PaddedSelection:
    valid = len(indices)
    if pad_to_max_output_size:
        indices = indices + [0] * (max_output_size - valid)
    return PaddedSelection(_chosen(name, indices), from_host(name, valid, int32))


def _scored(name: str, indices: list[int], scores: list[float]) -> ScoredSelection:
    return ScoredSelection(_chosen(name, indices), from_host(name, scores, float32))


# -- what users call ----------------------------------------------------------------------------


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
) -> Tensor:
    """Numbers of the boxes with the best scores that overlap no better one, as int32.

    ``boxes`` is (count, 4), each box two opposite corners, (y1, x1, y2, x2); ``scores`` is
    (count,). At most ``max_output_size`` boxes are chosen, the best first; those that overlap a
    chosen one by ``iou_threshold`` or more, as intersection over union, are left out, and so are
    those whose score is not above ``score_threshold``. Boxes and scores are read from the device.

    Raises:
        TypeError: ``max_output_size`` is not an integer, or ``score_threshold`` no number.
        ValueError: shapes that do not fit, or a threshold outside [0, 1].

    Example:
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> wt.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3).tolist()
        [0, 2]
    """
    name = "non_max_suppression"
    box_corners, ranks, options = _checked(
        name, boxes, scores, Options(max_output_size, iou_threshold, score_threshold)
    )
    return _chosen(name, select(box_corners, ranks, options)[0])


async def non_max_suppression_async(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
) -> Tensor:
    """``non_max_suppression`` without blocking the page.

    The result is int32 (count,).

    Raises:
        ValueError: a shape or a threshold does not fit.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]]
        >>> asyncio.run(wt.image.non_max_suppression_async(boxes, [0.9, 0.8], 2)).tolist()
        [0]
    """
    name = "non_max_suppression_async"
    box_corners, ranks, options = _checked(
        name, boxes, scores, Options(max_output_size, iou_threshold, score_threshold)
    )
    return _chosen(name, (await _select_async(box_corners, ranks, options))[0])


def non_max_suppression_with_score(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
    soft_nms_sigma: float = 0.0,
) -> ScoredSelection:
    """``non_max_suppression`` that returns the scores too, and can lower them.

    With ``soft_nms_sigma``, a box that overlaps a chosen one has its score multiplied by
    ``exp(-overlap² / (2 * soft_nms_sigma))`` (soft-NMS, Bodla et al., 2017).

    Raises:
        TypeError: ``max_output_size`` is not an integer, or ``score_threshold`` no number.
        ValueError: shapes that do not fit, or a threshold or ``soft_nms_sigma`` outside [0, 1].

    Example:
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> chosen = wt.image.non_max_suppression_with_score(boxes, [0.5, 0.75], 2)
        >>> chosen.selected_indices.tolist(), chosen.selected_scores.tolist()
        ([1, 0], [0.75, 0.5])
    """
    name = "non_max_suppression_with_score"
    options = Options(max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    box_corners, ranks, options = _checked(name, boxes, scores, options)
    return _scored(name, *select(box_corners, ranks, options))


async def non_max_suppression_with_score_async(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
    soft_nms_sigma: float = 0.0,
) -> ScoredSelection:
    """``non_max_suppression_with_score`` without blocking the page.

    The indices are int32 (count,), the scores float32 (count,).

    Raises:
        ValueError: a shape or a threshold does not fit.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]]
        >>> async def select():
        ...     chosen = await wt.image.non_max_suppression_with_score_async(boxes, [0.9, 0.8], 2)
        ...     return chosen.selected_indices.tolist()
        >>> asyncio.run(select())
        [0]
    """
    name = "non_max_suppression_with_score_async"
    options = Options(max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    box_corners, ranks, options = _checked(name, boxes, scores, options)
    return _scored(name, *(await _select_async(box_corners, ranks, options)))


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
    pad_to_max_output_size: bool = False,
) -> PaddedSelection:
    """``non_max_suppression`` that can pad its result with 0, and says how many are chosen.

    ``pad_to_max_output_size`` makes the result as long as the lesser of ``max_output_size`` and the
    number of boxes.

    Raises:
        TypeError: ``max_output_size`` is not an integer, or ``score_threshold`` no number.
        ValueError: shapes that do not fit, or a threshold outside [0, 1].

    Example:
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0]]
        >>> chosen = wt.image.non_max_suppression_padded(
        ...     boxes, [0.5, 0.75], 2, pad_to_max_output_size=True
        ... )
        >>> chosen.selected_indices.tolist(), chosen.valid_outputs.tolist()
        ([1, 0], 1)
    """
    name = "non_max_suppression_padded"
    box_corners, ranks, options = _checked(
        name, boxes, scores, Options(max_output_size, iou_threshold, score_threshold)
    )
    indices, _ = select(box_corners, ranks, options)
    return _padded(name, indices, options.max_output_size, pad_to_max_output_size)


async def non_max_suppression_padded_async(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -inf,
    pad_to_max_output_size: bool = False,
) -> PaddedSelection:
    """``non_max_suppression_padded`` without blocking the page.

    The indices are int32 (count,), padded or not.

    Raises:
        ValueError: a shape or a threshold does not fit.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]]
        >>> async def select():
        ...     chosen = await wt.image.non_max_suppression_padded_async(boxes, [0.9, 0.8], 2)
        ...     return chosen.valid_outputs.tolist()
        >>> asyncio.run(select())
        1
    """
    name = "non_max_suppression_padded_async"
    box_corners, ranks, options = _checked(
        name, boxes, scores, Options(max_output_size, iou_threshold, score_threshold)
    )
    indices, _ = await _select_async(box_corners, ranks, options)
    return _padded(name, indices, options.max_output_size, pad_to_max_output_size)
