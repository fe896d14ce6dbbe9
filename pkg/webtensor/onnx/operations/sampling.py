"""Samples of images at positions, and the choice of boxes in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from math import inf, nextafter
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers, number
from webtensor.onnx.operations.windows import channels_first, channels_last

__all__ = ["ROWS"]


# -- grids -------------------------------------------------------------------------------------


def affine_grid(theta: Tensor, size: list[int], *, align_corners: int = 0) -> Tensor:
    """Return the positions that an affine map gives the elements of an image."""
    inner = size[2:]
    rank = len(inner)
    columns = []
    for axis, count in enumerate(inner):
        if align_corners:
            steps = ops.linspace(-1.0, 1.0, count) if count > 1 else ops.full((1,), -1.0)
        else:
            steps = (2.0 * ops.astype(ops.arange(count), "float32") + 1.0) / count - 1.0
        shape = [count if at == axis else 1 for at in range(rank)]
        columns.append(ops.broadcast_to(ops.reshape(steps, shape), inner))
    base = ops.stack([*reversed(columns), ops.ones(inner)], -1)
    flat = ops.reshape(base, (1, -1, rank + 1))
    grid = ops.matmul(ops.broadcast_to(flat, (size[0], *flat.shape[1:])), theta, False, True)
    return ops.reshape(grid, (size[0], *inner, rank))


def grid_sampled(
    x: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:
    """Return samples of images at positions between -1 and 1."""
    mode = mode.removeprefix("bi")
    if mode not in ("linear", "nearest", "cubic"):
        raise ValueError(f"mode must be 'linear', 'nearest' or 'cubic', not {mode!r:.200}")
    sizes = x.shape[2:]
    rank = len(sizes)
    batch = x.shape[0]
    values = ops.reshape(channels_last(x), (batch, -1, x.shape[1]))
    points = ops.reshape(grid, (batch, -1, rank))
    pad = partial(_padded, mode=padding_mode, align_corners=align_corners)
    positions = []
    for axis, size in enumerate(sizes):
        share: Any = (points[..., rank - 1 - axis] + 1.0) / 2.0
        positions.append(share * (size - 1.0) if align_corners else share * float(size) - 0.5)
    if mode == "nearest":
        taps = [[(ops.round(position), ops.ones_like(position))] for position in positions]
    else:
        if mode == "linear":
            positions = [*map(pad, positions, sizes)]
        taps = [_taps(position, mode) for position in positions]
    parts = (_weighted_samples(values, neighbours, sizes, pad) for neighbours in product(*taps))
    result = reduce(ops.add, parts)
    return channels_first(ops.reshape(result, (batch, *grid.shape[1:-1], x.shape[1])))


def _weighted_samples(
    values: Tensor,
    neighbours: Sequence[tuple[Tensor, Any]],
    sizes: Sequence[int],
    pad: Callable[[Tensor, int], Tensor],
) -> Tensor:
    """Return the elements at neighbours, which ``pad`` may move inside, times their weights."""
    index: Any = None
    weight: Any = None
    is_inside: Any = None
    for (position, factor), size in zip(neighbours, sizes, strict=True):
        padded = pad(position, size)
        inside = ops.logical_and(ops.greater_equal(padded, 0), ops.less_equal(padded, size - 1))
        is_inside = inside if is_inside is None else ops.logical_and(is_inside, inside)
        axis_index = ops.astype(_clipped(padded, size), "int32")
        index = axis_index if index is None else index * size + axis_index
        weight = factor if weight is None else weight * factor
    factors = ops.astype(is_inside, "float32") * weight
    return ops.gather(values, index, 1, 1) * ops.expand_dims(factors, -1)


def _taps(position: Tensor, mode: str) -> list[tuple[Tensor, Any]]:
    """Return the neighbours of positions along an axis, and their weights."""
    low = ops.floor(position)
    fraction = position - low
    if mode == "linear":
        return [(low, 1.0 - fraction), (low + 1.0, fraction)]
    a = -0.75
    weights = []
    for offset in (-1, 0, 1, 2):
        distance = ops.abs(fraction - float(offset))
        if offset in (0, 1):
            weight = ((a + 2) * distance - (a + 3)) * distance * distance + 1.0
        else:
            weight = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weights.append((low + float(offset), weight))
    return weights


def _padded(position: Tensor, size: int, mode: str, align_corners: int) -> Tensor:
    """Return positions inside the image for those outside, unless there are zeros."""
    if mode == "zeros":
        return position
    if mode == "border":
        return _clipped(position, size)
    if mode != "reflection":
        raise ValueError(f"padding_mode is {mode!r:.200}")
    low, width = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if not width:
        return ops.zeros_like(position)
    distance = ops.remainder(position - low, 2 * width)
    reflected = ops.minimum(distance, 2 * width - distance) + low
    return _clipped(reflected, size)


def _clipped(position: Tensor, size: int) -> Tensor:
    """Return the nearest positions inside; unlike a limit of clip, a graph can compute the size."""
    return ops.minimum(ops.maximum(position, 0.0), size - 1.0)


# -- boxes -------------------------------------------------------------------------------------


def suppressed(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: float = 0,
    iou_threshold: float = 0.0,
    score_threshold: float = -inf,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """Return rows of batch, class and box, of boxes that overlap no better one much."""
    if center_point_box:
        x, y, width, height = ops.unstack(boxes, -1)
        boxes = ops.stack(
            [y - height / 2.0, x - width / 2.0, y + height / 2.0, x + width / 2.0], -1
        )
    limit = min(int(max_output_boxes_per_class), boxes.shape[1])
    # Boxes overlap too much above the threshold; to the operation below, they do from it on.
    least_overlap = nextafter(iou_threshold, 1.0)
    rows: list[list[int]] = []
    for batch in range(scores.shape[0] if limit else 0):
        for kind in range(scores.shape[1]):
            chosen = ops.image.non_max_suppression(
                boxes[batch], scores[batch, kind], limit, least_overlap, score_threshold
            )
            rows += [[batch, kind, int(box)] for box in chosen.tolist()]
    return ops.tensor(rows, shape=(len(rows), 3), dtype="int32")


def regions_pooled(
    x: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Pool samples of regions of images (He et al., 2017)."""
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0
    images = channels_last(x)
    pooled = []
    for box, batch in zip(rois.tolist(), batch_indices.tolist(), strict=True):
        left, top, right, bottom = (edge * spatial_scale - shift for edge in box)
        height, width = bottom - top, right - left
        if not shift:
            height, width = max(height, 1.0), max(width, 1.0)
        rows = _bins(top, height, output_height, sampling_ratio, x.shape[2])
        columns = _bins(left, width, output_width, sampling_ratio, x.shape[3])
        pooled.append(_pooled_region(images[int(batch)], rows, columns, mode))
    if not pooled:
        return ops.zeros((0, x.shape[1], output_height, output_width))
    return channels_first(ops.stack(pooled))


