"""Boxes in images: formats, overlaps, and what becomes of them when images are changed.

Each format is four linear formulas of the corners (left, top, right, bottom), so that going from
one to another is a product with a matrix of 4 × 4 numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import cos, pi, radians, sin, tan
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.config import epsilon
from webtensor.keras.dtypes import held_dtype

__all__ = [
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

Rows = Sequence[Sequence[float]]

# -- formats -----------------------------------------------------------------------------------

#: Of each format: the corners' shares in its numbers, and its numbers' shares in the corners.
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
_RELATIVE = ("rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")


def _scaled(rows: Rows, scales: Sequence[float]) -> Rows:
    return [[scale * one for one in row] for row, scale in zip(rows, scales, strict=True)]


def _product(first: Rows, second: Rows) -> list[list[float]]:
    columns = list(zip(*second, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in first
    ]


def _matrix(source: str, target: str, width: float, height: float) -> list[list[float]]:
    """The shares of one format's numbers in those of another."""
    corners = _FORMATS[source.removeprefix("rel_")][1]
    is_relative = source.startswith("rel_")
    if is_relative != target.startswith("rel_"):
        scales = [width, height, width, height]
        corners = _scaled(corners, scales if is_relative else [1 / one for one in scales])
    return _product(_FORMATS[target.removeprefix("rel_")][0], corners)


def _applied(rows: Rows, boxes: Tensor) -> Tensor:
    """The numbers that rows of shares make of those of boxes."""
    return wt.matmul(boxes, wt.tensor(list(zip(*rows, strict=True)), dtype=float32))


def _floats(boxes: Any) -> Tensor:
    held: Tensor = wt.astype(wt.asarray(boxes), float32, copy=False)
    return held


def convert_format(
    boxes: Any,
    source: str,
    target: str,
    height: float | None = None,
    width: float | None = None,
    dtype: Any = "float32",
) -> Any:
    """Return boxes, or a dictionary with "boxes", in another format.

    Formats are "xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", and "rel_xyxy", "rel_yxyx",
    "rel_xywh", "rel_center_xywh", of parts of the ``height`` and ``width`` of images.

    Raises:
        ValueError: there is no such format, a length is missing, or boxes are not four numbers.

    Example:
        >>> from webtensor import keras
        >>> convert = keras.utils.bounding_boxes.convert_format
        >>> convert([[10.0, 20.0, 30.0, 50.0]], "xyxy", "xywh").tolist()
        [[10.0, 20.0, 20.0, 30.0]]
    """
    if isinstance(boxes, dict):
        made = convert_format(boxes["boxes"], source, target, height, width, dtype)
        return {**boxes, "boxes": made}
    held = wt.asarray(boxes)
    if held.shape[-1:] != (4,):
        raise ValueError(
            f"convert_format: boxes must have 4 numbers along the last axis, but their shape is "
            f"{held.shape}"
        )
    source, target = source.lower(), target.lower()
    for name, value in (("source", source), ("target", target)):
        if value not in _FORMATS and value not in _RELATIVE:
            raise ValueError(
                f"convert_format: {name} must be one of {', '.join((*_FORMATS, *_RELATIVE))}, but "
                f"got {value!r}"
            )
    if "rel_" in source + target and (height is None or width is None):
        raise ValueError(
            f"convert_format: from {source!r} to {target!r}, height and width must be given, but "
            f"got height={height}, width={width}"
        )
    wanted = held_dtype(dtype)
    if source != target:
        size = (1.0 if one is None else float(one) for one in (width, height))
        held = _applied(_matrix(source, target, *size), _floats(held))
    return wt.astype(held, wanted, copy=False)


# -- changes -----------------------------------------------------------------------------------


def _only_corners(name: str, bounding_box_format: str, known: tuple[str, ...] = ("xyxy",)) -> None:
    if bounding_box_format not in known:
        raise NotImplementedError(
            f"{name}: bounding_box_format must be {' or '.join(map(repr, known))}, but got "
            f"{bounding_box_format!r}"
        )


def _clipped(boxes: Tensor, width: float, height: float) -> Tensor:
    return wt.minimum(
        wt.maximum(boxes, 0.0), wt.tensor([width, height, width, height], dtype=float32)
    )


def _sizes(boxes: Tensor) -> Tensor:
    """Widths and heights of boxes by their corners."""
    return boxes[..., 2:] - boxes[..., :2]


