"""Normalization: over a batch, over each example, or over groups of channels.

``Scaled`` holds what several layers share: the factor ``gamma`` and the offset ``beta`` that a
layer learns for what it has normalized.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any
from warnings import warn

from webtensor import ops as wt
from webtensor.autodiff.tape import paused
from webtensor.dtypes import bool_, float32
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras import constraints, initializers, regularizers
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import ConstraintLike, DTypeLike, InitializerLike, RegularizerLike
from webtensor.ops.batch_standardization import batch_standardized, standardized
from webtensor.ops.normalization import normalized
from webtensor.ops.optimizer_updates import moved_towards
from webtensor.ops.statistics import Moments

__all__ = [
    "BatchNormalization",
    "GroupNormalization",
    "LayerNormalization",
    "RMSNormalization",
    "UnitNormalization",
]

#: Keeps a mean over no elements finite, as Keras's ``epsilon()`` does.
_LEAST_COUNT = 1e-7
#: ``1 / epsilon`` of a unit vector's norm: the greatest factor that a vector is multiplied by.
_GREATEST_FACTOR = 1e12


def _axes_of(name: str, axis: Any) -> Any:
    """Validate an axis or several."""
    axes = list(axis) if isinstance(axis, (list, tuple)) else axis
    if not all(isinstance(one, int) for one in (axes if isinstance(axes, list) else [axes])):
        raise TypeError(f"{name}: axis must be an integer or a list of them, but got {axis!r}")
    return axes


def _same_shape(layer: Any, input_shape: Any) -> Any:
    """Return the shape, in which the axes of a layer must be."""
    rank = len(input_shape)
    for one in layer.axis if isinstance(layer.axis, list) else [layer.axis]:
        if not -rank <= one < rank:
            raise ValueError(
                f"{type(layer).__name__}: axis {one} is out of range for inputs of shape "
                f"{tuple(input_shape)}; axis={layer.axis}"
            )
    return input_shape


def _along(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """A shape with length 1 along all but some axes."""
    kept = {one % len(shape) for one in axes}
    return tuple([length if axis in kept else 1 for axis, length in enumerate(shape)])


def _are_last(axes: Sequence[int], rank: int) -> bool:
    """Whether axes are the last ones."""
    return sorted(one % rank for one in axes) == list(range(rank - len(axes), rank))


class Scaled(Layer):
    """A layer that ends with ``x * gamma + beta``, either of which may be absent."""

    gamma: Any = None
    beta: Any = None
    #: Zeros, which a product with a sum in one kernel takes from what it multiplies.
    _origin: Any = None

    def __init__(
        self,
        *,
        center: bool,
        scale: bool,
        beta_initializer: InitializerLike,
        gamma_initializer: InitializerLike,
        beta_regularizer: RegularizerLike,
        gamma_regularizer: RegularizerLike,
        beta_constraint: ConstraintLike,
        gamma_constraint: ConstraintLike,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.center, self.scale = center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True

    def _add_scale(self, shape: Any, has_gamma: bool, has_beta: bool) -> None:
        """Make the factor and the offset."""
        if has_gamma:
            self.gamma = self.add_weight(
                name="gamma",
                shape=shape,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if has_beta:
            self.beta = self.add_weight(
                name="beta",
                shape=shape,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )

    def _scale_in(self, shape: tuple[int, ...] | None = None) -> tuple[Any, Any]:
        """Return factor and offset, in another shape where one is given."""
        held = [None if one is None else one.value for one in (self.gamma, self.beta)]
        if shape is not None:
            held = [one if one is None else wt.reshape(one, shape) for one in held]
        return held[0], held[1]

    def _scaled(self, x: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
        """Multiply by the factor and add the offset, each in another shape where one is given."""
        gamma, beta = self._scale_in(shape)
        if gamma is not None and beta is not None and len(gamma.shape) == 1:
            if self._origin is None:
                with outside_scopes():
                    self._origin = wt.tensor([0.0] * gamma.size)
            return normalized(x, self._origin, gamma, beta)
        if gamma is not None:
            x = wt.multiply(x, gamma)
        return x if beta is None else wt.add(x, beta)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return _same_shape(self, input_shape)


# -- over the batch ----------------------------------------------------------------------------

_CLIPPING = ("rmax", "rmin", "dmax")


class BatchNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` (Ioffe and Szegedy, 2015).

    In training, mean and variance are those of each channel in the batch, and the moving ones
    come nearer to them by ``1 - momentum``; else they are the moving ones, also where ``trainable``
    is False. ``renorm`` takes the moving statistics in training, too, and the batch's for the
    gradient only, within the limits of ``renorm_clipping`` (Ioffe, 2017).

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.BatchNormalization(epsilon=0)
        >>> layer([[1.0], [3.0]], training=True).tolist()
        [[-1.0], [1.0]]
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = "zeros",
        gamma_initializer: InitializerLike = "ones",
        moving_mean_initializer: InitializerLike = "zeros",
        moving_variance_initializer: InitializerLike = "ones",
        beta_regularizer: RegularizerLike = None,
        gamma_regularizer: RegularizerLike = None,
        beta_constraint: ConstraintLike = None,
        gamma_constraint: ConstraintLike = None,
        renorm: bool = False,
        renorm_clipping: dict[str, float] | None = None,
        renorm_momentum: float = 0.99,
        synchronized: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
            **kwargs,
        )
        if synchronized:
            raise ValueError(
                "BatchNormalization: synchronized must be False: there is only one device"
            )
        self.axis = int(axis)
        self.momentum, self.epsilon = float(momentum), float(epsilon)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm = renorm
        self.renorm_clipping = _clipping(renorm_clipping) if renorm else renorm_clipping
        self.renorm_momentum = renorm_momentum
        self.synchronized = synchronized

    def build(self, input_shape: Any) -> None:
        """Make factor and offset, and the moving statistics."""
        length = input_shape[self.axis]
        shape = (length,)
        self._add_scale(shape, self.scale, self.center)

        def statistic(name: str, initializer: InitializerLike) -> Any:
            return self.add_weight(name=name, shape=shape, initializer=initializer, trainable=False)

        self.moving_mean = statistic("moving_mean", self.moving_mean_initializer)
        self.moving_variance = statistic("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            self.moving_stddev = statistic("moving_stddev", self._first_deviation)
            self.renorm_mean = statistic("renorm_mean", self.moving_mean_initializer)
            self.renorm_stddev = statistic("renorm_stddev", self._first_deviation)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: length})

    def _first_deviation(self, shape: Any, dtype: DTypeLike = None) -> Tensor:
        return wt.sqrt(self.moving_variance_initializer(shape, dtype=dtype))

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        """Normalize."""
        if mask is not None and len(mask.shape) != len(inputs.shape) - 1:
            raise ValueError(
                f"BatchNormalization: mask must have one axis less than the inputs, but "
                f"mask.shape={mask.shape} and inputs.shape={inputs.shape}"
            )
        gamma, beta = self._scale_in()
        if inputs.dtype is not float32:
            inputs = wt.astype(inputs, float32)
        rank = len(inputs.shape)
        is_last = self.axis % rank == rank - 1
        if training and self.trainable:
            if is_last and mask is None and not self.renorm:
                made, *found = batch_standardized(inputs, gamma, beta, self.epsilon)
                self._move_statistics(*found)
                return made
            mean, variance = self._moments(inputs, mask)
            if self.renorm:
                gamma, beta = self._renormalized(mean, variance, gamma, beta)
            else:
                self._move_statistics(mean, variance)
        else:
            mean, variance = self.moving_mean.value, self.moving_variance.value
        if not is_last:
            shape = _along(inputs.shape, (self.axis,))
            mean, variance = wt.reshape(mean, shape), wt.reshape(variance, shape)
            beta = None if beta is None else wt.reshape(beta, shape)
            gamma = None if gamma is None else wt.reshape(gamma, shape)
        return wt.batch_norm(inputs, mean, variance, beta, gamma, self.epsilon)

    def _move_statistics(self, mean: Tensor, variance: Tensor) -> None:
        _move(self.moving_mean, mean, self.momentum)
        _move(self.moving_variance, variance, self.momentum)

    def _moments(self, x: Tensor, mask: Any) -> Moments:
        """Mean and variance of each channel, where the mask is not False."""
        rank = len(x.shape)
        axes = [axis for axis in range(rank) if axis != self.axis % rank]
        if mask is None:
            return wt.moments(x, axes)
        counted = wt.broadcast_to(wt.expand_dims(mask, -1), x.shape)
        counted = wt.astype(counted, bool_, copy=False)
        count = wt.sum(wt.astype(counted, float32), axes, keepdims=True) + _LEAST_COUNT
        mean = wt.sum(wt.where(counted, x, 0.0), axes, keepdims=True) / count
        squares = wt.square(wt.where(counted, x - mean, 0.0))
        variance = wt.sum(squares, axes, keepdims=True) / count
        shape = self.moving_mean.shape
        return Moments(wt.reshape(mean, shape), wt.reshape(variance, shape))

    def _renormalized(
        self, mean: Tensor, variance: Tensor, gamma: Tensor | None, beta: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return the factor and the offset that lead from the batch's to the moving statistics."""
        with paused():
            deviation = wt.sqrt(variance + self.epsilon)
            known = wt.maximum(self.renorm_stddev.value, self.epsilon**0.5)
            ratio = deviation / known
            distance = (mean - self.renorm_mean.value) / known
            limits = self.renorm_clipping or {}
            if limits.get("rmin") is not None or limits.get("rmax") is not None:
                ratio = wt.clip(ratio, limits.get("rmin"), limits.get("rmax"))
            if limits.get("dmax") is not None:
                distance = wt.clip(distance, -limits["dmax"], limits["dmax"])
        _move(self.renorm_mean, mean, self.renorm_momentum)
        _move(self.renorm_stddev, deviation, self.renorm_momentum)
        _move(self.moving_mean, mean, self.momentum)
        _move(self.moving_stddev, deviation, self.momentum)
        with paused():
            squared = wt.square(self.moving_stddev.value)
            self.moving_variance.assign(wt.relu(squared - self.epsilon))
        factor = ratio if gamma is None else ratio * gamma
        offset = distance if gamma is None else distance * gamma
        return factor, offset if beta is None else offset + beta