_Tap = tuple[int, float]


def _bins(start: float, extent: float, count: int, ratio: int, size: int) -> list[list[list[_Tap]]]:
    """Return the samples of each bin along an axis, each as indices and weights."""
    samples = ratio or max(-int(-extent // count), 0)
    bins = []
    for index in range(count):
        taps = []
        for sample in range(samples):
            position = start + (index + (sample + 0.5) / samples) * extent / count
            if not -1.0 <= position <= size:
                taps.append([(0, 0.0), (0, 0.0)])
                continue
            position = min(max(position, 0.0), size - 1.0)
            low = min(int(position), size - 1)
            high = min(low + 1, size - 1)
            taps.append([(low, 1 - (position - low)), (high, position - low)])
        bins.append(taps)
    return bins


def _pooled_region(
    image: Tensor, rows: list[list[list[_Tap]]], columns: list[list[list[_Tap]]], mode: str
) -> Tensor:
    """Pool an image of shape (height, width, channels); bins without samples are 0."""
    count = len(rows[0]) * len(columns[0])
    if not count:
        return ops.zeros((len(rows), len(columns), image.shape[2]))
    result: Any = None
    for row_tap, column_tap in product(range(2), range(2)):
        row_part = [[taps[row_tap] for taps in samples] for samples in rows]
        column_part = [[taps[column_tap] for taps in samples] for samples in columns]
        values = ops.gather(image, _indices(row_part), 0)
        values = ops.gather(values, _indices(column_part), 1)
        weights = ops.reshape(_weights(row_part), (-1, 1)) * _weights(column_part)
        part: Any = values * ops.expand_dims(weights, -1)
        if mode == "max":
            result = part if result is None else ops.maximum(result, part)
        else:
            result = part if result is None else result + part
    shape = (len(rows), len(rows[0]), len(columns), len(columns[0]), image.shape[2])
    grouped = ops.reshape(result, shape)
    if mode == "max":
        return ops.max(grouped, (1, 3))
    return ops.sum(grouped, (1, 3)) / float(count)


def _indices(parts: list[list[_Tap]]) -> Tensor:
    return ops.tensor([index for taps in parts for index, _ in taps], dtype="int32")


def _weights(parts: list[list[_Tap]]) -> Tensor:
    return ops.tensor([weight for taps in parts for _, weight in taps], dtype="float32")


_REGIONS: dict[str, Any] = {"rois": lambda value: value, "batch_indices": lambda value: value}
_LIMITS = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")

ROWS: dict[str, Row] = {
    "AffineGrid-1": Operator(affine_grid, size=integers),
    "GridSample-1": Operator(grid_sampled),
    "NonMaxSuppression-1": Operator(
        suppressed,
        boxes=lambda value: value,
        scores=lambda value: value,
        **dict.fromkeys(_LIMITS, number),
    ).dynamic(),
    "RoiAlign-1": Operator(
        partial(regions_pooled, coordinate_transformation_mode="output_half_pixel"), **_REGIONS
    ),
    "RoiAlign-16": Operator(regions_pooled, **_REGIONS),
}
