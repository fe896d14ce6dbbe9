"""The base of layers that apply another layer in another way."""

from __future__ import annotations

from typing import Any

from webtensor.keras.layers.layer import Layer
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.types import Config, CustomObjects, Shape

__all__ = ["Wrapper"]


class Wrapper(Layer):
    """A layer around another layer; the base class of such layers.

    Args:
        layer: the layer inside.

    Raises:
        ValueError: ``layer`` is not a layer.
    """

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(f"{type(self).__name__}: layer must be a layer, but got {layer!r}")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Shape | None = None) -> None:
        """Build the layer inside."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        with custom_object_scope(custom_objects or {}):
            layer = deserialize_keras_object(config.pop("layer", None))
        return cls(layer, **config)
