"""The configurations of layers, and layers made from them."""

from __future__ import annotations

from webtensor.keras.nodes import Operation
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.types import Config, CustomObjects

__all__ = ["deserialize", "serialize"]


def serialize(layer: Operation) -> Config:
    """Return the configuration of a layer.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.serialize(keras.layers.Dense(3))["class_name"]
        'Dense'
    """
    config: Config = serialize_keras_object(layer)
    return config


def deserialize(config: Config, custom_objects: CustomObjects | None = None) -> Operation:
    """Return the layer that a configuration describes.

    Raises:
        ValueError: it describes something else, or names a class that is not registered.
    """
    layer = deserialize_keras_object(config, custom_objects)
    if not isinstance(layer, Operation):
        raise ValueError(f"deserialize: config must be that of a layer, but describes {layer!r}")
    return layer
