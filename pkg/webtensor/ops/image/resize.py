"""Scaling images. Resizing is linear, so it and its transpose are each other's gradients."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import float32, int32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, planned, run
from webtensor.geometry import Resize, make_resize
from webtensor.ops.casting import as_float
from webtensor.ops.movement import clone, reshape
from webtensor.shapes import Shape, single_integer

__all__ = ["resize_bilinear", "resize_nearest_neighbor"]


def _input_shape(sizes: Resize) -> Shape:
    return sizes.batch, sizes.in_height, sizes.in_width, sizes.channels


def _output_shape(sizes: Resize) -> Shape:
    return sizes.batch, sizes.out_height, sizes.out_width, sizes.channels


def _family(name: str) -> Primitive:
    """Make a resizing primitive whose gradient is its transpose, and the other way round."""

    def to_input(dy: Tensor, y: Tensor, x: Tensor, sizes: Resize) -> Tensor:
        return run(transpose, (dy,), _input_shape(sizes), float32, sizes)

    def to_output(ddx: Tensor, dx: Tensor, dy: Tensor, sizes: Resize) -> Tensor:
        return run(resize, (ddx,), _output_shape(sizes), float32, sizes)

    resize = Primitive(name, gradients=(to_input,))
    transpose = Primitive(f"{name}_gradient", gradients=(to_output,))
    return resize


_BILINEAR = _family("resize_bilinear")
_NEAREST = _family("resize_nearest")


def image_size(name: str, argument: str, size: Any) -> tuple[int, int]:
    """Validate a pair of positive integers, (height, width)."""
    dimensions = [single_integer(part) or 0 for part in size] if hasattr(size, "__iter__") else []
    if len(dimensions) != 2 or min(dimensions) <= 0:
        raise ValueError(
            f"{name}: {argument} must be two positive integers, (height, width), but got {size!r}"
        )
    return dimensions[0], dimensions[1]


def _resized(
    name: str,
    primitive: Primitive,
    x: Tensor,
    size: Any,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Tensor:
    height, width = image_size(name, "size", size)
    if align_corners and half_pixel_centers:
        raise ValueError(f"{name}: align_corners and half_pixel_centers exclude each other")
    single = len(x.shape) == 3
    images = reshape(x, (1, *x.shape)) if single else x
    if len(images.shape) != 4:
        raise ValueError(f"{name}: images must have rank 3 or 4, but their shape is {x.shape}")
    if 0 in images.shape[1:3]:
        raise ValueError(f"{name}: images must not be empty, but their shape is {x.shape}")
    if images.shape[1:3] == (height, width):
        return clone(x)
    nearest = primitive is _NEAREST
    sizes = make_resize(images.shape, (height, width), nearest, align_corners, half_pixel_centers)
    y = run(primitive, (images,), _output_shape(sizes), x.dtype, sizes)
    return reshape(y, y.shape[1:]) if single else y


@planned
def resize_bilinear(
    images: TensorLike,
    size: Any,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Scale images to ``size``, (height, width), interpolating between four pixels, as float32.

    ``images`` is (batch, height, width, channels), or without batch. Output row ``i`` lies at input
    row ``i * in / out``; with ``align_corners`` at ``i * (in - 1) / (out - 1)``, so that the first
    and the last rows meet; with ``half_pixel_centers`` at ``(i + 0.5) * in / out - 0.5``, which is
    what most other libraries do. Columns likewise.

    Raises:
        ValueError: another rank, a malformed size, or both options at once.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([0.0, 2.0], shape=(1, 2, 1))
        >>> wt.image.resize_bilinear(x, (1, 4)).flatten().tolist()
        [0.0, 1.0, 2.0, 2.0]
    """
    name = "resize_bilinear"
    operand = as_float(name, "images", images)
    return _resized(name, _BILINEAR, operand, size, align_corners, half_pixel_centers)


@planned
def resize_nearest_neighbor(
    images: TensorLike,
    size: Any,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Scale images to ``size``, (height, width), taking the nearest pixel; the dtype stays.

    Output row ``i`` is input row ``floor(i * in / out)``; with ``align_corners`` it is
    ``round(i * (in - 1) / (out - 1))``; with ``half_pixel_centers`` it is
    ``floor((i + 0.5) * in / out)``. See ``resize_bilinear``.

    Raises:
        TypeError: the images are neither float32 nor int32.
        ValueError: another rank, a malformed size, or both options at once.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([7, 8], shape=(1, 2, 1))
        >>> wt.image.resize_nearest_neighbor(x, (1, 4)).flatten().tolist()
        [7, 7, 8, 8]
    """
    name = "resize_nearest_neighbor"
    operand = as_operand(name, images)
    if operand.dtype not in (float32, int32):
        raise TypeError(f"{name}: images must be float32 or int32, but got {operand.dtype}")
    return _resized(name, _NEAREST, operand, size, align_corners, half_pixel_centers)
