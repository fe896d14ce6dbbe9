"""Activations as layers: those with arguments, or with weights of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from warnings import warn

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras import activations
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.layers.elementwise import Elementwise
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.types import (
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
    SymbolicOrTensor,
)

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]

#: What masked logits become.
_MASKED_LOGIT = -1e9


def _check_non_negative(layer: Layer, **arguments: float | None) -> None:
    """Check that arguments are non-negative numbers."""
    for name, value in arguments.items():
        if value is None or value < 0:
            raise ValueError(
                f"{type(layer).__name__}: {name} must be a non-negative number, but got "
                f"{name}={value}"
            )


class ReLU(Elementwise):
    """``max(x, 0)``; with arguments, other slopes and limits.

    ``x`` where it is at least ``threshold``, but at most ``max_value``; elsewhere
    ``negative_slope * (x - threshold)``.

    Args:
        max_value: a non-negative number, the maximum of the outputs; None for no maximum.
        negative_slope: a non-negative number, the slope below ``threshold``.
        threshold: a non-negative number.

    Raises:
        ValueError: an argument is negative.

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
            _check_non_negative(self, max_value=max_value)
        _check_non_negative(self, negative_slope=negative_slope, threshold=threshold)
        self.max_value = max_value
        self.negative_slope = negative_slope
        self.threshold = threshold
        self._build_at_init()

    def call(self, inputs: Tensor) -> SymbolicOrTensor:
        """Apply the activation."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``negative_slope * x``.

    Args:
        negative_slope: a non-negative number; ``alpha`` is its former name.

    Raises:
        ValueError: ``negative_slope`` is negative.

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
        _check_non_negative(self, negative_slope=negative_slope)
        self.negative_slope = negative_slope
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the activation."""
        return activations.leaky_relu(inputs, self.negative_slope)


class ThresholdedReLU(Elementwise):
    """``x`` where it is greater than ``theta``, else 0.

    Keras 3 has this layer of Keras 2 and TensorFlow.js among its legacy layers.

    Args:
        theta: a non-negative number.

    Raises:
        ValueError: ``theta`` is negative.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ThresholdedReLU(2)([1.0, 2.0, 3.0]).tolist()
        [0.0, 0.0, 3.0]
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        _check_non_negative(self, theta=theta)
        self.theta = float(theta)
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the activation."""
        return activations.threshold(inputs, self.theta, 0)


class PReLU(Elementwise, Weighted):
    """``x`` where it is positive, else ``alpha * x`` with a trainable ``alpha``.

    See He et al., 2015.

    Args:
        shared_axes: an integer or several, the axes along which elements share an ``alpha``; None
            for an ``alpha`` for each element of an example.

    Raises:
        ValueError: the layer is built with an unknown dimension, save along ``shared_axes``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.PReLU(alpha_initializer="ones")([[-2.0, 1.0]]).tolist()
        [[-2.0, 1.0]]
    """

    @forwards_arguments
    def __init__(
        self,
        alpha_initializer: InitializerLike = "Zeros",
        alpha_regularizer: RegularizerLike = None,
        alpha_constraint: ConstraintLike = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        self.shared_axes: list[int] | None = None
        if shared_axes is not None:
            axes = shared_axes if isinstance(shared_axes, Sequence) else (shared_axes,)
            self.shared_axes = list(axes)

    def build(self, input_shape: Shape) -> None:
        """Make the slopes."""
        shape, shared_axes = list(input_shape[1:]), self.shared_axes or []
        for axis in shared_axes:
            shape[axis - 1] = 1
        if None in shape:
            raise ValueError(
                f"PReLU: all dimensions of the inputs after the batch must be known, save along "
                f"shared_axes={shared_axes}, but their shape is {tuple(input_shape)}"
            )
        self.alpha = self._make_weight("alpha", shape)
        rank = len(input_shape)
        axes = {axis: input_shape[axis] for axis in range(1, rank) if axis not in shared_axes}
        self.input_spec = InputSpec(ndim=rank, axes=axes if shared_axes else {})

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the activation."""
        return wt.prelu(inputs, self.alpha.value)


class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Args:
        alpha: a number, the limit of ``-f(x)`` for large negative ``x``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ELU()([-1000.0, 1.0]).tolist()
        [-1.0, 1.0]
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the activation."""
        return activations.elu(inputs, self.alpha)


class Softmax(Elementwise):
    """``exp(x)`` divided by the sum of ``exp(x)`` along an axis.

    Called with a mask, which broadcasts to the inputs, it returns 0 where the mask is False.

    Args:
        axis: an integer or several, the axis to sum along.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Softmax()([[1.0, 1.0]]).tolist()
        [[0.5, 0.5]]
    """

    def __init__(self, axis: int | Sequence[int] = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self._build_at_init()

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Apply the activation."""
        if mask is None:
            return activations.softmax(inputs, self.axis)
        mask = _as_mask(mask, inputs)
        outputs = activations.softmax(wt.where(mask, inputs, _MASKED_LOGIT), self.axis)
        return wt.where(mask, outputs, 0.0)


def _as_mask(mask: Tensor, inputs: Tensor) -> Tensor:
    """Return a mask as bool.

    Raises:
        ValueError: it does not broadcast to the inputs.
    """
    sizes = zip(reversed(mask.shape), reversed(inputs.shape), strict=False)
    if len(mask.shape) > len(inputs.shape) or any(size not in (1, other) for size, other in sizes):
        raise ValueError(
            f"Softmax: mask must broadcast to the inputs, but mask.shape={mask.shape} and "
            f"inputs.shape={inputs.shape}"
        )
    return mask if mask.dtype is bool_ else mask > 0.5
