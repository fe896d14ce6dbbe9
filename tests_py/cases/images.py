"""Cases of images: resizing, cropping, warping, colours, thresholds, boxes that overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    WHOLE_PART,
    Array,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
)

__all__ = ["COLORS", "GRADIENTS", "RESIZING", "SAMPLING", "SUPPRESSION"]

INF, NAN = math.inf, math.nan

# -- resizing: each axis is a matrix of weights, from exact fractions -----------------------------


def _input_coordinate(
    i: int, length: int, outputs: int, nearest: bool, corners: bool, centers: bool
) -> Fraction:
    if corners and outputs > 1:
        coordinate = Fraction(i * (length - 1), outputs - 1)
        return coordinate + Fraction(1, 2) if nearest else coordinate
    if centers:
        coordinate = (i + Fraction(1, 2)) * Fraction(length, outputs)
        return coordinate if nearest else coordinate - Fraction(1, 2)
    return Fraction(i * length, outputs)


def _weights(length: int, outputs: int, nearest: bool, corners: bool, centers: bool) -> Array:
    weights = np.zeros((outputs, length))
    for i in range(outputs):
        coordinate = _input_coordinate(i, length, outputs, nearest, corners, centers)
        low = math.floor(coordinate)
        share = 0.0 if nearest else float(coordinate - low)
        weights[i, min(max(low, 0), length - 1)] += 1 - share
        weights[i, min(max(low + 1, 0), length - 1)] += share
    return weights


def _resized(nearest: bool) -> Any:
    def oracle(
        x: Array, size: Sequence[int], corners: bool = False, centers: bool = False
    ) -> Array:
        batch = x[None] if x.ndim == 3 else x
        options = (nearest, corners, centers)
        rows = _weights(batch.shape[1], size[0], *options)
        columns = _weights(batch.shape[2], size[1], *options)
        y: Array = np.einsum("ir,jc,brcd->bijd", rows, columns, batch * 1.0)
        y = y.astype(np.int32) if x.dtype.kind == "i" and nearest else y
        return y[0] if x.ndim == 3 else y

    return oracle


_bilinear, _nearest = _resized(False), _resized(True)

INTERPOLATED = Tolerance(
    "two interpolations, each of three roundings relative to its operands and one of the weight",
    ulps=8,
    gpu_ulps=24,
    scale=lambda x, *_, **__: np.abs(x).max(initial=0),
)
OPTIONS = ((False, False), (True, False), (False, True))
SIZES = ((1, 1), (2, 2), (3, 7), (5, 6), (7, 4), (11, 13), (1, 9), (20, 3))


def _resize_cases() -> list[Case]:
    cases = []
    for name, oracle, tolerance in (
        ("image.resize_bilinear", _bilinear, INTERPOLATED),
        ("image.resize_nearest_neighbor", _nearest, EXACT),
    ):

        def case(x: Array, *options: Any, **fields: Any) -> Case:
            return Case(name, (x, *options), oracle, tolerance, **fields)  # noqa: B023

        for size, (corners, centers) in product(SIZES, OPTIONS):
            cases.append(case(floats((2, 5, 6, 3)), size, corners, centers, sample=size == (3, 7)))
        for corners, centers in OPTIONS:
            cases += [case(floats((1, 4, 4, n)), (6, 3), corners, centers) for n in (1, 2, 4, 5, 8)]
            cases += [
                case(floats((1, 1, 1, 2)), (3, 4), corners, centers),
                case(floats((1, 7, 1, 2)), (3, 1), corners, centers),
                case(floats((4, 5, 3)), (7, 2), corners, centers),
                case(floats((1, 49, 2, 1)), (98, 49), corners, centers),
                case(floats((1, 32, 24, 4)), (11, 50), corners, centers),
                case(floats((2, 2, 5, 3)), (3, 1030), corners, centers),
                case(floats((0, 4, 4, 2)), (2, 3), corners, centers),
                case(floats((2, 4, 4, 0)), (2, 3), corners, centers),
                case(ints((1, 4, 5, 3), -100, 100), (7, 3), corners, centers),
            ]
        special = arr([[INF, 1], [NAN, -INF]]).reshape(1, 2, 2, 1)
        unscaled = Case(
            name, (special, (2, 2)), lambda x, size: x, note="of special values, unscaled"
        )
        cases.append(unscaled)
    large = arr([[2**30 + 1, -(2**31)], [2**24 + 1, 7]], np.int32).reshape(1, 2, 2, 1)
    cases.append(Case("image.resize_nearest_neighbor", (large, (3, 4)), _nearest_of_integers))
    return cases


def _nearest_of_integers(x: Array, size: Sequence[int]) -> Array:
    rows = np.arange(size[0]) * x.shape[1] // size[0]
    columns = np.arange(size[1]) * x.shape[2] // size[1]
    return x[:, rows[:, None], columns]


# -- projective sampling, one pixel at a time ----------------------------------------------------


def _mapped(x: float, length: int, mode: str) -> float:
    """TensorFlow's mapping of coordinates outside an image."""
    if mode == "reflect" and length > 1:
        period = 2 * length
        if x < 0:
            x = period * math.trunc(-x / period) + x
            x = x + period if x < -length else -x - 1
        elif x > length - 1:
            x -= period * math.trunc(x / period)
            x = period - x - 1 if x >= length else x
    elif mode == "wrap" and length > 1:
        if x < 0:
            x += length * (math.trunc(-x / (length - 1)) + 1)
        elif x > length - 1:
            x -= length * math.trunc(x / (length - 1))
    elif mode == "constant":
        return x
    return min(max(x, 0.0), length - 1.0)


