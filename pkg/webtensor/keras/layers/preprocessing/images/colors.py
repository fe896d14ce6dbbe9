"""Colours: saturation, hue, and images in shades of grey."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar, TypeVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    DrawnFactors,
    FactorLayer,
    RandomImageLayer,
    Transformation,
    per_image,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import Factor, between
from webtensor.keras.layers.preprocessing.images.tones import RandomBrightness, RandomContrast
from webtensor.keras.seeds import SeedGenerator
from webtensor.keras.settings import epsilon

__all__ = [
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomGrayscale",
    "RandomHue",
    "RandomSaturation",
]

#: The shares of red, green and blue in the brightness of a pixel.
_BRIGHTNESS = (0.2989, 0.587, 0.114)


class ColorLayer(RandomImageLayer[Transformation]):
    """The base of layers that compute with the three channels of each pixel together.

    Raises:
        ValueError: an argument is out of range; in calls, images do not have three channels.
    """

    def _per_color(self, numbers: Sequence[float]) -> Tensor:
        """Return three numbers, one per colour, in a shape that broadcasts to images."""
        shape = (3, 1, 1) if self.data_format == "channels_first" else (3,)
        return wt.tensor([float(number) for number in numbers], shape)

    def _gray(self, images: Tensor) -> Tensor:
        """Return the brightness of pixels, as one channel."""
        axis = self._channel_axis()
        channels = images.shape[axis]
        if channels not in (1, 3):
            raise ValueError(
                f"{type(self).__name__}: images must have 1 or 3 channels, but have {channels}"
            )
        if channels == 1:
            return images
        return wt.sum(self._cast(images) * self._per_color(_BRIGHTNESS), axis, keepdims=True)

    def _extremes(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the minimum and the maximum of the three colours of each pixel."""
        axis = self._channel_axis()
        if images.shape[axis] != 3:
            raise ValueError(
                f"{type(self).__name__}: images must have 3 channels, but have {images.shape[axis]}"
            )
        return wt.min(images, axis, keepdims=True), wt.max(images, axis, keepdims=True)


