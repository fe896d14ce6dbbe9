"""Layers-models of TensorFlow.js: ``model.json`` and files of weights beside it.

``artifacts`` has the parts of such a model: its weights, its configuration as TensorFlow.js reads
it (``topology``), the arguments of ``compile`` and the optimizer's variables (``training``).
``storage`` saves them in, and loads them from, folders, the web, and a browser's IndexedDB.
"""

from webtensor.keras.saving.layers_model.storage import (
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

__all__ = [
    "copy_model_async",
    "layers_model_files",
    "list_models_async",
    "load_layers_model",
    "load_layers_model_async",
    "move_model_async",
    "remove_model_async",
    "save_layers_model",
    "save_layers_model_async",
]
