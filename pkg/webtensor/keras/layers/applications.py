"""Layers of the networks in ``keras.applications``, so that files of these networks open here.

Keras has them beside the networks, in none of its namespaces; configurations name them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import initializers, random
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import Shape

__all__ = ["CustomScaleLayer", "LayerScale", "StochasticDepth"]


class LayerScale(Layer):
    """``x * gamma`` with a trainable factor for each channel (Touvron et al., 2021); in ConvNeXt.

    Args:
        init_values: a number, the first value of all factors.
        projection_dim: a positive integer, the number of channels.
    """

    def __init__(self, init_values: float, projection_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape: Shape) -> None:
        """Make the factors."""
        initializer = initializers.Constant(self.init_values)
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=initializer)

    def call(self, x: Tensor) -> Tensor:
        """Multiply."""
        return x * self.gamma

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class StochasticDepth(Layer):
    """Drops whole examples in training, and divides the others by ``1 - drop_path_rate``.

    See Huang et al., 2016; in ConvNeXt.

    Args:
        drop_path_rate: a number between 0 and 1, the probability that an example is dropped.
    """

    def __init__(self, drop_path_rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.drop_path_rate = drop_path_rate

    def call(self, x: Tensor, training: bool | None = None) -> Tensor:
        """Drop examples, in training."""
        if not training:
            return x
        keep_rate = 1 - self.drop_path_rate
        shape = (x.shape[0], *[1] * (len(x.shape) - 1))
        return x / keep_rate * wt.floor(random.uniform(shape, 0, 1) + keep_rate)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class CustomScaleLayer(Layer):
    """``x + scale * y`` of two inputs; in Inception-ResNet v2.

    Args:
        scale: a number.
    """

    def __init__(self, scale: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Add the scaled second input to the first."""
        return inputs[0] + inputs[1] * self.scale

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the shape of the first input."""
        return input_shape[0]
