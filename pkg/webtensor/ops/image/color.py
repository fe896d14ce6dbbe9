"""Mirroring images, and converting between colours, greys and two levels."""

from __future__ import annotations

from webtensor.arguments import as_number, check_choice
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike, as_operand, from_host, planned
from webtensor.ops.binary import divide_no_nan, greater, less_equal, multiply, subtract
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.contraction import matmul
from webtensor.ops.movement import flatten, flip
from webtensor.ops.nn import clip
from webtensor.ops.reduction import argmax, max as _max
from webtensor.ops.scan import cumulative_sum
from webtensor.ops.scatter import bincount
from webtensor.ops.sequences import arange
from webtensor.ops.ternary import where
from webtensor.ops.unary import round as _round, square

__all__ = ["flip_left_right", "grayscale_to_rgb", "rgb_to_grayscale", "threshold"]

#: Shares of red, green and blue in a grey, by ITU-R BT.601.
_LUMA = (0.2989, 0.587, 0.114)


@planned
def flip_left_right(image: TensorLike) -> Tensor:
    """Mirror images of (batch, height, width, channels): the last column comes first.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> import webtensor as wt
        >>> wt.image.flip_left_right(wt.tensor([1, 2], shape=(1, 1, 2, 1))).flatten().tolist()
        [2, 1]
    """
    images = as_operand("flip_left_right", image)
    if len(images.shape) != 4:
        raise ValueError(
            f"flip_left_right: image must have rank 4, but its shape is {images.shape}"
        )
    return flip(images, 2)


def _with_channels(name: str, image: TensorLike, channels: int) -> Tensor:
    operand = as_operand(name, image)
    if len(operand.shape) < 2 or operand.shape[-1] != channels:
        raise ValueError(
            f"{name}: image must have rank 2 or more, and {channels} "
            f"channel{'s' if channels > 1 else ''} as its last axis, but its shape is "
            f"{operand.shape}"
        )
    return operand


@planned
def grayscale_to_rgb(image: TensorLike) -> Tensor:
    """Repeat the only channel of (…, 1) three times.

    Raises:
        ValueError: the last axis does not have size 1, or it is the only one.

    Example:
        >>> import webtensor as wt
        >>> wt.image.grayscale_to_rgb([[5]]).tolist()
        [[5, 5, 5]]
    """
    operand = _with_channels("grayscale_to_rgb", image, 1)
    return broadcast_to(operand, (*operand.shape[:-1], 3))


@planned
def rgb_to_grayscale(image: TensorLike) -> Tensor:
    """Weigh red, green and blue of (…, 3) into one channel: ``0.2989 r + 0.587 g + 0.114 b``.

    The dtype stays; int32 greys are rounded down towards zero.

    Raises:
        ValueError: the last axis does not have size 3, or it is the only one.

    Example:
        >>> import webtensor as wt
        >>> wt.image.rgb_to_grayscale([[255, 0, 0]]).tolist()
        [[76]]
    """
    operand = _with_channels("rgb_to_grayscale", image, 3)
    weights = from_host("rgb_to_grayscale", [[share] for share in _LUMA])
    return cast_to(matmul(as_float("rgb_to_grayscale", "image", operand), weights), operand.dtype)


def threshold(
    image: TensorLike,
    method: str = "binary",
    inverted: bool = False,
    thresh_value: float = 0.5,
) -> Tensor:
    """Tell light from dark in an image of (height, width, 1 or 3 channels) with values up to 255.

    The result is int32 of (height, width, 1): 255 where the grey is greater than the threshold,
    else 0; ``inverted`` swaps them. The threshold is ``thresh_value * 255`` for the method
    "binary"; for "otsu" it is the grey that parts the image's greys best: so that the variance
    between the two classes is maximal (Otsu, 1979).

    Raises:
        TypeError: the image is neither float32 nor int32, or ``thresh_value`` no number.
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([10, 20, 200, 210], shape=(2, 2, 1))
        >>> wt.image.threshold(x, "otsu").flatten().tolist()
        [0, 0, 255, 255]
    """
    name = "threshold"
    operand = as_operand(name, image)
    if len(operand.shape) != 3 or operand.shape[2] not in (1, 3):
        raise ValueError(
            f"{name}: image must have shape (height, width, 1 or 3), but its shape is "
            f"{operand.shape}"
        )
    if operand.dtype not in (float32, int32):
        raise TypeError(f"{name}: image must be float32 or int32, but got {operand.dtype}")
    check_choice(name, "method", method, ("binary", "otsu"))
    level: TensorLike = as_number(name, "thresh_value", thresh_value) * 255.0
    grey = cast_to(operand, float32)
    if operand.shape[2] == 3:
        grey = matmul(grey, from_host(name, [[share] for share in _LUMA]))
    if method == "otsu":
        level = _otsu(grey)
    light = less_equal(grey, level) if inverted else greater(grey, level)
    return multiply(cast_to(light, int32), 255)


def _otsu(grey: Tensor) -> Tensor:
    """Return the grey from 0 to 254 up to which pixels are dark; -1 where all have one grey."""
    greys = cast_to(_round(clip(flatten(grey), 0.0, 256.0)), int32)
    counts = bincount(greys, size=256)
    # Sums of int32 are exact, so equal variances stay equal.
    dark = cumulative_sum(counts)
    dark_sum = cumulative_sum(multiply(counts, arange(256)))
    light, light_sum = subtract(dark[-1], dark), subtract(dark_sum[-1], dark_sum)
    means = [
        divide_no_nan(cast_to(total, float32), cast_to(number, float32))
        for total, number in ((dark_sum, dark), (light_sum, light))
    ]
    share = multiply(cast_to(dark, float32), cast_to(light, float32))
    variance = multiply(share, square(subtract(*means)))[:255]
    return where(greater(_max(variance), 0.0), cast_to(argmax(variance), float32), -1.0)
