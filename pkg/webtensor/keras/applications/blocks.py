"""Arithmetic of widths and padding that several families of networks share."""

from __future__ import annotations

from typing import Any, TypeAlias

from webtensor.keras.data_formats import channels_of, image_data_format, spatial_shape_of

__all__ = ["Images", "channel_axis", "channels", "rounded", "strided_padding"]

#: Symbolic images with their batch. Layers do not say what they return.
Images: TypeAlias = Any


def channel_axis(last: int = -1) -> int:
    """Return the axis of the channels; ``last`` is how a family writes the last one, -1 or 3."""
    return 1 if image_data_format() == "channels_first" else last


def channels(x: Images) -> int:
    """Return the number of channels of images."""
    count: int = channels_of(x.shape, image_data_format())
    return count


def rounded(width: float, *, limits_loss: bool = True) -> int:
    """Return a multiple of 8 near a number of channels; it is smaller by 10% at most.

    Without ``limits_loss`` it may be smaller by more.

    Example:
        >>> rounded(35.2), rounded(10), rounded(19.2), rounded(19.2, limits_loss=False)
        (32, 16, 24, 16)
    """
    nearest = max(8, int(width + 4) // 8 * 8)
    return nearest + 8 if limits_loss and nearest < 0.9 * width else nearest


def strided_padding(x: Images, kernel: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the padding before and after each axis for a convolution with stride 2.

    A size that is unknown counts as even.
    """
    half = kernel // 2
    height, width = (
        (half - 1 + (size or 0) % 2, half)
        for size in spatial_shape_of(x.shape, image_data_format())
    )
    return height, width
