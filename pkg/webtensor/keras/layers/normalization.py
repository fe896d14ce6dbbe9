"""Normalization: over a batch, over each example, or over groups of channels.

``Scaled`` is what several layers share: the factor ``gamma`` and the offset ``beta``, which are
trained, of normalized values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias
from warnings import warn

from webtensor import ops as wt
from webtensor.arguments import as_integers
from webtensor.autodiff.tape import paused
from webtensor.dtypes import bool_, float32
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import (
    ConstraintLike,
    DTypeLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.keras.variables import Variable
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

#: An axis or several.
Axes: TypeAlias = int | Sequence[int]

#: Added to the number of unmasked elements, so that a mean over none is finite, as in Keras.
_COUNT_EPSILON = 1e-7
#: ``1 / epsilon`` of a norm: the maximum of the factors that vectors are multiplied by.
_MAX_FACTOR = 1e12


def _as_axes(name: str, axis: Axes) -> int | list[int]:
    """Validate an axis or several."""
    axes = as_integers(name, "axis", axis)
    return axes if isinstance(axis, Sequence) else axes[0]


def _as_list(axis: int | list[int]) -> list[int]:
    return axis if isinstance(axis, list) else [axis]


def _broadcast_shape(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """Return a shape with size 1 along all but some axes."""
    rank = len(shape)
    unchanged = {axis % rank for axis in axes}
    return tuple([size if axis in unchanged else 1 for axis, size in enumerate(shape)])


def _are_last(axes: Sequence[int], rank: int) -> bool:
    """Whether axes are the last ones."""
    return sorted(axis % rank for axis in axes) == list(range(rank - len(axes), rank))


class BaseNormalization(Layer):
    """A layer that normalizes along ``axis``, and keeps shapes."""

    axis: int | list[int]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        rank = len(input_shape)
        for axis in _as_list(self.axis):
            if not -rank <= axis < rank:
                raise ValueError(
                    f"{type(self).__name__}: axis {axis} is out of range for inputs of shape "
                    f"{tuple(input_shape)}; axis={self.axis}"
                )
        return input_shape

    def _sizes_along_axis(self, input_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of the dimensions ``axis``, which becomes a sorted list, as in Keras."""
        self.axis = sorted(_as_list(self.axis))
        return tuple([input_shape[axis] for axis in self.axis])


