"""Boxes, anchors, and the parts of images that models look at.

Boxes in tensors have shape (…, 4): corners are (y_min, x_min, y_max, x_max), as ``wt.image`` has
them, and centres are (y_center, x_center, height, width).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, cos, floor, sin, sqrt
from typing import Literal, NamedTuple

from webtensor.engine import Tensor, TensorLike
from webtensor.ops import (
    concat,
    divide_no_nan,
    expand_dims,
    maximum,
    minimum,
    multiply,
    pad,
    split,
    squeeze,
)
from webtensor.ops.casting import as_float
from webtensor.ops.image import non_max_suppression, resize_bilinear, transform
from webtensor.vision.results import Box

__all__ = [
    "Anchor",
    "Letterbox",
    "Region",
    "centers_to_corners",
    "corners_to_centers",
    "crop_region",
    "intersection_over_union",
    "letterbox",
    "square_region",
    "ssd_anchors",
    "suppress",
]

# -- boxes ---------------------------------------------------------------------------------------


def _columns(function: str, boxes: TensorLike) -> list[Tensor]:
    operand = as_float(function, "boxes", boxes)
    if operand.shape[-1:] != (4,):
        raise ValueError(f"{function}: boxes must have shape (…, 4), but got {operand.shape}")
    return split(operand, 4, -1)


def centers_to_corners(boxes: TensorLike) -> Tensor:
    """Return boxes given by centres and sizes as boxes given by corners.

    Raises:
        ValueError: the last axis has not four elements.

    Example:
        >>> from webtensor.vision import boxes
        >>> boxes.centers_to_corners([[5.0, 10.0, 4.0, 8.0]]).tolist()
        [[3.0, 6.0, 7.0, 14.0]]
    """
    y, x, height, width = _columns("centers_to_corners", boxes)
    half_height, half_width = multiply(height, 0.5), multiply(width, 0.5)
    return concat([y - half_height, x - half_width, y + half_height, x + half_width], -1)


def corners_to_centers(boxes: TensorLike) -> Tensor:
    """Return boxes given by corners as boxes given by centres and sizes.

    Raises:
        ValueError: the last axis has not four elements.

    Example:
        >>> from webtensor.vision import boxes
        >>> boxes.corners_to_centers([[3.0, 6.0, 7.0, 14.0]]).tolist()
        [[5.0, 10.0, 4.0, 8.0]]
    """
    y_min, x_min, y_max, x_max = _columns("corners_to_centers", boxes)
    centers = [multiply(y_min + y_max, 0.5), multiply(x_min + x_max, 0.5)]
    return concat([*centers, y_max - y_min, x_max - x_min], -1)


def intersection_over_union(boxes: TensorLike, other_boxes: TensorLike) -> Tensor:
    """Return how much boxes overlap: the area of intersections, divided by that of unions.

    Args:
        boxes: corners, (count, 4).
        other_boxes: corners, (other_count, 4).

    Returns:
        float32 from 0 to 1, (count, other_count); 0 where neither box has an area.

    Raises:
        ValueError: the last axis has not four elements.

    Example:
        >>> from webtensor.vision import boxes
        >>> boxes.intersection_over_union([[0, 0, 2, 2]], [[0, 0, 2, 2], [0, 1, 2, 3]]).tolist()
        [[1.0, 0.3333333432674408]]
    """
    name = "intersection_over_union"
    y_min, x_min, y_max, x_max = _columns(name, boxes)
    others = [squeeze(expand_dims(column, 0), -1) for column in _columns(name, other_boxes)]
    other_y_min, other_x_min, other_y_max, other_x_max = others
    height = maximum(minimum(y_max, other_y_max) - maximum(y_min, other_y_min), 0)
    width = maximum(minimum(x_max, other_x_max) - maximum(x_min, other_x_min), 0)
    intersection = height * width
    area = (y_max - y_min) * (x_max - x_min)
    other_area = (other_y_max - other_y_min) * (other_x_max - other_x_min)
    return divide_no_nan(intersection, area + other_area - intersection)


def suppress(
    boxes: Sequence[Box], scores: Sequence[float], max_output_size: int, iou_threshold: float
) -> list[int]:
    """Return the indices of the boxes with the best scores that overlap no better one.

    Args:
        boxes: the boxes.
        scores: a score for each.
        max_output_size: the largest number of indices.
        iou_threshold: two boxes overlap where intersection over union is this or more.

    Raises:
        ValueError: ``iou_threshold`` lies outside [0, 1], or ``max_output_size`` is negative.

    Example:
        >>> from webtensor.vision import Box, boxes
        >>> same = [Box(0, 0, 10, 10), Box(0, 0, 10, 9), Box(20, 0, 30, 10)]
        >>> boxes.suppress(same, [0.5, 0.9, 0.8], 10, 0.5)
        [1, 2]
    """
    if not boxes:
        return []
    corners = [[float(v) for v in (box.y_min, box.x_min, box.y_max, box.x_max)] for box in boxes]
    chosen = non_max_suppression(corners, list(scores), max_output_size, iou_threshold)
    indices: list[int] = chosen.tolist()
    return indices


# -- parts of images -----------------------------------------------------------------------------


class Letterbox(NamedTuple):
    """Where an image lies in the input of a model that has another aspect ratio.

    Attributes:
        top: rows of zeros above the image, in pixels of the image.
        left: columns of zeros beside it, in pixels of the image.
        y_scale: pixels of the image for each of the input, along y.
        x_scale: the same along x.
    """

    top: int
    left: int
    y_scale: float
    x_scale: float

    def to_image(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the input, in pixels, as a point of the image."""
        return x * self.x_scale - self.left, y * self.y_scale - self.top


