"""Histograms of images made even: of a whole batch, or of the tiles of each image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import BaseImagePreprocessingLayer
from webtensor.keras.layers.preprocessing.images.ranges import (
    between,
    in_bytes,
    value_range as sorted_range,
)

__all__ = ["ContrastLimitedAdaptiveHistogramEqualization", "Equalization"]


def _counts(numbers: Tensor, rows: int, bins: int) -> Tensor:
    """How often each number occurs; ``bins`` of them make a row."""
    found = wt.bincount(wt.flatten(numbers), size=rows * bins)
    return wt.reshape(found, (rows, bins))


class Equalization(BaseImagePreprocessingLayer):
    """Gives each channel values such that as many pixels are below each as the value says.

    As in Keras, all images of a batch are counted together, in ``bins`` of ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.tensor([[[10.0], [10.0], [20.0], [30.0]]])
        >>> keras.layers.Equalization()(x).flatten().tolist()
        [0.0, 0.0, 128.0, 255.0]
    """

    _CONFIG: ClassVar = ("bins", "value_range")

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

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return in_bytes(self._cast(images), self.value_range, self._equalized)

    def _equalized(self, x: Tensor) -> Tensor:
        bins, axis = self.bins, self._channel_axis()
        channels = x.shape[axis]
        shape = (channels, 1, 1) if axis == -3 else (channels,)
        begins = wt.tensor([row * bins for row in range(channels)], shape, int32)
        scaled = x if bins == 256 else x * float(bins - 1) / 255.0
        places = wt.astype(wt.clip(scaled, 0.0, float(bins - 1)), int32) + begins
        counts = _counts(places, channels, bins)
        below = wt.astype(wt.cumsum(counts, 1), float32)
        total = below[:, -1:]
        # Pixels in the first bin that has any become 0.
        first = wt.min(wt.where(wt.greater(below, 0.0), below, total), 1, keepdims=True)
        rest = total - first
        table = wt.round(wt.divide_no_nan((below - first) * 255.0, rest))
        # Channels with one bin alone stay.
        stays = wt.reshape(wt.less_equal(rest, 0.0), shape)
        return wt.where(stays, x, wt.take(wt.flatten(table), places))


class ContrastLimitedAdaptiveHistogramEqualization(BaseImagePreprocessingLayer):
    """Evens the histograms of tiles, and blends those of the four nearest tiles, as CLAHE does.

    There are ``tile_grid_size`` (down, across) tiles. In a tile's histogram, what is above
    ``clip_limit`` times the mean is spread over all 256 values, so that noise in even areas stays
    weak; with 0 it is not. It is at work outside training, too.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(1, 1))
        >>> layer(wt.tensor([[[10.0], [10.0], [20.0], [30.0]]])).round().flatten().tolist()
        [14.0, 14.0, 27.0, 41.0]
    """

    _CONFIG: ClassVar = ("value_range", "clip_limit", "tile_grid_size")
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

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = between(self._cast(images), self.value_range, (0, 255))
        y = between(self._in_order(self._equalized, x), (0, 255), self.value_range)
        return wt.astype(y, images.dtype, copy=False)

    def _equalized(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        down, across = self.tile_grid_size
        lengths = (-(-height // down), -(-width // across))
        tiles = batch * down * across * channels
        values = wt.astype(wt.clip(x, 0.0, 255.0), int32)

        # Where the histograms begin that pixels belong to.
        def by_row(tile_rows: Sequence[int]) -> Tensor:
            firsts = [image * down + one for image in range(batch) for one in tile_rows]
            numbers = [256 * across * channels * one for one in firsts]
            return wt.tensor(numbers, (batch, len(tile_rows), 1, 1), int32)

        def by_column(tile_columns: Sequence[int]) -> Tensor:
            firsts = [channels * one for one in tile_columns]
            numbers = [256 * (one + channel) for one in firsts for channel in range(channels)]
            return wt.tensor(numbers, (1, 1, len(tile_columns), channels), int32)

        whole = values
        for axis, (length, wanted) in enumerate(
            ((height, lengths[0] * down), (width, lengths[1] * across)), 1
        ):
            if wanted > length:
                whole = wt.take(whole, wt.tensor(_mirrored(length, wanted), dtype=int32), axis=axis)
        own = [
            [place // length for place in range(length * count)]
            for length, count in zip(lengths, (down, across), strict=True)
        ]
        counts = _counts(whole + by_row(own[0]) + by_column(own[1]), tiles, 256)
        table = wt.flatten(self._table(wt.astype(counts, float32), lengths[0] * lengths[1]))
        (above, below, weights_down), (left, right, weights_across) = (
            _neighbours(size, length, count)
            for size, length, count in zip((height, width), lengths, (down, across), strict=True)
        )
        weights = wt.tensor(weights_across, (1, 1, width, 1), float32)

        columns = [by_column(one) for one in (left, right)]

        def blended(tile_rows: Sequence[int]) -> Tensor:
            places = values + by_row(tile_rows)
            first, second = (wt.take(table, places + one) for one in columns)
            return first + (second - first) * weights

        first, second = blended(above), blended(below)
        return first + (second - first) * wt.tensor(weights_down, (1, height, 1, 1), float32)

    def _table(self, counts: Tensor, pixels: int) -> Tensor:
        """What each value becomes in each tile."""
        if self.clip_limit > 0:
            kept = wt.minimum(counts, self.clip_limit * pixels / 256.0)
            excess = wt.sum(counts - kept, 1, keepdims=True)
            counts = kept + excess / 256.0
        below = wt.cumsum(counts, 1)
        first = below[:, :1]
        rest = float(pixels) - first
        rest = wt.where(wt.equal(rest, 0.0), 1.0, rest)
        return wt.clip((below - first) * 255.0 / rest, 0.0, 255.0)


def _mirrored(length: int, wanted: int) -> list[int]:
    """Places along an axis that goes on as its mirror image."""
    around = [*range(length), *reversed(range(length))]
    return [around[place % len(around)] for place in range(wanted)]


def _neighbours(size: int, length: int, count: int) -> tuple[list[int], list[int], list[float]]:
    """Of each place along an axis: the tiles before and after it, and the share of the latter."""
    places = [(place - length / 2) / length for place in range(size)]
    before = [int(one // 1) for one in places]
    last = count - 1
    return (
        [min(max(one, 0), last) for one in before],
        [min(one + 1, last) for one in before],
        [one - tile for one, tile in zip(places, before, strict=True)],
    )
