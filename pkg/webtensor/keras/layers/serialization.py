"""Layers as configurations, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.nodes import Operation
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object

__all__ = ["deserialize", "serialize"]


def serialize(layer: Any) -> dict[str, Any]:
    """Return the configuration of a layer.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.serialize(keras.layers.Dense(3))["class_name"]
        'Dense'
    """
    found: dict[str, Any] = serialize_keras_object(layer)
    return found


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the layer that a configuration describes.

    Raises:
        ValueError: it describes something else, or a class is not known.
    """
    found = deserialize_keras_object(config, custom_objects)
    if not isinstance(found, Operation):
        raise ValueError(f"deserialize: config must be that of a layer, but describes {found!r}")
    return found
