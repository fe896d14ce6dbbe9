"""Functions of images, (batch, height, width, channels).

A single image without the batch axis works, too, as do images with the channels first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.geometry import positive_integers
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.ops import interpolation
from webtensor.keras.ops.interpolation import FILL_MODES, moved_pixels
from webtensor.keras.ops.operations import Arguments, Computation, Table, op, plain
from webtensor.keras.ops.patches import windows
from webtensor.keras.resampling import (
    INTERPOLATIONS,
    cropped_to_ratio,
    padded_to_ratio,
    resized,
)
from webtensor.keras.seeds import SeedGenerator, draw_seed
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config
from webtensor.ops import linalg

__all__ = ["TABLE"]


def _float(x: TensorLike) -> Tensor:
    return wt.astype(x, float32, copy=False)


def _as_batch(
    name: str,
    images: TensorLike,
    data_format: str | None,
    compute: Callable[[Tensor], Tensor],
    spatial_rank: int = 2,
) -> Tensor:
    """Call a function with images as a batch that has the channels last."""
    format = as_data_format(name, data_format)
    x = wt.asarray(images)
    rank = len(x.shape)
    if rank not in (spatial_rank + 1, spatial_rank + 2):
        raise ValueError(
            f"{name}: images must be one image or a batch, with {spatial_rank + 1} or "
            f"{spatial_rank + 2} axes, but have shape {x.shape}"
        )
    is_single = rank == spatial_rank + 1
    if is_single:
        x = wt.expand_dims(x, 0)
    if format == "channels_first":
        x = wt.moveaxis(x, 1, -1)
    y = compute(x)
    if format == "channels_first":
        y = wt.moveaxis(y, spatial_rank + 1, 1)
    return wt.squeeze(y, 0) if is_single else y


# -- colours -----------------------------------------------------------------------------------


def _check_channels(name: str, x: TensorLike) -> None:
    if x.shape[-1] != 3:
        raise ValueError(f"{name}: images must have 3 channels, but have {x.shape[-1]}")


def _check_floats(name: str, x: TensorLike) -> None:
    if x.dtype is not float32:
        raise ValueError(f"{name}: images must be floats, but are {x.dtype}")


def _rgb_to_grayscale(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Convert RGB images to grayscale: ``0.2989 r + 0.587 g + 0.114 b``.

    ``images`` has shape (height, width, 3) or (batch, height, width, 3); the result has 1 channel
    and the same dtype.

    Raises:
        ValueError: the images do not have 3 channels.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.rgb_to_grayscale([[[1.0, 1.0, 1.0]]]).numpy().round(2)
        array([[[1.]]], dtype=float32)
    """

    def compute(x: Tensor) -> Tensor:
        _check_channels("rgb_to_grayscale", x)
        weights = wt.tensor([[0.2989], [0.587], [0.114]])
        return wt.astype(wt.matmul(_float(x), weights), x.dtype, copy=False)

    return _as_batch("rgb_to_grayscale", images, data_format, compute)


