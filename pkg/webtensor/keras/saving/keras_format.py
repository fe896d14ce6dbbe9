"""Archives of Keras 3 (.keras): a configuration, the weights, and files that layers keep."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.saving.files import (
    Archive,
    as_json,
    check_configuration,
    malformed,
    write_members,
)
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.npz import read_npz
from webtensor.keras.saving.state import load_state, saved_assets, saved_state
from webtensor.keras.variables import sizes_limited

__all__ = [
    "KERAS_VERSION",
    "MORE_ELEMENTS",
    "load_archive",
    "size_of",
    "weights_in_archive",
    "write_archive",
]

#: The version of Keras whose files these are.
KERAS_VERSION = "3.15.1"
_CONFIG, _METADATA = "config.json", "metadata.json"
_WEIGHTS_H5, _WEIGHTS_NPZ = "model.weights.h5", "model.weights.npz"
_ASSETS = "assets/"
#: Elements that a model may have beside those in the file, such as states of random numbers.
MORE_ELEMENTS = 1 << 16


def write_archive(file: IO[bytes], model: Any) -> None:
    """Write a model."""
    config = json.dumps(serialize_keras_object(model))
    metadata = json.dumps(
        {
            "keras_version": KERAS_VERSION,
            "date_saved": datetime.now().strftime("%Y-%m-%d@%H:%M:%S"),
        }
    )
    state, assets = saved_state(model), saved_assets(model)

    def members() -> Iterator[tuple[str, Any]]:
        yield _METADATA, [metadata.encode()]
        yield _CONFIG, [config.encode()]
        yield _WEIGHTS_H5, pieces(state)
        for name, data in assets.items():
            yield _ASSETS + name, [data]

    write_members(file, members())


def size_of(tree: Group) -> int:
    """Return how many elements there are."""
    return sum(one.size for _, one in tree.arrays())


def weights_in_archive(archive: Archive) -> Group:
    """Return the weights of an archive.

    Raises:
        ValueError: it has none, or they are broken.
    """
    label = f"{archive.label}: "
    if _WEIGHTS_H5 in archive.names:
        return read_hdf5(archive.read(_WEIGHTS_H5), label + _WEIGHTS_H5)
    if _WEIGHTS_NPZ in archive.names:
        return read_npz(archive.read(_WEIGHTS_NPZ), label + _WEIGHTS_NPZ)
    raise ValueError(f"{archive.label} has neither {_WEIGHTS_H5!r} nor {_WEIGHTS_NPZ!r}")


def load_archive(archive: Archive, custom_objects: Mapping[str, Any] | None, compile: bool) -> Any:
    """Return the model in an archive.

    Raises:
        ValueError: a part is missing, broken, unknown or too large, or does not fit another.
    """
    label = archive.label
    where = f"{label}: {_CONFIG}"
    config = as_json(archive.read(_CONFIG), where)
    if not isinstance(config, dict):
        raise ValueError(f"{where} describes no model")
    tree = weights_in_archive(archive)
    if not compile:
        config["compile_config"] = None
    with malformed(where), sizes_limited(size_of(tree) + MORE_ELEMENTS):
        check_configuration(config)
        model = deserialize_keras_object(config, custom_objects)
        if not hasattr(model, "load_weights"):
            raise ValueError(f"it describes no model, but {type(model).__name__}")
    assets = {
        name.removeprefix(_ASSETS): archive.read(name)
        for name in archive.names
        if name.startswith(_ASSETS) and not name.endswith("/")
    }
    load_state(model, tree, label, assets=assets)
    return model
