"""Activations as layers: those that have options, or weights of their own."""

from __future__ import annotations

from typing import Any
from warnings import warn

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras import activations, constraints, initializers, regularizers
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import ConstraintLike, InitializerLike, RegularizerLike

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]

#: What is added to a logit that does not count.
_HIDDEN = -1e9


def _non_negative(layer: Layer, **arguments: Any) -> None:
    """Check that arguments are numbers, none of them negative."""
    for name, value in arguments.items():
        if value is None or value < 0:
            raise ValueError(
                f"{type(layer).__name__}: {name} must be a non-negative number, but got "
                f"{name}={value}"
            )


class ElementwiseActivation(Layer):
    """A layer whose outputs have the shape of its inputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


class ReLU(ElementwiseActivation):
    """``x`` above ``threshold``, at most ``max_value``; else ``negative_slope`` times the distance.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ReLU(max_value=2, negative_slope=0.5)([-2.0, 1.0, 3.0]).tolist()
        [-1.0, 1.0, 2.0]
    """

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if max_value is not None:
            _non_negative(self, max_value=max_value)
        _non_negative(self, negative_slope=negative_slope, threshold=threshold)
        self.max_value = max_value
        self.negative_slope = negative_slope
        self.threshold = threshold
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(ElementwiseActivation):
    """``x`` where it is positive, else ``negative_slope * x``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.LeakyReLU(0.5)([-2.0, 1.0]).tolist()
        [-1.0, 1.0]
    """

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        if "alpha" in kwargs:
            negative_slope = kwargs.pop("alpha")
            warn("LeakyReLU: alpha is now called negative_slope", stacklevel=2)
        super().__init__(**kwargs)
        _non_negative(self, negative_slope=negative_slope)
        self.negative_slope = negative_slope
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return activations.leaky_relu(inputs, self.negative_slope)


class ThresholdedReLU(ElementwiseActivation):
    """``x`` where it is greater than ``theta``, else 0.

    Keras 3 keeps this layer of Keras 2 and TensorFlow.js among its legacy ones.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ThresholdedReLU(2)([1.0, 2.0, 3.0]).tolist()
        [0.0, 0.0, 3.0]
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        _non_negative(self, theta=theta)
        self.theta = float(theta)
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return activations.threshold(inputs, self.theta, 0)


class PReLU(ElementwiseActivation):
    """``x`` where it is positive, else ``alpha * x``, where ``alpha`` is learned.

    There is an ``alpha`` for each element of an example; elements along ``shared_axes`` share one
    (He et al., 2015).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.PReLU(alpha_initializer="ones")([[-2.0, 1.0]]).tolist()
        [[-2.0, 1.0]]
    """

    def __init__(
        self,
        alpha_initializer: InitializerLike = "Zeros",
        alpha_regularizer: RegularizerLike = None,
        alpha_constraint: ConstraintLike = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        if shared_axes is not None:
            several = isinstance(shared_axes, (list, tuple))
            shared_axes = list(shared_axes) if several else [shared_axes]
        self.shared_axes = shared_axes

    def build(self, input_shape: Any) -> None:
        """Make the slopes."""
        lengths, shared = list(input_shape[1:]), self.shared_axes or []
        for axis in shared:
            lengths[axis - 1] = 1
        if None in lengths:
            raise ValueError(
                f"PReLU: the inputs must have known lengths but along shared_axes={shared}, but "
                f"their shape is {tuple(input_shape)}"
            )
        self.alpha = self.add_weight(
            name="alpha",
            shape=lengths,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        rank = len(input_shape)
        axes = {one: input_shape[one] for one in range(1, rank) if one not in shared}
        self.input_spec = InputSpec(ndim=rank, axes=axes if shared else {})

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return wt.prelu(inputs, self.alpha.value)


class ELU(ElementwiseActivation):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ELU()([-1000.0, 1.0]).tolist()
        [-1.0, 1.0]
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return activations.elu(inputs, self.alpha)


class Softmax(ElementwiseActivation):
    """Exponentials divided by their sum along ``axis``, which may be several.

    What a mask, which broadcasts to the inputs, hides becomes 0.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Softmax()([[1.0, 1.0]]).tolist()
        [[0.5, 0.5]]
    """

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self._build_at_init()

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Apply the activation."""
        if mask is None:
            return activations.softmax(inputs, self.axis)
        held = _mask(mask, inputs)
        made = activations.softmax(wt.where(held, inputs, _HIDDEN), self.axis)
        return wt.where(held, made, 0.0)


def _mask(mask: Tensor, inputs: Tensor) -> Tensor:
    """Return a mask as bool.

    Raises:
        ValueError: it does not broadcast to the inputs.
    """
    pairs = zip(reversed(mask.shape), reversed(inputs.shape), strict=False)
    if len(mask.shape) > len(inputs.shape) or any(one not in (1, other) for one, other in pairs):
        raise ValueError(
            f"Softmax: mask must broadcast to the inputs, but mask.shape={mask.shape} and "
            f"inputs.shape={inputs.shape}"
        )
    return mask if mask.dtype is bool_ else mask > 0.5
