"""Histogram equalization: of a whole batch, or of the tiles of each image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import BaseImagePreprocessingLayer
from webtensor.keras.layers.preprocessing.images.ranges import (
    between,
    in_bytes,
    sorted_range,
)

__all__ = ["ContrastLimitedAdaptiveHistogramEqualization", "Equalization"]


def _histograms(numbers: Tensor, rows: int, bins: int) -> Tensor:
    """Count numbers from 0 to ``rows * bins - 1``, in the shape (rows, bins)."""
    counts = wt.bincount(wt.flatten(numbers), size=rows * bins)
    return wt.reshape(counts, (rows, bins))


class Equalization(BaseImagePreprocessingLayer[None]):
    """Equalizes the histogram of each channel, during training.

    A value becomes 255 times the part of the pixels that are not greater than it, without those of
    the minimum, which becomes 0. As in Keras, the pixels of all images of a batch count together.

    Output shape: that of the inputs.

    Args:
        bins: an integer, the number of bins of the histogram.

    Raises:
        ValueError: ``value_range`` is not two numbers.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.tensor([[[10.0], [10.0], [20.0], [30.0]]])
        >>> keras.layers.Equalization()(x).flatten().tolist()
        [0.0, 0.0, 128.0, 255.0]
    """

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        bins: int = 256,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.bins = bins
        self.value_range = sorted_range("Equalization", value_range)

    def _transform(self, images: Tensor, transformation: None) -> Tensor:
        return in_bytes(self._cast(images), self.value_range, self._equalized)

    def _equalized(self, x: Tensor) -> Tensor:
        bins, axis = self.bins, self._channel_axis()
        channels = x.shape[axis]
        shape = (channels, 1, 1) if axis == -3 else (channels,)
        offsets = wt.tensor([channel * bins for channel in range(channels)], shape, int32)
        scaled = x if bins == 256 else x * float(bins - 1) / 255.0
        indices = wt.astype(wt.clip(scaled, 0.0, float(bins - 1)), int32) + offsets
        counts = _histograms(indices, channels, bins)
        cumulative = wt.astype(wt.cumsum(counts, 1), float32)
        total = cumulative[:, -1:]
        # Pixels in the first bin that is not empty become 0.
        is_filled = wt.greater(cumulative, 0.0)
        first = wt.min(wt.where(is_filled, cumulative, total), 1, keepdims=True)
        rest = total - first
        table = wt.round(wt.divide_no_nan((cumulative - first) * 255.0, rest))
        # A channel keeps its values if they are all in one bin.
        is_constant = wt.reshape(wt.less_equal(rest, 0.0), shape)
        return wt.where(is_constant, x, wt.take(wt.flatten(table), indices))


class ContrastLimitedAdaptiveHistogramEqualization(BaseImagePreprocessingLayer[None]):
    """Equalizes the histograms of tiles of each image (CLAHE); inference does so, too.

    Each pixel is interpolated between the equalized values of the four nearest tiles.

    Output shape: that of the inputs.

    Args:
        clip_limit: a number; in a histogram, counts above ``clip_limit`` times their mean are
            spread over all 256 values, so that noise in even areas stays weak. 0 means no limit.
        tile_grid_size: two integers, the number of tiles (down, across).

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(1, 1))
        >>> layer(wt.tensor([[[10.0], [10.0], [20.0], [30.0]]])).round().flatten().tolist()
        [14.0, 14.0, 27.0, 41.0]
    """

    _IS_ALWAYS_ACTIVE = True

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        clip_limit: float = 4.0,
        tile_grid_size: Sequence[int] = (8, 8),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.clip_limit = clip_limit
        self.tile_grid_size = tile_grid_size

    def _transform(self, images: Tensor, transformation: None) -> Tensor:
        x = between(self._cast(images), self.value_range, (0, 255))
        equalized = self._with_channels_last(self._equalized, x)
        y = between(equalized, (0, 255), self.value_range)
        return wt.astype(y, images.dtype, copy=False)

    def _equalized(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        down, across = self.tile_grid_size
        tile_height, tile_width = -(-height // down), -(-width // across)
        values = wt.astype(wt.clip(x, 0.0, 255.0), int32)
        # The offset of a pixel's histogram among all of them is the sum of these two.
        row_offsets = partial(_row_offsets, batch, down, across * channels)
        column_offsets = partial(_column_offsets, channels)
        padded = _padded_by_reflection(values, 1, tile_height * down)
        padded = _padded_by_reflection(padded, 2, tile_width * across)
        own_row = [index // tile_height for index in range(tile_height * down)]
        own_column = [index // tile_width for index in range(tile_width * across)]
        counts = _histograms(
            padded + row_offsets(own_row) + column_offsets(own_column),
            batch * down * across * channels,
            256,
        )
        table = wt.flatten(self._table(wt.astype(counts, float32), tile_height * tile_width))
        above, below, weights_down = _neighbours(height, tile_height, down)
        left, right, weights_across = _neighbours(width, tile_width, across)
        row_weights = wt.tensor(weights_down, (1, height, 1, 1), float32)
        column_weights = wt.tensor(weights_across, (1, 1, width, 1), float32)
        left_offsets, right_offsets = column_offsets(left), column_offsets(right)

        def interpolated(tile_rows: Sequence[int]) -> Tensor:
            indices = values + row_offsets(tile_rows)
            at_left = wt.take(table, indices + left_offsets)
            at_right = wt.take(table, indices + right_offsets)
            return at_left + (at_right - at_left) * column_weights

        at_top, at_bottom = interpolated(above), interpolated(below)
        return at_top + (at_bottom - at_top) * row_weights

    def _table(self, counts: Tensor, pixels: int) -> Tensor:
        """Return the equalized value of each of the 256 values, for each tile."""
        if self.clip_limit > 0:
            clipped = wt.minimum(counts, self.clip_limit * pixels / 256.0)
            excess = wt.sum(counts - clipped, 1, keepdims=True)
            counts = clipped + excess / 256.0
        cumulative = wt.cumsum(counts, 1)
        first = cumulative[:, :1]
        rest = float(pixels) - first
        rest = wt.where(wt.equal(rest, 0.0), 1.0, rest)
        return wt.clip((cumulative - first) * 255.0 / rest, 0.0, 255.0)


def _row_offsets(
    batch: int, down: int, histograms_per_row: int, tile_rows: Sequence[int]
) -> Tensor:
    """Return the offsets of the histograms of rows of tiles: (batch, rows, 1, 1)."""
    rows = [image * down + row for image in range(batch) for row in tile_rows]
    offsets = [256 * histograms_per_row * row for row in rows]
    return wt.tensor(offsets, (batch, len(tile_rows), 1, 1), int32)


def _column_offsets(channels: int, tile_columns: Sequence[int]) -> Tensor:
    """Return the offsets of columns of tiles within their row: (1, 1, columns, channels)."""
    offsets = [
        256 * (channels * column + channel)
        for column in tile_columns
        for channel in range(channels)
    ]
    return wt.tensor(offsets, (1, 1, len(tile_columns), channels), int32)


def _padded_by_reflection(x: Tensor, axis: int, size: int) -> Tensor:
    """Pad an axis at its end to a size, by reflections of the elements, as often as needed."""
    old_size = x.shape[axis]
    if size <= old_size:
        return x
    period = [*range(old_size), *reversed(range(old_size))]
    indices = [period[index % len(period)] for index in range(size)]
    return wt.take(x, wt.tensor(indices, dtype=int32), axis=axis)


def _neighbours(
    size: int, tile_size: int, tile_count: int
) -> tuple[list[int], list[int], list[float]]:
    """Return, for each index of an axis, the tiles before and after it.

    The third list has the weight of the tile after it.
    """
    positions = [(index - tile_size / 2) / tile_size for index in range(size)]
    tiles = [int(position // 1) for position in positions]
    last = tile_count - 1
    return (
        [min(max(tile, 0), last) for tile in tiles],
        [min(tile + 1, last) for tile in tiles],
        [position - tile for position, tile in zip(positions, tiles, strict=True)],
    )
