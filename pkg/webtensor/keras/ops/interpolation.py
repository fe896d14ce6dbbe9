"""Elements at coordinates that are not integers: ``map_coordinates``, and images that are moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from math import pi, prod
from typing import NamedTuple

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike

__all__ = [
    "FILL_MODES",
    "map_coordinates",
    "moved_pixels",
    "scale_and_translate",
]


# -- what is beyond the edges ------------------------------------------------------------------


def _nearest(index: Tensor, size: int) -> Tensor:
    """``a a | a b c | c c``."""
    return wt.clip(index, 0, size - 1)


def _wrap(index: Tensor, size: int) -> Tensor:
    """``b c | a b c | a b``."""
    return wt.remainder(index, size)


def _mirror(index: Tensor, size: int) -> Tensor:
    """``c b | a b c | b a``."""
    last = max(size - 1, 1)
    return wt.minimum(wt.abs(wt.remainder(index + last, 2 * last) - last), size - 1)


def _reflect(index: Tensor, size: int) -> Tensor:
    """``b a | a b c | c b``."""
    reflected = wt.remainder(index, 2 * size)
    return wt.minimum(reflected, 2 * size - 1 - reflected)


#: Functions of an index and the size of its axis, which return an index inside the axis.
FILL_MODES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "constant": _nearest,
    "mirror": _mirror,
    "nearest": _nearest,
    "reflect": _reflect,
    "wrap": _wrap,
}


# -- samples -----------------------------------------------------------------------------------


def _neighbors(coordinate: Tensor, order: int) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Yield the integer indices beside a coordinate, and their weights; None is a weight of 1."""
    if order == 0:
        rounded = wt.multiply(wt.sign(coordinate), wt.floor(wt.add(wt.abs(coordinate), 0.5)))
        yield wt.astype(rounded, int32), None
        return
    lower = wt.floor(coordinate)
    fraction = wt.subtract(coordinate, lower)
    index = wt.astype(lower, int32)
    yield index, wt.subtract(1.0, fraction)
    yield index + 1, fraction


class _Neighbor(NamedTuple):
    """A neighbor of a coordinate along one axis."""

    #: What the neighbor adds to the index of a row.
    offset: Tensor
    #: How much the neighbor counts; None is 1.
    weight: Tensor | None
    #: Whether the neighbor is inside the axis; None where it always is.
    is_inside: Tensor | None


class _Sampling(NamedTuple):
    """How values are found between elements and beyond the edges: see ``map_coordinates``."""

    order: int
    fill_mode: str
    fill_value: float


def _axis_neighbors(
    coordinate: Tensor, size: int, stride: int, sampling: _Sampling
) -> list[_Neighbor]:
    """Return the neighbors of a coordinate along an axis of this size and stride."""
    neighbors = []
    for index, weight in _neighbors(coordinate, sampling.order):
        inner = FILL_MODES[sampling.fill_mode](index, size)
        is_inside = wt.equal(inner, index) if sampling.fill_mode == "constant" else None
        neighbors.append(_Neighbor(wt.multiply(inner, stride), weight, is_inside))
    return neighbors


def _sampled(
    rows: Tensor,
    start: TensorLike,
    shape: Sequence[int],
    coordinates: Sequence[Tensor],
    sampling: _Sampling,
) -> Tensor:
    """Interpolate rows at coordinates along the axes of ``shape``.

    The row at the origin has the index ``start``.
    """
    trailing = (1,) * (len(rows.shape) - 1)
    strides = _strides(shape)
    neighbors = [
        _axis_neighbors(coordinate, shape[axis], strides[axis], sampling)
        for axis, coordinate in enumerate(coordinates)
    ]
    values = []
    for corner in product(*neighbors):
        index, weight, is_inside = start, None, None
        for neighbor in corner:
            index = wt.add(index, neighbor.offset)
            is_inside = _combined(wt.logical_and, is_inside, neighbor.is_inside)
            weight = _combined(wt.multiply, weight, neighbor.weight)
        value = wt.gather(rows, index, 0)
        if is_inside is not None:
            is_inside = wt.reshape(is_inside, (*is_inside.shape, *trailing))
            value = wt.where(is_inside, value, sampling.fill_value)
        if weight is not None:
            value = wt.multiply(value, wt.reshape(weight, (*weight.shape, *trailing)))
        values.append(value)
    return reduce(wt.add, values)


def _combined(
    combine: Callable[[Tensor, Tensor], Tensor], first: Tensor | None, second: Tensor | None
) -> Tensor | None:
    """Combine two tensors, of which None has no effect."""
    if first is None or second is None:
        return second if first is None else first
    return combine(first, second)


