"""Layers-models of TensorFlow.js: ``model.json`` and files of weights beside it.

``artifacts`` is what such a model consists of, wherever it is kept; ``manifest`` has its weights,
``topology`` its configuration as TensorFlow.js reads it, ``training`` what its optimizer remembers.
``storage`` has the places: folders, addresses of the web, and a browser's IndexedDB.
"""

from webtensor.keras.saving.layers_model.storage import (
    layers_model_files,
    load_layers_model,
    load_layers_model_async,
    save_layers_model,
    save_layers_model_async,
)

__all__ = [
    "layers_model_files",
    "load_layers_model",
    "load_layers_model_async",
    "save_layers_model",
    "save_layers_model_async",
]
