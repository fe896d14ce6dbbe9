"""Regularization: layers that change their inputs at random in training, or penalize them.

Outside training, and where their rate is 0, they return their inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import random, regularizers
from webtensor.keras.arguments import ALWAYS, is_number
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.elementwise import Elementwise
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.seeds import SeedGenerator
from webtensor.keras.types import DTypeLike, Shape

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

#: ``-alpha * scale`` of the activation selu: its limit for large negative inputs.
_SELU_LIMIT = -1.6732632423543772 * 1.0507009873554805


class RandomLayer(Elementwise):
    """A layer that changes its inputs at random in training.

    Args:
        seed: an integer, or None for a seed drawn at random.

    Raises:
        ValueError: ``rate`` or ``stddev`` is not a number between 0 and 1.
    """

    #: The name of the argument that says how much the inputs are changed, from 0 to 1.
    _AMOUNT: ClassVar[str] = "rate"

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self._build_at_init()

    def _set_amount(self, amount: float) -> None:
        """Keep the argument named ``_AMOUNT``; no random numbers are needed where it is 0."""
        if not is_number(amount) or not 0 <= amount <= 1:
            raise ValueError(
                f"{type(self).__name__}: {self._AMOUNT} must be a number between 0 and 1, but got "
                f"{self._AMOUNT}={amount!r}"
            )
        setattr(self, self._AMOUNT, amount)
        if amount > 0:
            self.seed_generator = SeedGenerator(self.seed)

    def call(self, inputs: Tensor, training: bool | None = False) -> Tensor:
        """Change the inputs in training."""
        amount = getattr(self, self._AMOUNT)
        return self._randomized(inputs, amount) if training and amount > 0 else inputs

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        raise NotImplementedError


def _check_below_one(layer: RandomLayer, rate: float) -> None:
    """Check a rate where 1 would be a division by 0."""
    if rate == 1:
        raise ValueError(f"{type(layer).__name__}: rate must be less than 1 in training, but is 1")


# -- dropout -----------------------------------------------------------------------------------


class Dropout(RandomLayer):
    """Sets elements to 0 with probability ``rate``, and divides the others by ``1 - rate``.

    See Srivastava et al., 2014.

    Args:
        rate: a number between 0 and 1, the probability that an element is dropped.
        noise_shape: a shape that broadcasts to that of the inputs, or None for theirs. Elements are
            dropped together along its axes of size 1; None in it is the size of the inputs there.

    Raises:
        ValueError: ``rate`` is not a number between 0 and 1, or ``noise_shape`` is no shape.

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
        super().__init__(seed=seed, **kwargs)
        self._set_amount(rate)
        self.noise_shape = _as_noise_shape(noise_shape)

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        return random.dropout(x, amount, self.noise_shape, self.seed_generator)


def _as_noise_shape(shape: Sequence[int | None] | None) -> Shape | None:
    """Validate ``noise_shape``."""
    if shape is None:
        return None
    if not isinstance(shape, (list, tuple)) or not all(
        size is None or (isinstance(size, int) and size > 0) for size in shape
    ):
        raise ValueError(
            f"Dropout: noise_shape must consist of positive integers and None, but got "
            f"noise_shape={shape!r}"
        )
    return tuple(shape)


class SpatialDropout(Dropout):
    """Drops whole channels with probability ``rate``, and divides the others by ``1 - rate``.

    See Tompson et al., 2015.

    Args:
        rate: a number between 0 and 1, the probability that a channel is dropped.
    """

    #: The number of axes of the inputs.
    _RANK: ClassVar[int]

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

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        ones = (1,) * (self._RANK - 2)
        is_last = self.data_format == "channels_last"
        shape = (x.shape[0], *ones, x.shape[-1]) if is_last else (*x.shape[:2], *ones)
        return random.dropout(x, amount, shape, self.seed_generator)

    def _config_value(self, name: str) -> Any:
        return str(self.compute_dtype) if name == "dtype" else super()._config_value(name)