def _clipping(limits: dict[str, float] | None) -> dict[str, float]:
    """Validate the limits of batch renormalization."""
    held = dict(limits or {})
    unknown = sorted(set(held) - set(_CLIPPING))
    if unknown:
        raise ValueError(
            f"BatchNormalization: renorm_clipping may have {', '.join(_CLIPPING)}, but got "
            f"{', '.join(unknown)}"
        )
    greatest, least, distance = (held.get(name) for name in _CLIPPING)
    if greatest is not None and least is not None and greatest < least:
        raise ValueError(
            f"BatchNormalization: rmax in renorm_clipping must not be less than rmin, but got "
            f"rmax={greatest} and rmin={least}"
        )
    if distance is not None and distance < 0:
        raise ValueError(
            f"BatchNormalization: dmax in renorm_clipping must not be negative, but got {distance}"
        )
    return held


def _move(variable: Any, value: Tensor, momentum: float) -> None:
    """Bring a moving statistic nearer to that of the batch."""
    with paused():
        variable.assign(moved_towards(variable.value, value, 1 - momentum))


# -- over each example -------------------------------------------------------------------------


class LayerNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` of each example (Ba et al., 2016).

    Mean and variance are those along ``axis``, which may be several, and so are the factor and the
    offset. ``rms_scaling``, which Keras deprecates, leaves out the mean and the offset.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.LayerNormalization(epsilon=0)([[1.0, 3.0]]).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = "zeros",
        gamma_initializer: InitializerLike = "ones",
        beta_regularizer: RegularizerLike = None,
        gamma_regularizer: RegularizerLike = None,
        beta_constraint: ConstraintLike = None,
        gamma_constraint: ConstraintLike = None,
        rms_scaling: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
            **kwargs,
        )
        if rms_scaling:
            warn(
                "LayerNormalization: rms_scaling=True divides by the standard deviation, not by "
                "the root of the mean square; use RMSNormalization for that",
                stacklevel=2,
            )
        self.axis = _axes_of("LayerNormalization", axis)
        self.epsilon = epsilon
        self.rms_scaling = rms_scaling

    def build(self, input_shape: Any) -> None:
        """Make factor and offset."""
        self.axis = sorted(self.axis) if isinstance(self.axis, list) else [self.axis]
        shape = tuple(input_shape[one] for one in self.axis)
        has_beta = self.center and not self.rms_scaling
        self._add_scale(shape, self.scale or self.rms_scaling, has_beta)

    def call(self, inputs: Any) -> Any:
        """Normalize."""
        shape = inputs.shape
        if self.rms_scaling:
            gamma, _ = self._scale_in(_along(shape, self.axis))
            variance = wt.var(inputs, self.axis, keepdims=True)
            return inputs * wt.rsqrt(variance + self.epsilon) * gamma
        if not _are_last(self.axis, len(shape)):
            made = standardized(inputs, self.axis, self.epsilon)
            return self._scaled(made, _along(shape, self.axis))
        length = prod(shape[len(shape) - len(self.axis) :])
        rows = standardized(wt.reshape(inputs, (-1, length)), (1,), self.epsilon)
        return wt.reshape(self._scaled(rows, (length,) if len(self.axis) > 1 else None), shape)


class RMSNormalization(Layer):
    """``x / sqrt(mean(x**2) + epsilon) * scale`` along ``axis`` (Zhang and Sennrich, 2019).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RMSNormalization(epsilon=0)([[2.0, -2.0]]).tolist()
        [[1.0, -1.0]]
    """

    def __init__(self, axis: Any = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = _axes_of("RMSNormalization", axis)
        self.epsilon = epsilon

    def build(self, input_shape: Any) -> None:
        """Make the factor."""
        self.axis = sorted(self.axis) if isinstance(self.axis, list) else [self.axis]
        shape = tuple(input_shape[one] for one in self.axis)
        self.scale = self.add_weight(name="scale", shape=shape, initializer="ones")

    def call(self, x: Any) -> Any:
        """Normalize."""
        factor = wt.rsqrt(wt.mean(wt.square(x), self.axis, keepdims=True) + self.epsilon)
        return x * factor * self.scale.value

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return _same_shape(self, input_shape)


class GroupNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` of groups of channels.

    The channels of ``axis`` make ``groups`` groups, each normalized in each example (Wu and He,
    2018); -1 stands for as many groups as channels. ``gamma`` and ``beta`` are per channel.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.GroupNormalization(2, epsilon=0)
        >>> layer([[1.0, 3.0, 10.0, 30.0]]).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = "zeros",
        gamma_initializer: InitializerLike = "ones",
        beta_regularizer: RegularizerLike = None,
        gamma_regularizer: RegularizerLike = None,
        beta_constraint: ConstraintLike = None,
        gamma_constraint: ConstraintLike = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(groups, int) or (groups <= 0 and groups != -1):
            raise ValueError(
                f"GroupNormalization: groups must be a positive integer, or -1 for a group per "
                f"channel, but got {groups!r}"
            )
        super().__init__(
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
            **kwargs,
        )
        self.groups, self.axis, self.epsilon = groups, axis, epsilon

    def build(self, input_shape: Any) -> None:
        """Make factor and offset."""
        channels = input_shape[self.axis]
        if channels is None:
            raise ValueError(
                f"GroupNormalization: axis {self.axis} must have a known length, but the inputs' "
                f"shape is {tuple(input_shape)}"
            )
        if self.groups == -1:
            self.groups = channels
        if channels % self.groups or not channels:
            raise ValueError(
                f"GroupNormalization: the {channels} channels of axis {self.axis} do not make "
                f"{self.groups} groups of the same number; groups={self.groups}"
            )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self._add_scale((channels,), self.scale, self.center)

    def call(self, inputs: Any) -> Any:
        """Normalize."""
        shape = inputs.shape
        axis = self.axis % len(shape)
        split = (self.groups, shape[axis] // self.groups)
        parts = wt.reshape(inputs, (*shape[:axis], *split, *shape[axis + 1 :]))
        axes = [one for one in range(1, len(shape) + 1) if one != axis]
        made = wt.reshape(standardized(parts, axes, self.epsilon), shape)
        is_last = axis == len(shape) - 1
        return self._scaled(made, None if is_last else _along(shape, (axis,)))


class UnitNormalization(Layer):
    """``x / sqrt(sum(x**2))`` along ``axis``: vectors of length 1.

    Example:
        >>> from webtensor import keras
        >>> (keras.layers.UnitNormalization()([[4.0, -3.0]]) * 10).round().tolist()
        [[8.0, -6.0]]
    """

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = _axes_of("UnitNormalization", axis)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Normalize."""
        squares = wt.sum(wt.square(inputs), self.axis, keepdims=True)
        return inputs * wt.minimum(wt.rsqrt(squares), _GREATEST_FACTOR)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return _same_shape(self, input_shape)
