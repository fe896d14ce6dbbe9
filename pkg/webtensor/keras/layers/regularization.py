"""Regularization: layers that disturb their inputs in training, or add a penalty to the loss.

Outside training, and where nothing is to be disturbed, they return their inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import random, regularizers
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import Config, DTypeLike

__all__ = [
    "ActivityRegularization",
    "AlphaDropout",
    "Dropout",
    "GaussianDropout",
    "GaussianNoise",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
]

#: ``-alpha * scale`` of the activation selu: what it tends to on the left.
_LEAST_SELU = -1.6732632423543772 * 1.0507009873554805


def _lengths(shape: Sequence[int | None] | None, of: Tensor) -> Sequence[int]:
    """A shape of noise, where None stands for a length of the inputs."""
    if shape is None:
        return of.shape
    return [length if one is None else one for one, length in zip(shape, of.shape, strict=False)]


def _below_one(layer: Layer, rate: float) -> float:
    """Check a rate where 1 would mean to divide by 0."""
    if rate == 1:
        raise ValueError(f"{type(layer).__name__}: rate must be less than 1 in training, but is 1")
    return rate


class Disturbing(Layer):
    """A layer that disturbs its inputs in training, by an amount from 0 to 1 named ``_AMOUNT``."""

    _AMOUNT = "rate"

    def __init__(self, amount: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(amount, (int, float)) or not 0 <= amount <= 1:
            raise ValueError(
                f"{type(self).__name__}: {self._AMOUNT} must be a number between 0 and 1, but got "
                f"{self._AMOUNT}={amount!r}"
            )
        setattr(self, self._AMOUNT, amount)
        self.seed = seed
        if amount > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs: Any, training: bool | None = False) -> Any:
        """Disturb the inputs, in training."""
        amount = getattr(self, self._AMOUNT)
        return self._disturbed(inputs, amount) if training and amount > 0 else inputs

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        amount = getattr(self, self._AMOUNT)
        return {**super().get_config(), self._AMOUNT: amount, "seed": self.seed}


# -- dropout -----------------------------------------------------------------------------------


class Dropout(Disturbing):
    """Sets elements to 0 with probability ``rate``, and divides the others by ``1 - rate``.

    ``noise_shape`` makes elements fall together along its axes of length 1; None in it stands for
    the length of the inputs (Srivastava et al., 2014).

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Dropout(0.5, seed=1)
        >>> sorted(set(layer([1.0] * 50, training=True).tolist()))
        [0.0, 2.0]
    """

    def __init__(
        self,
        rate: float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rate, seed, **kwargs)
        self.noise_shape = _noise_shape(noise_shape)

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        return random.dropout(x, amount, self.noise_shape, self.seed_generator)


def _noise_shape(shape: Any) -> tuple[int | None, ...] | None:
    """Validate the shape of noise."""
    if shape is None:
        return None
    lengths = tuple(shape) if isinstance(shape, (list, tuple)) else None
    if lengths is None or not all(
        one is None or (isinstance(one, int) and one > 0) for one in lengths
    ):
        raise ValueError(
            f"Dropout: noise_shape must consist of positive integers and None, but got "
            f"noise_shape={shape!r}"
        )
    return lengths


class SpatialDropout(Dropout):
    """Dropout of whole channels of (batch, …, channels), or (batch, channels, …)."""

    _RANK: int

    def __init__(
        self,
        rate: float,
        data_format: str | None = None,
        seed: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.input_spec = InputSpec(ndim=self._RANK)

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        ones = (1,) * (self._RANK - 2)
        is_last = self.data_format == "channels_last"
        shape = (x.shape[0], *ones, x.shape[-1]) if is_last else (*x.shape[:2], *ones)
        return random.dropout(x, amount, shape, self.seed_generator)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            "rate": self.rate,  # type: ignore[attr-defined]
            "seed": self.seed,
            "name": self.name,
            "dtype": str(self.compute_dtype),
            "data_format": self.data_format,
        }


class SpatialDropout1D(SpatialDropout):
    """Dropout of whole channels of (batch, steps, channels). See ``Dropout``.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.SpatialDropout1D(0.5, seed=1)
        >>> x = keras.random.uniform((1, 2, 3))
        >>> layer(x, training=True).shape
        (1, 2, 3)
    """

    _RANK = 3

    def __init__(
        self, rate: float, seed: int | None = None, name: str | None = None, dtype: DTypeLike = None
    ) -> None:
        super().__init__(rate, "channels_last", seed, name, dtype)


class SpatialDropout2D(SpatialDropout):
    """Dropout of whole channels of images. See ``Dropout``."""

    _RANK = 4


class SpatialDropout3D(SpatialDropout):
    """Dropout of whole channels of volumes. See ``Dropout``."""

    _RANK = 5


class AlphaDropout(Disturbing):
    """Dropout that keeps mean and variance of what selu returns (Klambauer et al., 2017).

    What falls becomes the least value of selu; then all is scaled and shifted.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.AlphaDropout(0.5, seed=1)
        >>> len(set(layer([1.0] * 50, training=True).tolist()))
        2
    """

    def __init__(
        self,
        rate: float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rate, seed, **kwargs)
        self.noise_shape = noise_shape

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        kept = 1 - _below_one(self, amount)
        scale = (kept * (1 + amount * _LEAST_SELU**2)) ** -0.5
        shift = -scale * _LEAST_SELU * amount
        drawn = random.uniform(_lengths(self.noise_shape, x), seed=self.seed_generator)
        return wt.where(drawn >= amount, x * scale + shift, scale * _LEAST_SELU + shift)


# -- noise -------------------------------------------------------------------------------------


class GaussianDropout(Disturbing):
    """Multiplies by normal numbers of mean 1 and variance ``rate / (1 - rate)``.

    (Srivastava et al., 2014, section 10.)

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GaussianDropout(0.5)([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(rate, seed, **kwargs)

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        deviation = sqrt(amount / (1 - _below_one(self, amount)))
        return x * random.normal(x.shape, 1.0, deviation, seed=self.seed_generator)


class GaussianNoise(Disturbing):
    """Adds normal numbers of mean 0 and standard deviation ``stddev``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GaussianNoise(0.5)([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    _AMOUNT = "stddev"

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(stddev, seed, **kwargs)

    def _disturbed(self, x: Tensor, amount: float) -> Tensor:
        return x + random.normal(x.shape, 0.0, amount, seed=self.seed_generator)


# -- penalties ---------------------------------------------------------------------------------


class ActivityRegularization(Layer):
    """Adds ``l1 * sum(abs(x)) + l2 * sum(x**2)`` to the loss, and returns its inputs.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.ActivityRegularization(l2=0.5)
        >>> layer([[1.0, 3.0]]).tolist(), [float(one) for one in layer.losses]
        ([[1.0, 3.0]], [5.0])
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        config = super().get_config()
        del config["activity_regularizer"]
        return {**config, "l1": self.l1, "l2": self.l2}
