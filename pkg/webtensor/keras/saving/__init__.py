"""Saving: models and weights as files, and the registry of what these may name.

``models`` tells formats apart: ``keras_format`` is that of Keras 3, ``legacy_h5`` the older one;
``layers_model`` is that of TensorFlow.js. Both know models as a tree of arrays (``variable_store``,
``hdf5.tree``), which ``hdf5`` and ``npz`` write and read, and ``shards`` parts; ``file_editor``
looks into it. ``keras2_configs`` and ``compile_configs`` translate what Keras 2 and TensorFlow.js
wrote. ``files`` has what all share: archives and files that are written beside first.
"""

from webtensor.keras.registry import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from webtensor.keras.saving.file_editor import KerasFileEditor
from webtensor.keras.saving.layers_model import (
    layers_model_files,
    load_layers_model,
    load_layers_model_async,
    save_layers_model,
    save_layers_model_async,
)
from webtensor.keras.saving.models import load_model, load_weights, save_model, save_weights

__all__ = [
    "CustomObjectScope",
    "KerasFileEditor",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "layers_model_files",
    "load_layers_model",
    "load_layers_model_async",
    "load_model",
    "load_weights",
    "register_keras_serializable",
    "save_layers_model",
    "save_layers_model_async",
    "save_model",
    "save_weights",
    "serialize_keras_object",
]
