"""Functions of images: (batch, height, width, channels), one image alone, or the channels first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.ops import interpolation
from webtensor.keras.ops.interpolation import moved_pixels
from webtensor.keras.ops.operations import Table, op, plain
from webtensor.keras.ops.patches import windows
from webtensor.keras.random import draw_seed
from webtensor.keras.resampling import (
    INTERPOLATIONS,
    cropped_to_ratio,
    padded_to_ratio,
    resized,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.ops import linalg

__all__ = ["TABLE"]


def _float(x: Any) -> Any:
    return wt.astype(x, float32, copy=False)


def _as_batch(
    name: str,
    images: Any,
    data_format: str | None,
    compute: Callable[[Any], Any],
    places: int = 2,
) -> Any:
    """Call a function with a batch of images that has the channels last."""
    format = as_data_format(name, data_format)
    x = wt.asarray(images)
    rank = len(x.shape)
    if rank not in (places + 1, places + 2):
        raise ValueError(
            f"{name}: images must be one image or a batch, with {places + 1} or {places + 2} axes, "
            f"but have shape {x.shape}"
        )
    is_single = rank == places + 1
    if is_single:
        x = wt.expand_dims(x, 0)
    if format == "channels_first":
        x = wt.moveaxis(x, 1, -1)
    y = compute(x)
    if format == "channels_first":
        y = wt.moveaxis(y, places + 1, 1)
    return wt.squeeze(y, 0) if is_single else y


# -- colours -----------------------------------------------------------------------------------


def _check_channels(name: str, x: Any) -> None:
    if x.shape[-1] != 3:
        raise ValueError(f"{name}: images must have 3 channels, but have {x.shape[-1]}")


def _check_floats(name: str, x: Any) -> None:
    if x.dtype is not float32:
        raise ValueError(f"{name}: images must be floats, but are {x.dtype}")


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
        _check_floats("rgb_to_hsv", x)
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
        _check_floats("hsv_to_rgb", x)
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
    if interpolation not in INTERPOLATIONS:
        raise ValueError(
            f"resize: interpolation must be one of {', '.join(INTERPOLATIONS)}, but got "
            f"{interpolation!r}"
        )
    if fill_mode != "constant":
        raise ValueError(f"resize: fill_mode must be 'constant', but got {fill_mode!r}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("resize: only one of crop_to_aspect_ratio and pad_to_aspect_ratio may be")
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ValueError(f"resize: size must be (height, width), but got {size!r}")
    height, width = size

    def compute(x: Any) -> Any:
        if crop_to_aspect_ratio:
            x = cropped_to_ratio(x, (height, width))
        elif pad_to_aspect_ratio:
            x = padded_to_ratio(x, (height, width), fill_value)
        return resized(x, (height, width), interpolation, antialias)

    return _as_batch("resize", images, data_format, compute)


def _margins(
    name: str, length: int, before: int | None, after: int | None, target: int | None, sign: int
) -> tuple[int, int]:
    """How much is added (or taken, with sign -1) before and after, of which one may follow."""
    given = [before, after, target]
    if given.count(None) != 1:
        raise ValueError(
            f"{name}: of the two sides and the target length, two must be given, for both axes; "
            f"they are {given}"
        )
    if target is not None:
        if target < 0:
            raise ValueError(f"{name}: a target length must not be negative, but is {target}")
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
    if len(transform.shape) not in (1, 2):
        raise ValueError(
            "affine_transform: transform must be (8,) or (batch, 8), but has shape "
            f"{transform.shape}"
        )
    if interpolation not in ("bilinear", "nearest"):
        raise ValueError(
            "affine_transform: interpolation must be 'bilinear' or 'nearest', but got "
            f"{interpolation!r}"
        )
    if len(transform.shape) == 1:
        transform = wt.expand_dims(transform, 0)

    def compute(x: Any) -> Any:
        options = (interpolation, fill_mode, fill_value)
        if fill_mode in ("mirror", "wrap"):
            rows, columns = _grid(transform, x.shape)
            y = moved_pixels(_float(x), rows, columns, *options)
        else:
            y = wt.image.transform(_float(x), transform, *options)
        return wt.astype(y, x.dtype, copy=False)

    return _as_batch("affine_transform", images, data_format, compute)


def _grid(transform: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Where pixels of the result are in images: rows and columns."""
    batch, height, width, _ = shape
    y = wt.reshape(wt.arange(height, dtype=float32), (1, height, 1))
    x = wt.reshape(wt.arange(width, dtype=float32), (1, 1, width))
    factors = wt.unstack(wt.reshape(transform, (-1, 8, 1, 1)), 1)
    rows, columns = (
        wt.broadcast_to(first * x + second * y + third, (batch, height, width))
        for first, second, third in (factors[3:6], factors[:3])
    )
    return rows, columns


