"""Values of each channel by itself: brightness, contrast, inversion, fewer tones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypedDict

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    FactorLayer,
    RandomImageLayer,
    per_image,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import (
    Factor,
    factor_range,
    in_bytes,
    range_within,
    sorted_range,
)

__all__ = [
    "AutoContrast",
    "RandomBrightness",
    "RandomContrast",
    "RandomInvert",
    "RandomPosterization",
    "Solarization",
]


class ContrastFactors(TypedDict):
    """The factor by which the contrast of each image is multiplied."""

    contrast_factor: Tensor


class RandomContrast(RandomImageLayer[ContrastFactors]):
    """Changes the contrast of each channel, ``(x - mean) * f + mean``, during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers (lower, upper) from 0 to 1; ``f`` is drawn for each image from
            ``1 - lower`` to ``1 + upper``. As in Keras, one number is the upper, and the lower is
            then 0.

    Raises:
        ValueError: ``factor`` is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomContrast(0.2)
        >>> layer(wt.ones((1, 2, 2, 1))).flatten().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        factor: Factor,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = factor_range("RandomContrast", "factor", factor or 0.0, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> ContrastFactors:
        batch = self._batch_size(shape)
        lower, upper = self.factor
        return {"contrast_factor": per_image(uniform(random, batch, (1 - lower, 1 + upper)))}

    def _transform(self, images: Tensor, transformation: ContrastFactors) -> Tensor:
        x = self._cast(images)
        mean = wt.mean(x, [axis % 4 for axis in self._spatial_axes()], keepdims=True)
        return wt.clip((x - mean) * transformation["contrast_factor"] + mean, *self.value_range)


class BrightnessDeltas(TypedDict):
    """The number that is added to each image."""

    rgb_delta: Tensor


class RandomBrightness(RandomImageLayer[BrightnessDeltas]):
    """Makes images brighter or darker by adding ``f (high - low)``, during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from -1 to 1, the bounds of ``f``, which is drawn for each image; or
            one number ``f`` for (-f, f).
        value_range: two numbers (low, high) to which results are clipped, the minimum and the
            maximum of values of images.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomBrightness((0.5, 0.5), value_range=(0, 1))
        >>> layer(wt.tensor([[[0.25], [0.75]]])).flatten().tolist()
        [0.75, 1.0]
    """

    def __init__(
        self,
        factor: Factor,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = factor_range("RandomBrightness", "factor", factor or 0.0)
        self.value_range = sorted_range("RandomBrightness", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> BrightnessDeltas:
        batch = self._batch_size(shape)
        low, high = self.value_range
        factors = uniform(random, batch, self.factor)
        return {"rgb_delta": per_image([factor * (high - low) for factor in factors])}

    def _transform(self, images: Tensor, transformation: BrightnessDeltas) -> Tensor:
        deltas = wt.astype(wt.asarray(transformation["rgb_delta"]), images.dtype, copy=False)
        return wt.clip(images + deltas, *self.value_range)


class Inversions(TypedDict):
    """Which images of a batch are inverted."""

    apply_inversion: Tensor


class RandomInvert(RandomImageLayer[Inversions]):
    """Turns images into negatives, ``high - x``, at random during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the probability that an image is inverted;
            or one number ``f`` for (0, f).
        value_range: two numbers (low, high), the minimum and the maximum of values of images.

    Raises:
        ValueError: ``factor`` is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomInvert((1.0, 1.0), value_range=(0, 1))
        >>> layer(wt.tensor([[[0.25], [1.0]]])).flatten().tolist()
        [0.75, 0.0]
    """

    def __init__(
        self,
        factor: Factor = 1.0,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomInvert", "factor", factor, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Inversions:
        return {"apply_inversion": self._draw_chosen(random, shape, self.factor)}

    def _transform(self, images: Tensor, transformation: Inversions) -> Tensor:
        x = self._cast(images)
        is_inverted = per_image(transformation["apply_inversion"])
        return wt.where(is_inverted, self.value_range[1] - x, x)


class Shifts(TypedDict):
    """The number of low bits that each image loses."""

    shift_factor: Tensor


class RandomPosterization(FactorLayer[Shifts]):
    """Reduces the values of images to their highest bits, during training.

    Output shape: that of the inputs.

    Args:
        factor: two integers (low, high) from 1 to 8; the number of bits that an image keeps is
            drawn from ``low`` to ``high - 1``. One number ``n`` stands for (1, n).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomPosterization((3, 3))
        >>> layer(wt.tensor([[[31.0], [32.0], [255.0]]])).flatten().tolist()
        [0.0, 32.0, 224.0]
    """

    _FACTOR_LIMITS = (1, 8)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Shifts:
        batch = self._batch_size(shape)
        low, high = map(int, self.factor)
        bits = [random.randrange(low, high) if low < high else low for _ in range(batch)]
        return {"shift_factor": wt.tensor([8 - count for count in bits])}

    def _transform(self, images: Tensor, transformation: Shifts) -> Tensor:
        shifts = wt.flatten(wt.asarray(transformation["shift_factor"])).tolist()
        steps = per_image([2.0**shift for shift in shifts])

        def posterized(x: Tensor) -> Tensor:
            return wt.floor(wt.clip(x, 0.0, 255.0) / steps) * steps

        return in_bytes(self._cast(images), self.value_range, posterized)


class Thresholds(TypedDict):
    """The number that is added to each image, and the threshold from which it is inverted."""

    additions: Tensor
    thresholds: Tensor


class Solarization(RandomImageLayer[Thresholds]):
    """Adds a number to values, and inverts those from a threshold on, during training.

    Values of ``value_range`` are first mapped to 0 … 255; then ``x`` becomes ``255 - x`` where it
    is not less than the threshold.

    Output shape: that of the inputs.

    Args:
        addition_factor: two numbers from 0 to 1, the bounds of the added number, as a part of
            255; or one number ``f`` for (0, f).
        threshold_factor: likewise, the bounds of the threshold.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.Solarization()
        >>> layer(wt.tensor([[[0.0], [55.0], [255.0]]])).flatten().tolist()
        [255.0, 200.0, 0.0]
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        addition_factor: Factor = 0.0,
        threshold_factor: Factor = 0.0,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.addition_factor, self.threshold_factor = (
            range_within("Solarization", name, factor, 0, is_mirrored=False)
            for name, factor in (
                ("addition_factor", addition_factor),
                ("threshold_factor", threshold_factor),
            )
        )
        self.value_range = sorted_range("Solarization", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Thresholds:
        batch = self._batch_size(shape)
        additions, thresholds = (
            # As in Keras, only the upper bound is a part of 255.
            per_image(uniform(random, batch, (low, high * 255.0)))
            for low, high in (self.addition_factor, self.threshold_factor)
        )
        return {"additions": additions, "thresholds": thresholds}

    def _transform(self, images: Tensor, transformation: Thresholds) -> Tensor:
        def solarized(x: Tensor) -> Tensor:
            y = wt.clip(x + transformation["additions"], 0.0, 255.0)
            return wt.where(wt.less(y, transformation["thresholds"]), y, 255.0 - y)

        return in_bytes(self._cast(images), self.value_range, solarized)


class AutoContrast(BaseImagePreprocessingLayer[None]):
    """Stretches the values of each channel of each image over ``value_range``.

    Inference does so, too. A channel in which all values are equal keeps them.

    Output shape: that of the inputs.

    Args:
        value_range: two numbers, the minimum and the maximum of results.

    Raises:
        ValueError: ``value_range`` is not two numbers.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.tensor([[[10.0], [30.0], [20.0]]])
        >>> keras.layers.AutoContrast()(x).flatten().tolist()
        [0.0, 255.0, 127.5]
    """

    _IS_ALWAYS_ACTIVE = True

    def __init__(self, value_range: Sequence[float] = (0, 255), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value_range = sorted_range("AutoContrast", value_range)

    def _transform(self, images: Tensor, transformation: None) -> Tensor:
        x = wt.astype(images, float32, copy=False)
        axes = [axis % 4 for axis in self._spatial_axes()]
        minimum, maximum = wt.min(x, axes, keepdims=True), wt.max(x, axes, keepdims=True)
        low, high = self.value_range
        spread = maximum - minimum
        scaled = (x - minimum) * wt.divide_no_nan(float(high - low), spread)
        y = wt.clip(scaled + low if low else scaled, low, high)
        return wt.where(wt.greater(spread, 0.0), y, x)
