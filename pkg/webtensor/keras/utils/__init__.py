"""Utilities around models: data sets, labels, sequences, images, boxes, downloads, progress.

``datasets`` has ``PyDataset``, the base of data sets; ``splitting`` divides a data set in two, and
``file_datasets`` makes data sets of the files in folders, which ``directories`` lists. ``labels``
encodes class labels, ``sequences`` pads sequences and cuts series into windows, ``images`` converts
between Pillow images and arrays, and ``bounding_boxes`` computes with boxes. ``feature_space``
encodes tables. ``downloads`` fetches files, ``progress`` has the progress bar, ``logging`` prints
or logs messages, ``frozen_config`` has ``Config``, ``keras2_serialization`` the configurations of
Keras 2, and ``global_state`` random seeds and the names of layers. Each is imported when one of its
names is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The modules that define the names, below ``webtensor.keras``.
_HOMES = {
    "Config": "utils.frozen_config",
    "CustomObjectScope": "registry",
    "Progbar": "utils.progress",
    "FeatureSpace": "utils.feature_space",
    "PyDataset": "utils.datasets",
    "Sequence": "utils.datasets",
    "array_to_img": "utils.images",
    "audio_dataset_from_directory": "utils.file_datasets",
    "clear_session": "utils.global_state",
    "custom_object_scope": "registry",
    "deserialize_keras_object": "registry",
    "disable_interactive_logging": "utils.logging",
    "enable_interactive_logging": "utils.logging",
    "get_custom_objects": "registry",
    "get_file": "utils.downloads",
    "get_registered_name": "registry",
    "get_registered_object": "registry",
    "get_source_inputs": "utils.global_state",
    "image_dataset_from_directory": "utils.file_datasets",
    "img_to_array": "utils.images",
    "is_interactive_logging_enabled": "utils.logging",
    "is_keras_tensor": "utils.global_state",
    "load_img": "utils.images",
    "model_to_dot": "models.dot",
    "model_to_svg": "models.svg",
    "normalize": "utils.labels",
    "pack_x_y_sample_weight": "utils.datasets",
    "pad_sequences": "utils.sequences",
    "plot_model": "models.plotting",
    "register_keras_serializable": "registry",
    "save_img": "utils.images",
    "serialize_keras_object": "registry",
    "set_random_seed": "utils.global_state",
    "split_dataset": "utils.splitting",
    "standardize_dtype": "dtypes",
    "text_dataset_from_directory": "utils.file_datasets",
    "timeseries_dataset_from_array": "utils.sequences",
    "to_categorical": "utils.labels",
    "unpack_x_y_sample_weight": "utils.datasets",
}

#: The modules that are names themselves.
_MODULES = {"bounding_boxes": "utils.bounding_boxes", "legacy": "utils.keras2_serialization"}

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"webtensor.keras.{_MODULES[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"webtensor.keras.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
