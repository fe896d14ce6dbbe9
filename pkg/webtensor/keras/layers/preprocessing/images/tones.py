"""Values of each channel by itself: brightness, contrast, inversion, fewer tones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    RandomImageLayer,
    of_images,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import (
    factor_range,
    in_bytes,
    range_within,
    value_range as sorted_range,
)

__all__ = [
    "AutoContrast",
    "RandomBrightness",
    "RandomContrast",
    "RandomInvert",
    "RandomPosterization",
    "Solarization",
]


class RandomContrast(RandomImageLayer):
    """``(x - mean) * f + mean`` for each channel, with ``f`` from ``1 - lower`` to ``1 + upper``.

    ``factor`` is (lower, upper), from 0 to 1; as in Keras, one number is the upper, and the lower
    is 0 then. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomContrast(0.2)
        >>> layer(wt.ones((1, 2, 2, 1))).flatten().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = factor_range("RandomContrast", "factor", factor or 0.0, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        lower, upper = self.factor
        return {"contrast_factor": of_images(uniform(random, count, (1 - lower, 1 + upper)))}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        mean = wt.mean(x, [axis % 4 for axis in self._axes()], keepdims=True)
        return wt.clip((x - mean) * transformation["contrast_factor"] + mean, *self.value_range)


class RandomBrightness(RandomImageLayer):
    """Adds a part of the value range, between the two of ``factor``, to each image.

    A single number stands for as much in both directions. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomBrightness((0.5, 0.5), value_range=(0, 1))
        >>> layer(wt.tensor([[[0.25], [0.75]]])).flatten().tolist()
        [0.75, 1.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = factor_range("RandomBrightness", "factor", factor or 0.0)
        self.value_range = sorted_range("RandomBrightness", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        low, high = self.value_range
        added = uniform(random, count, self.factor)
        return {"rgb_delta": of_images([one * (high - low) for one in added])}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        added = wt.astype(wt.asarray(transformation["rgb_delta"]), images.dtype, copy=False)
        return wt.clip(images + added, *self.value_range)


class RandomInvert(RandomImageLayer):
    """Turns images into negatives, ``high - x``; ``value_range`` is (low, high).

    The probability of that is drawn for each image between the two numbers of ``factor``, or from 0
    to a single one.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomInvert((1.0, 1.0), value_range=(0, 1))
        >>> layer(wt.tensor([[[0.25], [1.0]]])).flatten().tolist()
        [0.75, 0.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")

    def __init__(
        self,
        factor: Any = 1.0,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomInvert", "factor", factor, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        return {"apply_inversion": wt.tensor(self._chosen(random, shape, self.factor))}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        chosen = of_images(transformation["apply_inversion"])
        return wt.where(chosen, self.value_range[1] - x, x)


class RandomPosterization(RandomImageLayer):
    """Keeps the highest bits of values, as many as drawn from ``factor``, from 1 to 8.

    A single number ``n`` stands for (1, n), the greater of two is not drawn. Values of
    ``value_range`` are taken as bytes.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomPosterization((3, 3))
        >>> layer(wt.tensor([[[31.0], [32.0], [255.0]]])).flatten().tolist()
        [0.0, 32.0, 224.0]
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
        self.factor = factor_range("RandomPosterization", "factor", factor, 1, 8)
        self.value_range = sorted_range("RandomPosterization", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        low, high = (int(one) for one in self.factor)
        bits = [random.randrange(low, high) if low < high else low for _ in range(count)]
        return {"shift_factor": wt.tensor([8 - one for one in bits])}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        shifts = wt.flatten(wt.asarray(transformation["shift_factor"])).tolist()
        steps = of_images([2.0**one for one in shifts])

        def coarser(x: Tensor) -> Tensor:
            return wt.floor(wt.clip(x, 0.0, 255.0) / steps) * steps

        return in_bytes(self._cast(images), self.value_range, coarser)


class Solarization(RandomImageLayer):
    """Adds to values, and inverts those from a threshold on: ``x`` or ``255 - x``.

    What is added and the threshold are drawn for each image, as parts of 255, from
    ``addition_factor`` and ``threshold_factor``, from 0 to 1; a single number stands for those from
    0 on. Values of ``value_range`` are taken as from 0 to 255.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.Solarization()
        >>> layer(wt.tensor([[[0.0], [55.0], [255.0]]])).flatten().tolist()
        [255.0, 200.0, 0.0]
    """

    _CONFIG: ClassVar = ("value_range", "addition_factor", "threshold_factor")
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        addition_factor: Any = 0.0,
        threshold_factor: Any = 0.0,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.addition_factor, self.threshold_factor = (
            range_within("Solarization", name, given, 0, is_mirrored=False)
            for name, given in (
                ("addition_factor", addition_factor),
                ("threshold_factor", threshold_factor),
            )
        )
        self.value_range = sorted_range("Solarization", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        drawn = {}
        for name, (low, high) in (
            ("additions", self.addition_factor),
            ("thresholds", self.threshold_factor),
        ):
            # As in Keras, only the upper bound is a part of 255.
            drawn[name] = of_images(uniform(random, count, (low, high * 255.0)))
        return drawn

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        def solarized(x: Tensor) -> Tensor:
            y = wt.clip(x + transformation["additions"], 0.0, 255.0)
            return wt.where(wt.less(y, transformation["thresholds"]), y, 255.0 - y)

        return in_bytes(self._cast(images), self.value_range, solarized)


class AutoContrast(BaseImagePreprocessingLayer):
    """Stretches each channel of each image over ``value_range``, outside training, too.

    A channel of one value stays.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.tensor([[[10.0], [30.0], [20.0]]])
        >>> keras.layers.AutoContrast()(x).flatten().tolist()
        [0.0, 255.0, 127.5]
    """

    _CONFIG: ClassVar = ("value_range",)
    _IS_ALWAYS_ACTIVE = True

    def __init__(self, value_range: Sequence[float] = (0, 255), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value_range = sorted_range("AutoContrast", value_range)

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = wt.astype(images, float32, copy=False)
        axes = [axis % 4 for axis in self._axes()]
        least, most = wt.min(x, axes, keepdims=True), wt.max(x, axes, keepdims=True)
        low, high = self.value_range
        spread = most - least
        scaled = (x - least) * wt.divide_no_nan(float(high - low), spread)
        y = wt.clip(scaled + low if low else scaled, low, high)
        return wt.where(wt.greater(spread, 0.0), y, x)
