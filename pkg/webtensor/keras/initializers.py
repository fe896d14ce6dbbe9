"""Initializers: what weights start with.

An initializer is called with a shape and a dtype. As in Keras, one with a seed, or with none, gives
the same values each time, and one with a ``keras.random.SeedGenerator`` others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, sin, sqrt
from typing import Any, Literal, Self

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.keras import random
from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.random import SeedGenerator
from webtensor.keras.registry import (
    Namespace,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.types import Config, DTypeLike, InitializerLike
from webtensor.keras.window_functions import require_window, window_values
from webtensor.ops.random import new_seed
from webtensor.shapes import as_shape, prod

__all__ = [
    "STFT",
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "IdentityInitializer",
    "Initializer",
    "LecunNormal",
    "LecunUniform",
    "Ones",
    "Orthogonal",
    "OrthogonalInitializer",
    "RandomNormal",
    "RandomUniform",
    "STFTInitializer",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "stft",
    "truncated_normal",
    "variance_scaling",
    "zeros",
]

Shape = int | Sequence[int]


class Initializer(Configurable):
    """A function of a shape and a dtype that returns a tensor; the base class of those here."""

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__")

    def clone(self) -> Self:
        """Make another with the same arguments."""
        return self.from_config(self.get_config())


# -- constants ---------------------------------------------------------------------------------


class Constant(Initializer):
    """``value`` everywhere.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.Constant(3)((2,)).tolist()
        [3.0, 3.0]
    """

    def __init__(self, value: TensorLike = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        lengths = as_shape("Constant", shape)
        return wt.broadcast_to(wt.astype(self.value, held_dtype(dtype)), lengths)

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make one with the arguments in a configuration."""
        return cls(**{**config, "value": deserialize_keras_object(config.get("value", 0.0))})


class Zeros(Initializer):
    """0 everywhere."""

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        return wt.zeros(shape, held_dtype(dtype))


class Ones(Initializer):
    """1 everywhere."""

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        return wt.ones(shape, held_dtype(dtype))


class Identity(Initializer):
    """``gain`` on the diagonal of a matrix, and 0 elsewhere.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.Identity(2.0)((2, 3)).tolist()
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        lengths = as_shape("Identity", shape)
        if len(lengths) != 2:
            raise ValueError(f"Identity: shape must be that of a matrix, but got {lengths}")
        return wt.astype(wt.eye(*lengths) * self.gain, held_dtype(dtype), copy=False)


# -- short-time Fourier transform --------------------------------------------------------------


class STFT(Initializer):
    """Cosines or sines under a window: a kernel that computes a short-time Fourier transform.

    Its shape is (frame length, 1, half the length of the transform + 1). ``side`` is "real" or
    "imag"; ``window`` a name, the window's values or None; ``scaling`` "density", "spectrum" or
    None: what the window's norm is taken by, of which one is made.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        side: Literal["real", "imag"] = "real",
        window: str | Sequence[float] | None = "hann",
        scaling: Literal["density", "spectrum"] | None = "density",
        periodic: bool = False,
    ) -> None:
        if side not in ("real", "imag"):
            raise ValueError(f'STFT: side must be "real" or "imag", but got {side!r}')
        require_window("STFT", window)
        if scaling not in ("density", "spectrum", None):
            raise ValueError(
                f'STFT: scaling must be "density", "spectrum" or None, but got {scaling!r}'
            )
        self.side = side
        self.window = window
        self.scaling = scaling
        self.periodic = periodic

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        lengths = as_shape("STFT", shape)
        if len(lengths) != 3 or lengths[1] != 1:
            raise ValueError(f"STFT: shape must be (frame, 1, frequencies), but got {lengths}")
        frame, _, frequencies = lengths
        window = self._values(frame)
        period = 2 * (frequencies - 1)
        wave = cos if self.side == "real" else lambda angle: -sin(angle)
        values = [
            weight * wave(2 * pi * (time * frequency % period) / period if period else 0.0)
            for time, weight in enumerate(window)
            for frequency in range(frequencies)
        ]
        return wt.astype(wt.tensor(values, lengths, float32), held_dtype(dtype), copy=False)

    def _values(self, length: int) -> list[float]:
        """The window, scaled."""
        if self.window is None:
            return [1.0] * length
        if isinstance(self.window, str):
            values = window_values(self.window, length, self.periodic)
        else:
            values = [float(one) for one in self.window]
            if len(values) != length:
                raise ValueError(
                    f"STFT: window has {len(values)} values, but the frame's length is {length}"
                )
        scale = 1.0
        if self.scaling == "density":
            scale = sqrt(sum(value * value for value in values))
        elif self.scaling == "spectrum":
            scale = sum(abs(value) for value in values)
        return [value / scale for value in values]


