"""Cropping, rotating and warping images: projective sampling.

One primitive does all three. Pixel (x, y) of a result shows its image at ``((t0 x + t1 y + t2) / p,
(t3 x + t4 y + t5) / p)``, where ``p = t6 x + t7 y + 1``. Its gradients are those of the same
computation out of ops that differentiate (``_composed``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, sin
from typing import Any

from webtensor.arguments import as_number, check_choice
from webtensor.autodiff import grads
from webtensor.dtypes import float32, int32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, from_host, planned, run
from webtensor.geometry import Sampling
from webtensor.ops.binary import (
    add,
    divide,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    multiply,
    subtract,
)
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.creation import ones, zeros_like
from webtensor.ops.image.resize import image_size
from webtensor.ops.movement import expand_dims, gather, reshape, slice
from webtensor.ops.nn import clip
from webtensor.ops.sequences import arange
from webtensor.ops.ternary import where
from webtensor.ops.unary import floor, isfinite, logical_not, negative

__all__ = ["crop_and_resize", "rotate_with_offset", "transform"]

_CONSTANT, _REFLECT, _WRAP, _NEAREST, _CROP = range(5)
_FILL_MODES = {
    "constant": _CONSTANT,
    "reflect": _REFLECT,
    "wrap": _WRAP,
    "nearest": _NEAREST,
}

# -- the primitive, and what it computes --------------------------------------------------------


def _is_inside(x: Tensor, length: int, mode: int) -> Tensor:
    """Whether anything of an image may be read at a coordinate."""
    if mode == _CONSTANT:
        return logical_and(greater(x, -2.0), less(x, length + 1.0))
    if mode == _CROP:
        slack = 1e-6 * length
        return logical_and(greater_equal(x, -slack), less_equal(x, length - 1 + slack))
    return isfinite(x)


def _mapped(x: Tensor, length: int, mode: int) -> Tensor:
    """Map a coordinate, which may be outside the image, to the one that is read."""
    if mode == _CONSTANT:
        return x
    before, last = less(x, 0.0), length - 1.0
    if mode == _REFLECT and length > 1:
        # Reflection: [abcd] continues as [dcba|abcd|dcba].
        period = 2.0 * length
        below = add(multiply(floor(divide(negative(x), period)), period), x)
        below = where(less(below, -length), add(below, period), subtract(negative(below), 1.0))
        above = subtract(x, multiply(floor(divide(x, period)), period))
        above = where(greater_equal(above, length), subtract(period - 1.0, above), above)
        x = where(before, below, where(greater(x, last), above, x))
    if mode == _WRAP and length > 1:
        # Wrapping: [abcd] continues as [abcd|abcd|abcd].
        below = add(x, multiply(add(floor(divide(negative(x), last)), 1.0), length))
        above = subtract(x, multiply(floor(divide(x, last)), length))
        x = where(before, below, where(greater(x, last), above, x))
    return clip(x, 0.0, last)


def _source_coordinates(transforms: Tensor, sizes: Sampling) -> tuple[Tensor, Tensor, Tensor]:
    """Return where each pixel of the results comes from.

    Returns:
        the x and y coordinates in the images, and whether they exist, which they do not where p is
        0. Each has the shape (samples, out_height, out_width).
    """
    count = sizes.samples
    x = reshape(arange(sizes.out_width, dtype=float32), (1, 1, sizes.out_width))
    y = reshape(arange(sizes.out_height, dtype=float32), (1, sizes.out_height, 1))

    def coefficient(index: int) -> Tensor:
        return reshape(slice(transforms, (0, index), (count, 1)), (count, 1, 1))

    def plane(first: int, constant: Tensor | float) -> Tensor:
        slopes = add(multiply(coefficient(first), x), multiply(coefficient(first + 1), y))
        return add(slopes, constant)

    projection = plane(6, 1.0)
    is_zero = equal(projection, 0.0)
    projection = where(is_zero, 1.0, projection)
    source_x = divide(plane(0, coefficient(2)), projection)
    source_y = divide(plane(3, coefficient(5)), projection)
    return source_x, source_y, logical_not(is_zero)


def _pixel_reader(
    images: Tensor, indices: Tensor, sizes: Sampling, fill: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a function from integral coordinates to the pixels there.

    The coordinates have the shape (samples, out_height, out_width), and sample i is of the image
    ``indices[i]``. Outside the image, the mode "constant" reads ``fill``, the others its edge.
    """
    height, width = sizes.in_height, sizes.in_width
    pixels = reshape(images, (sizes.batch * height * width, sizes.channels))
    offsets = reshape(multiply(indices, height * width), (sizes.samples, 1, 1))

    def read(x: Tensor, y: Tensor) -> Tensor:
        columns, rows = cast_to(x, int32), cast_to(y, int32)
        clipped_columns, clipped_rows = clip(columns, 0, width - 1), clip(rows, 0, height - 1)
        flat_indices = add(offsets, add(multiply(clipped_rows, width), clipped_columns))
        samples = gather(pixels, flat_indices)
        if sizes.fill_mode != _CONSTANT:
            return samples
        is_inside = logical_and(equal(columns, clipped_columns), equal(rows, clipped_rows))
        return where(expand_dims(is_inside, -1), samples, fill)

    return read