def letterbox(image: Tensor, height: int, width: int) -> tuple[Tensor, Letterbox]:
    """Scale an image to a size without stretching it; what is left on both sides is zero.

    Args:
        image: (image height, image width, channels).
        height: the height of the result.
        width: the width of the result.

    Returns:
        The scaled image, float32 (height, width, channels), and where the image lies in it.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.vision import boxes
        >>> scaled, placement = boxes.letterbox(wt.ones((2, 4, 1)), 4, 4)
        >>> scaled[:, 0, 0].tolist()
        [0.0, 1.0, 1.0, 0.0]
        >>> placement.to_image(2, 2)
        (2.0, 1.0)
    """
    image_height, image_width, _ = image.shape
    top = left = 0
    if image_width * height < width * image_height:
        left = floor(0.5 * (image_height * width / height - image_width) + 0.5)
    else:
        top = floor(0.5 * (image_width * height / width - image_height) + 0.5)
    padded = pad(image, [[top, top], [left, left], [0, 0]]) if top or left else image
    y_scale, x_scale = padded.shape[0] / height, padded.shape[1] / width
    return resize_bilinear(padded, (height, width)), Letterbox(top, left, y_scale, x_scale)


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of an image that may be rotated.

    Attributes:
        x_center: the centre, in pixels of the image.
        y_center: the centre, in pixels of the image.
        width: the size along its own x axis, in pixels of the image.
        height: the size along its own y axis, in pixels of the image.
        rotation: the angle from the image's x axis to the region's, in radians; as y grows
            downwards, positive angles turn clockwise.
    """

    x_center: float
    y_center: float
    width: float
    height: float
    rotation: float = 0.0

    def to_image(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the region as a point of the image.

        Args:
            x: 0 at the left edge of the region, 1 at the right one.
            y: 0 at the upper edge, 1 at the lower one.

        Example:
            >>> from math import pi
            >>> from webtensor.vision.boxes import Region
            >>> x, y = Region(50, 50, 20, 10, rotation=pi / 2).to_image(1, 0.5)
            >>> round(x), round(y)
            (50, 60)
        """
        right, down = (x - 0.5) * self.width, (y - 0.5) * self.height
        cosine, sine = cos(self.rotation), sin(self.rotation)
        return (
            self.x_center + right * cosine - down * sine,
            self.y_center + right * sine + down * cosine,
        )