def _strides(shape: Sequence[int]) -> list[int]:
    """Return the distance of neighboring elements along each axis."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def map_coordinates(
    inputs: TensorLike,
    coordinates: TensorLike,
    order: int,
    fill_mode: str = "constant",
    fill_value: float = 0,
) -> Tensor:
    """Return the elements of ``inputs`` at coordinates, which need not be integers.

    ``coordinates`` has a row for each axis of ``inputs``, and its shape is (rank, *shape); the
    result has shape ``shape`` and the dtype of ``inputs``. ``order`` is 0 for the nearest element
    or 1 for linear interpolation; ``fill_mode`` ("constant", "nearest", "wrap", "mirror" or
    "reflect") says what is beyond the edges.

    Raises:
        ValueError: the coordinates do not fit, or the order or fill mode is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.map_coordinates([10.0, 20.0, 30.0], [[0.5, 2.0]], order=1).tolist()
        [15.0, 30.0]
    """
    if isinstance(coordinates, (list, tuple)):
        coordinates = wt.stack([wt.asarray(row) for row in coordinates])
    x, points = wt.asarray(inputs), wt.astype(coordinates, float32)
    check_choice("map_coordinates", "fill_mode", fill_mode, FILL_MODES)
    check_choice("map_coordinates", "order", order, (0, 1))
    if len(points.shape) < 2 or points.shape[0] != len(x.shape):
        raise ValueError(
            f"map_coordinates: coordinates must be ({len(x.shape)}, …), a row for each axis of "
            f"inputs, but have shape {points.shape}"
        )
    rows = wt.astype(wt.reshape(x, (-1,)), float32)
    sampling = _Sampling(order, fill_mode, fill_value)
    y = _sampled(rows, 0, x.shape, wt.unstack(points, 0), sampling)
    return y if x.dtype is float32 else wt.astype(wt.round(y), x.dtype)


def moved_pixels(
    images: Tensor,
    y: Tensor,
    x: Tensor,
    interpolation: str,
    fill_mode: str,
    fill_value: float,
) -> Tensor:
    """Sample images (batch, height, width, channels) at points y and x, (batch, rows, columns)."""
    batch, height, width, channels = images.shape
    rows = wt.reshape(images, (-1, channels))
    starts = wt.reshape(wt.arange(batch) * (height * width), (batch, 1, 1))
    sampling = _Sampling(0 if interpolation == "nearest" else 1, fill_mode, fill_value)
    return _sampled(rows, starts, (height, width), (y, x), sampling)


# -- scaled axes -------------------------------------------------------------------------------


def _triangle(x: Tensor) -> Tensor:
    return wt.maximum(1.0 - x, 0.0)


def _cubic(x: Tensor) -> Tensor:
    """Keys' cubic, with a = -1/2."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return wt.where(wt.less(x, 1.0), near, wt.where(wt.less(x, 2.0), far, 0.0))


def _mitchell(x: Tensor) -> Tensor:
    """The cubic of Mitchell and Netravali, with B = C = 1/3."""
    near = ((7.0 * x - 12.0) * x * x + 16 / 3) / 6
    far = (((-7 / 3 * x + 12.0) * x - 20.0) * x + 32 / 3) / 6
    return wt.where(wt.less(x, 1.0), near, wt.where(wt.less(x, 2.0), far, 0.0))


def _gaussian(x: Tensor) -> Tensor:
    """A normal distribution of standard deviation 1/2, cut off at three of them."""
    return wt.where(wt.less(x, 1.5), wt.exp(-2.0 * x * x), 0.0)


def _lanczos(radius: int) -> Callable[[Tensor], Tensor]:
    def weight(x: Tensor) -> Tensor:
        angle = wt.maximum(x, 1e-3) * pi
        windowed = wt.sin(angle) * wt.sin(angle / radius) * radius / wt.square(angle)
        return wt.where(wt.less(x, 1e-3), 1.0, wt.where(wt.less(x, radius), windowed, 0.0))

    return weight


_KERNELS: dict[str, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys(("bilinear", "linear", "triangle", "trilinear"), _triangle),
    **dict.fromkeys(("bicubic", "cubic", "tricubic"), _cubic),
    "gaussian": _gaussian,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "mitchellcubic": _mitchell,
}


def _resampling_weights(
    size: int,
    output_size: int,
    scale: Tensor,
    translation: Tensor,
    method: str,
    antialias: bool,
) -> Tensor:
    """Return the weight of each element of an axis for each of the result: (output_size, size)."""
    inverse = wt.divide(1.0, scale)
    kernel_scale = wt.maximum(inverse, 1.0) if antialias else 1.0
    centers = wt.arange(output_size, dtype=float32) + 0.5
    points = wt.reshape(centers * inverse - translation * inverse - 0.5, (output_size, 1))
    distances = wt.abs(points - wt.arange(size, dtype=float32)) / kernel_scale
    weights = _KERNELS[method](distances)
    total = wt.sum(weights, axis=1, keepdims=True)
    is_nonzero = wt.greater(wt.abs(total), 1e-4)
    weights = wt.where(is_nonzero, wt.divide(weights, wt.where(is_nonzero, total, 1.0)), 0.0)
    is_inside = wt.logical_and(wt.greater_equal(points, -0.5), wt.less_equal(points, size - 0.5))
    return wt.where(is_inside, weights, 0.0)


def scale_and_translate(
    images: TensorLike,
    output_shape: Sequence[int],
    scale: TensorLike,
    translation: TensorLike,
    spatial_dims: Sequence[int],
    method: str,
    antialias: bool = True,
) -> Tensor:
    """Scale and then translate ``images`` along the axes ``spatial_dims``.

    ``output_shape`` is the shape of the result, which is float32. ``scale`` and ``translation``
    have a number for each of the axes. ``method`` is "linear", "cubic", "lanczos3" or "lanczos5".

    Raises:
        ValueError: the method is unknown.

    Example:
        >>> from webtensor import keras
        >>> x = [1.0, 2.0]
        >>> keras.ops.image.scale_and_translate(x, (4,), [2.0], [0.0], (0,), "linear").tolist()
        [1.0, 1.25, 1.75, 2.0]
    """
    check_choice("scale_and_translate", "method", method, _KERNELS)
    x = wt.astype(images, float32)
    scales, translations = wt.astype(scale, float32), wt.astype(translation, float32)
    for number, axis in enumerate(spatial_dims):
        weights = _resampling_weights(
            x.shape[axis],
            output_shape[axis],
            scales[number],
            translations[number],
            method,
            antialias,
        )
        x = wt.moveaxis(wt.linalg.tensordot(weights, x, axes=([1], [axis])), 0, axis)
    return x