# -- random ------------------------------------------------------------------------------------


class RandomInitializer(Initializer):
    """What initializers with a seed share."""

    def __init__(self, seed: int | SeedGenerator | None = None) -> None:
        if not isinstance(seed, int | SeedGenerator | None):
            raise ValueError(
                f"{type(self).__name__}: seed must be an integer, a SeedGenerator or None, but "
                f"got {seed!r}"
            )
        self._given_seed = seed
        #: What random functions are given.
        self.seed = new_seed() if seed is None else seed

    def _config_value(self, name: str) -> Any:
        return (
            serialize_keras_object(self._given_seed)
            if name == "seed"
            else super()._config_value(name)
        )

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make one with the arguments in a configuration."""
        seed = config.get("seed")
        if isinstance(seed, Mapping):
            config = {**config, "seed": deserialize_keras_object(seed)}
        return cls(**config)


class RandomUniform(RandomInitializer):
    """Numbers uniformly distributed in [minval, maxval)."""

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: int | SeedGenerator | None = None,
    ) -> None:
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        return random.uniform(shape, self.minval, self.maxval, dtype, self.seed)


class RandomNormal(RandomInitializer):
    """Numbers with a normal distribution."""

    _draw = staticmethod(random.normal)

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | SeedGenerator | None = None,
    ) -> None:
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        return self._draw(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normal numbers, none of them farther than two standard deviations from the mean."""

    _draw = staticmethod(random.truncated_normal)


class Orthogonal(RandomInitializer):
    """A matrix with orthonormal columns or, where it has fewer rows than columns, rows.

    A tensor of more axes is the matrix whose columns are the last axis (Saxe et al., 2014).

    Example:
        >>> from webtensor import keras
        >>> w = keras.initializers.Orthogonal()((5, 2))
        >>> bool(wt.all(wt.abs(wt.transpose(w) @ w - wt.eye(2)) < 1e-5))
        True
    """

    def __init__(self, gain: float = 1.0, seed: int | SeedGenerator | None = None) -> None:
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        lengths = as_shape("Orthogonal", shape)
        if len(lengths) < 2:
            raise ValueError(f"Orthogonal: shape must have two axes at least, but got {lengths}")
        rows, columns = prod(lengths[:-1]), lengths[-1]
        drawn = random.normal((max(rows, columns), min(rows, columns)), dtype=dtype, seed=self.seed)
        q, r = wt.linalg.qr(drawn)
        # With these signs every orthogonal matrix is as likely as any other.
        q = q * wt.sign(wt.linalg.diagonal(r))
        if rows < columns:
            q = wt.transpose(q)
        return wt.reshape(q * self.gain, lengths)


# -- random, scaled by the shape ---------------------------------------------------------------

#: Standard deviation of a normal distribution that is cut off at two standard deviations.
_TRUNCATED_DEVIATION = 0.87962566103423978

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform")


def compute_fans(
    shape: Sequence[int],
    input_axes: Sequence[int] | None = None,
    output_axes: Sequence[int] | None = None,
) -> tuple[int, int]:
    """Return how many inputs and outputs a unit of a weight has.

    Without axes, the last two are inputs and outputs, and those before them, the kernel's, belong
    to both.
    """
    if input_axes is not None and output_axes is not None:
        for axis in (*input_axes, *output_axes):
            if not -len(shape) <= axis < len(shape):
                raise ValueError(
                    f"VarianceScaling: axis {axis} is outside the weight's shape {tuple(shape)}"
                )
        return prod(shape[one] for one in input_axes), prod(shape[one] for one in output_axes)
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    *kernel, inputs, outputs = shape
    return inputs * prod(kernel), outputs * prod(kernel)