def _rgb_to_hsv(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Convert RGB images to hue, saturation and value.

    ``images`` has shape (height, width, 3) or (batch, height, width, 3), with floats from 0 to 1,
    as the result has.

    Raises:
        ValueError: the images are not floats, or do not have 3 channels.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.rgb_to_hsv([[[0.0, 0.5, 0.0]]]).numpy().round(2)
        array([[[0.33, 1.  , 0.5 ]]], dtype=float32)
    """

    def compute(x: Tensor) -> Tensor:
        _check_channels("rgb_to_hsv", x)
        _check_floats("rgb_to_hsv", x)
        red, green, blue = wt.unstack(_float(x), -1)
        maximum, minimum = wt.max(x, -1), wt.min(x, -1)
        chroma = maximum - minimum
        saturation = wt.divide_no_nan(chroma, maximum)
        scale = wt.divide_no_nan(1.0 / 6, chroma)
        hue = wt.where(
            wt.equal(red, maximum),
            (green - blue) * scale,
            wt.where(
                wt.equal(green, maximum),
                (blue - red) * scale + 2 / 6,
                (red - green) * scale + 4 / 6,
            ),
        )
        hue = wt.where(wt.greater(chroma, 0), hue, 0.0)
        hue = hue + wt.astype(wt.less(hue, 0), float32)
        return wt.stack([hue, saturation, maximum], -1)

    return _as_batch("rgb_to_hsv", images, data_format, compute)


def _hsv_to_rgb(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Convert images of hue, saturation and value to RGB.

    ``images`` has shape (height, width, 3) or (batch, height, width, 3), with floats from 0 to 1,
    as the result has.

    Raises:
        ValueError: the images are not floats, or do not have 3 channels.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.hsv_to_rgb([[[0.0, 1.0, 0.5]]]).numpy().round(2)
        array([[[0.5, 0. , 0. ]]], dtype=float32)
    """

    def compute(x: Tensor) -> Tensor:
        _check_channels("hsv_to_rgb", x)
        _check_floats("hsv_to_rgb", x)
        hue, saturation, value = wt.unstack(_float(x), -1)
        sextant = hue * 6
        red = wt.clip(wt.abs(sextant - 3) - 1, 0.0, 1.0)
        green = wt.clip(2 - wt.abs(sextant - 2), 0.0, 1.0)
        blue = wt.clip(2 - wt.abs(sextant - 4), 0.0, 1.0)
        return wt.stack(
            [(1 - saturation + saturation * color) * value for color in (red, green, blue)], -1
        )

    return _as_batch("hsv_to_rgb", images, data_format, compute)


# -- sizes -------------------------------------------------------------------------------------


def _resize(
    images: TensorLike,
    size: Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Tensor:
    """Resize images to ``size``, which is (height, width).

    ``images`` has shape (height, width, channels) or (batch, height, width, channels).
    ``interpolation`` is "nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area",
    "gaussian" or "mitchellcubic". Either of ``crop_to_aspect_ratio`` and ``pad_to_aspect_ratio``
    keeps the aspect ratio; padding has the value ``fill_value``.

    Raises:
        ValueError: an argument has none of the values above.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.resize([[[1.0], [2.0]]], (1, 4), "nearest").numpy()[..., 0]
        array([[1., 1., 2., 2.]], dtype=float32)
    """
    check_choice("resize", "interpolation", interpolation, INTERPOLATIONS)
    if fill_mode != "constant":
        raise ValueError(f"resize: fill_mode must be 'constant', but got {fill_mode!r}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError(
            "resize: crop_to_aspect_ratio and pad_to_aspect_ratio must not both be true"
        )
    if not hasattr(size, "__len__") or len(size) != 2:
        raise ValueError(f"resize: size must be (height, width), but got {size!r}")
    height, width = size

    def compute(x: Tensor) -> Tensor:
        if crop_to_aspect_ratio:
            x = cropped_to_ratio(x, (height, width))
        elif pad_to_aspect_ratio:
            x = padded_to_ratio(x, (height, width), fill_value)
        return resized(x, (height, width), interpolation, antialias)

    return _as_batch("resize", images, data_format, compute)


def _margins(
    name: str, size: int, before: int | None, after: int | None, target: int | None, sign: int
) -> tuple[int, int]:
    """Return the margins before and after an axis; one of them may follow from the target size.

    ``sign`` is 1 where margins are added, -1 where they are removed.
    """
    arguments = [before, after, target]
    if arguments.count(None) != 1:
        raise ValueError(
            f"{name}: exactly two of the margins before and after an axis and its target size must "
            f"be given, for both axes, but got {arguments}"
        )
    if target is not None:
        if target < 0:
            raise ValueError(f"{name}: a target size must not be negative, but got {target}")
        change = sign * (target - size)
        if before is None:
            before = change - (after or 0)
        elif after is None:
            after = change - before
    margins = (before or 0, after or 0)
    if min(margins) < 0:
        raise ValueError(f"{name}: margins {margins} do not fit an axis of size {size}")
    return margins


def _pad_images(
    images: TensorLike,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Pad images with zeros.

    For each axis, two of the padding before, the padding after and the target size must be given.
    The images have shape (height, width, channels) or (batch, height, width, channels).

    Raises:
        ValueError: the arguments do not determine a padding of non-negative size.

    Example:
        >>> from webtensor import keras
        >>> images = keras.ops.ones((2, 2, 3))
        >>> keras.ops.image.pad_images(images, 1, 1, target_height=4, target_width=5).shape
        (4, 5, 3)
    """

    def compute(x: Tensor) -> Tensor:
        sides = (
            _margins("pad_images", x.shape[1], top_padding, bottom_padding, target_height, 1),
            _margins("pad_images", x.shape[2], left_padding, right_padding, target_width, 1),
        )
        return wt.pad(x, [[0, 0], *(list(side) for side in sides), [0, 0]])

    return _as_batch("pad_images", images, data_format, compute)


def _crop_images(
    images: TensorLike,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Crop images at their edges.

    For each axis, two of the cropping before, the cropping after and the target size must be
    given. The images have shape (height, width, channels) or (batch, height, width, channels).

    Raises:
        ValueError: the arguments do not determine a cropping of non-negative size.

    Example:
        >>> from webtensor import keras
        >>> images = keras.ops.ones((4, 5, 3))
        >>> keras.ops.image.crop_images(images, 1, 1, target_height=2, target_width=2).shape
        (2, 2, 3)
    """

    def compute(x: Tensor) -> Tensor:
        rows, columns = x.shape[1:3]
        top, bottom = _margins(
            "crop_images", rows, top_cropping, bottom_cropping, target_height, -1
        )
        left, right = _margins(
            "crop_images", columns, left_cropping, right_cropping, target_width, -1
        )
        return x[:, top : rows - bottom, left : columns - right]

    return _as_batch("crop_images", images, data_format, compute)


# -- geometry ----------------------------------------------------------------------------------


def _affine_transform(
    images: TensorLike,
    transform: TensorLike,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Apply an affine transformation to images.

    ``transform`` has 8 numbers (a0, a1, a2, b0, b1, b2, 0, 0) for all images, or for each of a
    batch. The output pixel (x, y) is the input pixel ``(a0 x + a1 y + a2, b0 x + b1 y + b2)``.
    ``interpolation`` is "bilinear" or "nearest"; ``fill_mode`` ("constant", "nearest", "wrap",
    "mirror" or "reflect") says what is beyond the edges. The result has the shape and dtype of
    ``images``.

    Raises:
        ValueError: a shape does not fit, or the interpolation or fill mode is unknown.

    Example:
        >>> from webtensor import keras
        >>> image = keras.ops.array([[[1.0], [2.0], [3.0]]])
        >>> keras.ops.image.affine_transform(image, [1, 0, 1, 0, 1, 0, 0, 0]).numpy()[..., 0]
        array([[2., 3., 0.]], dtype=float32)
    """
    transform = _float(transform)
    if len(transform.shape) not in (1, 2):
        raise ValueError(
            "affine_transform: transform must be (8,) or (batch, 8), but has shape "
            f"{transform.shape}"
        )
    check_choice("affine_transform", "interpolation", interpolation, ("bilinear", "nearest"))
    if len(transform.shape) == 1:
        transform = wt.expand_dims(transform, 0)

    def compute(x: Tensor) -> Tensor:
        options = (interpolation, fill_mode, fill_value)
        if fill_mode in ("mirror", "wrap"):
            rows, columns = _grid(transform, x.shape)
            y = moved_pixels(_float(x), rows, columns, *options)
        else:
            y = wt.image.transform(_float(x), transform, *options)
        return wt.astype(y, x.dtype, copy=False)

    return _as_batch("affine_transform", images, data_format, compute)


def _grid(transform: Tensor, shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the rows and columns of the input at which the pixels of the output are sampled."""
    batch, height, width, _ = shape
    y = wt.reshape(wt.arange(height, dtype=float32), (1, height, 1))
    x = wt.reshape(wt.arange(width, dtype=float32), (1, 1, width))
    factors = wt.unstack(wt.reshape(transform, (-1, 8, 1, 1)), 1)
    rows, columns = (
        wt.broadcast_to(x_factor * x + y_factor * y + offset, (batch, height, width))
        for x_factor, y_factor, offset in (factors[3:6], factors[:3])
    )
    return rows, columns


def _affine_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    images, transform = args
    ranks = len(images.shape), len(transform.shape)
    if ranks not in ((3, 1), (3, 2), (4, 1), (4, 2)):
        raise ValueError(
            "affine_transform: images must have 3 or 4 axes and transform one or two, but have "
            f"shapes {images.shape} and {transform.shape}"
        )
    return KerasTensor(images.shape, images.dtype)


def _elastic_transform(
    images: TensorLike,
    alpha: float = 20.0,
    sigma: float = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: int | SeedGenerator | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Deform images elastically.

    Each pixel is displaced by Gaussian noise, blurred with standard deviation ``sigma`` and
    multiplied by ``alpha``. The result has the shape and dtype of ``images``.

    Raises:
        ValueError: the interpolation or the fill mode is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.elastic_transform(keras.ops.ones((8, 8, 3)), seed=1).shape
        (8, 8, 3)
    """
    check_choice("elastic_transform", "interpolation", interpolation, ("bilinear", "nearest"))
    check_choice("elastic_transform", "fill_mode", fill_mode, FILL_MODES)

    def compute(x: Tensor) -> Tensor:
        batch, height, width, _ = x.shape
        shape, size = (batch, height, width, 2), int(6 * sigma) | 1
        noise = wt.random_normal(shape, 0.0, sigma, float32, draw_seed("elastic_transform", seed))
        displacements = _blurred(noise, (size, size), (sigma, sigma)) * alpha
        rows = wt.reshape(wt.arange(height, dtype=float32), (1, height, 1)) + displacements[..., 0]
        columns = wt.arange(width, dtype=float32) + displacements[..., 1]
        y = moved_pixels(_float(x), rows, columns, interpolation, fill_mode, fill_value)
        return wt.astype(y, x.dtype, copy=False)

    return _as_batch("elastic_transform", images, data_format, compute)


def _perspective_transform(
    images: TensorLike,
    start_points: TensorLike,
    end_points: TensorLike,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Apply the perspective transformation that maps four points to four others.

    ``start_points`` and ``end_points`` have shape (4, 2) or (batch, 4, 2), rows (x, y). The result
    has the shape of ``images``, in float32.

    Raises:
        ValueError: the points have other shapes.

    Example:
        >>> from webtensor import keras
        >>> image = keras.ops.array([[[1.0], [2.0]], [[3.0], [4.0]]])
        >>> corners = [[0, 0], [1, 0], [0, 1], [1, 1]]
        >>> mirrored = [[1, 0], [0, 0], [1, 1], [0, 1]]
        >>> seen = keras.ops.image.perspective_transform(image, corners, mirrored, "nearest")
        >>> seen[..., 0].tolist()
        [[2.0, 1.0], [4.0, 3.0]]
    """
    starts, ends = _float(start_points), _float(end_points)
    if starts.shape[-2:] != (4, 2) or starts.shape != ends.shape:
        raise ValueError(
            "perspective_transform: start_points and end_points must be (4, 2) or (batch, 4, 2), "
            f"but have shapes {starts.shape} and {ends.shape}"
        )
    starts, ends = wt.reshape(starts, (-1, 4, 2)), wt.reshape(ends, (-1, 4, 2))
    x, y = ends[..., 0], ends[..., 1]
    u, v = starts[..., 0], starts[..., 1]
    ones, zeros = wt.ones_like(x), wt.zeros_like(x)
    rows = [
        wt.stack([x, y, ones, zeros, zeros, zeros, -u * x, -u * y], -1),
        wt.stack([zeros, zeros, zeros, x, y, ones, -v * x, -v * y], -1),
    ]
    targets = wt.expand_dims(wt.concat([u, v], -1), -1)
    factors = wt.squeeze(linalg.solve(wt.concat(rows, 1), targets), -1)

    def compute(x: Tensor) -> Tensor:
        return wt.image.transform(_float(x), factors, interpolation, "constant", fill_value)

    return _as_batch("perspective_transform", images, data_format, compute)


def _extract_patches(
    images: TensorLike,
    size: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Extract patches of images, or of volumes if ``size`` has three numbers.

    For images (batch, height, width, channels) the result has shape (batch, rows, columns, size[0]
    * size[1] * channels). ``strides`` is ``size`` by default.

    Raises:
        ValueError: an argument is not a positive integer, or ``padding`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.extract_patches(keras.ops.ones((1, 4, 4, 3)), 2).shape
        (1, 2, 2, 12)
    """
    rank = 3 if isinstance(size, (list, tuple)) and len(size) == 3 else 2

    def compute(x: Tensor) -> Tensor:
        return windows("extract_patches", x, size, strides, dilation_rate, padding)

    return _as_batch("extract_patches", images, data_format, compute, rank)


def _extract_patches_3d(
    volumes: TensorLike,
    size: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Extract patches of volumes (batch, depth, height, width, channels).

    The result has shape (batch, depths, rows, columns, size[0] * size[1] * size[2] * channels).
    ``strides`` is ``size`` by default.

    Raises:
        ValueError: an argument is not a positive integer, or ``padding`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.extract_patches_3d(keras.ops.ones((1, 4, 4, 4, 1)), 2).shape
        (1, 2, 2, 2, 8)
    """
    sizes = positive_integers("extract_patches_3d", "size", size, 3)
    extract = TABLE.function("extract_patches")
    patches: Tensor = extract(volumes, sizes, strides, dilation_rate, padding, data_format)
    return patches


# -- filters -----------------------------------------------------------------------------------


def _filtered(x: Tensor, kernels: Tensor, padding: str = "same") -> Tensor:
    """Filter each channel with each of the kernels, (height, width, kernels)."""
    height, width, count = kernels.shape
    channels = x.shape[-1]
    filter = wt.tile(wt.reshape(kernels, (height, width, 1, count)), (1, 1, channels, 1))
    return wt.depthwise_conv2d(x, filter, 1, padding)


def _gaussian_blur(
    images: TensorLike,
    kernel_size: Sequence[int] = (3, 3),
    sigma: Sequence[float] = (1.0, 1.0),
    data_format: str | None = None,
) -> Tensor:
    """Blur images with a Gaussian kernel of the given size and standard deviation, along both axes.

    The result has the shape of ``images``, in float32.

    Example:
        >>> from webtensor import keras
        >>> image = keras.ops.array([[[0.0], [1.0], [0.0]]])
        >>> keras.ops.image.gaussian_blur(image, (3, 3), (1.0, 1.0)).shape
        (1, 3, 1)
    """
    return _as_batch(
        "gaussian_blur", images, data_format, lambda x: _blurred(_float(x), kernel_size, sigma)
    )


def _gaussian_kernel(sizes: Sequence[int], sigmas: Sequence[float]) -> Tensor:
    """Return the weights of a Gaussian window, which add up to 1: (height, width, 1)."""

    def weights(size: int, sigma: float) -> Tensor:
        offsets = wt.arange(size, dtype=float32) - (size - 1) / 2
        density = wt.exp(wt.square(offsets / sigma) * -0.5)
        return density / wt.sum(density)

    across, down = (weights(*axis) for axis in zip(sizes, sigmas, strict=True))
    kernel = wt.multiply(wt.reshape(down, (-1, 1)), wt.reshape(across, (1, -1)))
    return wt.expand_dims(kernel, -1)


def _blurred(x: Tensor, sizes: Sequence[int], sigmas: Sequence[float]) -> Tensor:
    return _filtered(x, _gaussian_kernel(sizes, sigmas))


def _sobel_edges(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Return the vertical and horizontal Sobel derivatives of images.

    ``images`` has shape (batch, height, width, channels); the result has a further axis of size 2,
    in float32.

    Raises:
        ValueError: the images do not have 4 axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.sobel_edges(keras.ops.ones((1, 4, 4, 3))).shape
        (1, 4, 4, 3, 2)
    """
    x = wt.asarray(images)
    if len(x.shape) != 4:
        raise ValueError(f"sobel_edges: images must have 4 axes, but have shape {x.shape}")
    down = wt.tensor([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    kernels = wt.stack([down, wt.transpose(down)], -1)

    def compute(x: Tensor) -> Tensor:
        return wt.reshape(_filtered(_float(x), kernels), (*x.shape, 2))

    return _as_batch("sobel_edges", x, data_format, compute)


def _ssim(
    image1: TensorLike,
    image2: TensorLike,
    max_val: float = 1.0,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    data_format: str | None = None,
) -> Tensor:
    """Return the structural similarity of pairs of images, which is 1 for equal ones.

    Both arguments have shape (height, width, channels) or (batch, height, width, channels); the
    result has shape () or (batch,), in float32. ``max_val`` is the range of values;
    ``filter_size`` and ``filter_sigma`` describe the Gaussian window, ``k1`` and ``k2`` are the
    constants of the formula.

    Raises:
        ValueError: the shapes differ, or ``filter_size`` is even.

    Example:
        >>> from webtensor import keras
        >>> image = keras.ops.ones((12, 12, 1))
        >>> round(keras.ops.image.ssim(image, image).item(), 3)
        1.0
    """
    if filter_size < 1 or filter_size % 2 == 0:
        raise ValueError(f"ssim: filter_size must be odd, but got {filter_size}")
    first, second = _float(image1), _float(image2)
    if first.shape != second.shape:
        raise ValueError(
            f"ssim: image1 and image2 must have one shape, but have {first.shape} and "
            f"{second.shape}"
        )
    kernel = _gaussian_kernel((filter_size, filter_size), (filter_sigma, filter_sigma))
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2

    def local_mean(x: Tensor) -> Tensor:
        return _filtered(x, kernel, "valid")

    def compute(x: Tensor) -> Tensor:
        p, q = wt.split(x, 2, -1)
        p_mean, q_mean = local_mean(p), local_mean(q)
        product, squares = p_mean * q_mean, wt.square(p_mean) + wt.square(q_mean)
        covariance = local_mean(p * q) - product
        variances = local_mean(wt.square(p) + wt.square(q)) - squares
        luminance = wt.divide(product * 2 + c1, squares + c1)
        return luminance * wt.divide(covariance * 2 + c2, variances + c2)

    channels = -1 if as_data_format("ssim", data_format) == "channels_last" else -3
    pair = wt.concat([first, second], channels)
    return wt.mean(_as_batch("ssim", pair, data_format, compute), axis=(-3, -2, -1))


TABLE = Table(
    "keras.src.ops.image",
    {
        "affine_transform": op(
            _affine_transform, "interpolation fill_mode fill_value data_format", spec=_affine_spec
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
        "hsv_to_rgb": op(_hsv_to_rgb, "data_format", class_name="HSVToRGB"),
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
        "rgb_to_grayscale": op(_rgb_to_grayscale, "data_format", class_name="RGBToGrayscale"),
        "rgb_to_hsv": op(_rgb_to_hsv, "data_format", class_name="RGBToHSV"),
        "scale_and_translate": op(
            interpolation.scale_and_translate, "spatial_dims method antialias"
        ),
        "sobel_edges": op(_sobel_edges, "data_format"),
        "ssim": op(_ssim, "max_val filter_size filter_sigma k1 k2 data_format", class_name="SSIM"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)