def square_region(box: Box, rotation: float, scale: float, y_shift: float = 0.0) -> Region:
    """Return a square around the middle of a box.

    Args:
        box: the box.
        rotation: the rotation of the square, as of ``Region``.
        scale: the side of the square, as a multiple of the longer side of the box.
        y_shift: how far the square is shifted along its own y axis, as a multiple of the height of
            the box.

    Example:
        >>> from webtensor.vision import Box
        >>> from webtensor.vision.boxes import square_region
        >>> square_region(Box(10, 20, 30, 60), rotation=0.0, scale=1.5, y_shift=-0.5)
        Region(x_center=20.0, y_center=20.0, width=60.0, height=60.0, rotation=0.0)
    """
    side, shift = scale * max(box.width, box.height), y_shift * box.height
    x, y = (box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2
    return Region(
        x - shift * sin(rotation), y + shift * cos(rotation), side, side, rotation=rotation
    )


def crop_region(
    image: Tensor,
    region: Region,
    height: int,
    width: int,
    fill_mode: Literal["constant", "nearest"] = "constant",
) -> Tensor:
    """Cut a region out of an image, turn it upright, and scale it.

    Args:
        image: (image height, image width, channels).
        region: what is cut out.
        height: the height of the result.
        width: the width of the result.
        fill_mode: what is beyond the image: zeros, or with ``"nearest"`` the nearest pixels of it.

    Returns:
        float32 (height, width, channels), by bilinear interpolation.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.vision import boxes
        >>> image = wt.tensor([[1.0, 2.0], [3.0, 4.0]], shape=(2, 2, 1))
        >>> right = boxes.Region(x_center=1.5, y_center=1.0, width=1.0, height=2.0)
        >>> boxes.crop_region(image, right, 2, 1).flatten().tolist()
        [2.0, 4.0]
    """
    # Pixel (x, y) has its centre at (x + 0.5, y + 0.5); the transform takes indices of pixels.
    x_scale, y_scale = region.width / width, region.height / height
    cosine, sine = cos(region.rotation), sin(region.rotation)
    x, y = region.to_image(0.5 / width, 0.5 / height)
    x_row = [x_scale * cosine, -y_scale * sine, x - 0.5]
    y_row = [x_scale * sine, y_scale * cosine, y - 0.5]
    matrix = [[*x_row, *y_row, 0.0, 0.0]]
    crops = transform(
        expand_dims(image, 0), matrix, "bilinear", fill_mode, output_shape=(height, width)
    )
    return squeeze(crops, 0)


# -- anchors -------------------------------------------------------------------------------------


class Anchor(NamedTuple):
    """A box that a detector predicts offsets from, in parts of the input's height and width."""

    y_center: float
    x_center: float
    height: float
    width: float


def ssd_anchors(
    input_size: tuple[int, int],
    strides: Sequence[int],
    *,
    min_scale: float = 1.0,
    max_scale: float = 1.0,
    aspect_ratios: Sequence[float] = (1.0,),
    interpolated_scale_aspect_ratio: float = 1.0,
    fixed_size: bool = True,
) -> list[Anchor]:
    """Return the anchors of a single-shot detector (Liu et al. 2016) as MediaPipe orders them.

    Each layer of the detector predicts boxes on a grid. Layers of one stride that follow each other
    share a grid, whose cells have the anchors of all of them.

    Args:
        input_size: the height and width of the detector's input, in pixels.
        strides: the size of a cell in pixels, for each layer.
        min_scale: the size of the first layer's anchors, as a part of the input's.
        max_scale: the size of the last layer's; those between are spaced evenly.
        aspect_ratios: the ratios of width to height of each layer's anchors.
        interpolated_scale_aspect_ratio: the ratio of a further anchor, whose size is the geometric
            mean of the layer's and the next one's; 0 leaves it out.
        fixed_size: whether all anchors have height 1 and width 1, as of detectors that predict
            sizes rather than factors.

    Returns:
        The anchors, by layers of one stride, rows, columns, and layers.

    Raises:
        ValueError: there are no strides, or one is not positive.

    Example:
        >>> from webtensor.vision import boxes
        >>> anchors = boxes.ssd_anchors((128, 128), (8, 16, 16, 16))
        >>> len(anchors), anchors[0]
        (896, Anchor(y_center=0.03125, x_center=0.03125, height=1.0, width=1.0))
    """
    if not strides or min(strides) <= 0:
        raise ValueError(f"ssd_anchors: strides must be positive numbers, but got {strides!r}")
    last = len(strides) - 1
    scales = [
        min_scale + (max_scale - min_scale) * (layer / last if last else 0.5)
        for layer in range(len(strides))
    ]
    anchors = []
    for stride, group in groupby(range(len(strides)), key=strides.__getitem__):
        sizes = []
        for layer in group:
            scale, next_scale = scales[layer], scales[layer + 1] if layer < last else 1.0
            shapes = [(scale, ratio) for ratio in aspect_ratios]
            if interpolated_scale_aspect_ratio:
                shapes.append((sqrt(scale * next_scale), interpolated_scale_aspect_ratio))
            sizes += [(size / sqrt(ratio), size * sqrt(ratio)) for size, ratio in shapes]
        if fixed_size:
            sizes = [(1.0, 1.0)] * len(sizes)
        rows, columns = (ceil(size / stride) for size in input_size)
        anchors += [
            Anchor((row + 0.5) / rows, (column + 0.5) / columns, height, width)
            for row in range(rows)
            for column in range(columns)
            for height, width in sizes
        ]
    return anchors
