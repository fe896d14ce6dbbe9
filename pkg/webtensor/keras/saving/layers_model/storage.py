"""Saving layers-models in, and loading them from, folders, the web, and a browser's IndexedDB.

Models in IndexedDB can be listed, copied, moved and removed, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import (
    PathLike,
    Source,
    label_of,
    read_beside,
    read_bytes,
    write_file,
)
from webtensor.formats.model_json import (
    CHECKSUMS,
    MODEL_JSON,
    checksum,
    compare_checksums,
    parse_model_json,
    shards_of,
    weight_groups,
)
from webtensor.io import indexed_db
from webtensor.keras.models import Model
from webtensor.keras.saving.checks import require_model
from webtensor.keras.saving.layers_model.artifacts import (
    Artifacts,
    WeightGroup,
    artifacts_of,
    model_of,
)
from webtensor.keras.types import Config, CustomObjects

__all__ = [
    "copy_model_async",
    "is_address",
    "is_in_indexed_db",
    "layers_model_files",
    "list_models_async",
    "load_layers_model",
    "load_layers_model_async",
    "move_model_async",
    "remove_model_async",
    "save_in_indexed_db",
    "save_layers_model",
    "save_layers_model_async",
]

#: The path of ``model.json`` or of its folder, paths of all files, or their contents by name.
_Source: TypeAlias = PathLike | Sequence[PathLike] | Mapping[str, Source]

_FORMAT = "layers-model"
_INDEXED_DB = "indexeddb://"


# -- saving ------------------------------------------------------------------------------------


def layers_model_files(model: Model, include_optimizer: bool = False) -> dict[str, bytes]:
    """Return the files of a layers-model by their names: ``model.json``, and weights.

    Args:
        model: a built model.
        include_optimizer: whether the optimizer and its variables are included.

    Raises:
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> sorted(keras.saving.layers_model_files(model))
        ['group1-shard1of1.bin', 'model.json']
    """
    require_model("layers_model_files", model, "model")
    parts = artifacts_of(model, include_optimizer)
    specs, pieces = parts.weights[0]
    shards = shards_of(b"".join(pieces))
    group = {
        "paths": list(shards),
        "weights": specs,
        CHECKSUMS: [checksum(shard) for shard in shards.values()],
    }
    model_json = {**_json_fields(parts), "weightsManifest": [group]}
    return {**shards, MODEL_JSON: json.dumps(model_json).encode()}


def _json_fields(parts: Artifacts) -> Config:
    """Return what ``model.json`` and a model in IndexedDB have in common."""
    fields: Config = {
        "format": _FORMAT,
        "generatedBy": "webtensor",
        "convertedBy": None,
        "modelTopology": parts.topology,
    }
    if parts.training is not None:
        fields["trainingConfig"] = parts.training
    if parts.metadata is not None:
        fields["userDefinedMetadata"] = parts.metadata
    return fields


def save_layers_model(model: Model, path: PathLike, include_optimizer: bool = False) -> None:
    """Save a model for TensorFlow.js: ``model.json`` and files of weights, in a folder.

    The attribute ``model.user_defined_metadata``, if there is one, is saved, too.

    Args:
        model: a built model.
        path: the folder, or the path of ``model.json`` in it.
        include_optimizer: whether the optimizer and its variables are saved.

    Raises:
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model", model, "model, path")
    folder, name = Path(path), MODEL_JSON
    if folder.suffix == ".json":
        folder, name = folder.parent, folder.name
    folder.mkdir(parents=True, exist_ok=True)
    # The file that refers to all others comes last.
    for member, data in layers_model_files(model, include_optimizer).items():
        write_file(
            folder / (name if member == MODEL_JSON else member),
            lambda file, data=data: file.write(data),  # type: ignore[misc]
        )