class RandomGrayscale(ColorLayer[Tensor]):
    """Converts images to shades of grey at random, during training.

    Output shape: that of the inputs; the three channels become equal.

    Args:
        factor: a number from 0 to 1, the probability that an image is converted.

    Raises:
        ValueError: ``factor`` is out of range; in calls, images have neither 1 nor 3 channels.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomGrayscale(1.0)
        >>> layer(wt.tensor([[[0.0, 100.0, 0.0]]])).round().flatten().tolist()
        [59.0, 59.0, 59.0]
    """

    _config_omits: ClassVar = {"seed": ALWAYS}  # as in Keras

    def __init__(
        self,
        factor: float = 0.5,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        if not 0 <= factor <= 1:
            raise ValueError(
                f"RandomGrayscale: factor must be in [0, 1], but got factor={factor!r}"
            )
        self.factor = factor

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Tensor:
        batch = self._batch_size(shape)
        return per_image([random.random() < self.factor for _ in range(batch)])

    def _transform(self, images: Tensor, transformation: Tensor) -> Tensor:
        gray = wt.astype(self._gray(images), images.dtype, copy=False)
        return wt.where(wt.asarray(transformation), gray, images)


class RandomColorDegeneration(ColorLayer[DrawnFactors], FactorLayer[DrawnFactors]):
    """Mixes images with their shades of grey: ``x + f (gray - x)``, during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from -1 to 1, the bounds of ``f``, which is drawn for each image; or
            one number ``f`` for (-f, f).

    Raises:
        ValueError: an argument is out of range; in calls, images have neither 1 nor 3 channels.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomColorDegeneration((1.0, 1.0))
        >>> layer(wt.tensor([[[0.0, 100.0, 0.0]]])).round().flatten().tolist()
        [59.0, 59.0, 59.0]
    """

    def _draw(self, random: Random, shape: tuple[int, ...]) -> DrawnFactors:
        batch = self._batch_size(shape)
        return {"factor": per_image(uniform(random, batch, self.factor))}

    def _transform(self, images: Tensor, transformation: DrawnFactors) -> Tensor:
        x = self._cast(images)
        return wt.clip(x + transformation["factor"] * (self._gray(x) - x), *self.value_range)


class RandomSaturation(ColorLayer[DrawnFactors], FactorLayer[DrawnFactors]):
    """Multiplies the saturation of images by ``f / (1 - f)``, during training.

    So ``f = 0`` gives shades of grey, 0.5 the image itself, and 1 pure colours.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from -1 to 1, the bounds of ``f``, which is drawn for each image; or
            one number ``f`` for (-f, f).
        value_range: two numbers to which the saturation is clipped.

    Raises:
        ValueError: an argument is out of range; in calls, images do not have 3 channels.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomSaturation((0.0, 0.0))
        >>> layer(wt.tensor([[[0.25, 0.5, 0.75]]])).flatten().tolist()
        [0.75, 0.75, 0.75]
    """

    def _draw(self, random: Random, shape: tuple[int, ...]) -> DrawnFactors:
        batch = self._batch_size(shape)
        factors = uniform(random, batch, self.factor)
        return {"factor": wt.tensor([factor / (1 - factor + epsilon()) for factor in factors])}

    def _transform(self, images: Tensor, transformation: DrawnFactors) -> Tensor:
        x = self._cast(images)
        minimum, maximum = self._extremes(x)
        saturation = wt.divide_no_nan(maximum - minimum, maximum)
        factors = per_image(transformation["factor"])
        new_saturation = wt.clip(saturation * factors, *self.value_range)
        return maximum - (maximum - x) * wt.divide_no_nan(new_saturation, saturation)


class RandomHue(ColorLayer[DrawnFactors], FactorLayer[DrawnFactors]):
    """Rotates the hue of images, by up to half of the colour circle, during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the part of half a turn by which the hue of
            an image is rotated, in either direction; or one number ``f`` for (0, f).

    Raises:
        ValueError: ``factor`` is out of range; in calls, images do not have 3 channels.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomHue((1.0, 1.0))
        >>> layer(wt.tensor([[[200.0, 100.0, 100.0]]])).round().flatten().tolist()
        [100.0, 200.0, 200.0]
    """

    _FACTOR_LIMITS = (0, 1)

    def _checked_range(self, value_range: Sequence[float]) -> Sequence[float]:
        return value_range  # as in Keras

    def _draw(self, random: Random, shape: tuple[int, ...]) -> DrawnFactors:
        batch = self._batch_size(shape)
        factors = uniform(random, batch, self.factor)
        return {"factor": wt.tensor([random.choice((-0.5, 0.5)) * factor for factor in factors])}

    def _transform(self, images: Tensor, transformation: DrawnFactors) -> Tensor:
        x = between(self._cast(images), self.value_range, (0, 1))
        minimum, maximum = self._extremes(x)
        spread = maximum - minimum
        hue = self._hue(x, maximum, spread) + per_image(transformation["factor"]) * 6.0
        # A colour is at its maximum within a sixth of the circle, at its minimum from two sixths.
        distance = wt.abs(wt.remainder(hue + self._per_color((3, 1, 5)), 6.0) - 3.0)
        y = wt.clip(minimum + spread * wt.clip(2.0 - distance, 0.0, 1.0), 0.0, 1.0)
        return between(y, (0, 1), self.value_range)

    def _hue(self, x: Tensor, maximum: Tensor, spread: Tensor) -> Tensor:
        """Return the hue of each pixel, in sixths of the circle from red; 0 for grey pixels."""
        red, green, blue = wt.split(x, 3, self._channel_axis())
        is_red, is_green = wt.equal(red, maximum), wt.equal(green, maximum)

        def by_maximum(
            for_red: Tensor | float, for_green: Tensor | float, for_blue: Tensor | float
        ) -> Tensor:
            return wt.where(is_red, for_red, wt.where(is_green, for_green, for_blue))

        difference = by_maximum(green, blue, red) - by_maximum(blue, red, green)
        return wt.divide_no_nan(difference, spread) + by_maximum(0.0, 2.0, 4.0)


_Jitter = TypeVar("_Jitter", RandomBrightness, RandomContrast, RandomSaturation, RandomHue)


class RandomColorJitter(BaseImagePreprocessingLayer[None]):
    """Changes brightness, contrast, saturation and hue, in this order, during training.

    Each is a layer of its own; one whose factor is None is left out.

    Output shape: that of the inputs.

    Args:
        brightness_factor: the factor of ``RandomBrightness``, or None.
        contrast_factor: the factor of ``RandomContrast``, or None.
        saturation_factor: the factor of ``RandomSaturation``, or None.
        hue_factor: the factor of ``RandomHue``, or None.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomColorJitter(brightness_factor=(0.2, 0.2))
        >>> layer(wt.zeros((1, 1, 3))).flatten().tolist()
        [51.0, 51.0, 51.0]
    """

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        brightness_factor: Factor | None = None,
        contrast_factor: Factor | None = None,
        saturation_factor: Factor | None = None,
        hue_factor: Factor | None = None,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.brightness_factor, self.contrast_factor = brightness_factor, contrast_factor
        self.saturation_factor, self.hue_factor = saturation_factor, hue_factor
        self.seed = seed
        self.generator = SeedGenerator(seed)
        self.random_brightness = self._jitter(RandomBrightness, brightness_factor)
        self.random_contrast = self._jitter(RandomContrast, contrast_factor)
        self.random_saturation = self._jitter(RandomSaturation, saturation_factor)
        self.random_hue = self._jitter(RandomHue, hue_factor)

    def _jitter(self, layer_class: type[_Jitter], factor: Factor | None) -> _Jitter | None:
        if factor is None:
            return None
        return layer_class(factor, self.value_range, seed=self.seed, data_format=self.data_format)

    def _transform(self, images: Tensor, transformation: None) -> Tensor:
        x = self._jittered(self.random_brightness, self._cast(images))
        x = self._jittered(self.random_contrast, x)
        x = self._jittered(self.random_saturation, x)
        return self._jittered(self.random_hue, x)

    def _jittered(self, layer: RandomImageLayer[Transformation] | None, images: Tensor) -> Tensor:
        if layer is None:
            return images
        transformation = layer.get_random_transformation(images, seed=self.generator)
        return layer.transform_images(images, transformation)
