"""Filters: images sharper, or out of focus."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    RandomImageLayer,
    of_images,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import (
    factor_range,
    value_range as sorted_range,
)

__all__ = ["RandomGaussianBlur", "RandomSharpness", "bell", "filtered"]


def filtered(images: Tensor, rows: Sequence[Sequence[float]]) -> Tensor:
    """Return images with each channel filtered alike; there are zeros around them."""
    channels = images.shape[-1]
    numbers = [one for row in rows for one in row for _ in range(channels)]
    kernel = wt.tensor(numbers, (len(rows), len(rows[0]), channels, 1), float32)
    return wt.depthwise_conv2d(images, kernel, 1, "same")


def bell(size: int, sigma: float) -> list[float]:
    """Return shares with a normal distribution."""
    middle = (size - 1) / 2
    heights = [exp(-0.5 * ((place - middle) / sigma) ** 2) for place in range(size)]
    total = sum(heights)
    return [one / total for one in heights]


class RandomSharpness(RandomImageLayer):
    """Makes images sharper or less sharp: ``x + (1 - 2 f) (smooth - x)``, with ``f`` of ``factor``.

    So 0 is smooth, 0.5 the image, 1 sharp. A single number stands for those from 0 on. ``smooth``
    has 5/13 of each pixel and 1/13 of its neighbours. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(9.0), (3, 3, 1))
        >>> keras.layers.RandomSharpness((1.0, 1.0))(x)[1].round().flatten().tolist()
        [3.0, 4.0, 6.0]
    """

    _CONFIG: ClassVar = ("factor", "value_range")
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomSharpness", "factor", factor, 0)
        self.value_range = sorted_range("RandomSharpness", value_range)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        return {"factor": wt.tensor(uniform(random, count, self.factor))}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        around, middle = 1 / 13, 5 / 13
        rows = [[around] * 3, [around, middle, around], [around] * 3]
        shares = 1.0 - 2.0 * of_images(transformation["factor"])

        def sharpened(x: Tensor) -> Tensor:
            return wt.clip(x + shares * (filtered(x, rows) - x), *self.value_range)

        return self._in_order(sharpened, self._cast(images))


class RandomGaussianBlur(RandomImageLayer):
    """Takes images out of focus.

    The probability of that is drawn for each image between the two numbers of ``factor``, or from 0
    to a single one. Each pixel becomes a mean of those around it, with weights of a normal
    distribution: of ``kernel_size`` (across, down), odd numbers, and with standard deviations
    drawn from ``sigma``, from 0 to 1, for all images of a call. Results are kept within
    ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomGaussianBlur((1.0, 1.0), sigma=(1.0, 1.0))
        >>> x = wt.tensor([0.0, 0.0, 100.0, 0.0, 0.0], shape=(5, 1, 1))
        >>> layer(x).round().flatten().tolist()
        [0.0, 12.0, 20.0, 12.0, 0.0]
    """

    _CONFIG: ClassVar = ("factor", "kernel_size", "sigma", "value_range")
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Any = 1.0,
        kernel_size: Any = 3,
        sigma: Any = 1.0,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        kind = "RandomGaussianBlur"
        self.factor = factor_range(kind, "factor", factor, 0)
        sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * 2
        if len(sizes) != 2 or not all(isinstance(one, int) and one % 2 for one in sizes):
            raise ValueError(
                f"{kind}: kernel_size must be an odd number or two of them, but got "
                f"kernel_size={kernel_size!r}"
            )
        self.kernel_size = tuple(sizes)
        self.sigma = factor_range(kind, "sigma", sigma, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        return {
            "should_apply_blur": wt.tensor(self._chosen(random, shape, self.factor)),
            "blur_factor": wt.tensor([one + 1e-6 for one in uniform(random, 2, self.sigma)]),
        }

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        sigmas = wt.asarray(transformation["blur_factor"]).tolist()
        across, down = map(bell, self.kernel_size, sigmas)
        rows = [[one * two for two in across] for one in down]
        x = self._cast(images)
        blurred = self._in_order(lambda one: filtered(one, rows), x)
        chosen = of_images(transformation["should_apply_blur"])
        return wt.clip(wt.where(chosen, blurred, x), *self.value_range)
