"""Initializers: functions of a shape and a dtype that return the initial value of a weight.

As in Keras, an initializer returns the same values at each call if its seed is an integer or None,
and different ones if it is a ``keras.random.SeedGenerator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.keras import uniform_and_normal
from webtensor.keras.arguments import Configurable
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.registry import (
    Namespace,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.seeds import Seed, SeedGenerator
from webtensor.keras.types import Config, CustomObjects, DTypeLike, InitializerLike
from webtensor.lazy_contents import Members, contents, lazy_contents
from webtensor.ops.random_bits import lasting_seed
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

ShapeLike = int | Sequence[int]


class Initializer(Configurable):
    """A function of a shape and a dtype that returns a tensor: the base class of initializers.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> class Counting(keras.initializers.Initializer):
        ...     def __call__(self, shape, dtype=None):
        ...         return wt.reshape(wt.arange(wt.zeros(shape).size), shape)
        >>> Counting()((2, 2)).tolist()
        [[0, 1], [2, 3]]
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        """Return the initial value of a weight."""
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__")

    def clone(self) -> Self:
        """Return another initializer with the same arguments."""
        return self.from_config(self.get_config())


# -- constants ---------------------------------------------------------------------------------


class Constant(Initializer):
    """A tensor of equal elements.

    Args:
        value: a number, or a tensor that broadcasts to the shape.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.Constant(3)((2,)).tolist()
        [3.0, 3.0]
    """

    def __init__(self, value: TensorLike = 0.0) -> None:
        self.value = value

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        return wt.broadcast_to(
            wt.astype(self.value, storage_dtype(dtype)), as_shape("Constant", shape)
        )

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make an initializer with the arguments in a configuration."""
        return cls(**{**config, "value": deserialize_keras_object(config.get("value", 0.0))})


class Zeros(Initializer):
    """A tensor of zeros."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        return wt.zeros(shape, storage_dtype(dtype))


class Ones(Initializer):
    """A tensor of ones."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        return wt.ones(shape, storage_dtype(dtype))


class Identity(Initializer):
    """The identity matrix, multiplied by ``gain``.

    Args:
        gain: a number, the elements on the diagonal.

    Raises:
        ValueError: when called, if the shape is not that of a matrix.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.Identity(2.0)((2, 3)).tolist()
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """

    _config_omits: ClassVar = {"gain": 1.0}

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        dimensions = as_shape("Identity", shape)
        if len(dimensions) != 2:
            raise ValueError(f"Identity: shape must be that of a matrix, but got {dimensions}")
        return wt.astype(wt.eye(*dimensions) * self.gain, storage_dtype(dtype), copy=False)


# -- random ------------------------------------------------------------------------------------


class RandomInitializer(Initializer):
    """An initializer with a seed.

    Args:
        seed: an integer, or None for a seed drawn at random: the same values at each call; or a
            ``SeedGenerator``: different values at each call.

    Raises:
        ValueError: ``seed`` is none of these.
    """

    def __init__(self, seed: Seed = None) -> None:
        if not isinstance(seed, int | SeedGenerator | None):
            raise ValueError(
                f"{type(self).__name__}: seed must be an integer, a SeedGenerator or None, but "
                f"got {seed!r}"
            )
        #: The argument, which configurations have; ``seed`` is never None.
        self._init_seed = seed
        self.seed = lasting_seed() if seed is None else seed

    def _config_value(self, name: str) -> Any:
        if name == "seed":
            return serialize_keras_object(self._init_seed)
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make an initializer with the arguments in a configuration."""
        seed = config.get("seed")
        if isinstance(seed, Mapping):
            config = {**config, "seed": deserialize_keras_object(seed)}
        return cls(**config)


class RandomUniform(RandomInitializer):
    """Numbers of a uniform distribution over [minval, maxval).

    Args:
        minval: a number, the lower bound.
        maxval: a number, the upper bound.
    """

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: Seed = None,
    ) -> None:
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        return uniform_and_normal.uniform(shape, self.minval, self.maxval, dtype, self.seed)


