"""Layers one after the other, as one layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.keras.layers.layer import Layer
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config

__all__ = ["Pipeline"]


class Pipeline(Layer):
    """Calls layers one after the other.

    Example:
        >>> from webtensor import keras
        >>> layers = [keras.layers.Rescaling(2.0), keras.layers.Rescaling(1.0, offset=1.0)]
        >>> keras.layers.Pipeline(layers)([1.0, 2.0]).tolist()
        [3.0, 5.0]
    """

    def __init__(self, layers: Sequence[Layer], name: str | None = None) -> None:
        super().__init__(name=name)
        self._pipeline_layers = list(layers)

    @property
    def layers(self) -> list[Layer]:
        """The layers."""
        return self._pipeline_layers

    def build(self, input_shape: Any) -> None:
        """Build the layers, each for the shape that the one before it returns."""
        for layer in self._pipeline_layers:
            if not layer.built:
                layer.build(input_shape)
            input_shape = layer.compute_output_shape(input_shape)

    def call(self, inputs: Any, training: bool | None = True, mask: Any = None) -> Any:
        """Call the layers; what they return carries the masks of the next ones."""
        for layer in self._pipeline_layers:
            masks = {} if mask is None or not layer._call_has_mask_arg else {"mask": mask}
            inputs = layer(inputs, training=training, **masks)
            mask = None
        return inputs

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {"layers": serialize_keras_object(self._pipeline_layers), "name": self.name}

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Make a layer of what ``get_config`` returned."""
        layers = config.get("layers")
        if not isinstance(layers, (list, tuple)):
            raise ValueError(f"Pipeline: layers must be a list of layers, but got {layers!r}")
        return cls([deserialize_keras_object(one) for one in layers], config.get("name"))
