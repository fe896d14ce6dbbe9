"""Resizing along any axes, by interpolation between neighbours.

Images are resized by one kernel where TensorFlow defines their pixels in the same way. Else each
axis is resized by itself: the positions in the input that the elements of the result come from
follow from the sizes, so that indices and weights of neighbours are computed on the host. As in
ONNX Runtime, sizes, ratios and quotients are rounded to float32: 7 / 0.7 and the like then are the
integers that they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, isclose
from struct import pack, unpack
from typing import Any, NamedTuple

from webtensor import ops
from webtensor.engine import Tensor
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


class _Axis(NamedTuple):
    """An axis: its sizes, the scale, and the part of the input that is taken."""

    size: int
    result: int
    scale: float
    start: float
    end: float


def _as_float32(value: float) -> float:
    return float(unpack("f", pack("f", value))[0])


def _position(index: int, axis: _Axis, transformation: str) -> float:
    """Return where in the input an element of the result comes from."""
    result, scale = axis.result, axis.scale
    middle = _as_float32((index + 0.5) / scale)
    if transformation == "half_pixel":
        return middle - 0.5
    if transformation == "half_pixel_symmetric":
        adjustment = result / _as_float32(scale * axis.size)
        center = axis.size / 2
        return center * (1 - adjustment) + middle - 0.5
    if transformation == "pytorch_half_pixel":
        return middle - 0.5 if result > 1 else 0.0
    if transformation == "align_corners":
        return _as_float32(index * (axis.size - 1) / (result - 1)) if result > 1 else 0.0
    if transformation == "asymmetric":
        return _as_float32(index / scale)
    if transformation == "tf_half_pixel_for_nn":
        return middle
    if transformation == "tf_crop_and_resize":
        last = axis.size - 1
        if result > 1:
            return axis.start * last + index * (axis.end - axis.start) * last / (result - 1)
        return 0.5 * (axis.start + axis.end) * last
    raise ValueError(f"coordinate_transformation_mode is {transformation!r:.200}")


def _nearest(position: float, rounding: str, is_smaller: bool) -> int:
    if not rounding:  # before version 11, which has a name for it
        rounding = "ceil" if is_smaller else "floor"
    if rounding == "round_prefer_floor":
        return ceil(position - 0.5)
    if rounding == "round_prefer_ceil":
        return floor(position + 0.5)
    if rounding == "floor":
        return floor(position)
    if rounding == "ceil":
        return ceil(position)
    raise ValueError(f"nearest_mode is {rounding!r:.200}")


def _cubic(distance: float, a: float) -> float:
    """Return the weight at a distance in cubic convolution (Keys, 1981)."""
    if distance <= 1:
        return ((a + 2) * distance - (a + 3)) * distance * distance + 1
    if distance < 2:
        return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return 0.0


def _taps(position: float, axis: _Axis, options: _Options) -> dict[int, float]:
    """Return the weights of neighbours by their index, which may be outside."""
    if options.mode == "nearest":
        return {_nearest(position, options.nearest, axis.scale < 1): 1.0}
    reach = 2 if options.mode == "cubic" else 1
    width = min(axis.scale, 1.0) if options.antialias else 1.0
    weights: dict[int, float] = {}
    for index in range(floor(position - reach / width) + 1, ceil(position + reach / width)):
        distance = abs(index - position) * width
        if options.mode == "cubic":
            weights[index] = _cubic(distance, options.coefficient)
        else:
            weights[index] = max(1 - distance, 0.0)
    if position == floor(position) and not weights:
        weights[int(position)] = 1.0
    if options.exclude_outside:
        weights = {index: weight for index, weight in weights.items() if 0 <= index < axis.size}
    total = sum(weights.values())
    if options.antialias or options.exclude_outside:
        weights = {index: weight / total for index, weight in weights.items()}
    return weights


def _resized_axis(x: Tensor, number: int, axis: _Axis, options: _Options) -> Tensor:
    rows: list[list[tuple[int, float]]] = []
    outside: list[bool] = []
    for index in range(axis.result):
        position = _position(index, axis, options.transformation)
        outside.append(not 0 <= position <= axis.size - 1)
        taps = _taps(position, axis, options)
        rows.append([(min(max(at, 0), axis.size - 1), weight) for at, weight in taps.items()])
    shape = [1] * len(x.shape)
    shape[number] = axis.result
    result: Any = None
    for tap in range(max(len(row) for row in rows)):
        indices = [row[tap][0] if tap < len(row) else 0 for row in rows]
        part: Any = ops.gather(x, ops.tensor(indices, dtype="int32"), number)
        if options.mode != "nearest":
            weights = [row[tap][1] if tap < len(row) else 0.0 for row in rows]
            part = part * ops.tensor(weights, shape=shape, dtype="float32")
        result = part if result is None else result + part
    if options.transformation == "tf_crop_and_resize" and any(outside):
        flags = ops.tensor(outside, shape=shape, dtype="bool")
        filled = ops.full(result.shape, options.extrapolation, str(result.dtype))
        result = ops.where(flags, filled, result)
    resized_: Tensor = result
    return resized_


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
