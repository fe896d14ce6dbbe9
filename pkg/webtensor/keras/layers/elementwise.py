"""The base of layers whose outputs have the shape of their inputs."""

from __future__ import annotations

from typing import Any

from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import Shape

__all__ = ["Elementwise"]


class Elementwise(Layer):
    """A layer whose outputs have the shape and the mask of its inputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape
