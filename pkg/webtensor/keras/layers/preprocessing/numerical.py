"""Layers for numbers: scaling, normalization by statistics of data, and sorting into bins."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from math import ceil, prod
from typing import Any, ClassVar, NamedTuple

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.data_formats import image_data_format
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.encoding import (
    EncodingLayer,
    batches_of,
    checked_mode,
    checked_sparse,
    encoded,
)
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.types import Config, CustomObjects, DTypeLike, Shape
from webtensor.ops.normalization import normalized

__all__ = ["Discretization", "Normalization", "Rescaling"]

#: The minimum of the standard deviations that inputs are divided by.
_MIN_DEVIATION = 1e-7


class Rescaling(Layer):
    """Returns ``x * scale + offset``.

    Input shape: any.
    Output shape: that of the inputs.

    Args:
        scale: a number, or one per channel.
        offset: a number, or one per channel.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Rescaling(1 / 128, offset=-1)([0.0, 128.0, 256.0]).tolist()
        [-1.0, 0.0, 1.0]
    """

    def __init__(self, scale: TensorLike, offset: TensorLike = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs: TensorLike) -> Tensor:
        """Scale and shift."""
        scale = self.scale
        if not isinstance(scale, (int, float)):
            scale = wt.asarray(scale, dtype=float32)
            if scale.shape and image_data_format() == "channels_first":
                scale = wt.reshape(scale, (*scale.shape, *[1] * (3 - len(scale.shape))))
        scaled: Tensor = wt.astype(inputs, float32, copy=False) * scale
        if isinstance(self.offset, (int, float)):
            return scaled if self.offset == 0 else scaled + self.offset
        return scaled + wt.asarray(self.offset, dtype=float32)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Create a layer from a configuration."""
        config = dict(config)
        for name in ("scale", "offset"):
            if name in config:
                config[name] = deserialize_keras_object(config[name], custom_objects)
        return cls(**config)


class _Statistics(NamedTuple):
    """The mean and the variance of a number of elements, for each index of the kept axes."""

    number: int
    mean: Tensor
    variance: Tensor


class Normalization(Layer):
    """Normalizes inputs: ``(x - mean) / sqrt(variance)``.

    Each index of ``axis`` has a mean and a variance, which are arguments, or which ``adapt``
    computes from data.

    Input shape: any; the dimensions of ``axis`` must be known.
    Output shape: that of the inputs.

    Args:
        axis: an integer or a tuple of them, the axes whose indices have statistics of their own,
            by default the last one; None stands for one mean and one variance of all elements.
        mean: a number, an array or a tensor, the mean; None if ``adapt`` computes it.
        variance: likewise, the variance.
        invert: a boolean, whether the layer denormalizes: ``x * sqrt(variance) + mean``.

    Raises:
        ValueError: only one of ``mean`` and ``variance`` is given, or their shapes differ or have
            more dimensions than ``axis``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.Normalization(axis=None)
        >>> layer.adapt(wt.tensor([1.0, 2.0, 3.0]))
        >>> round(layer.mean.item(), 3), layer([2.0]).tolist()
        (2.0, [0.0])
    """

    mean: Tensor | None
    variance: Tensor | None

    def __init__(
        self,
        axis: int | Sequence[int] | None = -1,
        mean: TensorLike | None = None,
        variance: TensorLike | None = None,
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
        self.mean = None
        self.variance = None
        if mean is not None:
            mean_shape, variance_shape = wt.asarray(mean).shape, wt.asarray(variance).shape
            if mean_shape != variance_shape or len(mean_shape) > len(self.axis):
                raise ValueError(
                    f"Normalization: mean and variance must have the same shape, of no more axes "
                    f"than axis={self.axis}, but their shapes are {mean_shape} and {variance_shape}"
                )

    def build(self, input_shape: Shape) -> None:
        """Create the variables of the statistics, or broadcast the given statistics.

        Raises:
            ValueError: an axis is out of range, or its dimension is unknown.
        """
        shape = tuple(input_shape)
        rank = len(shape)
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError(
                f"Normalization: axis {self.axis} is out of range for inputs of shape {shape}"
            )
        self._built_shape = shape
        self._kept_axes = tuple(sorted(axis % rank for axis in self.axis))
        self._reduced_axes = [axis for axis in range(rank) if axis not in self._kept_axes]
        sizes: dict[int, int] = {}
        for axis in self._kept_axes:
            size = shape[axis]
            if size is None:
                raise ValueError(
                    f"Normalization: the dimension of axis {axis} must be known, but the inputs' "
                    f"shape is {shape}"
                )
            sizes[axis] = size
        #: The shape in which statistics broadcast to the inputs.
        self._broadcast_shape = tuple(sizes.get(axis, 1) for axis in range(rank))
        if self.input_mean is not None:
            self._set_statistics(
                self._broadcast(self.input_mean), self._broadcast(self.input_variance)
            )
            return
        statistic_shape = tuple(sizes.values())
        self.adapt_mean = self.add_weight(statistic_shape, "zeros", trainable=False, name="mean")
        self.adapt_variance = self.add_weight(
            statistic_shape, "ones", trainable=False, name="variance"
        )
        self.count = self.add_weight((), "zeros", "int32", trainable=False, name="count")
        self._set_statistics(self.adapt_mean.value, self.adapt_variance.value)

    def _broadcast(self, statistic: TensorLike) -> Tensor:
        """Broadcast a statistic, whose axes are the last ones of ``axis``."""
        values = wt.asarray(statistic, dtype=float32)
        shape = [1] * len(self._broadcast_shape)
        for i in range(1, len(values.shape) + 1):
            shape[self._kept_axes[-i]] = values.shape[-i]
        return wt.broadcast_to(wt.reshape(values, shape), self._broadcast_shape)

    def _set_statistics(self, mean: Tensor, variance: Tensor) -> None:
        """Set the statistics, in a shape that broadcasts to the inputs, and what follows."""
        with outside_scopes():
            self.mean = wt.reshape(mean, self._broadcast_shape).clone()
            self.variance = wt.reshape(variance, self._broadcast_shape).clone()
            deviation = wt.maximum(wt.sqrt(self.variance), _MIN_DEVIATION)
            self._factor = deviation if self.invert else wt.reciprocal(deviation)
            self._zeros = wt.zeros(self._broadcast_shape)

    def call(self, inputs: TensorLike) -> Tensor:
        """Normalize."""
        x = wt.astype(inputs, float32, copy=False)
        if self.invert:
            return x * self._factor + self.mean
        if self._kept_axes == (len(x.shape) - 1,):
            size = x.shape[-1:]
            statistics = (self.mean, self._factor, self._zeros)
            return normalized(x, *(wt.reshape(statistic, size) for statistic in statistics))
        return (x - self.mean) * self._factor

    def adapt(self, data: TensorLike | Iterable[TensorLike]) -> None:
        """Compute the mean and the variance of data: an array, a tensor, or batches of them.

        Raises:
            TypeError: ``data`` is neither, or a batch is no array.
            ValueError: there are no batches, or the shape does not fit that of ``build``.
        """
        if hasattr(data, "shape"):
            batches: Iterable[TensorLike] = [data]
        elif hasattr(data, "__iter__"):
            batches = batches_of(data)
        else:
            raise TypeError(
                f"Normalization: data must be an array, a tensor or batches of them, but got "
                f"{type(data).__name__}"
            )
        total: _Statistics | None = None
        for batch in batches:
            if not hasattr(batch, "shape"):
                raise TypeError(
                    f"Normalization: batches must be arrays or tensors, but got a "
                    f"{type(batch).__name__}"
                )
            self._build_or_check(tuple(batch.shape))
            statistics = self._statistics(wt.astype(wt.asarray(batch), float32, copy=False))
            total = statistics if total is None else _pooled(total, statistics)
        if total is None or not total.number:
            raise ValueError("Normalization: data must have at least one batch, but there is none")
        if self.input_mean is None:
            self.adapt_mean.assign(total.mean)
            self.adapt_variance.assign(total.variance)
            self.finalize_state()

    def _build_or_check(self, shape: tuple[int, ...]) -> None:
        """Build, or check that a batch has the shape that the layer was built with."""
        if not self.built:
            self.build(shape)
        built = self._built_shape
        if len(shape) != len(built) or any(shape[axis] != built[axis] for axis in self._kept_axes):
            raise ValueError(
                f"Normalization: the layer was built with shape {built}, but data has shape {shape}"
            )

    def _statistics(self, x: Tensor) -> _Statistics:
        number = prod(x.shape[axis] for axis in self._reduced_axes)
        if not self._reduced_axes:
            return _Statistics(number, x, wt.zeros_like(x))
        return _Statistics(number, *wt.moments(x, self._reduced_axes))

    def finalize_state(self) -> None:
        """Use the statistics that ``adapt`` computed, or that were loaded."""
        if self.input_mean is None and self.built:
            self._set_statistics(self.adapt_mean.value, self.adapt_variance.value)

    def load_own_variables(self, store: Mapping[str, TensorLike]) -> None:
        """Load the statistics from a mapping."""
        super().load_own_variables(store)
        self.finalize_state()

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape

    def _config_value(self, name: str) -> Any:
        if name in ("mean", "variance"):
            return _as_lists(getattr(self, f"input_{name}"))
        return super()._config_value(name)


def _pooled(first: _Statistics, second: _Statistics) -> _Statistics:
    """Return the statistics of the elements of two batches together."""
    if not first.number:
        return second
    number = first.number + second.number
    share = second.number / number
    mean = first.mean * (1 - share) + second.mean * share
    variance = (first.variance + wt.square(first.mean - mean)) * (1 - share) + (
        second.variance + wt.square(second.mean - mean)
    ) * share
    return _Statistics(number, mean, variance)


def _as_lists(value: TensorLike | None) -> Any:
    """Convert an array or a tensor to nested lists; return a number unchanged."""
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_lists(element) for element in value]
    return value.tolist()


