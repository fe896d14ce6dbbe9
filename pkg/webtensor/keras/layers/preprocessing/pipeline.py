"""Layers one after the other, as one layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from webtensor.engine import TensorLike
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.layer import Layer
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.types import Config, Shape

__all__ = ["Pipeline"]


class Pipeline(Layer):
    """Calls layers one after the other.

    Input shape: that of the first layer.
    Output shape: that of the last layer.

    Args:
        layers: a list of layers.

    Example:
        >>> from webtensor import keras
        >>> layers = [keras.layers.Rescaling(2.0), keras.layers.Rescaling(1.0, offset=1.0)]
        >>> keras.layers.Pipeline(layers)([1.0, 2.0]).tolist()
        [3.0, 5.0]
    """

    _config_omits: ClassVar[Mapping[str, object]] = {"dtype": ALWAYS, "trainable": ALWAYS}

    def __init__(self, layers: Sequence[Layer], name: str | None = None) -> None:
        super().__init__(name=name)
        self.layers = list(layers)

    def build(self, input_shape: Shape) -> None:
        """Build the layers, each for the output shape of the one before it."""
        for layer in self.layers:
            if not layer.built:
                layer.build(input_shape)
            input_shape = layer.compute_output_shape(input_shape)

    def call(
        self,
        inputs: TensorLike,
        training: bool | None = True,
        mask: TensorLike | None = None,
    ) -> TensorLike:
        """Call the layers; their outputs have the masks for the next ones."""
        for layer in self.layers:
            masks = {} if mask is None or not layer._call_has_mask_arg else {"mask": mask}
            inputs = layer(inputs, training=training, **masks)
            mask = None
        return inputs

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """Create a pipeline from a configuration.

        Raises:
            ValueError: "layers" is not a list.
        """
        layers = config.get("layers")
        if not isinstance(layers, (list, tuple)):
            raise ValueError(f"Pipeline: layers must be a list of layers, but got {layers!r}")
        return cls([deserialize_keras_object(layer) for layer in layers], config.get("name"))
