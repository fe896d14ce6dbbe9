"""Objects as configurations, as Keras 2 wrote them: without modules and registered names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.registry import Namespace, serialize_keras_object as _serialized

__all__ = ["deserialize_keras_object", "serialize_keras_object"]


def serialize_keras_object(instance: Any) -> Any:
    """Return the name of a function, or an object's ``{"class_name": …, "config": …}``.

    Raises:
        ValueError: it has neither a configuration nor a name.
    """
    config = _serialized(instance)
    if isinstance(config, Mapping) and "class_name" in config:
        if config["class_name"] == "function":
            return config["config"]
        return {
            "class_name": config.get("registered_name") or config["class_name"],
            "config": config["config"],
        }
    return config


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Return what a name or a configuration stands for, among the objects of a module.

    Raises:
        ValueError: nothing is known by that name.
    """
    things = Namespace(printable_module_name, module_objects or {})
    return things.deserialize(identifier, custom_objects)
