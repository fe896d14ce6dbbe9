"""Colours: less of them, more of them, others."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.config import epsilon
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    RandomImageLayer,
    of_images,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import (
    between,
    factor_range,
    value_range as sorted_range,
)
from webtensor.keras.layers.preprocessing.images.tones import RandomBrightness, RandomContrast
from webtensor.keras.random import SeedGenerator
from webtensor.keras.types import Config

__all__ = [
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomGrayscale",
    "RandomHue",
    "RandomSaturation",
]

#: How bright red, green and blue are.
_BRIGHTNESS = (0.2989, 0.587, 0.114)


class ColorLayer(RandomImageLayer):
    """A layer that needs the channels of an image together."""

    def _per_color(self, numbers: Sequence[float]) -> Tensor:
        """A tensor of a number for each of the three colours."""
        shape = (3, 1, 1) if self.data_format == "channels_first" else (3,)
        return wt.tensor([float(one) for one in numbers], shape)

    def _gray(self, images: Tensor) -> Tensor:
        """How bright the pixels are, as one channel."""
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
        """The least and the greatest of the three colours of each pixel."""
        axis = self._channel_axis()
        if images.shape[axis] != 3:
            raise ValueError(
                f"{type(self).__name__}: images must have 3 channels, but have {images.shape[axis]}"
            )
        return wt.min(images, axis, keepdims=True), wt.max(images, axis, keepdims=True)


class RandomGrayscale(ColorLayer):
    """Takes the colour from images, with a probability of ``factor``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomGrayscale(1.0)
        >>> layer(wt.tensor([[[0.0, 100.0, 0.0]]])).round().flatten().tolist()
        [59.0, 59.0, 59.0]
    """

    _CONFIG: ClassVar = ("factor",)

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

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        return of_images([random.random() < self.factor for _ in range(count)])

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        gray = wt.astype(self._gray(images), images.dtype, copy=False)
        return wt.where(wt.asarray(transformation), gray, images)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer; as in Keras, not the seed."""
        config = super().get_config()
        del config["seed"]
        return config


class RandomColorDegeneration(ColorLayer):
    """Takes a part of the colour from images: ``x + f (gray - x)``, with ``f`` of ``factor``.

    A single number stands for as much in both directions. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomColorDegeneration((1.0, 1.0))
        >>> layer(wt.tensor([[[0.0, 100.0, 0.0]]])).round().flatten().tolist()
        [59.0, 59.0, 59.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomColorDegeneration", "factor", factor)
        self.value_range = sorted_range("RandomColorDegeneration", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        return {"factor": of_images(uniform(random, count, self.factor))}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        return wt.clip(x + transformation["factor"] * (self._gray(x) - x), *self.value_range)


class RandomSaturation(ColorLayer):
    """Multiplies how far colours are from grey: by ``f / (1 - f)``, with ``f`` of ``factor``.

    So 0 is grey, 0.5 the image, and 1 the purest colours. A single number stands for as much in
    both directions. The saturation of results is kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomSaturation((0.0, 0.0))
        >>> layer(wt.tensor([[[0.25, 0.5, 0.75]]])).flatten().tolist()
        [0.75, 0.75, 0.75]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomSaturation", "factor", factor)
        self.value_range = sorted_range("RandomSaturation", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        drawn = uniform(random, count, self.factor)
        return {"factor": wt.tensor([one / (1 - one + epsilon()) for one in drawn])}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        factors = of_images(transformation["factor"])
        least, most = self._extremes(x)
        saturation = wt.divide_no_nan(most - least, most)
        wanted = wt.clip(saturation * factors, *self.value_range)
        return most - (most - x) * wt.divide_no_nan(wanted, saturation)


class RandomHue(ColorLayer):
    """Turns colours around the circle of hues, by up to half of it times ``factor``.

    ``factor`` is a number or two of them from 0 to 1; half of the images are turned the other way.
    Values are of ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomHue((1.0, 1.0))
        >>> layer(wt.tensor([[[200.0, 100.0, 100.0]]])).round().flatten().tolist()
        [100.0, 200.0, 200.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomHue", "factor", factor, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        drawn = uniform(random, count, self.factor)
        return {"factor": wt.tensor([random.choice((-0.5, 0.5)) * one for one in drawn])}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = between(self._cast(images), self.value_range, (0, 1))
        turns = of_images(transformation["factor"]) * 6.0
        least, most = self._extremes(x)
        spread = most - least
        sixth = self._sixths(x, most, spread) + turns
        # How near each colour is to its greatest: 1 within a sixth of it, 0 from two sixths on.
        away = wt.abs(wt.remainder(sixth + self._per_color((3, 1, 5)), 6.0) - 3.0)
        y = wt.clip(least + spread * wt.clip(2.0 - away, 0.0, 1.0), 0.0, 1.0)
        return between(y, (0, 1), self.value_range)

    def _sixths(self, x: Tensor, most: Tensor, spread: Tensor) -> Tensor:
        """The hue of each pixel, in sixths of the circle from red; of grey ones 0."""
        red, green, blue = wt.split(x, 3, self._channel_axis())
        most_red, most_green = wt.equal(red, most), wt.equal(green, most)

        def chosen(first: Any, second: Any, third: Any) -> Tensor:
            return wt.where(most_red, first, wt.where(most_green, second, third))

        change = chosen(green, blue, red) - chosen(blue, red, green)
        return wt.divide_no_nan(change, spread) + chosen(0.0, 2.0, 4.0)


class RandomColorJitter(BaseImagePreprocessingLayer):
    """Changes brightness, contrast, saturation and hue, in this order, as far as factors are given.

    See ``RandomBrightness``, ``RandomContrast``, ``RandomSaturation`` and ``RandomHue``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomColorJitter(brightness_factor=(0.2, 0.2))
        >>> layer(wt.zeros((1, 1, 3))).flatten().tolist()
        [51.0, 51.0, 51.0]
    """

    _FACTORS = ("brightness_factor", "contrast_factor", "saturation_factor", "hue_factor")
    _CONFIG: ClassVar = ("value_range", *_FACTORS, "seed")

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        brightness_factor: Any = None,
        contrast_factor: Any = None,
        saturation_factor: Any = None,
        hue_factor: Any = None,
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

        def made(kind: Any, factor: Any) -> Any:
            if factor is None:
                return None
            return kind(factor, value_range, seed=seed, data_format=self.data_format)

        self.random_brightness = made(RandomBrightness, brightness_factor)
        self.random_contrast = made(RandomContrast, contrast_factor)
        self.random_saturation = made(RandomSaturation, saturation_factor)
        self.random_hue = made(RandomHue, hue_factor)

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        for layer in (
            self.random_brightness,
            self.random_contrast,
            self.random_saturation,
            self.random_hue,
        ):
            if layer is not None:
                drawn = layer.get_random_transformation(x, seed=self.generator)
                x = layer.transform_images(x, drawn)
        return x