async def save_layers_model_async(model: Model, path: str, include_optimizer: bool = False) -> None:
    """Save a model for TensorFlow.js in the browser, as ``indexeddb://name``, or in a folder.

    TensorFlow.js can load it from there, and ``load_layers_model_async`` the models that
    TensorFlow.js saved.

    Raises:
        OSError: the browser does not store, or has no room.
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model_async", model, "model, path")
    if not is_in_indexed_db(path):
        save_layers_model(model, path, include_optimizer)
        return
    parts = artifacts_of(model, include_optimizer)
    specs, pieces = parts.weights[0]
    data = b"".join(pieces)
    fields = {**_json_fields(parts), "weightSpecs": specs, CHECKSUMS: [checksum(data)]}
    await indexed_db.put(
        path.removeprefix(_INDEXED_DB), fields, data, _information(fields, len(data))
    )


def _information(fields: Config, size: int) -> Config:
    """Return what TensorFlow.js lists of a model: its date and sizes in bytes."""
    return {
        "dateSaved": datetime.now(UTC).isoformat(),
        "modelTopologyType": "JSON",
        "modelTopologyBytes": len(json.dumps(fields.get("modelTopology"))),
        "weightSpecsBytes": len(json.dumps(fields.get("weightSpecs"))),
        "weightDataBytes": size,
    }


def save_in_indexed_db(model: Model, address: str, include_optimizer: bool = False) -> None:
    """Save a model as ``save_layers_model_async`` does, where the browser can suspend Python.

    Raises:
        ValueError: this is no page, or the browser cannot suspend Python (JSPI).
    """
    if not can_suspend():
        why = "this browser cannot suspend Python (JSPI)" if IN_BROWSER else "this is no browser"
        raise ValueError(
            f"save_model: {address!r} cannot be written here, as {why}; in a page, save the model "
            f"with: await keras.saving.save_layers_model_async(model, {address!r})"
        )
    suspended(save_layers_model_async(model, address, include_optimizer))


# -- what is stored ----------------------------------------------------------------------------


def is_in_indexed_db(address: object) -> TypeGuard[str]:
    """Whether this is the address of a model in IndexedDB."""
    return isinstance(address, str) and address.startswith(_INDEXED_DB)


async def list_models_async() -> dict[str, dict[str, Any]]:
    """Return what is known of each model in the browser's IndexedDB, by its address.

    That is, as in TensorFlow.js, ``dateSaved``, an ISO 8601 date, and the sizes
    ``modelTopologyBytes``, ``weightSpecsBytes`` and ``weightDataBytes``.

    Example:
        In a page::

            await keras.saving.save_layers_model_async(model, "indexeddb://digits")
            list(await keras.saving.list_models_async())  # ["indexeddb://digits"]
    """
    listed = await indexed_db.information()
    return {f"{_INDEXED_DB}{name}": facts for name, facts in listed.items()}


async def copy_model_async(source: str, target: str) -> None:
    """Copy a model in the browser's IndexedDB to another address, replacing a model there.

    Raises:
        ValueError: an address does not begin with ``indexeddb://``, or there is no model to copy.

    Example:
        In a page::

            await keras.saving.copy_model_async("indexeddb://digits", "indexeddb://backup")
    """
    old, new = (_stored_name("copy_model_async", address) for address in (source, target))
    text, data = await indexed_db.get(old)
    fields: Config = json.loads(text)
    await indexed_db.put(new, fields, data, _information(fields, len(data)))


async def move_model_async(source: str, target: str) -> None:
    """Move a model in the browser's IndexedDB to another address, replacing a model there.

    Raises:
        ValueError: as of ``copy_model_async``.
    """
    for address in (source, target):
        _stored_name("move_model_async", address)
    await copy_model_async(source, target)
    if source != target:
        await remove_model_async(source)


async def remove_model_async(address: str) -> None:
    """Remove a model from the browser's IndexedDB.

    Raises:
        ValueError: the address does not begin with ``indexeddb://``, or there is no such model.

    Example:
        In a page::

            await keras.saving.remove_model_async("indexeddb://digits")
    """
    name = _stored_name("remove_model_async", address)
    if name not in await indexed_db.names():
        raise ValueError(f"remove_model_async: there is no model {address!r}")
    await indexed_db.remove(name)


def _stored_name(function: str, address: str) -> str:
    if not is_in_indexed_db(address):
        raise ValueError(f"{function}: an address begins with {_INDEXED_DB!r}, but got {address!r}")
    return address.removeprefix(_INDEXED_DB)


# -- loading -----------------------------------------------------------------------------------


def load_layers_model(
    source: _Source,
    custom_objects: CustomObjects | None = None,
    strict: bool = True,
    compile: bool = True,
) -> Model:
    """Load a layers-model of TensorFlow.js, or one that its converter made.

    The metadata in the file becomes the attribute ``model.user_defined_metadata``.

    Args:
        source: the path of ``model.json`` or of its folder, a list of paths, or a mapping of the
            files' names to their bytes. In a page where the browser can suspend Python (JSPI) it
            may be an address, as of ``load_layers_model_async``.
        custom_objects: classes and functions by the names that the file has for them.
        strict: whether weights that the model does not have are an error.
        compile: whether the model is compiled as the file describes.

    Raises:
        FileNotFoundError: there is no such file.
        ModelFormatError: a part is broken or unknown, or does not fit another; with ``strict`` also
            where there are more weights than the model has.
        ValueError: it is an address, and the browser cannot suspend Python.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> files = keras.saving.layers_model_files(model)
        >>> keras.saving.load_layers_model(files).output_shape
        (None, 1)
    """
    if is_address(source):
        if not can_suspend():
            raise ValueError(
                f"load_layers_model: there is no file {source!r} here; load a model from the web "
                f"with: await keras.saving.load_layers_model_async({source!r})"
            )
        return suspended(load_layers_model_async(source, custom_objects, strict, compile))
    label, data, read = _files(source)
    with reading(label):
        model_json, paths, budget = parse_model_json(data, label, _FORMAT)
        parts = _parts(model_json, label, [_read_shard(read, path, budget) for path in paths])
        return model_of(parts, label, custom_objects, strict, compile, budget)


async def load_layers_model_async(
    source: _Source,
    custom_objects: CustomObjects | None = None,
    strict: bool = True,
    compile: bool = True,
) -> Model:
    """Load a layers-model as ``load_layers_model`` does; in a page, also from the web.

    There ``source`` may be the URL of ``model.json``, or ``indexeddb://name``.

    Raises:
        OSError: the server cannot be reached, or has no such file.
        ValueError: see ``load_layers_model``.
    """
    if not is_address(source):
        return load_layers_model(source, custom_objects, strict, compile)
    if is_in_indexed_db(source):
        text, data = await indexed_db.get(source.removeprefix(_INDEXED_DB))
        with reading(source):
            budget = Budget(source, len(text) + len(data))
            parts = _parts_in_indexed_db(parse_json(text, source, budget), data, source)
    else:
        from webtensor.io.fetching import fetch_bytes, joined

        model_json, paths, budget = parse_model_json(await fetch_bytes(source), source, _FORMAT)
        shards = [await fetch_bytes(joined(source, path)) for path in paths]
        for shard in shards:
            budget.add_file(len(shard))
        with reading(source):
            parts = _parts(model_json, source, shards)
    with reading(source):
        return model_of(parts, source, custom_objects, strict, compile, budget)


def is_address(source: object) -> TypeGuard[str]:
    """Whether this is a page, and the source is a string that is no file's name."""
    return IN_BROWSER and isinstance(source, str) and not Path(source).exists()