def clip_to_image_size(
    bounding_boxes: dict[str, Any],
    height: float | None = None,
    width: float | None = None,
    bounding_box_format: str = "xyxy",
) -> dict[str, Any]:
    """Return boxes with what is outside of the image cut off; labels of empty ones become -1.

    Raises:
        NotImplementedError: the format is neither "xyxy" nor "rel_xyxy".
        ValueError: the format is "xyxy", but a length is missing.

    Example:
        >>> from webtensor import keras
        >>> given = {"boxes": [[-5.0, 2.0, 5.0, 9.0], [8.0, 1.0, 9.0, 2.0]], "labels": [3, 4]}
        >>> made = keras.utils.bounding_boxes.clip_to_image_size(given, height=6, width=6)
        >>> made["boxes"].tolist(), made["labels"].tolist()
        ([[0.0, 2.0, 5.0, 6.0], [6.0, 1.0, 6.0, 2.0]], [3, -1])
    """
    name = "clip_to_image_size"
    _only_corners(name, bounding_box_format, ("xyxy", "rel_xyxy"))
    if bounding_box_format == "rel_xyxy":
        height = width = 1.0
    if height is None or width is None:
        raise ValueError(f"{name}: height and width must be given for the format 'xyxy'")
    boxes = _clipped(_floats(bounding_boxes["boxes"]), float(width), float(height))
    made = {**bounding_boxes, "boxes": boxes}
    if made.get("labels") is not None:
        has_area = wt.greater(wt.prod(_sizes(boxes), -1), 0)
        made["labels"] = wt.where(has_area, made["labels"], -1)
    return made


