"""Helpers around models: for arrays, sequences, images, progress, and pictures of models.

``arrays`` has those for labels and numbers, ``sequences`` for steps in time, ``datasets`` what
makes batches, ``images`` what goes through Pillow, ``progress`` the progress bar, and ``session``
seeds and names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CustomObjectScope": "registry",
    "Progbar": "utils.progress",
    "PyDataset": "utils.datasets",
    "Sequence": "utils.datasets",
    "array_to_img": "utils.images",
    "clear_session": "utils.session",
    "custom_object_scope": "registry",
    "deserialize_keras_object": "registry",
    "get_custom_objects": "registry",
    "get_file": "utils.session",
    "get_registered_name": "registry",
    "get_registered_object": "registry",
    "get_source_inputs": "utils.session",
    "img_to_array": "utils.images",
    "is_keras_tensor": "utils.session",
    "load_img": "utils.images",
    "model_to_svg": "models.plotting",
    "normalize": "utils.arrays",
    "pack_x_y_sample_weight": "utils.datasets",
    "pad_sequences": "utils.sequences",
    "plot_model": "models.plotting",
    "register_keras_serializable": "registry",
    "save_img": "utils.images",
    "serialize_keras_object": "registry",
    "set_random_seed": "utils.session",
    "standardize_dtype": "utils.session",
    "timeseries_dataset_from_array": "utils.sequences",
    "to_categorical": "utils.arrays",
    "unpack_x_y_sample_weight": "utils.datasets",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"webtensor.keras.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