def _pixel(image: Array, row: int, column: int, fill: float) -> Array:
    height, width, channels = image.shape
    if 0 <= row < height and 0 <= column < width:
        return image[row, column]
    return np.full(channels, fill, dtype=float)


def _read(image: Array, y: float, x: float, bilinear: bool, fill: float) -> Array:
    if not bilinear:
        return _pixel(image, math.floor(y + 0.5), math.floor(x + 0.5), fill)
    if not (-1 < y < image.shape[0] and -1 < x < image.shape[1]):
        return np.full(image.shape[2], fill, dtype=float)
    top, left = math.floor(y), math.floor(x)
    total = np.zeros(image.shape[2])
    for row, down in ((top, top + 1 - y), (top + 1, y - top)):
        for column, across in ((left, left + 1 - x), (left + 1, x - left)):
            if down * across:
                total = total + down * across * _pixel(image, row, column, fill)
    return total


def _projected(t: Array, y: int, x: int) -> tuple[float, float] | None:
    p = t[6] * x + t[7] * y + 1
    if p == 0:
        return None
    return (t[3] * x + t[4] * y + t[5]) / p, (t[0] * x + t[1] * y + t[2]) / p


def _transform(
    image: Array,
    transforms: Array,
    interpolation: str = "nearest",
    fill_mode: str = "constant",
    fill_value: float = 0,
    output_shape: Sequence[int] | None = None,
) -> Array:
    batch, height, width, channels = image.shape
    size = output_shape or (height, width)
    result = np.full((batch, *size, channels), fill_value, dtype=float)
    for n, row, column in np.ndindex(batch, *size):
        point = _projected(transforms[n % len(transforms)], row, column)
        if point is not None:
            y, x = _mapped(point[0], height, fill_mode), _mapped(point[1], width, fill_mode)
            bilinear = interpolation == "bilinear"
            result[n, row, column] = _read(image[n], y, x, bilinear, fill_value)
    if image.dtype.kind == "i" and interpolation == "nearest":
        return result.astype(np.int32)
    return result


def _rotated(image: Array, radians: float, fill_value: Any = 0, center: Any = 0.5) -> Array:
    batch, height, width, channels = image.shape
    center = (center, center) if isinstance(center, (int, float)) else center
    cx, cy = width * center[0], height * center[1]
    fill = np.full(channels, fill_value) if np.ndim(fill_value) == 0 else np.array(fill_value)
    if len(fill) < channels:
        fill = np.append(fill, 255)
    result = np.empty(image.shape)
    sine, cosine = math.sin(radians), math.cos(radians)
    for n, row, column in np.ndindex(batch, height, width):
        x = math.floor((column - cx) * cosine - (row - cy) * sine + cx + 0.5)
        y = math.floor((column - cx) * sine + (row - cy) * cosine + cy + 0.5)
        inside = 0 <= y < height and 0 <= x < width
        result[n, row, column] = image[n, y, x] if inside else fill
    return result.astype(np.int32) if image.dtype.kind == "i" else result