def _blended(before: Tensor, after: Tensor, weight: Tensor) -> Tensor:
    return add(multiply(before, subtract(1.0, weight)), multiply(after, weight))


def _bilinear(read: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor) -> Tensor:
    """Return the four pixels around each point, blended by its distances to them."""
    left, top = floor(x), floor(y)
    right, bottom = add(left, 1.0), add(top, 1.0)
    across, down = expand_dims(subtract(x, left), -1), expand_dims(subtract(y, top), -1)
    above = _blended(read(left, top), read(right, top), across)
    below = _blended(read(left, bottom), read(right, bottom), across)
    return _blended(above, below, down)


def _rounded(x: Tensor) -> Tensor:
    """Round to the nearest integer, halves up."""
    whole = floor(x)
    return add(whole, cast_to(greater_equal(subtract(x, whole), 0.5), float32))


def _composed(
    images: Tensor, transforms: Tensor, indices: Tensor, sizes: Sampling, fill: float
) -> Tensor:
    """Sample images as the primitive does, by ops that differentiate."""
    mode, width, height = sizes.fill_mode, sizes.in_width, sizes.in_height
    x, y, valid = _source_coordinates(transforms, sizes)
    in_batch = logical_and(greater_equal(indices, 0), less(indices, sizes.batch))
    valid = logical_and(reshape(in_batch, (sizes.samples, 1, 1)), valid)
    valid = logical_and(valid, _is_inside(x, width, mode))
    valid = logical_and(valid, _is_inside(y, height, mode))
    x = _mapped(where(valid, x, 0.0), width, mode)
    y = _mapped(where(valid, y, 0.0), height, mode)
    read = _pixel_reader(images, where(in_batch, indices, 0), sizes, fill)
    sampled = _bilinear(read, x, y) if sizes.bilinear else read(_rounded(x), _rounded(y))
    return where(expand_dims(valid, -1), sampled, fill)


def _images_gradient(
    dy: Tensor,
    y: Tensor,
    images: Tensor,
    transforms: Tensor,
    indices: Tensor,
    sizes: Sampling,
    fill: float,
) -> Tensor:
    def sampled(x: Tensor) -> Tensor:
        return _composed(x, transforms, indices, sizes, fill)

    return grads(sampled)(images, dy=dy)[0]


def _transforms_gradient(
    dy: Tensor,
    y: Tensor,
    images: Tensor,
    transforms: Tensor,
    indices: Tensor,
    sizes: Sampling,
    fill: float,
) -> Tensor:
    if not sizes.bilinear:
        return zeros_like(transforms)

    def sampled(t: Tensor) -> Tensor:
        return _composed(images, t, indices, sizes, fill)

    return grads(sampled)(transforms, dy=dy)[0]


_SAMPLE = Primitive("sample", gradients=(_images_gradient, _transforms_gradient, None))


@planned
def _sample(
    images: Tensor,
    transforms: Tensor,
    indices: Tensor,
    size: tuple[int, int],
    bilinear: bool,
    fill_mode: int,
    fill: float,
) -> Tensor:
    batch, in_height, in_width, channels = images.shape
    count = transforms.shape[0]
    sizes = Sampling(batch, in_height, in_width, channels, count, *size, int(bilinear), fill_mode)
    shape = (count, *size, channels)
    return run(_SAMPLE, (images, transforms, indices), shape, float32, sizes, fill)


# -- operands -----------------------------------------------------------------------------------


def _images(name: str, image: TensorLike) -> tuple[Tensor, bool]:
    """Return images as float32, and whether they were int32."""
    operand = as_operand(name, image)
    if len(operand.shape) != 4:
        raise ValueError(f"{name}: image must have rank 4, but its shape is {operand.shape}")
    if 0 in operand.shape[1:3]:
        raise ValueError(f"{name}: image must not be empty, but its shape is {operand.shape}")
    return as_float(name, "image", operand), operand.dtype is int32


