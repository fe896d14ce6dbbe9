"""Configurations of objects as in Keras 2: without modules and registered names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.registry import Namespace, serialize_keras_object as serialize_keras3_object
from webtensor.keras.types import Config, CustomObjects

__all__ = ["deserialize_keras_object", "serialize_keras_object"]


def serialize_keras_object(instance: object) -> Config | str:
    """Return the name of a function, or ``{"class_name": …, "config": …}`` of an object.

    Raises:
        TypeError: the object has no configuration.
        ValueError: it is a lambda, which has no name.
    """
    config: Config | str = serialize_keras3_object(instance)
    if isinstance(config, Mapping) and "class_name" in config:
        if config["class_name"] == "function":
            name: str = config["config"]
            return name
        return {
            "class_name": config.get("registered_name") or config["class_name"],
            "config": config["config"],
        }
    return config


def deserialize_keras_object(
    identifier: Config | str | None,
    module_objects: CustomObjects | None = None,
    custom_objects: CustomObjects | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Return the object of a module that a name or a configuration stands for.

    Raises:
        ValueError: no object has that name.
    """
    namespace = Namespace(printable_module_name, module_objects or {})
    return namespace.deserialize(identifier, custom_objects)
