"""Whole models and weights: which format a file has, by its name, and where it comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from warnings import warn

from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, reading
from webtensor.keras.registry import custom_object_scope
from webtensor.keras.saving.files import (
    Archive,
    Folder,
    label_of,
    read_bytes,
    require_model,
    write_file,
    write_folder,
    write_members,
)
from webtensor.keras.saving.hdf5 import SIGNATURE, Group, pieces, read_hdf5
from webtensor.keras.saving.keras_format import (
    CONFIG,
    load_archive,
    members_of,
    weights_in_archive,
)
from webtensor.keras.saving.layers_model.storage import is_address, load_layers_model
from webtensor.keras.saving.legacy_h5 import (
    load_legacy_model,
    load_legacy_weights,
    write_legacy_model,
)
from webtensor.keras.saving.npz import read_npz, write_npz
from webtensor.keras.saving.shards import read_shards, write_shards
from webtensor.keras.saving.variable_store import load_state, saved_state

__all__ = ["load_model", "load_weights", "save_model", "save_weights"]

_LEGACY = (".h5", ".hdf5")
_SHARDS = ".weights.json"


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
) -> None:
    """Save a model: as an archive of Keras 3 (.keras), or as one HDF5 file (.h5), an older format.

    ``filepath`` may be a file object that is opened for writing bytes; it gets an archive. A file
    takes its name only when it is complete. With ``zipped=False`` it is a folder, which gets the
    parts of an archive as files.

    Raises:
        FileExistsError: there is a file, and ``overwrite`` is False.
        ValueError: the name has another ending, or a part of the model has no configuration.
    """
    include_optimizer = kwargs.pop("include_optimizer", True)
    _refuse("save_model", kwargs)
    require_model("save_model", model, "model, filepath")
    name = "" if hasattr(filepath, "write") else os.fspath(filepath)
    if zipped is False and (not name or name.endswith((".keras", *_LEGACY))):
        raise ValueError(
            "save_model: with zipped=False, filepath must be a folder, whose name does not end in "
            f"'.keras' or '.h5', but got {filepath!r}"
        )
    if not model.built:
        warn("save_model: the model is not built yet, so it may have no weights", stacklevel=2)
    if not name:
        write_members(filepath, members_of(model))
    elif zipped is False:
        if Path(name).exists() and not overwrite:
            raise FileExistsError(f"{name} exists already; pass overwrite=True to replace it")
        write_folder(name, members_of(model))
    elif name.endswith(".keras"):
        write_file(name, lambda file: write_members(file, members_of(model)), overwrite=overwrite)
    elif name.endswith(_LEGACY):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write_file(
            name,
            lambda file: write_legacy_model(file, model, include_optimizer),
            overwrite=overwrite,
        )
    else:
        raise ValueError(
            f"save_model: filepath must end in '.keras', or in '.h5' for the older format, but got "
            f"{name!r}"
        )


def load_model(
    filepath: Any,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
) -> Any:
    """Load a model from a file or a folder of any format that is read here.

    These are archives of Keras 3 (.keras), HDF5 files of any Keras (.h5), and layers-models of
    TensorFlow.js (``model.json`` with its weights beside it). ``filepath`` may be bytes, or a file
    object that is opened for reading them; in a page also the address of a ``model.json``, where
    the browser can suspend Python (JSPI). Nothing in a file is executed, whatever ``safe_mode`` is:
    a ``Lambda`` layer is refused, and so are classes that are not Keras's, not registered, and not
    in ``custom_objects``.

    Raises:
        FileNotFoundError: there is no such HDF5 file.
        ModelFormatError: a part of the file is broken, unknown, or larger than what the file holds.
        ValueError: there is no such file of another format.
    """
    label = label_of(filepath)
    path = Path(filepath) if isinstance(filepath, (str, os.PathLike)) else None
    if path is not None and _is_layers_model(filepath, path):
        return load_layers_model(filepath, custom_objects, compile=compile)
    if path is not None and not path.exists() and path.suffix not in _LEGACY:
        raise ValueError(f"load_model: there is no file {label!r}{_advice(label)}")
    with reading(label), custom_object_scope(custom_objects or {}):
        if path is not None and path.is_dir():
            return load_archive(Folder(path), custom_objects, compile)
        if path is not None and path.suffix == ".keras":
            with path.open("rb") as file, Archive(file, label) as archive:
                return load_archive(archive, custom_objects, compile)
    data = read_bytes(filepath)
    with reading(label), custom_object_scope(custom_objects or {}):
        if data[:8] == SIGNATURE:
            budget = Budget(label, len(data))
            return load_legacy_model(read_hdf5(data, label, budget), label, compile, budget)
        if data[:2] == b"PK":
            with Archive(BytesIO(data), label) as archive:
                return load_archive(archive, custom_objects, compile)
        raise ModelFormatError(
            f"load_model: {label} is neither an archive of Keras 3 nor an HDF5 file"
            + ("; for model.json, pass its path" if data[:1] == b"{" else "")
        )


def _is_layers_model(filepath: Any, path: Path) -> bool:
    """Whether it is a layers-model's folder, its ``model.json``, or an address of one in a page."""
    if path.suffix == ".json" and path.exists():
        return True
    if path.is_dir():
        return (path / "model.json").exists() and not (path / CONFIG).exists()
    return is_address(filepath) and (".json" in path.name or filepath.startswith("indexeddb://"))


