"""Saving models and weights in files, and the registry of classes that files may name.

``models`` and ``weight_files`` choose among the formats: ``keras_format`` of Keras 3, ``legacy_h5``
of Keras 2, and ``layers_model`` of TensorFlow.js. The weights of a model are a tree of arrays
(``variable_store``, ``hdf5.tree``), which ``hdf5`` and ``npz`` read and write, ``shards`` parts
into several files, and ``file_editor`` shows and edits. ``keras2_configs`` and ``compile_configs``
convert configurations of Keras 2 and TensorFlow.js. ``webtensor.formats`` has what all model files
share.
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
    copy_model_async,
    layers_model_files,
    list_models_async,
    load_layers_model,
    load_layers_model_async,
    move_model_async,
    remove_model_async,
    save_layers_model,
    save_layers_model_async,
)
from webtensor.keras.saving.models import load_model, save_model
from webtensor.keras.saving.weight_files import load_weights, save_weights

__all__ = [
    "CustomObjectScope",
    "KerasFileEditor",
    "copy_model_async",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "layers_model_files",
    "list_models_async",
    "load_layers_model",
    "load_layers_model_async",
    "load_model",
    "load_weights",
    "move_model_async",
    "register_keras_serializable",
    "remove_model_async",
    "save_layers_model",
    "save_layers_model_async",
    "save_model",
    "save_weights",
    "serialize_keras_object",
]
