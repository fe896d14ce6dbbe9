"""Resizing along any axes, by interpolation between neighbours.

Images are resized by one kernel where TensorFlow defines their pixels in the same way. Else each
axis is resized by itself: the positions in the input that the elements of the result come from
follow from the sizes, and indices and weights of neighbours from these. As in ONNX Runtime, sizes,
ratios and quotients are rounded to float32: 7 / 0.7 and the like then are the integers that they
stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, isclose
from struct import pack, unpack
from typing import Any, NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers, numbers
from webtensor.onnx.operations.shapes import checked_shape
from webtensor.onnx.operations.windows import channels_first, channels_last

__all__ = ["ROWS"]


class _Options(NamedTuple):
    """How positions and weights are computed."""

    mode: str
    transformation: str
    nearest: str
    coefficient: float
    exclude_outside: bool
    antialias: bool
    extrapolation: float
    is_to_sizes: bool

    @property
    def reach(self) -> int:
        """How far neighbours may be, if the result is not smaller."""
        return 2 if self.mode == "cubic" else 1


class _Axis(NamedTuple):
    """An axis: its sizes, the scale, and the part of the input that is taken."""

    size: int
    result: int
    scale: float
    start: float
    end: float


def _as_float32(value: float) -> float:
    return float(unpack("f", pack("f", value))[0])


def _scale(axis: _Axis, options: _Options) -> Any:
    if options.is_to_sizes:
        return ops.divide(float(axis.result), float(axis.size))
    return ops.tensor(axis.scale)


def _positions(axis: _Axis, options: _Options) -> Any:
    """Return where in the input the elements of the result come from."""
    name, several = options.transformation, axis.result > 1
    size, result = (ops.tensor(float(count)) for count in (axis.size, axis.result))
    scale = _scale(axis, options)
    index: Any = ops.astype(ops.arange(axis.result), "float32")
    middle = (index + 0.5) / scale
    last, steps = size - 1, ops.maximum(result - 1, 1.0)
    if name == "half_pixel" or (name == "pytorch_half_pixel" and several):
        return middle - 0.5
    if name == "half_pixel_symmetric":
        return size / 2 * (1 - result / (scale * size)) + middle - 0.5
    if name == "align_corners":
        return index * last / steps
    if name == "asymmetric":
        return index / scale
    if name == "tf_half_pixel_for_nn":
        return middle
    if name == "tf_crop_and_resize":
        start = axis.start if several else 0.5 * (axis.start + axis.end)
        return start * last + index * (axis.end - axis.start) * last / steps
    if name == "pytorch_half_pixel":
        return index
    raise ValueError(f"coordinate_transformation_mode is {name!r:.200}")


def _nearest(positions: Any, rounding: str, is_smaller: bool) -> Tensor:
    if not rounding:  # before version 11, which has a name for it
        rounding = "ceil" if is_smaller else "floor"
    if rounding == "round_prefer_floor":
        return ops.ceil(positions - 0.5)
    if rounding == "round_prefer_ceil":
        return ops.floor(positions + 0.5)
    if rounding in ("ceil", "floor"):
        return ops.ceil(positions) if rounding == "ceil" else ops.floor(positions)
    raise ValueError(f"nearest_mode is {rounding!r:.200}")


def _weights(distances: Any, options: _Options) -> Any:
    """Return the weights at distances, for "cubic" those of cubic convolution (Keys, 1981)."""
    if options.mode == "linear":
        return ops.maximum(1 - distances, 0.0)
    a = options.coefficient
    near, far = ops.minimum(distances, 1.0), ops.clip_by_value(distances, 1.0, 2.0)
    inner = ((a + 2) * near - (a + 3)) * near * near + 1
    return inner + ((a * far - 5 * a) * far + 8 * a) * far - 4 * a


def _resized_axis(x: Tensor, number: int, axis: _Axis, options: _Options) -> Tensor:
    with on_host("positions"):  # where quotients are exact
        positions = _positions(axis, options)
    last: Any = ops.tensor(axis.size - 1.0)
    shape = [1] * len(x.shape)
    shape[number] = axis.result

    def elements(index: Any) -> Any:
        within = ops.minimum(ops.maximum(index, 0.0), last)
        return ops.gather(x, ops.astype(within, "int32"), number)

    result: Any = 0
    if options.mode == "nearest":
        result = elements(_nearest(positions, options.nearest, axis.scale < 1))
    elif options.antialias:
        matrix = _matrix(positions, axis, options)
        result = ops.moveaxis(ops.linalg.tensordot(x, matrix, axes=([number], [1])), -1, number)
    else:
        total: Any = 0
        for offset in range(1 - options.reach, options.reach + 1):
            index = ops.floor(positions) + offset
            weights = _weights(ops.abs(positions - index), options)
            if options.exclude_outside:
                is_inside = ops.logical_and(index >= 0, index <= last)
                weights = weights * ops.astype(is_inside, "float32")
            total = total + weights
            result = result + elements(index) * ops.reshape(weights, shape)
        if options.exclude_outside:
            result = result / ops.reshape(total, shape)
    if options.transformation == "tf_crop_and_resize":
        is_outside = ops.logical_or(positions < 0, positions > last)
        filled = ops.full(result.shape, options.extrapolation, str(result.dtype))
        result = ops.where(ops.reshape(is_outside, shape), filled, result)
    resized_: Tensor = result
    return resized_


def _matrix(positions: Any, axis: _Axis, options: _Options) -> Any:
    """Return the weights of all elements, of which there are more the smaller the result is."""
    size, margin = axis.size, options.reach * axis.size
    neighbors: Any = ops.astype(ops.arange(-margin, size + margin), "float32")
    width = ops.minimum(_scale(axis, options), 1.0)
    distances = ops.abs(ops.reshape(positions, (-1, 1)) - neighbors) * width
    weights = _weights(distances, options)
    inside: Any = ops.slice(weights, (0, margin), (axis.result, size))
    if not options.exclude_outside:  # what is outside is the first or the last element
        for begin, end in ((0, 0), (margin + size, size - 1)):
            outside = ops.sum(ops.slice(weights, (0, begin), (axis.result, margin)), 1, True)
            inside = inside + outside * ops.astype(ops.equal(ops.arange(size), end), "float32")
    return inside / ops.sum(inside, 1, True)


#: Modes of coordinates and rounding that repeat each pixel in a block, where scales are integers.
_BLOCKS = frozenset(
    {
        ("asymmetric", ""),
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_ceil"),
        ("half_pixel", "round_prefer_floor"),
        ("tf_half_pixel_for_nn", "floor"),
    }
)
#: Modes of coordinates as TensorFlow's ``align_corners`` and ``half_pixel_centers``.
_BILINEAR = {
    "align_corners": (True, False),
    "asymmetric": (False, False),
    "half_pixel": (False, True),
}


def _resized_images(x: Tensor, axes: Mapping[int, _Axis], options: _Options) -> Tensor | None:
    """Resize images, or return None where no kernel computes the same pixels."""
    is_exact = all(
        isclose(axis.size * axis.scale, axis.result, rel_tol=1e-6) for axis in axes.values()
    )
    if not is_exact or len(x.shape) != 4 or 0 in axes:
        return None
    if 3 in axes:
        last = {number - 1: axis for number, axis in axes.items()}
        result = _resized_images(channels_last(x), last, options)
        return None if result is None else channels_first(result)
    size = [axes[number].result if number in axes else x.shape[number] for number in (1, 2)]
    mode, dtype = options.transformation, str(x.dtype)
    if mode == "pytorch_half_pixel" and min(size) > 1:
        mode = "half_pixel"
    are_integers = all(axis.scale.is_integer() for axis in axes.values())
    is_nearest = options.mode == "nearest" and (mode, options.nearest) in _BLOCKS
    if is_nearest and are_integers and dtype in ("float32", "int32"):
        return ops.image.resize_nearest_neighbor(x, size)
    is_linear = options.mode == "linear" and not (options.antialias or options.exclude_outside)
    if is_linear and mode in _BILINEAR and dtype == "float32":
        return ops.image.resize_bilinear(x, size, *_BILINEAR[mode])
    return None


def _scales(
    shape: Sequence[int],
    axes: Sequence[int],
    scales: Sequence[float],
    sizes: Sequence[int] | None,
    policy: str,
) -> list[tuple[float, int]]:
    """Return the scale and the new size of each axis."""
    if not sizes:
        if len(scales) != len(axes):
            raise ValueError(f"scales has {len(scales)} numbers for {len(axes)} axes")
        return [
            (scale, floor(_as_float32(shape[axis] * scale)))
            for axis, scale in zip(axes, scales, strict=True)
        ]
    ratios = [
        _as_float32(size / (shape[axis] or 1)) for axis, size in zip(axes, sizes, strict=True)
    ]
    if policy == "stretch":
        return list(zip(ratios, sizes, strict=True))
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [(ratio, floor(ratio * shape[axis] + 0.5)) for axis in axes]


def resized(
    x: Tensor,
    roi: list[float] | None = None,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    *,
    antialias: int = 0,
    axes: list[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    """Resize axes by scales or to sizes."""
    if mode not in ("cubic", "linear", "nearest"):
        raise ValueError(f"mode must be 'cubic', 'linear' or 'nearest', not {mode!r:.200}")
    options = _Options(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        bool(exclude_outside),
        bool(antialias),
        extrapolation_value,
        bool(sizes) and keep_aspect_ratio_policy == "stretch",
    )
    chosen = [axis % len(x.shape) for axis in axes or range(len(x.shape))]
    results = _scales(x.shape, chosen, scales or [], sizes, keep_aspect_ratio_policy)
    count = len(chosen)
    bounds = roi or [0.0] * count + [1.0] * count
    if len(bounds) != 2 * count:
        raise ValueError(f"roi has {len(bounds)} numbers for {count} axes")
    resized_axes = {
        number: _Axis(x.shape[number], size, scale, start, end)
        for number, (scale, size), start, end in zip(
            chosen, results, bounds[:count], bounds[count:], strict=True
        )
    }
    shape = _resized_shape(x.shape, resized_axes)
    is_crop = coordinate_transformation_mode == "tf_crop_and_resize"
    changed = {number: axis for number, axis in resized_axes.items() if _is_changed(axis, is_crop)}
    if 0 in shape:
        return ops.zeros(shape, x.dtype)
    images = _resized_images(x, changed, options)
    if images is not None:
        return images
    for number, axis in changed.items():
        x = _resized_axis(x, number, axis, options)
    return x


def _resized_shape(shape: Sequence[int], axes: Mapping[int, _Axis]) -> list[int]:
    """Return a shape after axes were resized.

    Raises:
        ValueError: an axis without elements would get some, or there would be too many.
    """
    resized_shape = list(shape)
    for number, axis in axes.items():
        resized_shape[number] = axis.result
        checked_shape(resized_shape)
        if axis.result and not axis.size:
            raise ValueError(
                f"resize: x has no elements along axis {number}, which cannot become {axis.result} "
                f"(x.shape={tuple(shape)})"
            )
    return resized_shape


def _is_changed(axis: _Axis, is_crop: bool) -> bool:
    is_cropped = is_crop and (axis.start, axis.end) != (0, 1)
    return axis.size != axis.result or axis.scale != 1 or is_cropped


def upsampled(x: Tensor, scales: list[float], *, mode: str = "nearest") -> Tensor:
    """Resize as ``Upsample`` and the first version of ``Resize`` did."""
    return resized(
        x,
        scales=scales,
        coordinate_transformation_mode="asymmetric",
        mode=mode.replace("bilinear", "linear"),
        nearest_mode="",
    )


ROWS: dict[str, Row] = {
    "Resize-10": Operator(upsampled, scales=numbers),
    "Resize-11": Operator(resized, roi=numbers, scales=numbers, sizes=integers),
    "Upsample-1": Operator(upsampled, scales=numbers),
}
