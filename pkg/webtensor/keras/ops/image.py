"""Functions of images: (batch, height, width, channels), one image alone, or the channels first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil, floor, pi, sin
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.keras.layouts import as_data_format
from webtensor.keras.ops.operations import Table, like, op
from webtensor.ops import linalg

__all__ = ["TABLE"]


def _float(x: Any) -> Any:
    return wt.astype(x, float32, copy=False)


def _as_batch(
    name: str, images: Any, data_format: str | None, compute: Callable[[Any], Any]
) -> Any:
    """Call a function with a batch of images that has the channels last."""
    format = as_data_format(name, data_format)
    x = wt.asarray(images)
    rank = len(x.shape)
    if rank not in (3, 4):
        raise ValueError(
            f"{name}: images must be one image or a batch, with 3 or 4 axes, but have shape "
            f"{x.shape}"
        )
    if rank == 3:
        x = wt.expand_dims(x, 0)
    if format == "channels_first":
        x = wt.permute_dims(x, (0, 2, 3, 1))
    y = compute(x)
    if format == "channels_first":
        y = wt.permute_dims(y, (0, 3, 1, 2))
    return wt.squeeze(y, 0) if rank == 3 else y


# -- colours -----------------------------------------------------------------------------------


def _check_channels(name: str, x: Any) -> None:
    if x.shape[-1] != 3:
        raise ValueError(f"{name}: images must have 3 channels, but have {x.shape[-1]}")


def _rgb_to_grayscale(images: Any, data_format: str | None = None) -> Any:
    """How bright pixels are: ``0.2989 r + 0.587 g + 0.114 b``."""

    def compute(x: Any) -> Any:
        _check_channels("rgb_to_grayscale", x)
        weights = wt.tensor([[0.2989], [0.587], [0.114]])
        return wt.astype(wt.matmul(_float(x), weights), x.dtype, copy=False)

    return _as_batch("rgb_to_grayscale", images, data_format, compute)


def _rgb_to_hsv(images: Any, data_format: str | None = None) -> Any:
    """Colours as hue, saturation and value, from red, green and blue, all between 0 and 1."""

    def compute(x: Any) -> Any:
        _check_channels("rgb_to_hsv", x)
        red, green, blue = wt.unstack(_float(x), -1)
        most, least = wt.max(x, -1), wt.min(x, -1)
        spread = most - least
        saturation = wt.divide_no_nan(spread, most)
        part = wt.divide_no_nan(1.0 / 6, spread)
        hue = wt.where(
            wt.equal(red, most),
            (green - blue) * part,
            wt.where(
                wt.equal(green, most),
                (blue - red) * part + 2 / 6,
                (red - green) * part + 4 / 6,
            ),
        )
        hue = wt.where(wt.greater(spread, 0), hue, 0.0)
        hue = hue + wt.astype(wt.less(hue, 0), float32)
        return wt.stack([hue, saturation, most], -1)

    return _as_batch("rgb_to_hsv", images, data_format, compute)


def _hsv_to_rgb(images: Any, data_format: str | None = None) -> Any:
    """Colours as red, green and blue, from hue, saturation and value, all between 0 and 1."""

    def compute(x: Any) -> Any:
        _check_channels("hsv_to_rgb", x)
        hue, saturation, value = wt.unstack(_float(x), -1)
        turned = hue * 6
        red = wt.clip(wt.abs(turned - 3) - 1, 0.0, 1.0)
        green = wt.clip(2 - wt.abs(turned - 2), 0.0, 1.0)
        blue = wt.clip(2 - wt.abs(turned - 4), 0.0, 1.0)
        return wt.stack(
            [(1 - saturation + saturation * one) * value for one in (red, green, blue)], -1
        )

    return _as_batch("hsv_to_rgb", images, data_format, compute)


# -- sizes -------------------------------------------------------------------------------------


def _triangle(x: float) -> float:
    return max(0.0, 1 - abs(x))


def _cubic(x: float) -> float:
    """Keys' cubic, with a = -1/2."""
    x = abs(x)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((-0.5 * x + 2.5) * x - 4) * x + 2 if x < 2 else 0.0


def _lanczos(radius: int) -> Callable[[float], float]:
    def weight(x: float) -> float:
        if abs(x) >= radius:
            return 0.0
        if abs(x) < 1e-8:
            return 1.0
        return radius * sin(pi * x) * sin(pi * x / radius) / (pi * x) ** 2

    return weight


#: How much a pixel counts at a distance, and how far it reaches.
_FILTERS: dict[str, tuple[Callable[[float], float], int]] = {
    "bilinear": (_triangle, 1),
    "bicubic": (_cubic, 2),
    "lanczos3": (_lanczos(3), 3),
    "lanczos5": (_lanczos(5), 5),
}


