"""Layers that networks of ``keras.applications`` have of their own, so that their files open here.

Keras keeps them beside the networks, and in none of its namespaces; configurations name them there.
"""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.keras import initializers, random
from webtensor.keras.layers.layer import Layer

__all__ = ["CustomScaleLayer", "LayerScale", "StochasticDepth"]


class LayerScale(Layer):
    """``x * gamma``, a factor for each channel (Touvron et al., 2021); in ConvNeXt."""

    def __init__(self, init_values: float, projection_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape: Any) -> None:
        """Make the factors."""
        initializer = initializers.Constant(self.init_values)
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=initializer)

    def call(self, x: Any) -> Any:
        """Multiply."""
        return x * self.gamma

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


class StochasticDepth(Layer):
    """Drops whole examples in training, and divides the others by what is kept; in ConvNeXt.

    ``drop_path_rate`` is the probability of dropping (Huang et al., 2016).
    """

    def __init__(self, drop_path_rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.drop_path_rate = drop_path_rate

    def call(self, x: Any, training: bool | None = None) -> Any:
        """Drop examples, in training."""
        if not training:
            return x
        kept = 1 - self.drop_path_rate
        shape = (x.shape[0], *[1] * (len(x.shape) - 1))
        return x / kept * wt.floor(random.uniform(shape, 0, 1) + kept)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


class CustomScaleLayer(Layer):
    """``x + scale * y`` of two inputs; in Inception-ResNet v2."""

    def __init__(self, scale: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs: Any) -> Any:
        """Add the scaled second input to the first."""
        return inputs[0] + inputs[1] * self.scale

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the first input."""
        return input_shape[0]