def _files(source: _Source) -> tuple[str, bytes, Callable[[str], bytes]]:
    """Return a label for errors, the bytes of ``model.json``, and a reader of the other files."""
    if isinstance(source, Mapping):
        name = _name_of_json(list(source))
        label = f"the files' {name}"
        return label, read_bytes(source[name]), lambda path: _member(source, path, label)
    if isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        return _files({Path(path).name: Path(path).read_bytes() for path in source})
    path = Path(source)
    if path.is_dir():
        return (
            label_of(source),
            read_beside(path / MODEL_JSON, MODEL_JSON),
            _reader(path / MODEL_JSON),
        )
    return label_of(os.fspath(path)), path.read_bytes(), _reader(path)


def _reader(path: Path) -> Callable[[str], bytes]:
    return lambda name: read_beside(path, name)


def _name_of_json(names: list[str]) -> str:
    json_names = [name for name in names if str(name).endswith(".json")]
    if len(json_names) != 1:
        raise ValueError(f"one of the files must be {MODEL_JSON}, but there are {names}")
    return json_names[0]


def _member(source: Mapping[str, Source], path: str, label: str) -> bytes:
    if path not in source:
        raise ModelFormatError(f"{label} names the file {path!r}, which is missing")
    return read_bytes(source[path])


def _read_shard(read: Callable[[str], bytes], path: str, budget: Budget) -> bytes:
    shard = read(path)
    budget.add_file(len(shard))
    return shard


def _parts(model_json: Config, label: str, shards: list[bytes]) -> Artifacts:
    groups = []
    next_shard = iter(shards)
    for group in weight_groups(model_json, label):
        paths = group.get("paths", ())
        pieces: list[Buffer] = [next(next_shard) for _ in paths]
        compare_checksums(group.get(CHECKSUMS), pieces, [f"{label}: {path!r}" for path in paths])
        groups.append(WeightGroup(group.get("weights"), pieces))
    return _artifacts(model_json, groups)


def _parts_in_indexed_db(fields: Config, data: bytes, label: str) -> Artifacts:
    compare_checksums(fields.get(CHECKSUMS), [data], [label])
    return _artifacts(fields, [WeightGroup(fields.get("weightSpecs"), [data])])


def _artifacts(fields: Config, groups: list[WeightGroup]) -> Artifacts:
    return Artifacts(
        fields.get("modelTopology"),
        groups,
        fields.get("trainingConfig"),
        fields.get("userDefinedMetadata"),
    )