@lru_cache(64)
def _weights(method: str, length: int, outputs: int, antialias: bool) -> list[list[float]]:
    """How much each pixel of an axis counts for each of the result."""
    weight, radius = _FILTERS[method]
    scale = length / outputs
    wide = max(scale, 1.0) if antialias else 1.0
    rows = []
    for index in range(outputs):
        center = (index + 0.5) * scale - 0.5
        row = [0.0] * length
        first = max(ceil(center - radius * wide), 0)
        last = min(floor(center + radius * wide), length - 1)
        for place in range(first, last + 1):
            row[place] = weight((center - place) / wide)
        total = sum(row)
        rows.append([one / total for one in row] if total else row)
    return rows


def _resampled(x: Any, axis: int, outputs: int, method: str, antialias: bool) -> Any:
    length = x.shape[axis]
    if length == outputs:
        return x
    before, after = 1, 1
    for place, n in enumerate(x.shape):
        before, after = (before * n, after) if place < axis else (before, after * n)
    rows = wt.reshape(x, (before, length, after // length))
    matrix = wt.tensor(_weights(method, length, outputs, antialias))
    shape = (*x.shape[:axis], outputs, *x.shape[axis + 1 :])
    return wt.reshape(wt.matmul(matrix, rows), shape)


def _resize(
    images: Any,
    size: Any,
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Any:
    """The images in another size."""
    if interpolation != "nearest" and interpolation not in _FILTERS:
        known = sorted([*_FILTERS, "nearest"])
        raise ValueError(f"resize: interpolation must be one of {known}, but got {interpolation!r}")
    if fill_mode != "constant":
        raise ValueError(f"resize: fill_mode must be 'constant', but got {fill_mode!r}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("resize: only one of crop_to_aspect_ratio and pad_to_aspect_ratio may be")
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ValueError(f"resize: size must be (height, width), but got {size!r}")
    height, width = size

    def compute(x: Any) -> Any:
        if crop_to_aspect_ratio:
            x = _cropped_to(x, height, width)
        elif pad_to_aspect_ratio:
            x = _padded_to(x, height, width, fill_value)
        if interpolation == "nearest":
            return wt.image.resize_nearest_neighbor(x, (height, width), half_pixel_centers=True)
        y = _float(x)
        if interpolation == "bilinear" and not antialias:
            y = wt.image.resize_bilinear(y, (height, width), half_pixel_centers=True)
        else:
            y = _resampled(y, 1, height, interpolation, antialias)
            y = _resampled(y, 2, width, interpolation, antialias)
        return y if x.dtype is float32 else wt.astype(wt.round(y), x.dtype)

    return _as_batch("resize", images, data_format, compute)


def _cropped_to(x: Any, height: int, width: int) -> Any:
    """The middle part that has the proportions of a size."""
    _, rows, columns, _ = x.shape
    kept_rows = max(min(rows, columns * height // width), 1)
    kept_columns = max(min(columns, rows * width // height), 1)
    top, left = (rows - kept_rows) // 2, (columns - kept_columns) // 2
    return x[:, top : top + kept_rows, left : left + kept_columns]


def _padded_to(x: Any, height: int, width: int, fill_value: float) -> Any:
    """The images in the middle of ones that have the proportions of a size."""
    _, rows, columns, _ = x.shape
    more_rows = max(rows, columns * height // width) - rows
    more_columns = max(columns, rows * width // height) - columns
    # As in Keras, the same is added on both sides.
    around = [[more_rows // 2] * 2, [more_columns // 2] * 2]
    return wt.pad(x, [[0, 0], *around, [0, 0]], fill_value)


def _margins(
    name: str, length: int, before: int | None, after: int | None, target: int | None, sign: int
) -> tuple[int, int]:
    """How much is added (or taken, with sign -1) before and after, of which one may follow."""
    if [before, after, target].count(None) > 1:
        raise ValueError(
            f"{name}: of the two sides and the target length, two must be given, for both axes"
        )
    if target is not None:
        change = sign * (target - length)
        if before is None:
            before = change - (after or 0)
        elif after is None:
            after = change - before
    found = (before or 0, after or 0)
    if min(found) < 0:
        raise ValueError(f"{name}: an axis of length {length} cannot be changed by {found}")
    return found


def _pad_images(
    images: Any,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """The images with zeros around."""

    def compute(x: Any) -> Any:
        sides = (
            _margins("pad_images", x.shape[1], top_padding, bottom_padding, target_height, 1),
            _margins("pad_images", x.shape[2], left_padding, right_padding, target_width, 1),
        )
        return wt.pad(x, [[0, 0], *(list(side) for side in sides), [0, 0]])

    return _as_batch("pad_images", images, data_format, compute)


def _crop_images(
    images: Any,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """The images without what is at their edges."""

    def compute(x: Any) -> Any:
        rows, columns = x.shape[1:3]
        top, bottom = _margins(
            "crop_images", rows, top_cropping, bottom_cropping, target_height, -1
        )
        left, right = _margins(
            "crop_images", columns, left_cropping, right_cropping, target_width, -1
        )
        return x[:, top : rows - bottom, left : columns - right]

    return _as_batch("crop_images", images, data_format, compute)


# -- places ------------------------------------------------------------------------------------


def _affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    """Images moved: (x, y) shows ``(a0 x + a1 y + a2, b0 x + b1 y + b2)``."""
    transform = _float(transform)
    if len(transform.shape) == 1:
        transform = wt.expand_dims(transform, 0)

    def compute(x: Any) -> Any:
        options = (interpolation, fill_mode, fill_value)
        y = wt.image.transform(_float(x), transform, *options)
        return wt.astype(y, x.dtype, copy=False)

    return _as_batch("affine_transform", images, data_format, compute)


def _perspective_transform(
    images: Any,
    start_points: Any,
    end_points: Any,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    """Images seen such that four points of them, ``start_points``, are at ``end_points``."""
    starts, ends = _float(start_points), _float(end_points)
    if starts.shape[-2:] != (4, 2) or starts.shape != ends.shape:
        raise ValueError(
            "perspective_transform: start_points and end_points must be (4, 2) or (batch, 4, 2), "
            f"but have shapes {starts.shape} and {ends.shape}"
        )
    starts, ends = wt.reshape(starts, (-1, 4, 2)), wt.reshape(ends, (-1, 4, 2))
    x, y = ends[..., 0], ends[..., 1]
    u, v = starts[..., 0], starts[..., 1]
    one, zero = wt.ones_like(x), wt.zeros_like(x)
    rows = [
        wt.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1),
        wt.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1),
    ]
    wanted = wt.expand_dims(wt.concat([u, v], -1), -1)
    factors = wt.squeeze(linalg.solve(wt.concat(rows, 1), wanted), -1)

    def compute(x: Any) -> Any:
        return wt.image.transform(_float(x), factors, interpolation, "constant", fill_value)

    return _as_batch("perspective_transform", images, data_format, compute)


def _extract_patches(
    images: Any,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The windows of images, as channels."""
    size = (size, size) if isinstance(size, int) else tuple(size)
    if len(size) != 2:
        raise ValueError(f"extract_patches: size must be one length or two, but got {size}")
    strides = size if strides is None else strides

    def compute(x: Any) -> Any:
        x, channels = _float(x), x.shape[-1]
        count = size[0] * size[1]
        kernel = wt.reshape(wt.eye(count), (*size, 1, count))
        kernel = wt.tile(kernel, (1, 1, channels, 1))
        made = wt.depthwise_conv2d(x, kernel, strides, padding, "NHWC", dilation_rate)
        # From channels × places to places × channels.
        parts = wt.reshape(made, (*made.shape[:-1], channels, count))
        return wt.reshape(wt.permute_dims(parts, (0, 1, 2, 4, 3)), made.shape)

    return _as_batch("extract_patches", images, data_format, compute)


# -- filters -----------------------------------------------------------------------------------


def _filtered(x: Any, kernels: Any) -> Any:
    """Each channel filtered with each of the kernels, (height, width, kernels)."""
    height, width, count = kernels.shape
    channels = x.shape[-1]
    filter = wt.tile(wt.reshape(kernels, (height, width, 1, count)), (1, 1, channels, 1))
    return wt.depthwise_conv2d(x, filter, 1, "same")


def _gaussian_blur(
    images: Any, kernel_size: Any = (3, 3), sigma: Any = (1.0, 1.0), data_format: str | None = None
) -> Any:
    """The images out of focus."""

    def bell(size: int, width: float) -> Any:
        places = wt.arange(size, dtype=float32) - (size - 1) / 2
        heights = wt.exp(wt.square(places / width) * -0.5)
        return heights / wt.sum(heights)

    def compute(x: Any) -> Any:
        first, second = (bell(*one) for one in zip(kernel_size, sigma, strict=True))
        kernel = wt.multiply(wt.reshape(second, (-1, 1)), wt.reshape(first, (1, -1)))
        return _filtered(_float(x), wt.expand_dims(kernel, -1))

    return _as_batch("gaussian_blur", images, data_format, compute)


TABLE = Table(
    "keras.src.ops.image",
    {
        "affine_transform": like(
            _affine_transform, "interpolation fill_mode fill_value data_format"
        ),
        "crop_images": op(
            _crop_images,
            "top_cropping left_cropping bottom_cropping right_cropping target_height target_width "
            "data_format",
        ),
        "extract_patches": op(_extract_patches, "size strides dilation_rate padding data_format"),
        "gaussian_blur": op(_gaussian_blur, "kernel_size sigma data_format"),
        "hsv_to_rgb": op(_hsv_to_rgb, "data_format", kind="HSVToRGB"),
        "pad_images": op(
            _pad_images,
            "top_padding left_padding bottom_padding right_padding target_height target_width "
            "data_format",
        ),
        "perspective_transform": op(_perspective_transform, "interpolation fill_value data_format"),
        "resize": op(
            _resize,
            "size interpolation antialias crop_to_aspect_ratio pad_to_aspect_ratio fill_mode "
            "fill_value data_format",
        ),
        "rgb_to_grayscale": op(_rgb_to_grayscale, "data_format", kind="RGBToGrayscale"),
        "rgb_to_hsv": op(_rgb_to_hsv, "data_format", kind="RGBToHSV"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