def _is_bilinear(name: str, argument: str, method: str) -> bool:
    check_choice(name, argument, method, ("bilinear", "nearest"))
    return method == "bilinear"


# -- what users call ----------------------------------------------------------------------------


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    crop_size: Sequence[int],
    method: str = "bilinear",
    extrapolation_value: float = 0,
) -> Tensor:
    """Cut boxes out of images and scale them to ``crop_size``, (height, width), as float32.

    ``image`` is (batch, height, width, channels). ``boxes`` is (count, 4): each box is (y1, x1, y2,
    x2), where (0, 0) is the centre of the first pixel and (1, 1) that of the last; y1 > y2 mirrors.
    ``box_ind`` is (count,), the number of each box's image. Pixels of a crop that lie outside the
    image are ``extrapolation_value``. ``method`` is "bilinear" or "nearest".

    Gradients flow to the images and, for "bilinear", to the boxes.

    Raises:
        TypeError: ``box_ind`` is not int32, or ``extrapolation_value`` no number.
        ValueError: shapes or options that do not fit.
        IndexError: a number in ``box_ind`` that is on the host is out of range. One that is
            not gives ``extrapolation_value``.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([0.0, 1.0, 2.0, 3.0], shape=(1, 2, 2, 1))
        >>> wt.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], (1, 3)).flatten().tolist()
        [1.0, 1.5, 2.0]
    """
    name = "crop_and_resize"
    images, _ = _images(name, image)
    box_corners = as_float(name, "boxes", boxes)
    if len(box_corners.shape) != 2 or box_corners.shape[1] != 4:
        raise ValueError(f"{name}: boxes must have shape (count, 4), but got {box_corners.shape}")
    count = box_corners.shape[0]
    indices = _box_indices(name, box_ind, count, images.shape[0])
    size = image_size(name, "crop_size", crop_size)
    bilinear = _is_bilinear(name, "method", method)
    fill = as_number(name, "extrapolation_value", extrapolation_value)
    # Columns t0 to t7 of the transforms as sums of the columns y1, x1, y2, x2 of the boxes.
    y1, x1, y2, x2 = rows = [[0.0] * 8 for _ in range(4)]
    for first, second, scale, start, length, outputs in (
        (x1, x2, 0, 2, images.shape[2], size[1]),
        (y1, y2, 4, 5, images.shape[1], size[0]),
    ):
        if outputs > 1:
            second[scale] = (length - 1) / (outputs - 1)
            first[scale] = -second[scale]
            first[start] = length - 1.0
        else:
            first[start] = second[start] = 0.5 * (length - 1)
    transforms = matmul(box_corners, from_host(name, rows))
    return _sample(images, transforms, indices, size, bilinear, _CROP, fill)


def _box_indices(name: str, box_ind: TensorLike, count: int, batch: int) -> Tensor:
    indices = as_operand(name, box_ind)
    if indices.shape != (count,):
        raise ValueError(
            f"{name}: box_ind must have shape ({count},), one for each box, but got {indices.shape}"
        )
    if count == 0:
        return cast_to(indices, int32)
    if indices.dtype is not int32:
        raise TypeError(f"{name}: box_ind must be int32, but got {indices.dtype}")
    host = indices.storage.host
    if host is not None and not (min(host) >= 0 and max(host) < batch):
        raise IndexError(
            f"{name}: box_ind must lie in [0, {batch}), the number of images, but ranges from "
            f"{min(host)} to {max(host)}"
        )
    if batch == 0:
        raise IndexError(f"{name}: there are no images for the {count} boxes")
    return indices


