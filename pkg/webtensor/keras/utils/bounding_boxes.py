"""Bounding boxes: their formats, overlaps, transforms and deltas.

The four numbers of each format are linear functions of the corners (left, top, right, bottom), so
that a conversion is a product with a matrix of 4 × 4 numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import cos, pi, radians, sin, tan
from typing import NamedTuple, TypeAlias, TypedDict, overload

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = [
    "Boxes",
    "affine_transform",
    "clip_to_image_size",
    "compute_ciou",
    "compute_iou",
    "convert_format",
    "crop",
    "decode_deltas_to_boxes",
    "encode_box_to_deltas",
    "pad",
]

#: Boxes and what belongs to them: "boxes" of shape (…, number, 4), and their "labels".
Boxes: TypeAlias = "dict[str, TensorLike]"
Rows: TypeAlias = Sequence[Sequence[float]]

# -- formats -----------------------------------------------------------------------------------

#: For each format, the matrices that convert corners to it, and it to corners.
_FORMATS: dict[str, tuple[Rows, Rows]] = {
    "xyxy": (
        ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
        ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
    ),
    "yxyx": (
        ((0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)),
        ((0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)),
    ),
    "xywh": (
        ((1, 0, 0, 0), (0, 1, 0, 0), (-1, 0, 1, 0), (0, -1, 0, 1)),
        ((1, 0, 0, 0), (0, 1, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1)),
    ),
    "center_xywh": (
        ((0.5, 0, 0.5, 0), (0, 0.5, 0, 0.5), (-1, 0, 1, 0), (0, -1, 0, 1)),
        ((1, 0, -0.5, 0), (0, 1, 0, -0.5), (1, 0, 0.5, 0), (0, 1, 0, 0.5)),
    ),
    "center_yxhw": (
        ((0, 0.5, 0, 0.5), (0.5, 0, 0.5, 0), (0, -1, 0, 1), (-1, 0, 1, 0)),
        ((0, 1, 0, -0.5), (1, 0, -0.5, 0), (0, 1, 0, 0.5), (1, 0, 0.5, 0)),
    ),
}
#: The formats of deltas.
_ENCODINGS = ("center_xywh", "center_yxhw")
_RELATIVE = ("rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")


def _scaled(rows: Rows, scales: Sequence[float]) -> Rows:
    return [[scale * weight for weight in row] for row, scale in zip(rows, scales, strict=True)]


def _product(first: Rows, second: Rows) -> list[list[float]]:
    columns = list(zip(*second, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in first
    ]


def _matrix(source: str, target: str, width: float, height: float) -> list[list[float]]:
    """Return the matrix that converts one format to another."""
    corners = _FORMATS[source.removeprefix("rel_")][1]
    is_relative = source.startswith("rel_")
    if is_relative != target.startswith("rel_"):
        scales = [width, height, width, height]
        corners = _scaled(corners, scales if is_relative else [1 / scale for scale in scales])
    return _product(_FORMATS[target.removeprefix("rel_")][0], corners)


def _applied(matrix: Rows, boxes: Tensor) -> Tensor:
    return wt.matmul(boxes, wt.tensor(list(zip(*matrix, strict=True)), dtype=float32))


def _floats(boxes: TensorLike) -> Tensor:
    return wt.astype(wt.asarray(boxes), float32, copy=False)


@overload
def convert_format(
    boxes: Boxes,
    source: str,
    target: str,
    height: float | None = None,
    width: float | None = None,
    dtype: DTypeLike = "float32",
) -> Boxes: ...


@overload
def convert_format(
    boxes: TensorLike,
    source: str,
    target: str,
    height: float | None = None,
    width: float | None = None,
    dtype: DTypeLike = "float32",
) -> Tensor: ...


def convert_format(
    boxes: TensorLike | Boxes,
    source: str,
    target: str,
    height: float | None = None,
    width: float | None = None,
    dtype: DTypeLike = "float32",
) -> Tensor | Boxes:
    """Convert boxes, or the "boxes" of a dictionary, to another format.

    Formats are "xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw" in pixels, and "rel_xyxy",
    "rel_yxyx", "rel_xywh", "rel_center_xywh" as parts of the ``height`` and ``width`` of images.

    Raises:
        ValueError: a format is unknown, boxes are not four numbers, or ``height`` and ``width``
            are missing for a conversion from or to a relative format.

    Example:
        >>> from webtensor import keras
        >>> convert = keras.utils.bounding_boxes.convert_format
        >>> convert([[10.0, 20.0, 30.0, 50.0]], "xyxy", "xywh").tolist()
        [[10.0, 20.0, 20.0, 30.0]]
    """
    if isinstance(boxes, dict):
        converted = _converted(boxes["boxes"], source, target, height, width, dtype)
        return {**boxes, "boxes": converted}
    return _converted(boxes, source, target, height, width, dtype)


def _converted(
    boxes: TensorLike,
    source: str,
    target: str,
    height: float | None = None,
    width: float | None = None,
    dtype: DTypeLike = "float32",
) -> Tensor:
    numbers = wt.asarray(boxes)
    if numbers.shape[-1:] != (4,):
        raise ValueError(
            f"convert_format: the last dimension of boxes must be 4, but their shape is "
            f"{numbers.shape}"
        )
    source, target = source.lower(), target.lower()
    for name, value in (("source", source), ("target", target)):
        check_choice("convert_format", name, value, (*_FORMATS, *_RELATIVE))
    if "rel_" in source + target and (height is None or width is None):
        raise ValueError(
            f"convert_format: from {source!r} to {target!r}, height and width must be given, but "
            f"got height={height}, width={width}"
        )
    result_dtype = storage_dtype(dtype)
    if source != target:
        size = (1.0 if dimension is None else float(dimension) for dimension in (width, height))
        numbers = _applied(_matrix(source, target, *size), _floats(numbers))
    return wt.astype(numbers, result_dtype, copy=False)


# -- transforms --------------------------------------------------------------------------------


def _require_format(
    name: str, bounding_box_format: str, supported: tuple[str, ...] = ("xyxy",)
) -> None:
    if bounding_box_format not in supported:
        raise NotImplementedError(
            f"{name}: bounding_box_format must be {' or '.join(map(repr, supported))}, but got "
            f"{bounding_box_format!r}"
        )


def _clipped(boxes: Tensor, width: float, height: float) -> Tensor:
    return wt.minimum(
        wt.maximum(boxes, 0.0), wt.tensor([width, height, width, height], dtype=float32)
    )


def _sizes(boxes: Tensor) -> Tensor:
    """Return the widths and heights of boxes, which are in the format "xyxy"."""
    return boxes[..., 2:] - boxes[..., :2]


def clip_to_image_size(
    bounding_boxes: Boxes,
    height: float | None = None,
    width: float | None = None,
    bounding_box_format: str = "xyxy",
) -> Boxes:
    """Clip boxes to the image; the labels of boxes without an area become -1.

    Raises:
        NotImplementedError: the format is neither "xyxy" nor "rel_xyxy".
        ValueError: the format is "xyxy", but ``height`` or ``width`` is missing.

    Example:
        >>> from webtensor import keras
        >>> boxes = {"boxes": [[-5.0, 2.0, 5.0, 9.0], [8.0, 1.0, 9.0, 2.0]], "labels": [3, 4]}
        >>> clipped = keras.utils.bounding_boxes.clip_to_image_size(boxes, height=6, width=6)
        >>> clipped["boxes"].tolist(), clipped["labels"].tolist()
        ([[0.0, 2.0, 5.0, 6.0], [6.0, 1.0, 6.0, 2.0]], [3, -1])
    """
    name = "clip_to_image_size"
    _require_format(name, bounding_box_format, ("xyxy", "rel_xyxy"))
    if bounding_box_format == "rel_xyxy":
        height = width = 1.0
    if height is None or width is None:
        raise ValueError(f"{name}: height and width must be given for the format 'xyxy'")
    boxes = _clipped(_floats(bounding_boxes["boxes"]), float(width), float(height))
    clipped = {**bounding_boxes, "boxes": boxes}
    if clipped.get("labels") is not None:
        has_area = wt.greater(wt.prod(_sizes(boxes), -1), 0)
        clipped["labels"] = wt.where(has_area, clipped["labels"], -1)
    return clipped


def crop(
    boxes: TensorLike,
    top: float,
    left: float,
    height: float,
    width: float,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return boxes in the coordinates of a cropped image, clipped to it.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.bounding_boxes.crop([[1.0, 2.0, 5.0, 6.0]], 1, 2, 4, 2).tolist()
        [[0.0, 1.0, 2.0, 4.0]]
    """
    _require_format("crop", bounding_box_format)
    return _clipped(pad(boxes, -top, -left), float(width), float(height))


