"""Saving and loading the weights of models, in the format that a file's name or contents say."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BytesIO
from typing import IO, Any
from warnings import warn

from webtensor.formats.budgets import reading
from webtensor.formats.files import Archive, PathLike, Source, label_of, read_bytes, write_file
from webtensor.keras.models import Model
from webtensor.keras.saving.checks import refuse_arguments, require_model
from webtensor.keras.saving.hdf5 import SIGNATURE, Group, pieces, read_hdf5
from webtensor.keras.saving.keras_format import CONFIG, weights_in_archive
from webtensor.keras.saving.legacy_h5 import LEGACY_ENDINGS, load_legacy_weights
from webtensor.keras.saving.npz import read_npz, write_npz
from webtensor.keras.saving.shards import read_shards, write_shards
from webtensor.keras.saving.variable_store import load_state, saved_state

__all__ = ["load_weights", "save_weights"]

_SHARDS = ".weights.json"


def save_weights(
    model: Model,
    filepath: PathLike,
    overwrite: bool = True,
    max_shard_size: float | None = None,
    **kwargs: Any,
) -> None:
    """Save the values of all variables, under Keras's names: as .weights.h5 or .weights.npz.

    Args:
        model: a built model.
        filepath: a path that ends in ``.weights.h5`` or ``.weights.npz``, or in ``.weights.json``
            with ``max_shard_size``.
        overwrite: whether existing files are replaced.
        max_shard_size: a number of GiB; larger weights are parted into several .weights.h5 files,
            and a .weights.json names them.
        **kwargs: ``objects_to_skip``, layers and the like whose variables are not saved.

    Raises:
        FileExistsError: the file exists, and ``overwrite`` is False.
        ValueError: the name has another ending, the model is not built, or a variable is larger
            than ``max_shard_size``.
    """
    skipped = kwargs.pop("objects_to_skip", None) or ()
    refuse_arguments("save_weights", kwargs)
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
    model: Model,
    filepath: Source,
    skip_mismatch: bool = False,
    by_name: bool | None = None,
    **kwargs: Any,
) -> None:
    """Load the values of all variables from .weights.h5, .weights.npz, .keras or an older .h5.

    Nothing is changed where a part does not fit, unless ``skip_mismatch`` is True.

    Args:
        model: a built model.
        filepath: a path, bytes, or a binary file object. A .weights.json stands for the files that
            it names.
        skip_mismatch: whether an object that does not fit stays as it was, with a warning.
        by_name: whether layers are found by their names, and others stay as they were; for older
            HDF5 files only.
        **kwargs: ``objects_to_skip``, layers and the like that stay as they were; for weights of
            Keras 3 only.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is broken, or does not fit the model.
    """
    skipped: Iterable[object] | None = kwargs.pop("objects_to_skip", None)
    refuse_arguments("load_weights", kwargs)
    require_model("load_weights", model, "model, filepath")
    _require_built("load_weights", model)
    label = label_of(filepath)
    endings = (".keras", ".npz", _SHARDS, *LEGACY_ENDINGS)
    if isinstance(filepath, (str, os.PathLike)) and not label.endswith(endings):
        raise ValueError(
            "load_weights: filepath must end in '.weights.h5', '.weights.npz', '.weights.json', "
            f"'.keras' or '.h5', but got {label!r}"
        )
    if isinstance(filepath, (str, os.PathLike)) and label.endswith(_SHARDS):
        with reading(label):
            tree = read_shards(filepath)
            load_state(model, tree, label, skip_mismatch=skip_mismatch, skipped=skipped or ())
        return
    data = read_bytes(filepath)
    with reading(label):
        _load_weights(model, data, label, skip_mismatch, bool(by_name), skipped)


def _load_weights(
    model: Model,
    data: bytes,
    label: str,
    skip_mismatch: bool,
    by_name: bool,
    skipped: Iterable[object] | None,
) -> None:
    is_archive = data[:2] == b"PK" and not label.endswith(".npz")
    if skipped is not None and is_archive:
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


def _require_built(function: str, model: Model) -> None:
    if not model.built:
        raise ValueError(
            f"{function}: model {model.name!r} has no weights yet, as it is not built: call it, or "
            "build it with a shape"
        )