def _crop(
    image: Array,
    boxes: Array,
    box_ind: Array,
    crop_size: Sequence[int],
    method: str = "bilinear",
    extrapolation_value: float = 0,
) -> Array:
    _, height, width, channels = image.shape
    rows, columns = crop_size
    result = np.full((len(boxes), rows, columns, channels), extrapolation_value, dtype=float)
    for n, row, column in np.ndindex(len(boxes), rows, columns):
        y1, x1, y2, x2 = boxes[n]
        y = y1 + row * (y2 - y1) / (rows - 1) if rows > 1 else (y1 + y2) / 2
        x = x1 + column * (x2 - x1) / (columns - 1) if columns > 1 else (x1 + x2) / 2
        y, x = y * (height - 1), x * (width - 1)
        if -1e-6 * height <= y <= (height - 1) + 1e-6 * height and (
            -1e-6 * width <= x <= (width - 1) + 1e-6 * width
        ):
            y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
            result[n, row, column] = _read(image[box_ind[n]], y, x, method == "bilinear", 0)
    return result


SAMPLED = Tolerance(
    "coordinates of up to 20 pixels are wrong by a few ULP of that, and the image's slopes, up to "
    "twice its largest value, carry that into the result",
    ulps=160,
    gpu_ulps=320,
    scale=lambda image, *_, **__: np.abs(image).max(initial=0),
)


def _coordinates(transforms: Array, size: Sequence[int]) -> Array:
    points = [_projected(t, row, column) for t in transforms for row, column in np.ndindex(*size)]
    return np.array([point for point in points if point is not None])


def _clear_transforms(
    count: int, size: Sequence[int], spread: float, margin: float = 2e-3, seed: int = 0
) -> Array:
    """Random transforms near the identity, whose coordinates avoid pixels' centres and edges."""
    random = np.random.default_rng([seed, count, *size])
    identity = np.array([1, 0, 0, 0, 1, 0, 0, 0])
    width = np.array([0.3, 0.3, 4, 0.3, 0.3, 4, 0.02, 0.02]) * spread
    while True:
        transforms = (identity + random.uniform(-1, 1, (count, 8)) * width).astype(np.float32)
        twice = _coordinates(transforms.astype(np.float64), size) * 2
        if np.abs(twice - np.round(twice)).min() > 2 * margin:
            return transforms


IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0]
EXACT_TRANSFORMS = arr(
    [
        IDENTITY,
        [1, 0, 2, 0, 1, -1, 0, 0],
        [0, 1, 0, 1, 0, 0, 0, 0],
        [-1, 0, 5, 0, -1, 4, 0, 0],
        [0.5, 0, 0, 0, 2, 0.25, 0, 0],
        [1, 0, 0, 0, 1, 0, -0.5, 0],
        [1, 0, 1e30, 0, 1, -1e30, 0, 0],
    ]
)
MODES = ("constant", "reflect", "wrap", "nearest")