class Scaled(BaseNormalization, Weighted):
    """A layer that ends with ``x * gamma + beta``, either of which may be absent.

    Args:
        epsilon: a number, added to the variance, so that nothing is divided by 0.
        center: a boolean, whether there is an offset ``beta``.
        scale: a boolean, whether there is a factor ``gamma``.
    """

    gamma: Variable | None = None
    beta: Variable | None = None
    #: Zeros, which the kernel of a product and a sum subtracts from its operand.
    _zeros: Tensor | None = None

    epsilon: float
    center: bool
    scale: bool

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.supports_masking = True

    def _add_weights(self, shape: Sequence[int | None], has_gamma: bool, has_beta: bool) -> None:
        """Add the factor and the offset."""
        if has_gamma:
            self.gamma = self._make_weight("gamma", shape)
        if has_beta:
            self.beta = self._make_weight("beta", shape)

    def _weight_values(
        self, shape: tuple[int, ...] | None = None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return factor and offset, in another shape if there is one."""

        def value_of(weight: Variable | None) -> Tensor | None:
            if weight is None or shape is None:
                return None if weight is None else weight.value
            return wt.reshape(weight.value, shape)

        return value_of(self.gamma), value_of(self.beta)

    def _scaled(self, x: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
        """Multiply by the factor and add the offset, each in another shape if there is one."""
        gamma, beta = self._weight_values(shape)
        if gamma is not None and beta is not None and len(gamma.shape) == 1:
            if self._zeros is None:
                with outside_scopes():
                    self._zeros = wt.tensor([0.0] * gamma.size)
            return normalized(x, self._zeros, gamma, beta)
        if gamma is not None:
            x = wt.multiply(x, gamma)
        return x if beta is None else wt.add(x, beta)


# -- over the batch ----------------------------------------------------------------------------

_CLIPPING = ("rmax", "rmin", "dmax")


class BatchNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` (Ioffe and Szegedy, 2015).

    In training, mean and variance are those of each channel in the batch, and the moving ones
    approach them by ``1 - momentum``; otherwise, and where ``trainable`` is False, they are the
    moving ones.

    Args:
        axis: an integer, the axis of the channels.
        momentum: a number from 0 to 1, the weight of the moving statistics when they are updated.
        moving_mean_initializer: an initializer, or its name: what the moving mean starts with.
        moving_variance_initializer: an initializer, or its name: what the moving variance starts
            with.
        renorm: a boolean, whether training, too, computes with moving statistics, and uses those
            of the batch for gradients only (Ioffe, 2017).
        renorm_clipping: a dictionary with limits for ``renorm``: ``"rmax"`` and ``"rmin"`` of the
            factor, ``"dmax"`` of the offset between both kinds of statistics; None for none.
        renorm_momentum: a number from 0 to 1, as ``momentum``, for the statistics of ``renorm``.
        synchronized: False, as there is only one device.

    Output shape: that of the inputs.

    Raises:
        ValueError: ``synchronized`` is True, or ``renorm_clipping`` is invalid; in calls, the rank
            of the mask is wrong.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.BatchNormalization(epsilon=0)
        >>> layer([[1.0], [3.0]], training=True).tolist()
        [[-1.0], [1.0]]
    """

    axis: int
    moving_mean_initializer: Callable[..., Tensor]
    moving_variance_initializer: Callable[..., Tensor]
    renorm: bool
    renorm_momentum: float

    @forwards_arguments
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
        if synchronized:
            raise ValueError(
                "BatchNormalization: synchronized must be False: there is only one device"
            )
        self.axis = int(axis)
        self.momentum = float(momentum)
        self.epsilon = float(epsilon)
        self.renorm_clipping = _as_clipping(renorm_clipping) if renorm else renorm_clipping

    def build(self, input_shape: Sequence[int | None]) -> None:
        """Add factor and offset, and the moving statistics."""
        channels = input_shape[self.axis]
        self._add_weights((channels,), self.scale, self.center)

        def statistic(name: str, initializer: InitializerLike) -> Variable:
            return self.add_weight(
                name=name, shape=(channels,), initializer=initializer, trainable=False
            )

        self.moving_mean = statistic("moving_mean", self.moving_mean_initializer)
        self.moving_variance = statistic("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            self.moving_stddev = statistic("moving_stddev", self._initial_deviation)
            self.renorm_mean = statistic("renorm_mean", self.moving_mean_initializer)
            self.renorm_stddev = statistic("renorm_stddev", self._initial_deviation)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})

    def _initial_deviation(self, shape: Sequence[int], dtype: DTypeLike = None) -> Tensor:
        return wt.sqrt(self.moving_variance_initializer(shape, dtype=dtype))

    def call(
        self, inputs: Tensor, training: bool | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Normalize."""
        if mask is not None and len(mask.shape) != len(inputs.shape) - 1:
            raise ValueError(
                "BatchNormalization: the rank of mask must be one less than that of inputs, but "
                f"mask.shape={mask.shape} and inputs.shape={inputs.shape}"
            )
        gamma, beta = self._weight_values()
        if inputs.dtype is not float32:
            inputs = wt.astype(inputs, float32)
        rank = len(inputs.shape)
        is_last = self.axis % rank == rank - 1
        if training and self.trainable:
            if is_last and mask is None and not self.renorm:
                outputs, mean, variance = batch_standardized(inputs, gamma, beta, self.epsilon)
                self._move_statistics(mean, variance)
                return outputs
            mean, variance = self._moments(inputs, mask)
            if self.renorm:
                gamma, beta = self._renormalized(mean, variance, gamma, beta)
            else:
                self._move_statistics(mean, variance)
        else:
            mean, variance = self.moving_mean.value, self.moving_variance.value
        if not is_last:
            shape = _broadcast_shape(inputs.shape, (self.axis,))
            mean, variance = wt.reshape(mean, shape), wt.reshape(variance, shape)
            beta = None if beta is None else wt.reshape(beta, shape)
            gamma = None if gamma is None else wt.reshape(gamma, shape)
        return wt.batch_norm(inputs, mean, variance, beta, gamma, self.epsilon)

    def _move_statistics(self, mean: Tensor, variance: Tensor) -> None:
        _move(self.moving_mean, mean, self.momentum)
        _move(self.moving_variance, variance, self.momentum)

    def _moments(self, x: Tensor, mask: Tensor | None) -> Moments:
        """Mean and variance of each channel, over the elements that the mask does not leave out."""
        rank = len(x.shape)
        axes = [axis for axis in range(rank) if axis != self.axis % rank]
        if mask is None:
            return wt.moments(x, axes)
        counts = wt.broadcast_to(wt.expand_dims(mask, -1), x.shape)
        counts = wt.astype(counts, bool_, copy=False)
        count = wt.sum(wt.astype(counts, float32), axes, keepdims=True) + _COUNT_EPSILON
        mean = wt.sum(wt.where(counts, x, 0.0), axes, keepdims=True) / count
        squares = wt.square(wt.where(counts, x - mean, 0.0))
        variance = wt.sum(squares, axes, keepdims=True) / count
        shape = self.moving_mean.shape
        return Moments(wt.reshape(mean, shape), wt.reshape(variance, shape))

    def _renormalized(
        self, mean: Tensor, variance: Tensor, gamma: Tensor | None, beta: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return factor and offset for values that the batch's statistics have normalized.

        With them the result is as if the moving statistics had normalized; these are updated.
        """
        with paused():
            deviation = wt.sqrt(variance + self.epsilon)
            moving_deviation = wt.maximum(self.renorm_stddev.value, self.epsilon**0.5)
            ratio = deviation / moving_deviation
            distance = (mean - self.renorm_mean.value) / moving_deviation
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


def _as_clipping(clipping: Mapping[str, float] | None) -> dict[str, float]:
    """Validate the limits of batch renormalization."""
    limits = dict(clipping or {})
    unknown = sorted(set(limits) - set(_CLIPPING))
    if unknown:
        raise ValueError(
            f"BatchNormalization: renorm_clipping may have {', '.join(_CLIPPING)}, but got "
            f"{', '.join(unknown)}"
        )
    rmax, rmin, dmax = (limits.get(name) for name in _CLIPPING)
    if rmax is not None and rmin is not None and rmax < rmin:
        raise ValueError(
            f"BatchNormalization: rmax in renorm_clipping must not be less than rmin, but got "
            f"rmax={rmax} and rmin={rmin}"
        )
    if dmax is not None and dmax < 0:
        raise ValueError(
            f"BatchNormalization: dmax in renorm_clipping must not be negative, but got {dmax}"
        )
    return limits


def _move(variable: Variable, value: Tensor, momentum: float) -> None:
    """Move a statistic towards that of the batch."""
    with paused():
        variable.assign(moved_towards(variable.value, value, 1 - momentum))


# -- over each example -------------------------------------------------------------------------


class LayerNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` of each example (Ba et al., 2016).

    Mean and variance, factor and offset are those along ``axis``.

    Args:
        axis: an integer or several, the axes that are normalized together.
        rms_scaling: a boolean, deprecated in Keras: whether the mean and the offset are left out.

    Output shape: that of the inputs.

    Raises:
        TypeError: ``axis`` is neither an integer nor a list of them.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.LayerNormalization(epsilon=0)([[1.0, 3.0]]).tolist()
        [[-1.0, 1.0]]
    """

    rms_scaling: bool

    @forwards_arguments
    def __init__(
        self,
        axis: Axes = -1,
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
        if rms_scaling:
            warn(
                "LayerNormalization: rms_scaling=True divides by the standard deviation, not by "
                "the root of the mean square; use RMSNormalization for that",
                stacklevel=3,
            )
        self.axis = _as_axes("LayerNormalization", axis)

    def build(self, input_shape: Sequence[int]) -> None:
        """Add factor and offset."""
        shape = self._sizes_along_axis(input_shape)
        has_beta = self.center and not self.rms_scaling
        self._add_weights(shape, self.scale or self.rms_scaling, has_beta)

    def call(self, inputs: Tensor) -> Tensor:
        """Normalize."""
        shape, axes = inputs.shape, _as_list(self.axis)
        if self.rms_scaling:
            gamma, _ = self._weight_values(_broadcast_shape(shape, axes))
            assert gamma is not None
            variance = wt.var(inputs, axes, keepdims=True)
            return inputs * wt.rsqrt(variance + self.epsilon) * gamma
        if not _are_last(axes, len(shape)):
            outputs = standardized(inputs, axes, self.epsilon)
            return self._scaled(outputs, _broadcast_shape(shape, axes))
        size = prod(shape[len(shape) - len(axes) :])
        rows = standardized(wt.reshape(inputs, (-1, size)), (1,), self.epsilon)
        return wt.reshape(self._scaled(rows, (size,) if len(axes) > 1 else None), shape)


class RMSNormalization(BaseNormalization):
    """``x / sqrt(mean(x**2) + epsilon) * scale`` along ``axis`` (Zhang and Sennrich, 2019).

    Args:
        axis: an integer or several, the axes that are normalized together.
        epsilon: a number, added to the mean, so that nothing is divided by 0.

    Output shape: that of the inputs.

    Raises:
        TypeError: ``axis`` is neither an integer nor a list of them.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RMSNormalization(epsilon=0)([[2.0, -2.0]]).tolist()
        [[1.0, -1.0]]
    """

    def __init__(self, axis: Axes = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = _as_axes("RMSNormalization", axis)
        self.epsilon = epsilon

    def build(self, input_shape: Sequence[int]) -> None:
        """Add the factor."""
        shape = self._sizes_along_axis(input_shape)
        self.scale = self.add_weight(name="scale", shape=shape, initializer="ones")

    def call(self, x: Tensor) -> Tensor:
        """Normalize."""
        factor = wt.rsqrt(wt.mean(wt.square(x), self.axis, keepdims=True) + self.epsilon)
        return x * factor * self.scale.value


class GroupNormalization(Scaled):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` of groups of channels.

    Each group of channels is normalized in each example (Wu and He, 2018); there are ``gamma`` and
    ``beta`` for each channel.

    Args:
        groups: a positive integer that divides the number of channels, or -1 for a group for each
            channel.
        axis: an integer, the axis of the channels.

    Output shape: that of the inputs.

    Raises:
        ValueError: ``groups`` is not positive or -1, or does not divide the number of channels.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.GroupNormalization(2, epsilon=0)
        >>> layer([[1.0, 3.0, 10.0, 30.0]]).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """

    axis: int
    groups: int

    @forwards_arguments
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

    def build(self, input_shape: Shape) -> None:
        """Add factor and offset."""
        channels = input_shape[self.axis]
        if channels is None:
            raise ValueError(
                f"GroupNormalization: the size of axis {self.axis} must be known, but the inputs' "
                f"shape is {tuple(input_shape)}"
            )
        if self.groups == -1:
            self.groups = channels
        if channels % self.groups or not channels:
            raise ValueError(
                "GroupNormalization: groups must divide the number of channels, but "
                f"groups={self.groups} and axis {self.axis} has {channels} channels"
            )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self._add_weights((channels,), self.scale, self.center)

    def call(self, inputs: Tensor) -> Tensor:
        """Normalize."""
        shape = inputs.shape
        axis = self.axis % len(shape)
        split = (self.groups, shape[axis] // self.groups)
        groups = wt.reshape(inputs, (*shape[:axis], *split, *shape[axis + 1 :]))
        axes = [other for other in range(1, len(shape) + 1) if other != axis]
        outputs = wt.reshape(standardized(groups, axes, self.epsilon), shape)
        is_last = axis == len(shape) - 1
        return self._scaled(outputs, None if is_last else _broadcast_shape(shape, (axis,)))


class UnitNormalization(BaseNormalization):
    """``x / sqrt(sum(x**2))`` along ``axis``: vectors whose norm is 1.

    Args:
        axis: an integer or several, the axes that are normalized together.

    Output shape: that of the inputs.

    Raises:
        TypeError: ``axis`` is neither an integer nor a list of them.

    Example:
        >>> from webtensor import keras
        >>> (keras.layers.UnitNormalization()([[4.0, -3.0]]) * 10).round().tolist()
        [[8.0, -6.0]]
    """

    def __init__(self, axis: Axes = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = _as_axes("UnitNormalization", axis)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Normalize."""
        squares = wt.sum(wt.square(inputs), self.axis, keepdims=True)
        return inputs * wt.minimum(wt.rsqrt(squares), _MAX_FACTOR)