class SpatialDropout1D(SpatialDropout):
    """Drops whole channels of sequences with probability ``rate``.

    The others are divided by ``1 - rate`` (Tompson et al., 2015).

    Input shape: ``(batch, steps, channels)``. Output shape: the same.

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
    """Drops whole channels of images with probability ``rate``.

    The others are divided by ``1 - rate`` (Tompson et al., 2015).

    Input shape: ``(batch, height, width, channels)``, or ``(batch, channels, height, width)`` with
    ``data_format="channels_first"``. Output shape: the same.
    """

    _RANK = 4


class SpatialDropout3D(SpatialDropout):
    """Drops whole channels of volumes with probability ``rate``.

    The others are divided by ``1 - rate`` (Tompson et al., 2015).

    Input shape: ``(batch, depth, height, width, channels)``, or ``(batch, channels, depth, height,
    width)`` with ``data_format="channels_first"``. Output shape: the same.
    """

    _RANK = 5


class AlphaDropout(RandomLayer):
    """Dropout that keeps the mean and the variance of outputs of selu (Klambauer et al., 2017).

    Dropped elements become selu's limit for large negative inputs; then all elements are scaled
    and shifted.

    Args:
        rate: a number between 0 and 1, the probability that an element is dropped.
        noise_shape: a shape that broadcasts to that of the inputs, or None for theirs. Elements are
            dropped together along its axes of size 1; None in it is the size of the inputs there.

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
        super().__init__(seed=seed, **kwargs)
        self._set_amount(rate)
        self.noise_shape = noise_shape

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        _check_below_one(self, amount)
        keep_rate = 1 - amount
        scale = (keep_rate * (1 + amount * _SELU_LIMIT**2)) ** -0.5
        shift = -scale * _SELU_LIMIT * amount
        noise = random.uniform(self._noise_shape(x), seed=self.seed_generator)
        return wt.where(noise >= amount, x * scale + shift, scale * _SELU_LIMIT + shift)

    def _noise_shape(self, x: Tensor) -> Sequence[int]:
        """``noise_shape``, with sizes of the inputs instead of None."""
        if self.noise_shape is None:
            return x.shape
        return [
            input_size if size is None else size
            for size, input_size in zip(self.noise_shape, x.shape, strict=False)
        ]


# -- noise -------------------------------------------------------------------------------------


class GaussianDropout(RandomLayer):
    """Multiplies by normal numbers of mean 1 and variance ``rate / (1 - rate)``.

    See Srivastava et al., 2014, section 10.

    Args:
        rate: a number between 0 and 1, the rate of a dropout whose noise has the same variance.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GaussianDropout(0.5)([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed=seed, **kwargs)
        self._set_amount(rate)

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        _check_below_one(self, amount)
        deviation = sqrt(amount / (1 - amount))
        return x * random.normal(x.shape, 1.0, deviation, seed=self.seed_generator)


class GaussianNoise(RandomLayer):
    """Adds normal numbers of mean 0 and standard deviation ``stddev``.

    Args:
        stddev: a number between 0 and 1, the standard deviation of the noise.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GaussianNoise(0.5)([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    _AMOUNT = "stddev"

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed=seed, **kwargs)
        self._set_amount(stddev)

    def _randomized(self, x: Tensor, amount: float) -> Tensor:
        return x + random.normal(x.shape, 0.0, amount, seed=self.seed_generator)


# -- penalties ---------------------------------------------------------------------------------


class ActivityRegularization(Elementwise):
    """Adds ``l1 * sum(abs(x)) + l2 * sum(x**2)`` to the loss, and returns its inputs.

    Args:
        l1: a number, the factor of the sum of absolute values.
        l2: a number, the factor of the sum of squares.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.ActivityRegularization(l2=0.5)
        >>> layer([[1.0, 3.0]]).tolist(), [float(loss) for loss in layer.losses]
        ([[1.0, 3.0]], [5.0])
    """

    _config_omits: ClassVar = {"activity_regularizer": ALWAYS}

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs."""
        return inputs