class RandomNormal(RandomInitializer):
    """Numbers of a normal distribution.

    Args:
        mean: a number, the mean of the distribution.
        stddev: a number, its standard deviation.
    """

    _draw = staticmethod(uniform_and_normal.normal)

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: Seed = None,
    ) -> None:
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        return self._draw(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Numbers of a normal distribution within two standard deviations of the mean."""

    _draw = staticmethod(uniform_and_normal.truncated_normal)


class Orthogonal(RandomInitializer):
    """A matrix with orthonormal columns, or orthonormal rows if it has fewer rows than columns.

    The columns of a tensor of higher rank are its last axis (Saxe et al., 2014).

    Args:
        gain: a number by which the matrix is multiplied.

    Raises:
        ValueError: when called, if the shape has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> w = keras.initializers.Orthogonal()((5, 2))
        >>> bool(wt.all(wt.abs(wt.transpose(w) @ w - wt.eye(2)) < 1e-5))
        True
    """

    def __init__(self, gain: float = 1.0, seed: Seed = None) -> None:
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        dimensions = as_shape("Orthogonal", shape)
        if len(dimensions) < 2:
            raise ValueError(f"Orthogonal: shape must have two axes at least, but got {dimensions}")
        rows, columns = prod(dimensions[:-1]), dimensions[-1]
        tall = (max(rows, columns), min(rows, columns))
        q, r = wt.linalg.qr(uniform_and_normal.normal(tall, dtype=dtype, seed=self.seed))
        # With these signs the distribution over orthogonal matrices is uniform.
        q = q * wt.sign(wt.linalg.diagonal(r))
        if rows < columns:
            q = wt.transpose(q)
        return wt.reshape(q * self.gain, dimensions)


# -- random, scaled by the shape ---------------------------------------------------------------

#: Standard deviation of the standard normal distribution truncated to [-2, 2].
_TRUNCATED_DEVIATION = 0.87962566103423978

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform")


def compute_fans(
    shape: Sequence[int],
    input_axes: Sequence[int] | None = None,
    output_axes: Sequence[int] | None = None,
) -> tuple[int, int]:
    """Return the numbers of inputs and of outputs of a unit with a weight of this shape.

    Without axes, the last two axes are inputs and outputs, and the axes before them are those of a
    kernel, which multiply both.
    """
    if input_axes is not None and output_axes is not None:
        for axis in (*input_axes, *output_axes):
            if not -len(shape) <= axis < len(shape):
                raise ValueError(
                    f"VarianceScaling: axis {axis} is outside the weight's shape {tuple(shape)}"
                )
        return prod(shape[axis] for axis in input_axes), prod(shape[axis] for axis in output_axes)
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    *kernel, inputs, outputs = shape
    return inputs * prod(kernel), outputs * prod(kernel)


class VarianceScaling(RandomInitializer):
    """Random numbers with mean 0 and variance ``scale / n``.

    Args:
        scale: a positive number.
        mode: what ``n`` is: ``"fan_in"``, the number of inputs of a unit, ``"fan_out"``, the number
            of its outputs, or ``"fan_avg"``, the mean of both.
        distribution: ``"truncated_normal"``, ``"untruncated_normal"`` or ``"uniform"``.
        input_axes, output_axes: sequences of integers, the axes of the shape whose product is the
            number of inputs or of outputs. None are the last two axes, each multiplied by the axes
            before them.

    Raises:
        ValueError: an argument is none of these, or, when called, an axis is outside the shape.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Seed = None,
        input_axes: Sequence[int] | None = None,
        output_axes: Sequence[int] | None = None,
    ) -> None:
        super().__init__(seed)
        if not scale > 0:
            raise ValueError(f"VarianceScaling: scale must be positive, but got {scale!r}")
        check_choice("VarianceScaling", "mode", mode, _MODES)
        if distribution == "normal":
            distribution = "truncated_normal"
        check_choice("VarianceScaling", "distribution", distribution, _DISTRIBUTIONS)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.input_axes = input_axes
        self.output_axes = output_axes

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        dimensions = as_shape(type(self).__name__, shape)
        inputs, outputs = compute_fans(dimensions, self.input_axes, self.output_axes)
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        variance = self.scale / max(1.0, fans[self.mode])
        if self.distribution == "uniform":
            limit = sqrt(3 * variance)
            return uniform_and_normal.uniform(dimensions, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return uniform_and_normal.normal(dimensions, 0.0, sqrt(variance), dtype, self.seed)
        deviation = sqrt(variance) / _TRUNCATED_DEVIATION
        return uniform_and_normal.truncated_normal(dimensions, 0.0, deviation, dtype, self.seed)


class _PresetScaling(VarianceScaling):
    """A ``VarianceScaling`` with the scale, mode and distribution of its class."""

    _preset: ClassVar[tuple[float, str, str]]

    def __init__(
        self,
        seed: Seed = None,
        input_axes: Sequence[int] | None = None,
        output_axes: Sequence[int] | None = None,
    ) -> None:
        super().__init__(*self._preset, seed, input_axes, output_axes)


class GlorotUniform(_PresetScaling):
    """``VarianceScaling(1.0, "fan_avg", "uniform")`` (Glorot and Bengio, 2010)."""

    _preset = (1.0, "fan_avg", "uniform")


class GlorotNormal(_PresetScaling):
    """``VarianceScaling(1.0, "fan_avg", "truncated_normal")`` (Glorot and Bengio, 2010)."""

    _preset = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_PresetScaling):
    """``VarianceScaling(2.0, "fan_in", "uniform")`` (He et al., 2015)."""

    _preset = (2.0, "fan_in", "uniform")