# -- bins --------------------------------------------------------------------------------------


class Discretization(EncodingLayer):
    """Returns the index of the bin of a number: the number of boundaries that are not above it.

    Input shape: any.
    Output shape: that of the inputs for ``output_mode="int"``; otherwise the number of bins is the
    last dimension.

    Args:
        bin_boundaries: a list of numbers in ascending order; None if ``adapt`` computes them.
        num_bins: an integer, the number of bins, into which ``adapt`` sorts equally many numbers
            each; None if there are ``bin_boundaries``.
        epsilon: a number from 0 to 1, the error of ``adapt``: smaller is more exact, and slower.

    Raises:
        ValueError: neither or both of ``bin_boundaries`` and ``num_bins`` are given, ``num_bins``
            is negative, or ``output_mode`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Discretization([0.0, 1.0])([[-1.0, 0.0, 0.5, 2.0]]).tolist()
        [[0, 1, 1, 2]]
    """

    _config_omits: ClassVar[Mapping[str, object]] = {
        "activity_regularizer": ALWAYS,
        "trainable": ALWAYS,
    }

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
        self.sparse = checked_sparse("Discretization", sparse)
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
    def output_dtype(self) -> DType:
        """The dtype of the outputs."""
        return int32 if self.output_mode == "int" else self.compute_dtype

    def adapt(self, data: TensorLike | Iterable[TensorLike], steps: int | None = None) -> None:
        """Compute boundaries for data: an array, a tensor, or batches, the first ``steps`` of them.

        Raises:
            ValueError: the layer was created with ``bin_boundaries``.
        """
        if self.num_bins is None:
            raise ValueError(
                "Discretization: the layer has its bin_boundaries; give num_bins to adapt it"
            )
        self.reset_state()
        for batch in [data] if hasattr(data, "shape") else batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: TensorLike) -> None:
        """Take the numbers of a batch into account."""
        numbers = wt.flatten(wt.astype(wt.asarray(data), float32, copy=False)).tolist()
        self.summary = _merged(_summarized(numbers, self.epsilon), self.summary, self.epsilon)

    def finalize_state(self) -> None:
        """Compute the boundaries from the numbers that ``update_state`` received."""
        if self.num_bins is not None and self.summary.values:
            self.bin_boundaries = _compressed(self.summary, 1 / self.num_bins).values[:-1]

    def load_own_variables(self, store: Mapping[str, TensorLike]) -> None:
        """Load the summary of numbers, which a layer of Keras 2 has as a weight."""
        if not store:
            return
        summary = wt.asarray(store["0"])
        if len(summary.shape) != 2 or summary.shape[0] != 2:
            raise ValueError(
                f"Discretization: the summary must have shape (2, numbers), but has {summary.shape}"
            )
        self.summary = _Summary(*summary.tolist())
        self.finalize_state()

    def reset_state(self) -> None:
        """Forget the numbers that ``update_state`` received."""
        self.summary = _Summary([], [])

    def call(self, inputs: TensorLike) -> Tensor:
        """Return the bins.

        Raises:
            ValueError: there are no boundaries yet.
        """
        if self.bin_boundaries is None:
            raise ValueError(
                "Discretization: there are no bins yet; give bin_boundaries, or call adapt"
            )
        x = wt.astype(wt.asarray(inputs), float32, copy=False)
        boundaries = wt.tensor(list(self.bin_boundaries), dtype=float32)
        bins = wt.reshape(wt.upper_bound(boundaries, wt.flatten(x)), x.shape)
        return encoded(bins, self.output_mode, len(self.bin_boundaries) + 1, self.output_dtype)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the bins, or of their vectors."""
        shape = tuple(input_shape)
        if self.output_mode == "int":
            return shape
        boundaries = self.bin_boundaries
        depth = self.num_bins if boundaries is None else len(boundaries) + 1
        if self.output_mode == "one_hot":
            is_column = len(shape) > 1 and shape[-1] == 1
            return (*(shape[:-1] if is_column else shape), depth)
        return (shape[0], *shape[2:], depth) if len(shape) > 1 else (depth,)

    def _config_value(self, name: str) -> Any:
        if name == "dtype":
            return str(self.dtype_policy.variable_dtype)
        if name == "bin_boundaries" and self.bin_boundaries is not None:
            return list(self.bin_boundaries)
        return super()._config_value(name)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Create a layer from a configuration, which may have both boundaries and ``num_bins``."""
        config = dict(config)
        boundaries = config.get("bin_boundaries")
        if config.get("num_bins") is not None:
            config["bin_boundaries"] = None
        layer = super().from_config(config)
        layer.bin_boundaries = boundaries
        return layer