class VarianceScaling(RandomInitializer):
    """Random numbers with a variance of ``scale / n``.

    ``n`` is how many inputs ("fan_in") or outputs ("fan_out") a unit has, or their mean
    ("fan_avg"): by ``mode``. ``distribution`` is "truncated_normal", "untruncated_normal" or
    "uniform". ``input_axes`` and ``output_axes`` are those that are counted.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | SeedGenerator | None = None,
        input_axes: Sequence[int] | None = None,
        output_axes: Sequence[int] | None = None,
    ) -> None:
        super().__init__(seed)
        if not scale > 0:
            raise ValueError(f"VarianceScaling: scale must be positive, but got {scale!r}")
        if mode not in _MODES:
            raise ValueError(
                f"VarianceScaling: mode must be one of {', '.join(_MODES)}, but got {mode!r}"
            )
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"VarianceScaling: distribution must be one of {', '.join(_DISTRIBUTIONS)}, but "
                f"got {distribution!r}"
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.input_axes = input_axes
        self.output_axes = output_axes

    def __call__(self, shape: Shape, dtype: DTypeLike = None) -> Tensor:
        """Return the tensor that a weight starts with."""
        lengths = as_shape(type(self).__name__, shape)
        inputs, outputs = compute_fans(lengths, self.input_axes, self.output_axes)
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        variance = self.scale / max(1.0, fans[self.mode])
        if self.distribution == "uniform":
            limit = sqrt(3 * variance)
            return random.uniform(lengths, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(lengths, 0.0, sqrt(variance), dtype, self.seed)
        deviation = sqrt(variance) / _TRUNCATED_DEVIATION
        return random.truncated_normal(lengths, 0.0, deviation, dtype, self.seed)


class _Scaled(VarianceScaling):
    """A ``VarianceScaling`` whose scale, mode and distribution its class decides."""

    _options: tuple[float, str, str]

    def __init__(
        self,
        seed: int | SeedGenerator | None = None,
        input_axes: Sequence[int] | None = None,
        output_axes: Sequence[int] | None = None,
    ) -> None:
        super().__init__(*self._options, seed, input_axes, output_axes)


class GlorotUniform(_Scaled):
    """``VarianceScaling(1.0, "fan_avg", "uniform")`` (Glorot and Bengio, 2010)."""

    _options = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """``VarianceScaling(1.0, "fan_avg", "truncated_normal")`` (Glorot and Bengio, 2010)."""

    _options = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """``VarianceScaling(2.0, "fan_in", "uniform")`` (He et al., 2015)."""

    _options = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """``VarianceScaling(2.0, "fan_in", "truncated_normal")`` (He et al., 2015)."""

    _options = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """``VarianceScaling(1.0, "fan_in", "uniform")`` (Klambauer et al., 2017)."""

    _options = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """``VarianceScaling(1.0, "fan_in", "truncated_normal")`` (Klambauer et al., 2017)."""

    _options = (1.0, "fan_in", "truncated_normal")


# -- names -------------------------------------------------------------------------------------

IdentityInitializer = identity = Identity
OrthogonalInitializer = orthogonal = Orthogonal
STFTInitializer = stft = STFT
constant = Constant
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
he_normal = HeNormal
he_uniform = HeUniform
lecun_normal = LecunNormal
lecun_uniform = LecunUniform
ones = Ones
random_normal = RandomNormal
random_uniform = RandomUniform
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
zeros = Zeros

_CLASSES = (
    *(Initializer, Constant, Zeros, Ones, Identity, STFT),
    *(RandomUniform, RandomNormal, TruncatedNormal, Orthogonal, VarianceScaling),
    *(GlorotUniform, GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal),
)
_NAMESPACE = Namespace(
    "initializer",
    {one.__name__: one for one in _CLASSES},
    ("initializers",),
    IdentityInitializer="Identity",
    OrthogonalInitializer="Orthogonal",
    STFTInitializer="STFT",
    normal="RandomNormal",
    one="Ones",
    stft="STFT",
    uniform="RandomUniform",
    zero="Zeros",
)


def get(identifier: Any) -> Any:
    """Return the initializer that a name, a configuration, a class or an object stands for.

    An array or a tensor is what a weight of its shape starts with.

    Raises:
        ValueError: there is no such initializer.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.get("he_normal").get_config()
        {'seed': None, 'input_axes': None, 'output_axes': None}
    """
    if isinstance(identifier, (Tensor, Variable)) or hasattr(identifier, "__array__"):
        return _held(identifier)
    return _NAMESPACE.get(identifier)


def _held(values: TensorLike) -> Any:
    """Return an initializer that gives these values."""

    def initialize(shape: Shape, dtype: DTypeLike = None) -> Tensor:
        made = wt.tensor(values, dtype=None if dtype is None else held_dtype(dtype))
        if made.shape != as_shape("initializer", shape):
            raise ValueError(f"initializer: wanted shape {shape}, but the values have {made.shape}")
        return made

    return initialize


def serialize(initializer: InitializerLike) -> Any:
    """Return the configuration of an initializer."""
    return _NAMESPACE.serialize(initializer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the initializer that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