class HeNormal(_PresetScaling):
    """``VarianceScaling(2.0, "fan_in", "truncated_normal")`` (He et al., 2015)."""

    _preset = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_PresetScaling):
    """``VarianceScaling(1.0, "fan_in", "uniform")`` (Klambauer et al., 2017)."""

    _preset = (1.0, "fan_in", "uniform")


class LecunNormal(_PresetScaling):
    """``VarianceScaling(1.0, "fan_in", "truncated_normal")`` (Klambauer et al., 2017)."""

    _preset = (1.0, "fan_in", "truncated_normal")


# -- names -------------------------------------------------------------------------------------

IdentityInitializer = identity = Identity
OrthogonalInitializer = orthogonal = Orthogonal
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

if TYPE_CHECKING:
    from webtensor.keras.initializers.fourier import (
        STFT as STFT,
        STFTInitializer as STFTInitializer,
        stft as stft,
    )
else:
    __getattr__, __dir__ = lazy_contents(__name__, contents("fourier: STFT STFTInitializer stft"))

_CLASSES = (
    *(Initializer, Constant, Zeros, Ones, Identity),
    *(RandomUniform, RandomNormal, TruncatedNormal, Orthogonal, VarianceScaling),
    *(GlorotUniform, GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal),
)
_NAMESPACE = Namespace(
    "initializer",
    Members(__name__, ["STFT", *(cls.__name__ for cls in _CLASSES)]),
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


def get(identifier: InitializerLike | TensorLike | type[Initializer]) -> Any:
    """Return the initializer that a name, a configuration, a class or an object stands for.

    An array or a tensor stands for an initializer of weights of its shape.

    Raises:
        ValueError: there is no such initializer.

    Example:
        >>> from webtensor import keras
        >>> keras.initializers.get("he_normal").get_config()
        {'seed': None, 'input_axes': None, 'output_axes': None}
    """
    if isinstance(identifier, (Tensor, Variable)) or hasattr(identifier, "__array__"):
        return _initializer_of(identifier)
    return _NAMESPACE.get(identifier)


def _initializer_of(values: TensorLike) -> Callable[..., Tensor]:
    """Return a function that returns these values."""

    def initialize(shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        tensor = wt.tensor(values, dtype=None if dtype is None else storage_dtype(dtype))
        if tensor.shape != as_shape("initializer", shape):
            raise ValueError(
                f"initializer: wanted shape {shape}, but the values have {tensor.shape}"
            )
        return tensor

    return initialize


def serialize(initializer: InitializerLike) -> str | Config | None:
    """Return the configuration of an initializer."""
    return _NAMESPACE.serialize(initializer)


def deserialize(config: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the initializer that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