def pad(
    boxes: TensorLike,
    top: float,
    left: float,
    height: float | None = None,
    width: float | None = None,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return boxes in the coordinates of an image with ``top`` rows and ``left`` columns added.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.bounding_boxes.pad([[1.0, 2.0, 5.0, 6.0]], 1, 2).tolist()
        [[3.0, 3.0, 7.0, 7.0]]
    """
    _require_format("pad", bounding_box_format)
    return wt.add(_floats(boxes), wt.tensor([left, top, left, top], dtype=float32))


def affine_transform(
    boxes: TensorLike,
    angle: TensorLike,
    translate_x: TensorLike,
    translate_y: TensorLike,
    scale: TensorLike,
    shear_x: TensorLike,
    shear_y: TensorLike,
    height: float,
    width: float,
    center_x: float | None = None,
    center_y: float | None = None,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return the boxes (batch, number, 4) around those of rotated, moved, scaled, sheared images.

    Each argument from ``angle`` to ``shear_y`` has a number per image. Angles are in degrees;
    translations and the centre, by default that of the image, are parts of its height and width.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> transform = keras.utils.bounding_boxes.affine_transform
        >>> box, zero = [[[0.0, 0.0, 2.0, 1.0]]], [0.0]
        >>> transform(box, [180.0], zero, zero, [1.0], zero, zero, 5, 5).round().tolist()
        [[[2.0, 3.0, 4.0, 4.0]]]
    """
    _require_format("affine_transform", bounding_box_format)
    center = tuple(0.5 if part is None else part for part in (center_x, center_y))
    arguments = (angle, translate_x, translate_y, scale, shear_x, shear_y)
    images = zip(*(wt.asarray(argument).tolist() for argument in arguments), strict=True)
    return moved(boxes, [_transform((width, height), center, _Warp(*image)) for image in images])


class _Warp(NamedTuple):
    """The arguments of ``affine_transform`` for one image."""

    angle: float
    translate_x: float
    translate_y: float
    scale: float
    shear_x: float
    shear_y: float


def _transform(
    size: tuple[float, float], center: Sequence[float], warp: _Warp
) -> tuple[float, ...]:
    """Return the nine numbers by which ``moved`` warps an image of a size (width, height)."""
    (x, y), (last_x, last_y) = center, (length - 1 for length in size)
    from_x, from_y = (x - warp.translate_x) * last_x, (y - warp.translate_y) * last_y
    rotation, shear_x, shear_y = (
        -radians(degrees) for degrees in (warp.angle, warp.shear_x, warp.shear_y)
    )
    a = cos(rotation - shear_y) / cos(shear_y)
    b = a * tan(shear_x) + sin(rotation)
    c = -sin(rotation - shear_y) / cos(shear_y)
    d = cos(rotation) - c * tan(shear_x)
    a, b, c, d = (number * warp.scale for number in (a, b, c, d))
    across = (d, -b, x * last_x - d * from_x + b * from_y)
    down = (-c, a, y * last_y + c * from_x - a * from_y)
    return (*across, *down, 0, 0, 1)


def combined(boxes: TensorLike, weights: Sequence[Rows], offsets: Rows | None = None) -> Tensor:
    """Multiply the boxes (batch, number, 4) of each image with a matrix, and add offsets.

    ``weights`` has, for each image and each number of a box, its weights in the results. The boxes
    of a single image may have no batch dimension.
    """
    numbers = _floats(boxes)
    batch = () if len(numbers.shape) == 2 and len(weights) == 1 else (len(weights),)
    shape = (*batch, 4, len(weights[0][0]))
    products = wt.matmul(numbers, wt.tensor([*chain(*chain(*weights))], shape, float32))
    if offsets is None:
        return products
    shape = (*batch, 1, len(offsets[0]))
    return wt.add(products, wt.tensor([*chain(*offsets)], shape, float32))


def moved(boxes: TensorLike, transforms: Rows) -> Tensor:
    """Return the boxes around those whose corners (x, y) are moved by a transform for each image.

    Its nine numbers take (x, y) to ``((a x + b y + c) / z, (d x + e y + f) / z)``, where
    ``z = g x + h y + i``.
    """
    weights = []
    for transform in transforms:
        # Corners: left top, right top, right bottom, left bottom.
        coordinates = [
            ([x, 0, 0, x], [y, y, 0, 0], [0, x, x, 0], [0, 0, y, y])
            for x, y in zip(transform[::3], transform[1::3], strict=True)
        ]
        weights.append([[*chain(*parts)] for parts in zip(*coordinates, strict=True)])
    offsets = [[offset for offset in rows[2::3] for _ in range(4)] for rows in transforms]
    results = combined(boxes, weights, offsets)
    products = wt.reshape(results, (*results.shape[:-1], 3, 4))
    corners = products[..., :2, :]
    if any(rows[6:] != (0, 0, 1) for rows in transforms):
        corners = corners / products[..., 2:, :]
    return wt.concat([wt.min(corners, -1), wt.max(corners, -1)], -1)


# -- deltas ------------------------------------------------------------------------------------


class _ImageSize(TypedDict, total=False):
    """The keywords of ``convert_format`` about images."""

    height: float
    width: float


def _image_size(image_shape: Sequence[int] | None) -> _ImageSize:
    return {} if image_shape is None else {"height": image_shape[0], "width": image_shape[1]}


def _variance(name: str, variance: TensorLike | None) -> Tensor:
    """Validate the variance, by which deltas are divided; None stands for 1."""
    numbers = wt.ones((4,)) if variance is None else _floats(variance)
    if numbers.shape[-1:] != (4,):
        raise ValueError(f"{name}: variance must be 4 numbers, but its shape is {numbers.shape}")
    return numbers


def encode_box_to_deltas(
    anchors: TensorLike,
    boxes: TensorLike,
    anchor_format: str,
    box_format: str,
    encoding_format: str = "center_yxhw",
    variance: TensorLike | None = None,
    image_shape: Sequence[int] | None = None,
) -> Tensor:
    """Return the deltas from anchors to boxes.

    They are the distances of the centres, as parts of the anchors' sizes, and the logarithms of
    the ratios of the sizes.

    Raises:
        ValueError: ``encoding_format`` has no centres, or ``variance`` is not four numbers.

    Example:
        >>> from webtensor import keras
        >>> encode = keras.utils.bounding_boxes.encode_box_to_deltas
        >>> encode([[0.0, 0.0, 2.0, 2.0]], [[1.0, 0.0, 3.0, 2.0]], "xyxy", "xyxy").tolist()
        [[0.0, 0.5, 0.0, 0.0]]
    """
    name = "encode_box_to_deltas"
    check_choice(name, "encoding_format", encoding_format, _ENCODINGS)
    scales = _variance(name, variance)
    image_size = _image_size(image_shape)
    source = _converted(anchors, anchor_format, encoding_format, **image_size)
    target = _converted(boxes, box_format, encoding_format, **image_size)
    sizes = wt.maximum(source[..., 2:], epsilon())
    deltas = [
        (target[..., :2] - source[..., :2]) / sizes,
        wt.log(wt.maximum(target[..., 2:], epsilon()) / sizes),
    ]
    return wt.divide(wt.concat(deltas, -1), scales)


def decode_deltas_to_boxes(
    anchors: TensorLike | dict[str, TensorLike],
    boxes_delta: TensorLike | dict[str, TensorLike],
    anchor_format: str,
    box_format: str,
    encoded_format: str = "center_yxhw",
    variance: TensorLike | None = None,
    image_shape: Sequence[int] | None = None,
) -> Tensor | dict[str, Tensor]:
    """Return the boxes that lie at deltas from anchors; for dictionaries, those of each level.

    Raises:
        ValueError: ``encoded_format`` has no centres, or ``variance`` is not four numbers.

    Example:
        >>> from webtensor import keras
        >>> decode = keras.utils.bounding_boxes.decode_deltas_to_boxes
        >>> decode([[0.0, 0.0, 2.0, 2.0]], [[0.0, 0.5, 0.0, 0.0]], "xyxy", "xyxy").tolist()
        [[1.0, 0.0, 3.0, 2.0]]
    """
    name = "decode_deltas_to_boxes"
    check_choice(name, "encoded_format", encoded_format, _ENCODINGS)
    scales = _variance(name, variance)
    image_size = _image_size(image_shape)

    def decoded(anchors: TensorLike, deltas: TensorLike) -> Tensor:
        source = _converted(anchors, anchor_format, encoded_format, **image_size)
        changes = wt.multiply(_floats(deltas), scales)
        sizes = source[..., 2:]
        parts = [changes[..., :2] * sizes + source[..., :2], wt.exp(changes[..., 2:]) * sizes]
        boxes = wt.concat(parts, -1)
        return _converted(boxes, encoded_format, box_format, **image_size)

    if isinstance(anchors, dict) and isinstance(boxes_delta, dict):
        return {level: decoded(boxes, boxes_delta[level]) for level, boxes in anchors.items()}
    return decoded(anchors, boxes_delta)


# -- overlaps ----------------------------------------------------------------------------------


def _corners(
    name: str, boxes: TensorLike, bounding_box_format: str, image_shape: Sequence[int] | None
) -> Tensor:
    if image_shape is None and "rel" in bounding_box_format:
        raise ValueError(
            f"{name}: image_shape must be given for the format {bounding_box_format!r}"
        )
    image_size = _image_size(image_shape)
    return _converted(boxes, bounding_box_format, "xyxy", **image_size)


def _intersection(first: Tensor, second: Tensor) -> Tensor:
    """Return the area that two boxes have in common."""
    begin = wt.maximum(first[..., :2], second[..., :2])
    end = wt.minimum(first[..., 2:], second[..., 2:])
    return wt.prod(wt.maximum(end - begin, 0.0), -1)


def compute_iou(
    boxes1: TensorLike,
    boxes2: TensorLike,
    bounding_box_format: str,
    use_masking: bool = False,
    mask_val: float = -1,
    image_shape: Sequence[int] | None = None,
) -> Tensor:
    """Return the intersection over union (IoU) of each box of one tensor with each of another.

    Boxes are (number, 4) or (batch, number, 4), results (…, first number, second number). With
    ``use_masking``, the result is ``mask_val`` where all numbers of a box are negative.

    Raises:
        ValueError: boxes have another rank, or the image's shape is missing.

    Example:
        >>> from webtensor import keras
        >>> compute_iou = keras.utils.bounding_boxes.compute_iou
        >>> compute_iou([[0.0, 0.0, 2.0, 2.0]], [[0.0, 0.0, 2.0, 1.0]], "xyxy").tolist()
        [[0.5]]
    """
    name = "compute_iou"
    for argument, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        shape = wt.asarray(boxes).shape
        if len(shape) not in (2, 3):
            raise ValueError(f"{name}: {argument} must have rank 2 or 3, but its shape is {shape}")
    first = wt.expand_dims(_corners(name, boxes1, bounding_box_format, image_shape), -2)
    second = wt.expand_dims(_corners(name, boxes2, bounding_box_format, image_shape), -3)
    intersection = _intersection(first, second)
    areas = wt.prod(_sizes(first), -1) + wt.prod(_sizes(second), -1)
    overlap = wt.divide(intersection, areas - intersection + epsilon())
    if not use_masking:
        return overlap
    is_empty = [wt.less(wt.max(boxes, -1), 0.0) for boxes in (first, second)]
    return wt.where(wt.logical_or(*is_empty), float(mask_val), overlap)


def compute_ciou(
    boxes1: TensorLike,
    boxes2: TensorLike,
    bounding_box_format: str,
    image_shape: Sequence[int] | None = None,
) -> Tensor:
    """Return the complete intersection over union (CIoU) of pairs of boxes (Zheng et al., 2020).

    It is the IoU, minus the squared distance of the centres as a part of the squared diagonal of
    the box around both, minus a term for the difference of the aspect ratios.

    Raises:
        ValueError: the format is relative.

    Example:
        >>> from webtensor import keras
        >>> box = [[0.0, 0.0, 2.0, 2.0]]
        >>> keras.utils.bounding_boxes.compute_ciou(box, box, "xyxy").round().tolist()
        [1.0]
    """
    name = "compute_ciou"
    if "rel" in bounding_box_format:
        raise ValueError(
            f"{name}: bounding_box_format must not be relative, but got {bounding_box_format!r}"
        )
    first, second = (
        _corners(name, boxes, bounding_box_format, image_shape) for boxes in (boxes1, boxes2)
    )
    smallest = wt.tensor([0.0, epsilon()])
    first_sizes, second_sizes = _sizes(first) + smallest, _sizes(second) + smallest
    intersection = _intersection(first, second)
    areas = wt.prod(first_sizes, -1) + wt.prod(second_sizes, -1)
    overlap = intersection / (areas - intersection + 2 * epsilon())
    around = wt.maximum(first[..., 2:], second[..., 2:]) - wt.minimum(
        first[..., :2], second[..., :2]
    )
    between_centres = (first[..., :2] + first[..., 2:] - second[..., :2] - second[..., 2:]) * 0.5
    distance = wt.sum(wt.square(between_centres), -1) / (wt.sum(wt.square(around), -1) + epsilon())
    first_angle, second_angle = (
        wt.atan(sizes[..., 0] / sizes[..., 1]) for sizes in (first_sizes, second_sizes)
    )
    shape_term = wt.square(second_angle - first_angle) * (4 / pi**2)
    weight = shape_term / (shape_term - overlap + (1 + epsilon()))
    return overlap - (distance + shape_term * weight)
