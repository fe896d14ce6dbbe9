"""Helpers around models: for arrays, sequences, images, progress, and pictures of models.

``labels`` has those for labels and numbers, ``sequences`` for steps in time, ``datasets`` what
makes batches, ``splitting`` what parts data, ``file_datasets`` data sets of files in folders
(``directories``), ``images`` what goes through Pillow, ``bounding_boxes`` boxes in images,
``feature_space`` encodes tables, ``downloads`` fetches files, ``progress`` has the progress bar,
``logging`` what is printed, ``frozen_config`` named values, and ``global_state`` seeds and names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Config": "utils.config",
    "CustomObjectScope": "registry",
    "Progbar": "utils.progress",
    "FeatureSpace": "utils.feature_space",
    "PyDataset": "utils.datasets",
    "Sequence": "utils.datasets",
    "array_to_img": "utils.images",
    "audio_dataset_from_directory": "utils.file_datasets",
    "clear_session": "utils.session",
    "custom_object_scope": "registry",
    "deserialize_keras_object": "registry",
    "disable_interactive_logging": "utils.messages",
    "enable_interactive_logging": "utils.messages",
    "get_custom_objects": "registry",
    "get_file": "utils.downloads",
    "get_registered_name": "registry",
    "get_registered_object": "registry",
    "get_source_inputs": "utils.session",
    "image_dataset_from_directory": "utils.file_datasets",
    "img_to_array": "utils.images",
    "is_interactive_logging_enabled": "utils.messages",
    "is_keras_tensor": "utils.session",
    "load_img": "utils.images",
    "model_to_dot": "models.dot",
    "model_to_svg": "models.svg",
    "normalize": "utils.arrays",
    "pack_x_y_sample_weight": "utils.datasets",
    "pad_sequences": "utils.sequences",
    "plot_model": "models.plotting",
    "register_keras_serializable": "registry",
    "save_img": "utils.images",
    "serialize_keras_object": "registry",
    "set_random_seed": "utils.session",
    "split_dataset": "utils.splitting",
    "standardize_dtype": "dtypes",
    "text_dataset_from_directory": "utils.file_datasets",
    "timeseries_dataset_from_array": "utils.sequences",
    "to_categorical": "utils.arrays",
    "unpack_x_y_sample_weight": "utils.datasets",
}

_MODULES = ("bounding_boxes", "legacy")

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"webtensor.keras.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