def _transform_cases() -> list[Case]:
    def case(image: Array, transforms: Array, method: str, *options: Any, **fields: Any) -> Case:
        tolerance = SAMPLED if method == "bilinear" else EXACT
        args = (image, transforms, method, *options)
        return Case("image.transform", args, _transform, tolerance, **fields)

    cases = []
    for method, mode in product(("nearest", "bilinear"), MODES):
        transforms = _clear_transforms(3, (6, 7), 1)
        cases.append(case(floats((3, 6, 7, 3)), transforms, method, mode, 0.5, sample=True))
        far = _clear_transforms(2, (4, 5), 8)
        cases.append(case(floats((2, 4, 5, 4)), far, method, mode, -1.0))
        transform = _clear_transforms(1, (5, 3), 1)
        cases += [
            case(floats((2, 4, 6, 1)), transform, method, mode, 0.0, [5, 3]),
            case(floats((1, 1, 1, 2)), transform, method, mode, 2.0, [5, 3]),
            case(floats((1, 4, 4, 5)), _clear_transforms(1, (9, 8), 2), method, mode, 0, [9, 8]),
            case(floats((0, 4, 4, 2)), transform, method, mode),
        ]
        exact = EXACT_TRANSFORMS if mode == "constant" else EXACT_TRANSFORMS[:6]
        cases.append(case(floats((len(exact), 5, 6, 2)), exact, method, mode, 3.0))
    cases += [
        Case("image.transform", (floats((1, 4, 4, 2)), arr([IDENTITY])), _transform),
        case(ints((1, 4, 5, 3)), _clear_transforms(1, (4, 5), 1), "nearest"),
        case(ints((1, 4, 5, 3)), _clear_transforms(1, (4, 5), 1), "bilinear"),
        case(floats((1, 3, 3, 1)), arr([[1, 0, 0.5, 0, 1, 0, 0, 0]]), "bilinear", "constant", NAN),
    ]
    return cases


def _rotation_cases() -> list[Case]:
    def case(image: Array, *options: Any) -> Case:
        return Case("image.rotate_with_offset", (image, *options), _rotated)

    cases = [
        case(floats((2, 6, 7, 3)), radians, 0.25, center)
        for radians, center in product((0.3, 1.2, -2.0, 4.0), (0.5, (0.3, 0.7), 0.01))
    ]
    quarter = math.pi / 2
    cases += [case(floats((1, 6, 4, n)), quarter * turns) for n in (1, 4) for turns in (0, 1, 2, 3)]
    return [
        *cases,
        case(floats((1, 5, 6, 3)), 0.7, [0.125, 0.25, 0.5]),
        case(floats((1, 5, 6, 4)), 0.7, (1, 2, 3)),
        case(floats((1, 5, 6, 4)), 0.7, (1, 2, 3, 4)),
        case(floats((1, 5, 6, 1)), 0.7, [9.0]),
        case(ints((2, 5, 6, 3), 0, 256), 0.7, 7),
        case(floats((0, 5, 6, 3)), 0.7),
    ]


BOXES = arr(
    [
        [0, 0, 1, 1],
        [0.1, 0.2, 0.8, 0.7],
        [1, 1, 0, 0],
        [0.9, 0.1, 0.2, 0.6],
        [-0.31, -0.2, 0.5, 1.3],
        [1.5, 0, 2, 1],
        [0.25, 0.25, 0.25, 0.25],
    ]
)


def _crop_cases() -> list[Case]:
    def case(image: Array, boxes: Array, *options: Any, **fields: Any) -> Case:
        numbers = (np.arange(len(boxes)) * 5 % max(1, len(image))).astype(np.int32)
        size, *rest = options
        tolerance = EXACT if "nearest" in rest else SAMPLED
        args = (image, boxes, numbers, size, *rest)
        return Case("image.crop_and_resize", args, _crop, tolerance, **fields)

    cases = [
        case(floats((3, 9, 8, n)), BOXES, size, "bilinear", fill)
        for n, size, fill in product((1, 3, 4), ([4, 5], [1, 1], [7, 1], [9, 8]), (0, -2.5))
    ]
    # Sizes whose coordinates in these boxes are not near half pixels.
    clear = BOXES[[0, 2, 5]]
    cases += [
        case(floats((2, 9, 8, 3)), clear, size, "nearest", 1.5) for size in ([5, 8], [9, 4], [3, 3])
    ]
    jittered = (BOXES + arr([0.0113, 0.0171, 0.0071, 0.0137])).astype(np.float32)
    cases += [case(floats((2, 9, 8, n)), jittered, [6, 5], "nearest", 0.5) for n in (1, 4)]
    random = np.random.default_rng(3)
    many = random.uniform(-0.2, 1.2, (40, 4)).astype(np.float32)
    return [
        *cases,
        case(floats((2, 20, 16, 3)), many, [7, 9], sample=True),
        case(ints((2, 5, 5, 3)), BOXES, [3, 3]),
        case(floats((1, 1, 1, 2)), BOXES[:4], [2, 3]),
        case(floats((2, 5, 5, 3)), np.zeros((0, 4), np.float32), [3, 3]),
        case(floats((0, 5, 5, 3)), np.zeros((0, 4), np.float32), [3, 3]),
        case(floats((1, 50, 50, 1)), BOXES[:1], [50, 50]),
        case(floats((1, 33, 77, 1)), BOXES[:1], [101, 211], "bilinear", NAN),
        case(floats((1, 6, 6, 1)), BOXES[4:5], [5, 5], "bilinear", NAN, note="extrapolated to NaN"),
    ]