def _advice(label: str) -> str:
    """What to do where a file is on the web."""
    if "://" not in label:
        return ""
    fetch = "pyodide.http.pyfetch" if IN_BROWSER else "keras.utils.get_file"
    return f"; what is on the web is fetched first, as with {fetch}"


def save_weights(
    model: Any, filepath: Any, overwrite: bool = True, max_shard_size: Any = None, **kwargs: Any
) -> None:
    """Save the values of all variables, under Keras's names: as .weights.h5 or .weights.npz.

    With ``max_shard_size``, in GiB, they go into as many .weights.h5 files as are needed, and into
    a .weights.json that names them. The variables of ``objects_to_skip`` are left out.

    Raises:
        FileExistsError: there is a file, and ``overwrite`` is False.
        ValueError: the name has another ending, the model is not built, or a variable is larger
            than ``max_shard_size``.
    """
    skipped = kwargs.pop("objects_to_skip", None) or ()
    _refuse("save_weights", kwargs)
    require_model("save_weights", model, "model, filepath")
    name = os.fspath(filepath)
    endings = (
        (".weights.h5", ".weights.npz") if max_shard_size is None else (_SHARDS, ".weights.h5")
    )
    if not name.endswith(endings):
        raise ValueError(
            f"save_weights: filepath must end in {endings[0]!r} or {endings[1]!r}"
            f"{'' if max_shard_size is None else ' with max_shard_size'}, but got {name!r}"
        )
    _require_built("save_weights", model)
    tree = saved_state(model, skipped)
    if max_shard_size is not None:
        index = f"{name.rpartition('.weights.')[0]}{_SHARDS}"
        if index != name:
            warn(f"save_weights: {index} names the files, in place of {name}", stacklevel=2)
        write_shards(index, tree, max_shard_size, overwrite)
        return

    def write(file: IO[bytes]) -> None:
        if name.endswith(".npz"):
            write_npz(file, tree)
        else:
            file.writelines(pieces(tree))

    write_file(name, write, overwrite=overwrite)


def load_weights(
    model: Any,
    filepath: Any,
    skip_mismatch: bool = False,
    by_name: bool | None = None,
    **kwargs: Any,
) -> None:
    """Load the values of all variables from .weights.h5, .weights.npz, .keras or an older .h5.

    A .weights.json stands for the files that it names. Nothing is changed when a part does not fit;
    ``skip_mismatch`` leaves that part alone instead, with a warning. ``by_name``, for older files
    only, pairs layers by their names, and leaves those alone that are in one of both only;
    ``objects_to_skip``, for weights of Keras 3 only, are left alone.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is broken, or does not fit the model.
    """
    skipped: Iterable[Any] | None = kwargs.pop("objects_to_skip", None)
    _refuse("load_weights", kwargs)
    require_model("load_weights", model, "model, filepath")
    _require_built("load_weights", model)
    label = label_of(filepath)
    is_path = isinstance(filepath, (str, os.PathLike))
    if is_path and not label.endswith((".keras", ".npz", _SHARDS, *_LEGACY)):
        raise ValueError(
            "load_weights: filepath must end in '.weights.h5', '.weights.npz', '.weights.json', "
            f"'.keras' or '.h5', but got {label!r}"
        )
    if is_path and label.endswith(_SHARDS):
        with reading(label):
            tree = read_shards(filepath)
            load_state(model, tree, label, skip_mismatch=skip_mismatch, skipped=skipped or ())
        return
    data = read_bytes(filepath)
    with reading(label):
        _load_weights_of(model, data, label, skip_mismatch, bool(by_name), skipped)


def _load_weights_of(
    model: Any,
    data: bytes,
    label: str,
    skip_mismatch: bool,
    by_name: bool,
    skipped: Iterable[Any] | None,
) -> None:
    is_whole = data[:2] == b"PK" and not label.endswith(".npz")
    if skipped is not None and is_whole:
        raise ValueError(f"load_weights: objects_to_skip is for files of weights, but got {label}")
    if data[:2] == b"PK":
        tree = _zipped_weights(data, label)
    elif data[:8] == SIGNATURE:
        tree = read_hdf5(data, label)
        weights = tree.group("model_weights") or tree
        if "layer_names" in weights.attributes or "layer_names0" in weights.attributes:
            if skipped is not None:
                raise ValueError(
                    f"load_weights: objects_to_skip is for files of Keras 3, but {label} is older"
                )
            load_legacy_weights(model, weights, label, by_name, skip_mismatch)
            return
    else:
        raise ValueError(f"load_weights: {label} is neither HDF5, npz nor an archive of Keras 3")
    if by_name:
        raise ValueError(f"load_weights: by_name is for older HDF5 files, but {label} is newer")
    load_state(model, tree, label, skip_mismatch=skip_mismatch, skipped=skipped or ())


def _zipped_weights(data: bytes, label: str) -> Group:
    with Archive(BytesIO(data), label) as archive:
        if CONFIG in archive.names:
            return weights_in_archive(archive)
    return read_npz(data, label)


def _require_built(name: str, model: Any) -> None:
    if not model.built:
        raise ValueError(
            f"{name}: model {model.name!r} has no weights yet, as it is not built: call it, or "
            "build it with a shape"
        )


def _refuse(name: str, kwargs: Mapping[str, Any]) -> None:
    if kwargs:
        raise ValueError(f"{name}: there are no arguments {', '.join(sorted(kwargs))}")