def crop(
    boxes: Any,
    top: float,
    left: float,
    height: float,
    width: float,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return boxes by the corners of a part of their image.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.bounding_boxes.crop([[1.0, 2.0, 5.0, 6.0]], 1, 2, 4, 2).tolist()
        [[0.0, 1.0, 2.0, 4.0]]
    """
    _only_corners("crop", bounding_box_format)
    return _clipped(pad(boxes, -top, -left), float(width), float(height))


def pad(
    boxes: Any,
    top: float,
    left: float,
    height: float | None = None,
    width: float | None = None,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return boxes in an image that got rows on top and columns at the left.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.bounding_boxes.pad([[1.0, 2.0, 5.0, 6.0]], 1, 2).tolist()
        [[3.0, 3.0, 7.0, 7.0]]
    """
    _only_corners("pad", bounding_box_format)
    return wt.add(_floats(boxes), wt.tensor([left, top, left, top], dtype=float32))


def affine_transform(
    boxes: Any,
    angle: Any,
    translate_x: Any,
    translate_y: Any,
    scale: Any,
    shear_x: Any,
    shear_y: Any,
    height: float,
    width: float,
    center_x: float | None = None,
    center_y: float | None = None,
    bounding_box_format: str = "xyxy",
) -> Tensor:
    """Return the boxes (batch, number, 4) around those of images that were turned, moved, scaled.

    Angles are in degrees; moves and centres, of which the image's is the default, are parts of
    lengths. There is one of each number per image.

    Raises:
        NotImplementedError: the format is not "xyxy".

    Example:
        >>> from webtensor import keras
        >>> turn = keras.utils.bounding_boxes.affine_transform
        >>> box, same = [[[0.0, 0.0, 2.0, 1.0]]], [0.0]
        >>> turn(box, [180.0], same, same, [1.0], same, same, 5, 5).round().tolist()
        [[[2.0, 3.0, 4.0, 4.0]]]
    """
    _only_corners("affine_transform", bounding_box_format)
    x = (0.5 if center_x is None else center_x) * (width - 1)
    y = (0.5 if center_y is None else center_y) * (height - 1)
    numbers = (angle, translate_x, translate_y, scale, shear_x, shear_y)
    images = zip(*(wt.asarray(one).tolist() for one in numbers), strict=True)
    return moved(boxes, [_affine(x, y, width, height, *one) for one in images])


def _affine(
    x: float,
    y: float,
    width: float,
    height: float,
    angle: float,
    translate_x: float,
    translate_y: float,
    scale: float,
    shear_x: float,
    shear_y: float,
) -> tuple[float, ...]:
    """The nine numbers that say where a point of an image goes."""
    turn, lean_x, lean_y = -radians(angle), -radians(shear_x), -radians(shear_y)
    from_x, from_y = x - translate_x * (width - 1), y - translate_y * (height - 1)
    a = cos(turn - lean_y) / cos(lean_y)
    b = a * tan(lean_x) + sin(turn)
    c = -sin(turn - lean_y) / cos(lean_y)
    d = cos(turn) - c * tan(lean_x)
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    across = (d, -b, x - d * from_x + b * from_y)
    return (*across, -c, a, y + c * from_x - a * from_y, 0, 0, 1)


def combined(boxes: Any, shares: Sequence[Rows], offsets: Rows | None = None) -> Tensor:
    """Return the numbers that boxes (batch, number, 4) are combined to, by other rows per image.

    ``shares`` has, for each image and number of a box, its shares in the results. One image's
    boxes may lack the batch.
    """
    held = _floats(boxes)
    batch = () if len(held.shape) == 2 and len(shares) == 1 else (len(shares),)
    made = wt.matmul(
        held, wt.tensor([*chain(*chain(*shares))], (*batch, 4, len(shares[0][0])), float32)
    )
    if offsets is None:
        return made
    return wt.add(made, wt.tensor([*chain(*offsets)], (*batch, 1, len(offsets[0])), float32))


def moved(boxes: Any, transforms: Rows) -> Tensor:
    """Return the boxes around those whose corners (x, y) are moved by a transform for each image.

    Its nine numbers take (x, y) to ``((a x + b y + c) / z, (d x + e y + f) / z)``, where
    ``z = g x + h y + i``.
    """
    shares = []
    for rows in transforms:
        # Corners: left top, right top, right bottom, left bottom.
        by_row = [
            ([x, 0, 0, x], [y, y, 0, 0], [0, x, x, 0], [0, 0, y, y])
            for x, y in zip(rows[::3], rows[1::3], strict=True)
        ]
        shares.append(
            [[one for part in parts for one in part] for parts in zip(*by_row, strict=True)]
        )
    offsets = [[one for one in rows[2::3] for _ in range(4)] for rows in transforms]
    made = combined(boxes, shares, offsets)
    corners = wt.reshape(made, (*made.shape[:-1], 3, 4))
    if any(rows[6:] != (0, 0, 1) for rows in transforms):
        corners = corners[..., :2, :] / corners[..., 2:, :]
    else:
        corners = corners[..., :2, :]
    return wt.concat([wt.min(corners, -1), wt.max(corners, -1)], -1)


# -- deltas ------------------------------------------------------------------------------------


def _encoding(
    name: str, argument: str, format: str, variance: Any, image_shape: Any
) -> tuple[Tensor | None, dict[str, Any]]:
    """The variance, and the lengths of the image, by their names."""
    if format not in ("center_xywh", "center_yxhw"):
        raise ValueError(
            f"{name}: {argument} must be 'center_xywh' or 'center_yxhw', but got {format!r}"
        )
    held = None if variance is None else _floats(variance)
    if held is not None and held.shape[-1:] != (4,):
        raise ValueError(f"{name}: variance must be 4 numbers, but its shape is {held.shape}")
    if image_shape is None:
        return held, {}
    return held, {"height": image_shape[0], "width": image_shape[1]}


def encode_box_to_deltas(
    anchors: Any,
    boxes: Any,
    anchor_format: str,
    box_format: str,
    encoding_format: str = "center_yxhw",
    variance: Any = None,
    image_shape: Any = None,
) -> Tensor:
    """Return what makes boxes of anchors: moves in parts of lengths, and logarithms of scales.

    Raises:
        ValueError: ``encoding_format`` has no centres, or ``variance`` is not four numbers.

    Example:
        >>> from webtensor import keras
        >>> encode = keras.utils.bounding_boxes.encode_box_to_deltas
        >>> encode([[0.0, 0.0, 2.0, 2.0]], [[1.0, 0.0, 3.0, 2.0]], "xyxy", "xyxy").tolist()
        [[0.0, 0.5, 0.0, 0.0]]
    """
    name = "encode_box_to_deltas"
    held, size = _encoding(name, "encoding_format", encoding_format, variance, image_shape)
    begin = convert_format(anchors, anchor_format, encoding_format, **size)
    end = convert_format(boxes, box_format, encoding_format, **size)
    lengths = wt.maximum(begin[..., 2:], epsilon())
    deltas = [
        (end[..., :2] - begin[..., :2]) / lengths,
        wt.log(wt.maximum(end[..., 2:], epsilon()) / lengths),
    ]
    made = wt.concat(deltas, -1)
    return made if held is None else wt.divide(made, held)


def decode_deltas_to_boxes(
    anchors: Any,
    boxes_delta: Any,
    anchor_format: str,
    box_format: str,
    encoded_format: str = "center_yxhw",
    variance: Any = None,
    image_shape: Any = None,
) -> Any:
    """Return the boxes that deltas make of anchors; of dictionaries, those of each level.

    Raises:
        ValueError: ``encoded_format`` has no centres, or ``variance`` is not four numbers.

    Example:
        >>> from webtensor import keras
        >>> decode = keras.utils.bounding_boxes.decode_deltas_to_boxes
        >>> decode([[0.0, 0.0, 2.0, 2.0]], [[0.0, 0.5, 0.0, 0.0]], "xyxy", "xyxy").tolist()
        [[1.0, 0.0, 3.0, 2.0]]
    """
    name = "decode_deltas_to_boxes"
    held, size = _encoding(name, "encoded_format", encoded_format, variance, image_shape)

    def decoded(anchors: Any, deltas: Any) -> Any:
        begin = convert_format(anchors, anchor_format, encoded_format, **size)
        change = _floats(deltas) if held is None else wt.multiply(_floats(deltas), held)
        lengths = begin[..., 2:]
        parts = [change[..., :2] * lengths + begin[..., :2], wt.exp(change[..., 2:]) * lengths]
        return convert_format(wt.concat(parts, -1), encoded_format, box_format, **size)

    if isinstance(anchors, dict) and isinstance(boxes_delta, dict):
        return {level: decoded(one, boxes_delta[level]) for level, one in anchors.items()}
    return decoded(anchors, boxes_delta)


# -- overlaps ----------------------------------------------------------------------------------


def _corners(name: str, boxes: Any, bounding_box_format: str, image_shape: Any) -> Any:
    size = {}
    if image_shape is not None:
        size = {"height": image_shape[0], "width": image_shape[1]}
    elif "rel" in bounding_box_format:
        raise ValueError(
            f"{name}: image_shape must be given for the format {bounding_box_format!r}"
        )
    return convert_format(boxes, bounding_box_format, "xyxy", **size)


def _overlap(first: Any, second: Any) -> Any:
    """How much of two boxes is common to them."""
    begin = wt.maximum(first[..., :2], second[..., :2])
    end = wt.minimum(first[..., 2:], second[..., 2:])
    return wt.prod(wt.maximum(end - begin, 0.0), -1)


def compute_iou(
    boxes1: Any,
    boxes2: Any,
    bounding_box_format: str,
    use_masking: bool = False,
    mask_val: float = -1,
    image_shape: Any = None,
) -> Tensor:
    """Return how much of each two boxes is common to them, as a part of what they cover together.

    Boxes are (number, 4) or (batch, number, 4), results (…, first number, second number).
    ``use_masking`` gives those of boxes without a positive number the value ``mask_val``.

    Raises:
        ValueError: boxes have another rank, or the image's shape is missing.

    Example:
        >>> from webtensor import keras
        >>> compute_iou = keras.utils.bounding_boxes.compute_iou
        >>> compute_iou([[0.0, 0.0, 2.0, 2.0]], [[0.0, 0.0, 2.0, 1.0]], "xyxy").tolist()
        [[0.5]]
    """
    name = "compute_iou"
    given = {"boxes1": wt.asarray(boxes1), "boxes2": wt.asarray(boxes2)}
    for argument, value in given.items():
        if len(value.shape) not in (2, 3):
            raise ValueError(
                f"{name}: {argument} must have rank 2 or 3, but its shape is {value.shape}"
            )
    held = [_corners(name, one, bounding_box_format, image_shape) for one in given.values()]
    first, second = wt.expand_dims(held[0], -2), wt.expand_dims(held[1], -3)
    common = _overlap(first, second)
    areas = [wt.prod(_sizes(one), -1) for one in (first, second)]
    made = wt.divide(common, areas[0] + areas[1] - common + epsilon())
    if not use_masking:
        return made
    is_empty = [wt.less(wt.max(one, -1), 0.0) for one in (first, second)]
    return wt.where(wt.logical_or(*is_empty), float(mask_val), made)


def compute_ciou(
    boxes1: Any, boxes2: Any, bounding_box_format: str, image_shape: Any = None
) -> Tensor:
    """Return the complete overlap of pairs of boxes (Zheng and others, 2020).

    From the overlap it takes the squared distance of the centres, as a part of the diagonal of the
    box around both, and how far their proportions differ.

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
        _corners(name, one, bounding_box_format, image_shape) for one in (boxes1, boxes2)
    )
    small = wt.tensor([0.0, epsilon()])
    sizes = [_sizes(one) + small for one in (first, second)]
    common = _overlap(first, second)
    areas = [wt.prod(one, -1) for one in sizes]
    overlap = common / (areas[0] + areas[1] - common + 2 * epsilon())
    around = wt.maximum(first[..., 2:], second[..., 2:]) - wt.minimum(
        first[..., :2], second[..., :2]
    )
    apart = (first[..., :2] + first[..., 2:] - second[..., :2] - second[..., 2:]) * 0.5
    distance = wt.sum(apart * apart, -1) / (wt.sum(around * around, -1) + epsilon())
    leaning = [wt.atan(one[..., 0] / one[..., 1]) for one in sizes]
    shape = wt.square(leaning[1] - leaning[0]) * (4 / pi**2)
    weight = shape / (shape - overlap + (1 + epsilon()))
    made: Tensor = overlap - (distance + shape * weight)
    return made