def transform(
    image: TensorLike,
    transforms: TensorLike,
    interpolation: str = "nearest",
    fill_mode: str = "constant",
    fill_value: float = 0,
    output_shape: Sequence[int] | None = None,
) -> Tensor:
    """Warp images by projective transforms, which map coordinates of the result to the image's.

    ``image`` is (batch, height, width, channels); ``transforms`` is (batch, 8), or (1, 8) for all:
    pixel (x, y) of the result shows ``((t0 x + t1 y + t2) / p, (t3 x + t4 y + t5) / p)``, where
    ``p = t6 x + t7 y + 1``. ``interpolation`` is "nearest" or "bilinear". What lies outside the
    image is, by ``fill_mode``: "constant", which is ``fill_value``; "reflect", the image mirrored
    at its edges; "wrap", the image repeated; "nearest", its nearest pixel. ``output_shape`` is
    (height, width), the image's by default.

    The result is float32, or int32 for int32 images and "nearest". Gradients flow to the images
    and, for "bilinear", to the transforms.

    Raises:
        TypeError: ``fill_value`` is no number.
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1, 2, 3], shape=(1, 1, 3, 1))
        >>> move = [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
        >>> wt.image.transform(x, move, fill_value=9).flatten().tolist()
        [2, 3, 9]
    """
    name = "transform"
    images, is_int32 = _images(name, image)
    batch, height, width, _ = images.shape
    matrices = as_float(name, "transforms", transforms)
    if matrices.shape not in ((batch, 8), (1, 8)):
        raise ValueError(
            f"{name}: transforms must have shape ({batch}, 8) or (1, 8) for image.shape="
            f"{images.shape}, but got {matrices.shape}"
        )
    bilinear = _is_bilinear(name, "interpolation", interpolation)
    check_choice(name, "fill_mode", fill_mode, _FILL_MODES)
    fill = as_number(name, "fill_value", fill_value)
    size = (height, width)
    if output_shape is not None:
        size = image_size(name, "output_shape", output_shape)
    matrices = broadcast_to(matrices, (batch, 8))
    y = _sample(images, matrices, arange(batch), size, bilinear, _FILL_MODES[fill_mode], fill)
    return cast_to(y, int32) if is_int32 and not bilinear else y


#: The opacity of pixels outside the image.
_OPAQUE = 255.0


def rotate_with_offset(
    image: TensorLike,
    radians: float,
    fill_value: float | Sequence[float] = 0,
    center: float | Sequence[float] = 0.5,
) -> Tensor:
    """Rotate images about a point, counter-clockwise on the screen; pixels are the nearest.

    ``image`` is (batch, height, width, channels). What lies outside the image is ``fill_value``, a
    number, or one for each channel; after three of them a fourth channel is 255, opaque.
    ``center`` is a fraction of the width and of the height, or one for each, (x, y). The dtype of
    int32 images stays; others give float32.

    Raises:
        TypeError: ``radians``, ``fill_value`` or ``center`` is no number.
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9], shape=(1, 3, 3, 1))
        >>> y = wt.image.rotate_with_offset(x, 3.14159265, center=1 / 3)
        >>> y.reshape((3, 3)).tolist()
        [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    """
    name = "rotate_with_offset"
    images, is_int32 = _images(name, image)
    batch, height, width, channels = images.shape
    angle = as_number(name, "radians", radians)
    x, y = _center(name, center)
    x, y = x * width, y * height
    turn = [
        *(cos(angle), -sin(angle), x - x * cos(angle) + y * sin(angle)),
        *(sin(angle), cos(angle), y - x * sin(angle) - y * cos(angle)),
        *(0.0, 0.0),
    ]
    matrices = broadcast_to(from_host(name, [turn]), (batch, 8))
    size, indices = (height, width), arange(batch)
    if not hasattr(fill_value, "__iter__"):
        fill_value = as_number(name, "fill_value", fill_value)
        rotated = _sample(images, matrices, indices, size, False, _CONSTANT, fill_value)
    else:
        fill = _channel_fill(name, fill_value, channels)
        rotated = _sample(images, matrices, indices, size, False, _CONSTANT, 0.0)
        mask = ones((batch, height, width, 1))
        inside = _sample(mask, matrices, indices, size, False, _CONSTANT, 0.0)
        rotated = where(greater(inside, 0.0), rotated, from_host(name, fill))
    return cast_to(rotated, int32) if is_int32 else rotated


def _center(name: str, center: Any) -> tuple[float, float]:
    coordinates = tuple(center) if hasattr(center, "__iter__") else (center, center)
    if len(coordinates) != 2:
        raise ValueError(f"{name}: center must be a number or (x, y), but got {center!r}")
    return as_number(name, "center", coordinates[0]), as_number(name, "center", coordinates[1])


def _channel_fill(name: str, fill_value: Any, channels: int) -> list[float]:
    values = [as_number(name, "fill_value", value) for value in fill_value]
    if len(values) == 3 and channels == 4:
        values.append(_OPAQUE)
    if len(values) != channels:
        raise ValueError(
            f"{name}: fill_value must be a number, or one for each of {channels} channels, but got "
            f"{fill_value!r}"
        )
    return values
