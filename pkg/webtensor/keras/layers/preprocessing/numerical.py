"""Preprocessing of numbers: scaling, normalizing by statistics of data, and sorting into bins."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain
from math import ceil, prod
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.data_formats import image_data_format
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.encoding import (
    batches_of,
    checked_mode,
    encoded,
    without_sparse,
)
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, DTypeLike
from webtensor.ops.normalization import normalized

__all__ = ["Discretization", "Normalization", "Rescaling"]

#: No standard deviation is taken to be less than this.
_LEAST_DEVIATION = 1e-7


class Rescaling(Layer):
    """``x * scale + offset``, each a number or one per channel.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Rescaling(1 / 128, offset=-1)([0.0, 128.0, 256.0]).tolist()
        [-1.0, 0.0, 1.0]
    """

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        """Scale and shift."""
        scaled = wt.astype(inputs, float32, copy=False)
        scale = self.scale
        if not isinstance(scale, (int, float)):
            scale = wt.asarray(scale, dtype=float32)
            if scale.shape and image_data_format() == "channels_first":
                scale = wt.reshape(scale, (*scale.shape, *[1] * (3 - len(scale.shape))))
        scaled = scaled * scale
        if isinstance(self.offset, (int, float)):
            return scaled if self.offset == 0 else scaled + self.offset
        return scaled + wt.asarray(self.offset, dtype=float32)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        for name in ("scale", "offset"):
            if name in config:
                config[name] = deserialize_keras_object(config[name], custom_objects)
        return cls(**config)


class Normalization(Layer):
    """``(x - mean) / sqrt(variance)``, with a mean and a variance for each index of ``axis``.

    They are given, or found by ``adapt``. ``invert`` does the opposite.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.Normalization(axis=None)
        >>> layer.adapt(wt.tensor([1.0, 2.0, 3.0]))
        >>> round(layer.mean.item(), 3), layer([2.0]).tolist()
        (2.0, [0.0])
    """

    def __init__(
        self,
        axis: Any = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if axis is None:
            axis = ()
        self.axis = (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError(
                f"Normalization: mean and variance must be given both or not at all, but got "
                f"mean={mean} and variance={variance}"
            )
        self.input_mean, self.input_variance = mean, variance
        self.invert = invert
        self.supports_masking = True
        self.mean: Any = None
        self.variance: Any = None
        if mean is not None:
            shapes = [wt.asarray(one).shape for one in (mean, variance)]
            if shapes[0] != shapes[1] or len(shapes[0]) > len(self.axis):
                raise ValueError(
                    f"Normalization: mean and variance must have the same shape, of no more axes "
                    f"than axis={self.axis}, but their shapes are {shapes[0]} and {shapes[1]}"
                )

    def build(self, input_shape: Any) -> None:
        """Make the statistics, or bring the given ones into shape."""
        shape = tuple(input_shape)
        rank = len(shape)
        if any(not -rank <= one < rank for one in self.axis):
            raise ValueError(
                f"Normalization: axis {self.axis} is out of range for inputs of shape {shape}"
            )
        self._kept = tuple(sorted(one % rank for one in self.axis))
        for one in self._kept:
            if shape[one] is None:
                raise ValueError(
                    f"Normalization: axis {one} must have a known length, but the inputs' shape "
                    f"is {shape}"
                )
        self._built_shape = shape
        self._reduced = [one for one in range(rank) if one not in self._kept]
        self._spread = tuple(shape[one] if one in self._kept else 1 for one in range(rank))
        if self.input_mean is None:
            lengths = tuple(shape[one] for one in self._kept)
            self.adapt_mean = self.add_weight(
                name="mean", shape=lengths, initializer="zeros", trainable=False
            )
            self.adapt_variance = self.add_weight(
                name="variance", shape=lengths, initializer="ones", trainable=False
            )
            self.count = self.add_weight(
                name="count", shape=(), dtype="int32", initializer="zeros", trainable=False
            )
            self._set(self.adapt_mean.value, self.adapt_variance.value)
        else:
            self._set(*(self._given(one) for one in (self.input_mean, self.input_variance)))

    def _given(self, statistic: Any) -> Tensor:
        """A given statistic, whose axes are the last ones of those that are kept."""
        held = wt.asarray(statistic, dtype=float32)
        lengths = [1] * len(self._spread)
        for place in range(1, len(held.shape) + 1):
            lengths[self._kept[-place]] = held.shape[-place]
        return wt.broadcast_to(wt.reshape(held, lengths), self._spread)

    def _set(self, mean: Tensor, variance: Tensor) -> None:
        """Hold the statistics in a shape that broadcasts to the inputs, and what follows."""
        with outside_scopes():
            self.mean = wt.reshape(mean, self._spread).clone()
            self.variance = wt.reshape(variance, self._spread).clone()
            deviation = wt.maximum(wt.sqrt(self.variance), _LEAST_DEVIATION)
            self._factor = deviation if self.invert else wt.reciprocal(deviation)
            self._origin = wt.zeros(self._spread)

    def call(self, inputs: Any) -> Any:
        """Normalize."""
        x = wt.astype(inputs, float32, copy=False)
        if self.invert:
            return x * self._factor + self.mean
        if self._kept == (len(x.shape) - 1,):
            length = x.shape[-1:]
            parts = (wt.reshape(one, length) for one in (self.mean, self._factor, self._origin))
            return normalized(x, *parts)
        return (x - self.mean) * self._factor

    def adapt(self, data: Any) -> None:
        """Find mean and variance of data: an array, a tensor, or batches of them.

        Raises:
            TypeError: it is neither, or a batch has no shape.
            ValueError: there are no batches, or shapes differ from what the layer was built with.
        """
        if hasattr(data, "shape"):
            batches: Any = [data]
        elif hasattr(data, "__iter__"):
            batches = batches_of(data)
        else:
            raise TypeError(
                f"Normalization: data must be an array, a tensor or batches of them, but got "
                f"{type(data).__name__}"
            )
        found: tuple[int, Any, Any] = (0, None, None)
        for batch in batches:
            if not hasattr(batch, "shape"):
                raise TypeError(
                    f"Normalization: batches must be arrays or tensors, but got a "
                    f"{type(batch).__name__}"
                )
            self._fit(tuple(batch.shape))
            held = wt.astype(wt.asarray(batch), float32, copy=False)
            found = self._joined(*found, held)
        if not found[0]:
            raise ValueError("Normalization: data must have at least one batch, but there is none")
        if self.input_mean is None:
            self.adapt_mean.assign(found[1])
            self.adapt_variance.assign(found[2])
            self.finalize_state()

    def _fit(self, shape: tuple[int, ...]) -> None:
        """Build, or check that a batch has the lengths that the layer was built with."""
        if not self.built:
            self.build(shape)
        known = self._built_shape
        if len(shape) != len(known) or any(shape[one] != known[one] for one in self._kept):
            raise ValueError(
                f"Normalization: the layer was built with shape {known}, but data has shape {shape}"
            )

    def _joined(self, count: int, mean: Any, variance: Any, x: Tensor) -> tuple[int, Any, Any]:
        """Statistics of what came before together with those of a batch."""
        number = prod(x.shape[one] for one in self._reduced)
        if self._reduced:
            other, spread = wt.moments(x, self._reduced)
        else:
            other, spread = x, wt.zeros_like(x)
        if not count:
            return number, other, spread
        share = number / (count + number)
        joint = mean * (1 - share) + other * share
        spread = (variance + wt.square(mean - joint)) * (1 - share) + (
            spread + wt.square(other - joint)
        ) * share
        return count + number, joint, spread

    def finalize_state(self) -> None:
        """Use what ``adapt`` has found, or what was loaded."""
        if self.input_mean is None and self.built:
            self._set(self.adapt_mean.value, self.adapt_variance.value)

    def load_own_variables(self, store: Any) -> None:
        """Take the statistics from a mapping."""
        super().load_own_variables(store)
        self.finalize_state()

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "axis": self.axis,
            "invert": self.invert,
            "mean": _plain(self.input_mean),
            "variance": _plain(self.input_variance),
        }


def _plain(value: Any) -> Any:
    """Numbers of an array, or a number itself."""
    if value is None or isinstance(value, (int, float)):
        return value
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value.tolist()


# -- bins --------------------------------------------------------------------------------------


class Discretization(Layer):
    """Numbers of the bins in which numbers lie: how many ``bin_boundaries`` are no greater.

    ``adapt`` finds boundaries of ``num_bins`` bins that hold about as many numbers each.
    ``output_mode`` is "int", "one_hot", "multi_hot" or "count".

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Discretization([0.0, 1.0])([[-1.0, 0.0, 0.5, 2.0]]).tolist()
        [[0, 1, 1, 2]]
    """

    def __init__(
        self,
        bin_boundaries: Sequence[float] | None = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        sparse: bool = False,
        dtype: DTypeLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.sparse = without_sparse("Discretization", sparse)
        self.output_mode = checked_mode("Discretization", output_mode)
        if num_bins is not None and num_bins < 0:
            raise ValueError(f"Discretization: num_bins must not be negative, but got {num_bins}")
        if (num_bins is None) == (bin_boundaries is None):
            raise ValueError(
                f"Discretization: one of num_bins and bin_boundaries must be given, but got "
                f"num_bins={num_bins} and bin_boundaries={bin_boundaries}"
            )
        self.bin_boundaries = bin_boundaries
        self.num_bins, self.epsilon = num_bins, epsilon
        self.summary = _Summary([], [])

    @property
    def output_dtype(self) -> Any:
        """Dtype of the outputs."""
        return int32 if self.output_mode == "int" else self.compute_dtype

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Find boundaries for data: an array, a tensor, or batches of them.

        Raises:
            ValueError: the layer was given its boundaries.
        """
        if self.num_bins is None:
            raise ValueError(
                "Discretization: the layer has its bin_boundaries; give num_bins to adapt it"
            )
        self.reset_state()
        for batch in [data] if hasattr(data, "shape") else batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Take numbers into account."""
        held = wt.flatten(wt.astype(wt.asarray(data), float32, copy=False))
        self.summary = _merged(_summarized(held.tolist(), self.epsilon), self.summary, self.epsilon)

    def finalize_state(self) -> None:
        """Use the boundaries that ``update_state`` led to."""
        if self.num_bins is not None and self.summary.values:
            parts = _compressed(self.summary, 1 / self.num_bins)
            self.bin_boundaries = parts.values[:-1]

    def reset_state(self) -> None:
        """Forget what was taken into account."""
        self.summary = _Summary([], [])

    def call(self, inputs: Any) -> Any:
        """Find the bins."""
        if self.bin_boundaries is None:
            raise ValueError(
                "Discretization: there are no bins yet; give bin_boundaries, or call adapt"
            )
        x = wt.astype(wt.asarray(inputs), float32, copy=False)
        boundaries = wt.tensor(list(self.bin_boundaries), dtype=float32)
        bins = wt.reshape(wt.upper_bound(boundaries, wt.flatten(x)), x.shape)
        return encoded(bins, self.output_mode, len(self.bin_boundaries) + 1, self.output_dtype)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the bins, or of their vectors."""
        shape = tuple(input_shape)
        if self.output_mode == "int":
            return shape
        known = self.bin_boundaries
        depth = self.num_bins if known is None else len(known) + 1
        if self.output_mode == "one_hot":
            is_column = len(shape) > 1 and shape[-1] == 1
            return (*(shape[:-1] if is_column else shape), depth)
        return (shape[0], *shape[2:], depth) if len(shape) > 1 else (depth,)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(args[0].shape), self.output_dtype)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        known = self.bin_boundaries
        return {
            "bin_boundaries": None if known is None else list(known),
            "num_bins": self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": str(self.dtype_policy.variable_dtype),
        }

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned, which may have been adapted."""
        config = dict(config)
        known = config.get("bin_boundaries")
        if config.get("num_bins") is not None:
            config["bin_boundaries"] = None
        made = super().from_config(config)
        made.bin_boundaries = known
        return made


class _Summary:
    """Numbers in order, and how many of the data each stands for."""

    def __init__(self, values: Sequence[float], weights: Sequence[float]) -> None:
        self.values, self.weights = list(values), list(weights)


def _summarized(values: list[float], epsilon: float) -> _Summary:
    """About ``1 / epsilon`` of the numbers, equally far apart in order."""
    step = max(len(values) * epsilon, 1.0)
    chosen = sorted(values)[int(step - 1) :: int(step)]
    return _Summary(chosen, [step] * len(chosen))


def _merged(first: _Summary, second: _Summary, epsilon: float) -> _Summary:
    """Numbers of two summaries in order, not many more than ``1 / epsilon`` of them."""
    pairs = chain(
        zip(first.values, first.weights, strict=True),
        zip(second.values, second.weights, strict=True),
    )
    ordered = sorted(pairs, key=lambda pair: pair[0])
    both = _Summary([value for value, _ in ordered], [weight for _, weight in ordered])
    return _compressed(both, epsilon)


def _compressed(summary: _Summary, epsilon: float) -> _Summary:
    """Numbers at equal steps of the share of the data that they reach to."""
    if len(summary.values) * epsilon < 1:
        return summary
    reached = list(accumulate(summary.weights))
    shares = [one / reached[-1] for one in reached]
    steps = [epsilon + place * epsilon for place in range(ceil(1 / epsilon))]
    values = [_between(one, shares, summary.values) for one in steps]
    counts = [_between(one, shares, reached) for one in steps]
    weights = [one - before for one, before in zip(counts, [0.0, *counts[:-1]], strict=True)]
    # Keras holds them as float32.
    return _Summary(array("f", values), array("f", weights))


def _between(x: float, points: Sequence[float], values: Sequence[float]) -> float:
    """The value at ``x`` on the straight lines between points, or that of the nearest end."""
    place = bisect_right(points, x)
    if place == 0:
        return values[0]
    if place == len(points):
        return values[-1]
    low, high = points[place - 1], points[place]
    slope = (values[place] - values[place - 1]) / (high - low)
    return values[place - 1] + slope * (x - low)