def _moved(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> KerasTensor:
    images, transform = args
    ranks = len(images.shape), len(transform.shape)
    if ranks not in ((3, 1), (3, 2), (4, 1), (4, 2)):
        raise ValueError(
            "affine_transform: images must have 3 or 4 axes and transform one or two, but have "
            f"shapes {images.shape} and {transform.shape}"
        )
    return KerasTensor(images.shape, images.dtype)


def _elastic_transform(
    images: Any,
    alpha: float = 20.0,
    sigma: float = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: Any = None,
    data_format: str | None = None,
) -> Any:
    """Images as on rubber: pixels move by noise, blurred by ``sigma``, times ``alpha``."""
    if interpolation not in ("bilinear", "nearest"):
        raise ValueError(
            "elastic_transform: interpolation must be 'bilinear' or 'nearest', but got "
            f"{interpolation!r}"
        )

    def compute(x: Any) -> Any:
        batch, height, width, _ = x.shape
        shape, size = (batch, height, width, 2), int(6 * sigma) | 1
        noise = wt.random_normal(shape, 0.0, sigma, float32, draw_seed("elastic_transform", seed))
        moves = _blurred(noise, (size, size), (sigma, sigma)) * alpha
        y = wt.reshape(wt.arange(height, dtype=float32), (1, height, 1)) + moves[..., 0]
        columns = wt.arange(width, dtype=float32) + moves[..., 1]
        made = moved_pixels(_float(x), y, columns, interpolation, fill_mode, fill_value)
        return wt.astype(made, x.dtype, copy=False)

    return _as_batch("elastic_transform", images, data_format, compute)


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
    """The windows of images, or with three lengths of volumes, as channels."""
    rank = 3 if isinstance(size, (list, tuple)) and len(size) == 3 else 2

    def compute(x: Any) -> Any:
        return windows("extract_patches", x, size, strides, dilation_rate, padding)

    return _as_batch("extract_patches", images, data_format, compute, rank)


def _extract_patches_3d(
    volumes: Any,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The windows of volumes, as channels."""
    lengths = (size,) * 3 if isinstance(size, int) else size
    if not isinstance(lengths, (list, tuple)) or len(lengths) != 3:
        raise TypeError(f"extract_patches_3d: size must be an integer or three, but got {size!r}")
    extract = TABLE.function("extract_patches")
    return extract(volumes, lengths, strides, dilation_rate, padding, data_format)


# -- filters -----------------------------------------------------------------------------------


def _filtered(x: Any, kernels: Any, padding: str = "same") -> Any:
    """Each channel filtered with each of the kernels, (height, width, kernels)."""
    height, width, count = kernels.shape
    channels = x.shape[-1]
    filter = wt.tile(wt.reshape(kernels, (height, width, 1, count)), (1, 1, channels, 1))
    return wt.depthwise_conv2d(x, filter, 1, padding)


def _gaussian_blur(
    images: Any, kernel_size: Any = (3, 3), sigma: Any = (1.0, 1.0), data_format: str | None = None
) -> Any:
    """The images out of focus."""
    return _as_batch(
        "gaussian_blur", images, data_format, lambda x: _blurred(_float(x), kernel_size, sigma)
    )


def _bells(sizes: Any, widths: Any) -> Any:
    """How much pixels around one count: (height, width, 1)."""

    def bell(size: int, width: float) -> Any:
        places = wt.arange(size, dtype=float32) - (size - 1) / 2
        heights = wt.exp(wt.square(places / width) * -0.5)
        return heights / wt.sum(heights)

    first, second = (bell(*one) for one in zip(sizes, widths, strict=True))
    kernel = wt.multiply(wt.reshape(second, (-1, 1)), wt.reshape(first, (1, -1)))
    return wt.expand_dims(kernel, -1)


def _blurred(x: Any, sizes: Any, widths: Any) -> Any:
    return _filtered(x, _bells(sizes, widths))


def _sobel_edges(images: Any, data_format: str | None = None) -> Any:
    """How fast images change downward and to the right, along a last axis."""
    x = wt.asarray(images)
    if len(x.shape) != 4:
        raise ValueError(f"sobel_edges: images must have 4 axes, but have shape {x.shape}")
    down = wt.tensor([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    kernels = wt.stack([down, wt.transpose(down)], -1)

    def compute(x: Any) -> Any:
        made = _filtered(_float(x), kernels)
        return wt.reshape(made, (*x.shape, 2))

    return _as_batch("sobel_edges", x, data_format, compute)


def _ssim(
    image1: Any,
    image2: Any,
    max_val: float = 1.0,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    data_format: str | None = None,
) -> Any:
    """How similar the structures of images are: 1 for equal ones."""
    if filter_size < 1 or filter_size % 2 == 0:
        raise ValueError(f"ssim: filter_size must be odd, but got {filter_size}")
    first, second = (_float(one) for one in (image1, image2))
    if first.shape != second.shape:
        raise ValueError(
            f"ssim: image1 and image2 must have one shape, but have {first.shape} and "
            f"{second.shape}"
        )
    bells = _bells((filter_size, filter_size), (filter_sigma, filter_sigma))
    least, some = (k1 * max_val) ** 2, (k2 * max_val) ** 2

    def around(x: Any) -> Any:
        return _filtered(x, bells, "valid")

    def compute(x: Any) -> Any:
        p, q = wt.split(x, 2, -1)
        p_mean, q_mean = around(p), around(q)
        both, squares = p_mean * q_mean, wt.square(p_mean) + wt.square(q_mean)
        shared = around(p * q) - both
        spread = around(wt.square(p) + wt.square(q)) - squares
        brightness = wt.divide(both * 2 + least, squares + least)
        return brightness * wt.divide(shared * 2 + some, spread + some)

    channels = -1 if as_data_format("ssim", data_format) == "channels_last" else -3
    pair = wt.concat([first, second], channels)
    return wt.mean(_as_batch("ssim", pair, data_format, compute), axis=(-3, -2, -1))


TABLE = Table(
    "keras.src.ops.image",
    {
        "affine_transform": op(
            _affine_transform, "interpolation fill_mode fill_value data_format", spec=_moved
        ),
        "crop_images": op(
            _crop_images,
            "top_cropping left_cropping bottom_cropping right_cropping target_height target_width "
            "data_format",
        ),
        "elastic_transform": op(
            _elastic_transform,
            "alpha sigma interpolation fill_mode fill_value seed data_format",
        ),
        "extract_patches": op(_extract_patches, "size strides dilation_rate padding data_format"),
        "extract_patches_3d": plain(_extract_patches_3d),
        "gaussian_blur": op(_gaussian_blur, "kernel_size sigma data_format"),
        "hsv_to_rgb": op(_hsv_to_rgb, "data_format", kind="HSVToRGB"),
        "map_coordinates": op(interpolation.map_coordinates, "order fill_mode fill_value"),
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
        "scale_and_translate": op(
            interpolation.scale_and_translate, "spatial_dims method antialias"
        ),
        "sobel_edges": op(_sobel_edges, "data_format"),
        "ssim": op(_ssim, "max_val filter_size filter_sigma k1 k2 data_format", kind="SSIM"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