# -- colours -------------------------------------------------------------------------------------

LUMA = np.array([0.2989, 0.587, 0.114])


def _gray(image: Array) -> Array:
    gray = np.asarray((image * LUMA).sum(axis=-1, keepdims=True))
    return np.trunc(gray).astype(np.int32) if image.dtype.kind == "i" else gray


def _repeated(image: Array) -> Array:
    return np.concatenate([image] * 3, axis=-1)


def _otsu(gray: Array) -> float:
    """The level that parts a histogram best, by trying all."""
    levels = np.round(gray)
    counts = np.array([(levels == level).sum() for level in range(256)])
    best, maximum = -1.0, 0.0
    for level in range(255):
        dark, light = counts[: level + 1], counts[level + 1 :]
        if dark.sum() and light.sum():
            first = (dark * np.arange(level + 1)).sum() / dark.sum()
            second = (light * np.arange(level + 1, 256)).sum() / light.sum()
            variance = dark.sum() / gray.size * (light.sum() / gray.size) * (first - second) ** 2
            if variance > maximum * (1 + 1e-9):
                best, maximum = float(level), variance
    return best


def _threshold(
    image: Array, method: str = "binary", inverted: bool = False, thresh_value: float = 0.5
) -> Array:
    gray = (image * LUMA).sum(axis=-1, keepdims=True) if image.shape[2] == 3 else image
    level = _otsu(gray) if method == "otsu" else thresh_value * 255
    light = gray <= level if inverted else gray > level
    return np.where(light, 255, 0).astype(np.int32)


def _greys(shape: Sequence[int], seed: int = 0) -> Array:
    """Two humps of greys with a valley between them."""
    random = np.random.default_rng([seed, *shape])
    low, high = random.normal(70, 15, shape), random.normal(180, 20, shape)
    return np.clip(np.where(random.random(shape) < 0.4, low, high), 0, 255)


def _color_cases() -> list[Case]:
    cases = []
    for shape in ((2, 3, 4, 3), (4, 3), (2, 2, 2, 2, 3), (0, 3), (1, 5, 5, 3)):
        name = "image.rgb_to_grayscale"
        cases += [
            Case(name, (floats(shape, 0, 255),), _gray, FEW_ROUNDINGS),
            Case(name, (ints(shape, 0, 256),), _gray, WHOLE_PART),
        ]
        single = (*shape[:-1], 1)
        cases += [
            Case("image.grayscale_to_rgb", (floats(single),), _repeated),
            Case("image.grayscale_to_rgb", (ints(single),), _repeated),
        ]
    for shape in ((2, 3, 5, 3), (1, 4, 1, 2), (1, 3, 8, 4), (0, 2, 2, 1), (2, 2, 3, 1)):
        name = "image.flip_left_right"
        cases.append(Case(name, (floats(shape),), lambda x: x[:, :, ::-1]))
        cases.append(Case(name, (ints(shape),), lambda x: x[:, :, ::-1]))
    for channels, inverted in product((1, 3), (False, True)):
        whole = _greys((13, 17, channels)).astype(np.int32)
        parts = _greys((9, 11, channels), 1).astype(np.float32)
        for image in (whole, parts):
            cases += [
                Case("image.threshold", (image, "otsu", inverted), _threshold, reach=1e6),
                Case("image.threshold", (image, "binary", inverted, 0.3), _threshold),
                Case("image.threshold", (image, "binary", inverted), _threshold),
            ]
    flat = np.full((3, 4, 1), 80, np.int32)
    two = np.where(np.arange(12).reshape(3, 4, 1) % 3 == 0, 0, 255).astype(np.int32)
    cases += [
        Case("image.threshold", (image, "otsu"), _threshold, reach=1e6) for image in (flat, two)
    ]
    cases.append(Case("image.threshold", (whole,), _threshold))
    return cases


