"""Fills a model's inputs: with a picture, with noise, or with one number everywhere."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import js
from specifications import Specification, written_shape

import webtensor as wt
from webtensor.shapes import prod

#: The ways to fill an input, by the values of the page's choices.
WAYS = {"picture": "the picture", "noise": "noise", "constant": "one number", "text": "a text"}
CHANNELS = (1, 3, 4)
LUMINANCE = (0.299, 0.587, 0.114)
#: What unknown sizes are at first: those of pictures, and others.
USUAL_SIDES = (256, 256)
USUAL_SIZE = 16
MAX_ELEMENTS = 1 << 26

Shape = tuple[int, ...]


class PictureLayout(NamedTuple):
    """The sizes of a picture in an input, and where the axes of (height, width, channels) go."""

    height: int
    width: int
    channels: int
    axes: tuple[int, ...]


class Filling(NamedTuple):
    """How a visitor wants an input to be filled.

    Attributes:
        shape: the input's shape.
        way: one of `WAYS`.
        low: the minimum of noise, the value of black, or the one number.
        high: the largest value of noise, or the value of white.
        text: the element of an input of texts.
    """

    shape: Shape
    way: str
    low: float = 0.0
    high: float = 1.0
    text: str = ""


def picture_layout(shape: Sequence[int | None]) -> PictureLayout | None:
    """Return how a picture lies in an input of this shape; None if it is no picture."""
    sizes = [size or USUAL_SIDES[0] for size in shape]
    match len(sizes):
        case 4 | 3 if shape[-1] in CHANNELS:
            height, width, channels = sizes[-3:]
            return PictureLayout(height, width, channels, (0, 1, 2))
        case 4 | 3 if shape[-3] in CHANNELS:
            channels, height, width = sizes[-3:]
            return PictureLayout(height, width, channels, (2, 0, 1))
    return None


def usual_shape(shape: Sequence[int | None] | None, sides: tuple[int, int] = USUAL_SIDES) -> Shape:
    """Return a shape with sizes for unknown ones: one example, which is a picture if it can be.

    Args:
        shape: the shape, as a model says it.
        sides: the height and the width of pictures.
    """
    if shape is None:
        return ()
    usual = [1, *[USUAL_SIZE] * (len(shape) - 1)]
    layout = picture_layout(shape)
    if layout is not None:
        first = len(shape) - 3
        for axis, size in zip((0, 1), sides, strict=True):
            usual[first + layout.axes.index(axis)] = size
    return tuple(usual[axis] if size is None else size for axis, size in enumerate(shape))


def ways_of(spec: Specification) -> list[str]:
    """Return the ways to fill an input, the best one first."""
    if spec.dtype == "string":
        return ["text"]
    is_picture = spec.shape is None or picture_layout(usual_shape(spec.shape)) is not None
    ways = ["picture", "noise", "constant"] if is_picture else ["noise", "constant"]
    return ways[::-1] if prod(usual_shape(spec.shape)) == 1 else ways


def shape_of(text: str, spec: Specification) -> Shape:
    """Return the shape that a visitor wrote, such as "1, 224, 224, 3".

    Raises:
        ValueError: it does not fit the input, or is too large.
    """
    if re.search(r"[^\d\s,;×x]", text):
        raise ValueError(f"{spec.name}: a shape is sizes with commas between, but got {text!r:.80}")
    shape = tuple(map(int, re.findall(r"\d+", text)))
    expected = spec.shape
    if expected is not None and (
        len(expected) != len(shape)
        or any(
            expected_size not in (None, size)
            for expected_size, size in zip(expected, shape, strict=True)
        )
    ):
        raise ValueError(f"{spec.name}: the shape must be {written_shape(expected)}")
    if prod(shape) > MAX_ELEMENTS:
        raise ValueError(
            f"{spec.name}: {written_shape(shape)} are {prod(shape):,} numbers, and this page fills "
            f"inputs of at most {MAX_ELEMENTS:,}"
        )
    return shape


def filled(spec: Specification, filling: Filling, picture: Any) -> wt.Tensor:
    """Return an input's value.

    Args:
        spec: the input.
        filling: what to fill it with.
        picture: what can be drawn on a canvas.

    Raises:
        ValueError: it takes no picture, or no such number.
    """
    dtype = spec.tensor_dtype
    shape, way, low, high, text = filling
    if way == "text":
        return wt.tensor([text] * prod(shape), shape=shape, dtype="string")
    if way == "picture":
        return _as_dtype(_picture(spec, shape, picture, low, high), dtype)
    if way == "constant":
        return wt.full(shape, low, dtype)
    if dtype == "bool":
        return wt.less(wt.random_uniform(shape), 0.5)
    return _as_dtype(wt.random_uniform(shape, min(low, high), max(low, high)), dtype)


def _as_dtype(values: wt.Tensor, dtype: str) -> wt.Tensor:
    if dtype == "int32":
        values = wt.round(values)
    return wt.astype(values, dtype)


def _picture(spec: Specification, shape: Shape, picture: Any, low: float, high: float) -> wt.Tensor:
    """Return a picture as float32 of a shape, with `low` for black and `high` for white."""
    layout = picture_layout(shape)
    if layout is None or 0 in shape:
        raise ValueError(f"{spec.name}: {written_shape(shape)} is no picture; choose noise")
    height, width, channels, axes = layout
    canvas = drawn(picture, width, height)
    pixels = wt.browser.from_pixels(canvas, 4 if channels == 4 else 3, as_float=True)
    if channels == 1:
        weights = wt.tensor(LUMINANCE, shape=(3, 1))
        pixels = wt.reshape(wt.matmul(wt.reshape(pixels, (-1, 3)), weights), (height, width, 1))
    values = wt.permute_dims(low + (high - low) * pixels, axes)
    if len(shape) == 4:
        values = wt.tile(wt.expand_dims(values, axis=0), (shape[0], 1, 1, 1))
    return values


def drawn(picture: Any, width: int, height: int) -> Any:
    """Return a canvas of a size with a picture on it, over white paper."""
    canvas = js.document.createElement("canvas")
    canvas.width, canvas.height = width, height
    context = canvas.getContext("2d", willReadFrequently=True)
    context.fillStyle = "white"
    context.fillRect(0, 0, width, height)
    context.imageSmoothingQuality = "high"
    context.drawImage(picture, 0, 0, width, height)
    return canvas
