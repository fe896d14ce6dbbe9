"""Archives of Keras (.keras): a configuration, the weights, and the assets of layers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import parse_json, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import Archive, Folder
from webtensor.keras import __version__
from webtensor.keras.model_budgets import making_model
from webtensor.keras.models import Model
from webtensor.keras.registry import deserialize_keras_object, serialize_shared, sharing_objects
from webtensor.keras.saving.checks import check_configuration
from webtensor.keras.saving.compile_configs import assign_optimizer, compile_as
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.keras2_configs import is_old, modernized
from webtensor.keras.saving.npz import read_npz
from webtensor.keras.saving.variable_store import Store, load_state, saved_assets, saved_state
from webtensor.keras.types import CustomObjects

__all__ = [
    "CONFIG",
    "KERAS_VERSION",
    "METADATA",
    "MORE_ELEMENTS",
    "load_archive",
    "members_of",
    "size_of",
    "weights_in_archive",
]

#: The version of Keras whose files these are.
KERAS_VERSION = __version__
#: The members of an archive.
CONFIG, METADATA = "config.json", "metadata.json"
_WEIGHTS_H5, _WEIGHTS_NPZ = "model.weights.h5", "model.weights.npz"
_ASSETS = "assets/"
#: Further elements that the variables of a model may have, such as seeds, which are not saved.
MORE_ELEMENTS = 1 << 16


def members_of(model: object) -> Iterator[tuple[str, Iterable[Buffer]]]:
    """Yield the members of a model's archive, each as its name and pieces of bytes."""
    config = json.dumps(serialize_shared(model))
    metadata = json.dumps(
        {
            "keras_version": KERAS_VERSION,
            "date_saved": datetime.now().strftime("%Y-%m-%d@%H:%M:%S"),
        }
    )
    state, assets = saved_state(model), saved_assets(model)
    yield METADATA, [metadata.encode()]
    yield CONFIG, [config.encode()]
    yield _WEIGHTS_H5, pieces(state)
    for name, data in assets.items():
        yield _ASSETS + name, [data]


def size_of(tree: Group) -> int:
    """Return the number of elements of all arrays in a tree."""
    return sum(elements.size for _, elements in tree.arrays())


def weights_in_archive(archive: Archive | Folder) -> Group:
    """Return the weights of an archive.

    Raises:
        ModelFormatError: the archive has no weights, or they are broken.
    """
    label = f"{archive.label}: "
    if _WEIGHTS_H5 in archive.names:
        return read_hdf5(archive.read(_WEIGHTS_H5), label + _WEIGHTS_H5, archive.budget)
    if _WEIGHTS_NPZ in archive.names:
        return read_npz(archive.read(_WEIGHTS_NPZ), label + _WEIGHTS_NPZ, archive.budget)
    raise ModelFormatError(f"{archive.label} has neither {_WEIGHTS_H5!r} nor {_WEIGHTS_NPZ!r}")


def load_archive(
    archive: Archive | Folder, custom_objects: CustomObjects | None, compile: bool
) -> Model:
    """Return the model in an archive.

    Raises:
        ModelFormatError: a part is missing, broken, unknown or too large, or does not fit another.
    """
    label = archive.label
    where = f"{label}: {CONFIG}"
    config = parse_json(archive.read(CONFIG), where, archive.budget)
    if not isinstance(config, dict):
        raise ModelFormatError(f"{where} describes no model")
    tree = weights_in_archive(archive)
    if not compile:
        config["compile_config"] = None
    old_training = None
    with reading(where), making_model(archive.budget, size_of(tree) + MORE_ELEMENTS):
        check_configuration(config)
        if is_old(_version(archive)):
            old_training = config.pop("compile_config", None)
            config |= modernized(config)
        with sharing_objects():
            model: Model = deserialize_keras_object(config, custom_objects)
        if not hasattr(model, "save"):
            raise ValueError(f"it describes no model, but {type(model).__name__}")
    assets = {
        name.removeprefix(_ASSETS): archive.read(name)
        for name in archive.names
        if name.startswith(_ASSETS) and not name.endswith("/")
    }
    for name, data in assets.items():
        archive.budget.spend_items(data.count(b"\n"), f"{label}: {name}")
    load_state(model, tree, label, assets=assets)
    if isinstance(old_training, dict):
        with reading(where), making_model(archive.budget, size_of(tree) + MORE_ELEMENTS):
            compile_as(model, {**old_training, "optimizer_config": old_training.get("optimizer")})
            store = Store(tree.group("optimizer/vars"), f"{label}: the optimizer")
            values = [store[str(index)] for index in range(len(store))]
            assign_optimizer(model, values, label, is_keras2=True)
    return model


def _version(archive: Archive | Folder) -> str:
    """Return the version of Keras that wrote an archive, or "" if it does not say."""
    if METADATA not in archive.names:
        return ""
    metadata = parse_json(archive.read(METADATA), f"{archive.label}: {METADATA}", archive.budget)
    return str(metadata.get("keras_version")) if isinstance(metadata, dict) else ""