# -- boxes that overlap --------------------------------------------------------------------------


def _corners(box: Array) -> tuple[float, float, float, float]:
    return min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])


def _overlap(first: Array, second: Array) -> float:
    a, b = _corners(first), _corners(second)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    if min(areas) <= 0:
        return 0.0
    height = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    width = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    return height * width / (sum(areas) - height * width)


def _chosen(
    boxes: Array, scores: Array, most: int, iou: float, least: float, sigma: float
) -> tuple[list[int], list[float]]:
    """Choose the best; then lower or leave out all those that overlap it; and again."""
    left = {n: float(score) for n, score in enumerate(scores) if score > least}
    indices: list[int] = []
    chosen_scores: list[float] = []
    while left and len(indices) < most:
        best = min(left, key=lambda n: (-left[n], n))
        indices.append(best)
        chosen_scores.append(left.pop(best))
        for other in list(left):
            overlap = _overlap(boxes[best], boxes[other])
            if sigma:
                left[other] *= math.exp(-0.5 / sigma * overlap**2)
            if overlap >= iou or left[other] <= least:
                del left[other]
    return indices, chosen_scores


def _numbers(indices: list[int]) -> Array:
    return np.array(indices, dtype=np.int32)


def _suppressed(
    boxes: Array, scores: Array, most: int, iou: float = 0.5, least: float = -INF
) -> Array:
    return _numbers(_chosen(boxes, scores, most, iou, least, 0)[0])


def _scored(
    boxes: Array, scores: Array, most: int, iou: float = 0.5, least: float = -INF, sigma: float = 0
) -> tuple[Array, Array]:
    indices, chosen_scores = _chosen(boxes, scores, most, iou, least, sigma)
    return _numbers(indices), np.array(chosen_scores, dtype=np.float64)


def _padded(
    boxes: Array,
    scores: Array,
    most: int,
    iou: float = 0.5,
    least: float = -INF,
    pad: bool = False,
) -> tuple[Array, Array]:
    indices, _ = _chosen(boxes, scores, most, iou, least, 0)
    missing = min(most, len(boxes)) - len(indices) if pad else 0
    return _numbers(indices + [0] * missing), np.array(len(indices), dtype=np.int32)


def _boxes(count: int, seed: int = 0) -> Array:
    random = np.random.default_rng([seed, count])
    corner, size = random.uniform(0, 3, (count, 2)), random.uniform(0.2, 2, (count, 2))
    boxes = np.concatenate([corner, corner + size], axis=1)
    swapped = random.random(count) < 0.3
    boxes[swapped] = boxes[swapped][:, [2, 3, 0, 1]]
    return boxes.astype(np.float32)


SCORED = Tolerance("a product of up to ten exponentials in float64", ulps=2)


def _suppression_cases() -> list[Case]:
    plain, scored, padded = (
        f"image.non_max_suppression{suffix}" for suffix in ("", "_with_score", "_padded")
    )
    cases = []
    for count, most, iou, least in product(
        (1, 8, 60), (0, 3, 100), (0.0, 0.2, 0.5, 1.0), (-INF, 0.4)
    ):
        boxes, scores = _boxes(count), floats((count,), 0, 1)
        args = (boxes, scores, most, iou, least)
        cases += [
            Case(plain, args, _suppressed),
            Case(padded, (*args, most == 100), _padded),
        ]
        if count > 1:
            cases += [
                Case(scored, (*args, sigma), _scored, SCORED) for sigma in (0.0, 0.1, 0.5, 1.0)
            ]
    same = np.tile(_boxes(1), (4, 1))
    ties = arr([0.5, 0.7, 0.7, 0.5])
    flat = arr([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]])
    return [
        *cases,
        Case(plain, (same, ties, 4), _suppressed),
        Case(plain, (_boxes(4), ties, 4, 1.0), _suppressed),
        Case(
            plain, (flat, arr([0.3, 0.2, 0.1]), 3, 0.0), _suppressed, note="of boxes without area"
        ),
        Case(plain, (_boxes(4), arr([NAN, 0.5, INF, -INF]), 4), _suppressed, note="of odd scores"),
        Case(plain, (np.zeros((0, 4), np.float32), np.zeros(0, np.float32), 4), _suppressed),
    ]


