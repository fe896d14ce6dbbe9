"""Layers and functions of Keras 2 and TensorFlow.js that Keras 3 has no more, or has otherwise."""

from __future__ import annotations

from webtensor.engine import Tensor, TensorLike
from webtensor.keras import activations
from webtensor.keras.data_formats import spatial_shape_of, with_channels_last
from webtensor.keras.layers import UpSampling2D
from webtensor.keras.layers.convolution import Conv
from webtensor.keras.registry import register_keras_serializable
from webtensor.keras.types import Shape
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


class _LocallyConnected(Conv):
    """A convolution with a kernel and a bias of its own for each position of the outputs.

    The kernel has shape ``(positions, features, filters)``. There is no padding.
    """

    def build(self, input_shape: Shape) -> None:
        """Make the kernel and the bias."""
        *counts, channels = (size or 0 for size in self.compute_output_shape(input_shape)[1:])
        features = prod((*self.kernel_size, input_shape[-1] or 0))
        self._kernel = self._make_weight("kernel", (prod(counts), features, channels))
        self.bias = self._make_weight("bias", (*counts, channels)) if self.use_bias else None
        self._build_lora()

    def product(self) -> None:
        """Return None, as there is a kernel for each position."""

    def call(self, inputs: Tensor) -> Tensor:
        """Multiply the window of each position by its kernel."""
        rank, batch = self.rank, inputs.shape[0]
        shape = self._kernel.shape[0], batch, self._kernel.shape[1]
        counts = [size or 0 for size in self.compute_output_shape(inputs.shape)[1:-1]]
        windows = inputs
        for axis, (count, size) in enumerate(zip(counts, self.kernel_size, strict=True)):
            starts = [position * self.strides[axis] for position in range(count)]
            indices = [[start + offset for offset in range(size)] for start in starts]
            windows = take(windows, indices, 1 + 2 * axis)
        order = (*range(1, 2 * rank, 2), 0, *range(2, 2 * rank + 1, 2), 2 * rank + 1)
        sums = matmul(reshape(permute_dims(windows, order), shape), self._kernel.value)
        outputs = reshape(permute_dims(sums, (1, 0, 2)), (batch, *counts, self.filters))
        return self.activation(outputs if self.bias is None else outputs + self.bias.value)


@register_keras_serializable("webtensor")
class LocallyConnected1D(_LocallyConnected):
    """``Conv1D`` with a kernel for each position."""

    rank = 1


@register_keras_serializable("webtensor")
class LocallyConnected2D(_LocallyConnected):
    """``Conv2D`` with a kernel for each position."""

    rank = 2
