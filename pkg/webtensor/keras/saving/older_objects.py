"""Layers and functions of Keras 2 and TensorFlow.js that Keras 3 has no more, or has otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.engine import Tensor, TensorLike
from webtensor.keras import activations
from webtensor.keras.data_formats import spatial_shape_of, with_channels_last
from webtensor.keras.layers import UpSampling2D
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.registry import register_keras_serializable
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.ops import clip, image, matmul, permute_dims, reshape, take
from webtensor.shapes import prod

__all__ = ["LocallyConnected1D", "LocallyConnected2D", "gelu_new", "old_hard_sigmoid"]


@register_keras_serializable("webtensor", "hard_sigmoid")
def old_hard_sigmoid(x: TensorLike) -> Tensor:
    """Compute ``hard_sigmoid`` as Keras 2 and TensorFlow.js: ``0.2 x + 0.5``, between 0 and 1."""
    return clip(x * 0.2 + 0.5, 0, 1)


@register_keras_serializable("webtensor")
def gelu_new(x: TensorLike) -> Tensor:
    """Compute ``gelu`` approximately, by ``tanh``, as TensorFlow.js by this name."""
    return activations.gelu(x, approximate=True)


@register_keras_serializable("webtensor", "UpSampling2D")
class CornerUpSampling2D(UpSampling2D):
    """``UpSampling2D`` of TensorFlow.js, which interpolates between corners of pixels."""

    def call(self, inputs: Tensor) -> Tensor:
        """Upsample."""
        size = spatial_shape_of(self.compute_output_shape(inputs.shape), self.data_format)
        return with_channels_last(image.resize_bilinear, inputs, self.data_format, size)


@register_keras_serializable("webtensor")
class LocallyConnected1D(Weighted):
    """A convolution with a kernel and a bias of its own for each position, as in Keras 2.

    The kernel has shape ``(positions, features, filters)``.

    Raises:
        ValueError: ``implementation`` is not 1, or ``data_format`` not "channels_last".
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Sequence[int],
        strides: Sequence[int] = (1, 1),
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        padding: str = "valid",
        data_format: str = "channels_last",
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, value, required in (
            ("padding", padding, "valid"),
            ("data_format", data_format, "channels_last"),
            ("implementation", implementation, 1),
        ):
            if value != required:
                raise ValueError(
                    f"{type(self).__name__}: {name} must be {required!r}, but is {value!r}"
                )
        self.padding, self.data_format, self.implementation = padding, data_format, implementation
        self.filters, self.kernel_size, self.strides = filters, kernel_size, strides
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._take_weights(
            kernel=(kernel_initializer, kernel_regularizer, kernel_constraint),
            bias=(bias_initializer, bias_regularizer, bias_constraint),
        )

    def build(self, input_shape: Shape) -> None:
        """Make the kernel and the bias."""
        sizes = [size for size in input_shape[1:] if size is not None]
        if len(sizes) < len(input_shape) - 1:
            raise ValueError(f"{type(self).__name__}: the inputs' size is unknown: {input_shape}")
        counts = self._counts(sizes)
        features = prod((*self.kernel_size, sizes[-1]))
        self.kernel = self._make_weight("kernel", (prod(counts), features, self.filters))
        self.bias = self._make_weight("bias", (*counts, self.filters)) if self.use_bias else None

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with the number of positions along each axis."""
        sizes = [size or 0 for size in input_shape[1:]]
        return (input_shape[0], *self._counts(sizes), self.filters)

    def _counts(self, sizes: Sequence[int]) -> list[int]:
        windows = zip(sizes, self.kernel_size, self.strides, strict=False)
        return [(size - window) // stride + 1 for size, window, stride in windows]

    def call(self, inputs: Tensor) -> Tensor:
        """Multiply the window of each position by its kernel."""
        rank = len(self.kernel_size)
        counts = self._counts(inputs.shape[1:])
        windows = inputs
        for axis in range(rank):
            starts = range(0, counts[axis] * self.strides[axis], self.strides[axis])
            indices = [
                [start + offset for offset in range(self.kernel_size[axis])] for start in starts
            ]
            windows = take(windows, indices, 1 + 2 * axis)
        order = (*range(1, 2 * rank, 2), 0, *range(2, 2 * rank + 1, 2), 2 * rank + 1)
        windows = permute_dims(windows, order)
        sums = matmul(reshape(windows, (prod(counts), inputs.shape[0], -1)), self.kernel.value)
        outputs = reshape(permute_dims(sums, (1, 0, 2)), (inputs.shape[0], *counts, self.filters))
        result: Tensor = self.activation(
            outputs if self.bias is None else outputs + self.bias.value
        )
        return result


@register_keras_serializable("webtensor")
class LocallyConnected2D(LocallyConnected1D):
    """``LocallyConnected1D`` for images."""
