"""Filters: images sharper, or blurred."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random
from typing import Any, TypedDict

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    DrawnFactors,
    FactorLayer,
    RandomImageLayer,
    per_image,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import Factor, factor_range

__all__ = ["RandomGaussianBlur", "RandomSharpness", "filtered", "gaussian", "outer_product"]


def filtered(images: Tensor, weights: Sequence[Sequence[float]]) -> Tensor:
    """Convolve each channel of (batch, height, width, channels) with one zero-padded filter."""
    channels = images.shape[-1]
    elements = [weight for row in weights for weight in row for _ in range(channels)]
    kernel = wt.tensor(elements, (len(weights), len(weights[0]), channels, 1), float32)
    return wt.depthwise_conv2d(images, kernel, 1, "same")


def gaussian(size: int, sigma: float) -> list[float]:
    """Return ``size`` samples of a normal distribution about their middle, with the sum 1."""
    middle = (size - 1) / 2
    densities = [exp(-0.5 * ((index - middle) / sigma) ** 2) for index in range(size)]
    total = sum(densities)
    return [density / total for density in densities]


def outer_product(column: Sequence[float], row: Sequence[float]) -> list[list[float]]:
    """Return the matrix of the products of all elements of a column and a row."""
    return [[x * y for x in row] for y in column]


class RandomSharpness(FactorLayer[DrawnFactors]):
    """Sharpens or smooths images, ``x + (1 - 2 f) (smooth - x)``, during training.

    So ``f = 0`` gives the smoothed image, 0.5 the image itself, and 1 a sharpened one. The smoothed
    image has 5/13 of each pixel and 1/13 of each of its neighbours.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of ``f``, which is drawn for each image; or
            one number ``f`` for (0, f).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(9.0), (3, 3, 1))
        >>> keras.layers.RandomSharpness((1.0, 1.0))(x)[1].round().flatten().tolist()
        [3.0, 4.0, 6.0]
    """

    _IS_ALWAYS_CAST = True

    _FACTOR_LIMITS = (0, 1)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> DrawnFactors:
        batch = self._batch_size(shape)
        return {"factor": wt.tensor(uniform(random, batch, self.factor))}

    def _transform(self, images: Tensor, transformation: DrawnFactors) -> Tensor:
        neighbour, middle = 1 / 13, 5 / 13
        weights = [[neighbour] * 3, [neighbour, middle, neighbour], [neighbour] * 3]
        shares = 1.0 - 2.0 * per_image(transformation["factor"])

        def sharpened(x: Tensor) -> Tensor:
            return wt.clip(x + shares * (filtered(x, weights) - x), *self.value_range)

        return self._with_channels_last(sharpened, self._cast(images))


class Blurs(TypedDict):
    """Which images of a batch are blurred, and the standard deviations (across, down)."""

    should_apply_blur: Tensor
    blur_factor: Tensor


class RandomGaussianBlur(RandomImageLayer[Blurs]):
    """Blurs images with a Gaussian filter, at random during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the probability that an image is blurred;
            or one number ``f`` for (0, f).
        kernel_size: an odd integer or two of them, the (width, height) of the filter.
        sigma: two numbers from 0 to 1, the bounds of the filter's standard deviations, which are
            drawn once per call; or one number ``s`` for (0, s).

    Raises:
        ValueError: an argument is out of range, or ``kernel_size`` is even.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomGaussianBlur((1.0, 1.0), sigma=(1.0, 1.0))
        >>> x = wt.tensor([0.0, 0.0, 100.0, 0.0, 0.0], shape=(5, 1, 1))
        >>> layer(x).round().flatten().tolist()
        [0.0, 12.0, 20.0, 12.0, 0.0]
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Factor = 1.0,
        kernel_size: int | Sequence[int] = 3,
        sigma: Factor = 1.0,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        kind = "RandomGaussianBlur"
        self.factor = factor_range(kind, "factor", factor, 0)
        sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * 2
        if len(sizes) != 2 or not all(isinstance(size, int) and size % 2 for size in sizes):
            raise ValueError(
                f"{kind}: kernel_size must be an odd number or two of them, but got "
                f"kernel_size={kernel_size!r}"
            )
        self.kernel_size = tuple(sizes)
        self.sigma = factor_range(kind, "sigma", sigma, 0)
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Blurs:
        return {
            "should_apply_blur": self._draw_chosen(random, shape, self.factor),
            "blur_factor": wt.tensor([sigma + 1e-6 for sigma in uniform(random, 2, self.sigma)]),
        }

    def _transform(self, images: Tensor, transformation: Blurs) -> Tensor:
        sigmas = wt.asarray(transformation["blur_factor"]).tolist()
        row, column = map(gaussian, self.kernel_size, sigmas)
        weights = outer_product(column, row)
        x = self._cast(images)
        blurred = self._with_channels_last(lambda batch: filtered(batch, weights), x)
        is_blurred = per_image(transformation["should_apply_blur"])
        return wt.clip(wt.where(is_blurred, blurred, x), *self.value_range)
