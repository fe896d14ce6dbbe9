"""Random calls of image functions; what is rounded or cut off lies clear of where that jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.images import (
    LUMA,
    SAMPLED,
    SCORED,
    _coordinates,
    _crop,
    _input_coordinate,
    _nearest_of_integers,
    _otsu,
    _padded,
    _rotated,
    _scored,
    _suppressed,
    _transform,
)
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import EXACT, Array, Case

__all__ = ["GENERATORS"]

CHANNELS = (0, 1, 1, 2, 3, 3, 4, 5)


def random_numbers(draw: Draw) -> Iterator[np.random.Generator]:
    """Sources of random numbers to try one after the other."""
    seed = draw.integer(0, 10**6)
    for number in range(1000):
        yield np.random.default_rng([seed, number])
    raise AssertionError("none of a thousand draws gives what is wanted")


def are_clear(points: Array, margin: float = 2e-3, of_wholes: bool = True) -> bool:
    """Whether no place is near the middle between two whole numbers, or near one of those."""
    shifted = np.asarray(points) * 2 if of_wholes else points - 0.5
    return bool((np.abs(shifted - np.round(shifted)) > 2 * margin).all())


def batch(draw: Draw, size: Shape, channels: int | None = None) -> Array:
    """Draw images of float32, or now and then of int32."""
    channels = draw.pick(CHANNELS) if channels is None else channels
    shape = (draw.pick((0, 1, 1, 2, 3)), *size, channels)
    return draw.ints(shape, -99, 100) if draw.chance(5) else draw.floats(shape)


def size_of_image(draw: Draw, most: int = 8) -> Shape:
    """Draw a height and a width."""
    return draw.integer(1, most), draw.integer(1, most)


# -- resizing ------------------------------------------------------------------------------------


def rounded_by_doubles(i: int, length: int, outputs: int, corners: bool, centers: bool) -> int:
    """The nearest pixel by a ratio of lengths that is rounded to a double."""
    ratio = (length - 1) / (outputs - 1) if corners and outputs > 1 else length / outputs
    coordinate = ratio * (i + 0.5) if centers else ratio * i
    return math.floor(coordinate + 0.5) if corners else math.floor(coordinate)


def doubles_miss(length: int, outputs: int, corners: bool, centers: bool) -> bool:
    """Whether that is another pixel than the nearest."""
    return any(
        min(rounded_by_doubles(i, length, outputs, corners, centers), length - 1)
        != min(
            math.floor(_input_coordinate(i, length, outputs, True, corners, centers)), length - 1
        )
        for i in range(outputs)
    )


def resize(name: str, draw: Draw) -> Case:
    image_size, size = size_of_image(draw), size_of_image(draw, 12)
    x = batch(draw, image_size)
    if draw.chance(4):
        x = draw.floats(x.shape[1:])
    corners, centers = draw.pick(((False, False), (True, False), (False, True)))
    is_nearest = "nearest" in name
    oracle = None
    if is_nearest and x.dtype.kind == "i" and not corners and not centers:
        x, oracle = draw.ints(x.shape, -(2**31), 2**31), _nearest_of_integers
        return call(name, x, list(size), oracle=oracle)
    case = call(name, x, draw.pick((list(size), size)), corners, centers)
    missed = is_nearest and any(
        doubles_miss(length, outputs, corners, centers)
        for length, outputs in zip(image_size, size, strict=True)
    )
    return replace(case, note="missed by doubles" if missed else "")


# -- sampling ------------------------------------------------------------------------------------


def crop_coordinates(boxes: Array, image_size: Shape, size: Shape) -> list[Array]:
    """Rows and columns of the image that the crops show."""
    coordinates = []
    for axis in (0, 1):
        first, last = (boxes[:, axis + end].astype(np.float64) for end in (0, 2))
        shares = np.linspace(0, 1, size[axis]) if size[axis] > 1 else np.array([0.5])
        along = first[:, None] + shares * (last - first)[:, None]
        coordinates.append(along * (image_size[axis] - 1))
    return coordinates


def crop_and_resize(draw: Draw) -> Case:
    image_size, size = size_of_image(draw), size_of_image(draw, 6)
    x = batch(draw, image_size)
    count = draw.integer(0, 4) if len(x) else 0
    method = draw.pick(("bilinear", "nearest"))
    if 1 in image_size or draw.chance(4):
        # Of one pixel only what lies on it is inside.
        corners = draw.pick(([0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]))
        boxes = np.tile(np.array(corners, np.float32), (count, 1))
        size, method = image_size if min(image_size) > 1 else (1, 1), "bilinear"
        size = (2, 2) if size != (1, 1) else size
    else:
        for random in random_numbers(draw):
            boxes = random.uniform(-0.3, 1.3, (count, 4)).astype(np.float32)
            if all(
                are_clear(coordinates) for coordinates in crop_coordinates(boxes, image_size, size)
            ):
                break
    numbers = draw.ints((count,), 0, max(1, len(x)))
    fill = draw.number(-3, 3)
    tolerance = SAMPLED if method == "bilinear" else EXACT
    args = (x, boxes, numbers, list(size), method, fill)
    return call("image.crop_and_resize", *args, oracle=_crop, tolerance=tolerance)


def transform(draw: Draw) -> Case:
    image_size = size_of_image(draw, 6)
    x = batch(draw, image_size)
    output_size = [draw.integer(1, 5), draw.integer(1, 5)] if draw.chance() else None
    count = 1 if draw.chance() else len(x)
    method = draw.pick(("nearest", "bilinear"))
    mode = draw.pick(("constant", "reflect", "wrap", "nearest"))
    identity = np.array([1, 0, 0, 0, 1, 0, 0, 0])
    width = np.array([0.3, 0.3, 4, 0.3, 0.3, 4, 0.02, 0.02]) * draw.pick((1, 1, 3))
    for random in random_numbers(draw):
        transforms = (identity + random.uniform(-1, 1, (count, 8)) * width).astype(np.float32)
        points = _coordinates(transforms.astype(np.float64), output_size or image_size)
        # SAMPLED is for coordinates of up to 20 pixels.
        if are_clear(points) and np.abs(points).max(initial=0) < 20:
            break
    tolerance = SAMPLED if method == "bilinear" else EXACT
    args = (x, transforms, method, mode, draw.number(-2, 2), output_size)
    return call("image.transform", *args, oracle=_transform, tolerance=tolerance)


def rotate_with_offset(draw: Draw) -> Case:
    height, width = size_of_image(draw, 6)
    x = batch(draw, (height, width))
    channels = x.shape[-1]
    center: Any = draw.number(-0.5, 1.5)
    if draw.chance():
        center = (center, draw.number(0, 1))
    cx, cy = (
        width * share for share in (center if isinstance(center, tuple) else (center, center))
    )
    rows, columns = np.mgrid[:height, :width]
    for random in random_numbers(draw):
        angle = float(random.uniform(-7, 7))
        across = (columns - cx) * math.cos(angle) - (rows - cy) * math.sin(angle) + cx
        down = (columns - cx) * math.sin(angle) + (rows - cy) * math.cos(angle) + cy
        if all(are_clear(points, of_wholes=False) for points in (across, down)):
            break
    fill: Any = draw.integer(-3, 9)
    if channels and draw.chance():
        count = 3 if channels == 4 and draw.chance() else channels
        fill = [float(draw.integer(-3, 9)) for _ in range(count)]
    case = call("image.rotate_with_offset", x, angle, fill, center, oracle=_rotated)
    is_opacity_given = isinstance(fill, list) and len(fill) > 3
    return replace(case, note="with a fill of opacity" if is_opacity_given else "")


# -- colours -------------------------------------------------------------------------------------


def flip_left_right(draw: Draw) -> Case:
    shape = draw.shape(4, 4)
    return call("image.flip_left_right", draw.numbers(shape, "ffi"))


def grayscale_to_rgb(draw: Draw) -> Case:
    return call("image.grayscale_to_rgb", draw.numbers((*draw.shape(1, 5), 1), "ffi"))


def rgb_to_grayscale(draw: Draw) -> Case:
    shape = (*draw.shape(1, 5, most_elements=100), 3)
    if not draw.chance(3):
        return call("image.rgb_to_grayscale", draw.floats(shape, 0, 255))
    for random in random_numbers(draw):
        x = random.integers(0, 256, shape).astype(np.int32)
        if are_clear((x * LUMA).sum(axis=-1), 1e-4):
            break
    return call("image.rgb_to_grayscale", x, tolerance=EXACT)


def is_clearly_parted(gray: Array) -> bool:
    """Whether the best level parts greys clearly better than those that part them otherwise."""
    levels = np.round(gray).ravel()
    variances = set()
    for level in np.unique(levels)[:-1]:
        dark, light = levels[levels <= level], levels[levels > level]
        variances.add(len(dark) * len(light) * (dark.mean() - light.mean()) ** 2)
    first, *others = sorted(variances, reverse=True) or [0.0]
    return not others or others[0] < first * (1 - 1e-4)


def threshold(draw: Draw) -> Case:
    shape = (*size_of_image(draw), draw.pick((1, 3)))
    method, inverted = draw.pick(("binary", "otsu")), draw.chance()
    level = draw.number(0, 1)
    is_whole = draw.chance()
    for random in random_numbers(draw):
        x = random.uniform(0, 255, shape).astype(np.float32)
        x = x.astype(np.int32) if is_whole else x
        gray = (x * LUMA).sum(axis=-1) if shape[2] == 3 else x
        parting = _otsu(gray) if method == "otsu" else level * 255
        clear = np.abs(gray - parting) > 1e-3
        if method == "otsu":
            clear = (clear | (gray == parting)) & (np.abs(gray % 1 - 0.5) > 1e-3)
        if clear.all() and (method == "binary" or is_clearly_parted(gray)):
            break
    return call("image.threshold", x, method, inverted, level)


# -- boxes that overlap --------------------------------------------------------------------------


def suppression(name: str, oracle: Callable[..., Any], draw: Draw) -> Case:
    count = draw.pick((0, 1, 2, 5, 9, 16))
    corner, size = draw.floats((count, 2), 0, 3), draw.floats((count, 2), 0, 2)
    boxes = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    if draw.chance():
        boxes = np.where(draw.bools((count, 1)), boxes[:, [2, 1, 0, 3]], boxes)
    is_soft = "score" in name and draw.chance()
    scores = draw.distinct((count,), 0.01, 1)
    if count and not is_soft and draw.chance(3):
        again = draw.ints((count,), 0, count)
        boxes, scores = boxes[again], scores[draw.ints((count,), 0, count)]
    least = draw.pick((-math.inf, draw.number(0, 1)))
    args: tuple[Any, ...]
    args = (np.ascontiguousarray(boxes), scores, draw.integer(0, 20), draw.number(0, 1), least)
    if "score" in name:
        args = (*args, draw.number(0.1, 1) if is_soft else 0.0)
    elif "padded" in name:
        args = (*args, draw.chance())
    return call(name, *args, oracle=oracle, tolerance=SCORED)


SUPPRESSIONS: dict[str, Callable[..., Any]] = {
    "image.non_max_suppression": _suppressed,
    "image.non_max_suppression_padded": _padded,
    "image.non_max_suppression_with_score": _scored,
}

GENERATORS: dict[str, Generator] = {
    "image.resize_bilinear": partial(resize, "image.resize_bilinear"),
    "image.resize_nearest_neighbor": partial(resize, "image.resize_nearest_neighbor"),
    "image.crop_and_resize": crop_and_resize,
    "image.transform": transform,
    "image.rotate_with_offset": rotate_with_offset,
    "image.flip_left_right": flip_left_right,
    "image.grayscale_to_rgb": grayscale_to_rgb,
    "image.rgb_to_grayscale": rgb_to_grayscale,
    "image.threshold": threshold,
    **{
        f"{name}{suffix}": partial(suppression, f"{name}{suffix}", oracle)
        for name, oracle in SUPPRESSIONS.items()
        for suffix in ("", "_async")
    },
}