# -- gradients -----------------------------------------------------------------------------------


def _squares(x: Array, name: str, *options: Any) -> Array:
    oracle = _bilinear if name == "image.resize_bilinear" else _nearest
    y: Array = oracle(x**2, *options) ** 2
    return y


def _gradient_cases() -> list[Case]:
    cases = []
    for name, oracle in (
        ("image.resize_bilinear", _bilinear),
        ("image.resize_nearest_neighbor", _nearest),
    ):
        for size, (corners, centers) in product(((1, 1), (2, 7), (6, 3), (9, 2), (4, 5)), OPTIONS):
            cases.append(
                gradient_of(Case(name, (floats((1, 4, 5, 2)), size, corners, centers), oracle))
            )
        for corners, centers in OPTIONS:
            case = Case(
                "pooled_squares",
                (floats((1, 3, 3, 1), 0.5, 2), name, (5, 2), corners, centers),
                _squares,
            )
            cases += [gradient_of(case), second_derivative_of(case)]
        cases += [
            gradient_of(Case(name, (floats((3, 4, 4)), (5, 6)), oracle)),
            gradient_of(Case(name, (floats((1, 1, 3, 1)), (4, 4), True), oracle)),
            gradient_of(Case(name, (floats((0, 3, 3, 1)), (4, 4)), oracle)),
        ]
    for method, mode in product(("nearest", "bilinear"), MODES):
        transforms = _clear_transforms(2, (3, 4), 1, 0.01)
        case = Case(
            "image.transform", (floats((2, 3, 4, 2)), transforms, method, mode, 0.5), _transform
        )
        cases.append(gradient_of(case, (0,) if method == "nearest" else None))
    small = Case(
        "image.transform",
        (
            floats((1, 3, 3, 1)),
            _clear_transforms(1, (2, 3), 0.5, 0.02),
            "bilinear",
            "nearest",
            0,
            [2, 3],
        ),
        _transform,
    )
    cases.append(second_derivative_of(small))
    boxes = arr([[0.11, 0.23, 0.84, 0.71], [0.87, -0.2, 0.17, 0.64]])  # no ties
    numbers = arr([1, 0], np.int32)
    for crop_size in ([3, 4], [1, 2]):
        args = (floats((2, 4, 5, 2)), boxes, numbers, crop_size)
        cases.append(gradient_of(Case("image.crop_and_resize", args, _crop)))
        cases.append(second_derivative_of(Case("image.crop_and_resize", args, _crop)))
        cases.append(gradient_of(Case("image.crop_and_resize", (*args, "nearest"), _crop), (0,)))
    rotation = Case("image.rotate_with_offset", (floats((1, 4, 5, 2)), 0.7, 0.5), _rotated)
    cases += [
        gradient_of(rotation),
        gradient_of(
            Case("image.rotate_with_offset", (floats((1, 4, 5, 3)), 0.7, (1, 2, 3)), _rotated)
        ),
        gradient_of(Case("image.rgb_to_grayscale", (floats((2, 2, 3)),), _gray)),
        gradient_of(Case("image.grayscale_to_rgb", (floats((2, 2, 1)),), _repeated)),
        gradient_of(
            Case("image.flip_left_right", (floats((1, 2, 3, 2)),), lambda x: x[:, :, ::-1])
        ),
    ]
    return cases


RESIZING = _resize_cases()
SAMPLING = [*_transform_cases(), *_rotation_cases(), *_crop_cases()]
COLORS = _color_cases()
SUPPRESSION = _suppression_cases()
GRADIENTS = _gradient_cases()