class _Summary:
    """Numbers in ascending order, and their weights: the number of data that each represents."""

    def __init__(self, values: Sequence[float], weights: Sequence[float]) -> None:
        self.values, self.weights = list(values), list(weights)


def _summarized(numbers: list[float], epsilon: float) -> _Summary:
    """Return about ``1 / epsilon`` of the numbers, at equal steps of their ranks."""
    step = max(len(numbers) * epsilon, 1.0)
    chosen = sorted(numbers)[int(step - 1) :: int(step)]
    return _Summary(chosen, [step] * len(chosen))


def _merged(first: _Summary, second: _Summary, epsilon: float) -> _Summary:
    """Return a summary of the data of two, with not many more than ``1 / epsilon`` numbers."""
    pairs = chain(
        zip(first.values, first.weights, strict=True),
        zip(second.values, second.weights, strict=True),
    )
    ordered = sorted(pairs, key=lambda pair: pair[0])
    merged = _Summary([value for value, _ in ordered], [weight for _, weight in ordered])
    return _compressed(merged, epsilon)


def _compressed(summary: _Summary, epsilon: float) -> _Summary:
    """Return the numbers at equal steps of the cumulative share of the data."""
    if len(summary.values) * epsilon < 1:
        return summary
    cumulative = list(accumulate(summary.weights))
    shares = [weight / cumulative[-1] for weight in cumulative]
    steps = [epsilon + step * epsilon for step in range(ceil(1 / epsilon))]
    values = [_interpolated(step, shares, summary.values) for step in steps]
    counts = [_interpolated(step, shares, cumulative) for step in steps]
    weights = [after - before for after, before in zip(counts, [0.0, *counts[:-1]], strict=True)]
    # Keras computes with float32 here.
    return _Summary(array("f", values), array("f", weights))


def _interpolated(x: float, points: Sequence[float], values: Sequence[float]) -> float:
    """Interpolate values at points linearly; beyond the ends, return those of the ends."""
    index = bisect_right(points, x)
    if index == 0:
        return values[0]
    if index == len(points):
        return values[-1]
    low, high = points[index - 1], points[index]
    slope = (values[index] - values[index - 1]) / (high - low)
    return values[index - 1] + slope * (x - low)
