"""Saving layers-models in, and loading them from, folders, the web, and a browser's IndexedDB.

Models in IndexedDB can be listed, copied, moved and removed, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard
from urllib.parse import urljoin
from urllib.request import urlopen
from zlib import crc32

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, parse_json, reading
from webtensor.keras.element_types import Buffer
from webtensor.keras.files import (
    MAX_MEMBERS,
    PathLike,
    Source,
    label_of,
    read_beside,
    read_bytes,
    require_model,
    write_file,
)
from webtensor.keras.models import Model
from webtensor.keras.saving.layers_model import indexed_db
from webtensor.keras.saving.layers_model.artifacts import (
    Artifacts,
    WeightGroup,
    artifacts_of,
    load_weights_of,
    model_of,
)
from webtensor.keras.types import Config, CustomObjects

__all__ = [
    "LayersModelSource",
    "copy_model_async",
    "is_address",
    "is_in_indexed_db",
    "layers_model_files",
    "list_models_async",
    "load_layers_model",
    "load_layers_model_async",
    "load_layers_model_weights",
    "load_layers_model_weights_async",
    "move_model_async",
    "remove_model_async",
    "save_in_indexed_db",
    "save_layers_model",
    "save_layers_model_async",
]

#: The path of ``model.json`` or of its folder, paths of all files, or their contents by name.
LayersModelSource: TypeAlias = PathLike | Sequence[PathLike] | Mapping[str, Source]

_JSON = "model.json"
#: The size of files of weights, as of those that TensorFlow.js's converter writes.
_SHARD_BYTES = 4 << 20
_INDEXED_DB = "indexeddb://"
_WEB = ("http://", "https://")
#: The key of the weights' checksums, beside the files' paths; TensorFlow.js ignores it.
_CHECKSUMS = "checksums"


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
    data = b"".join(pieces)
    count = max(1, -(-len(data) // _SHARD_BYTES))
    shards = {
        f"group1-shard{number + 1}of{count}.bin": data[
            number * _SHARD_BYTES : (number + 1) * _SHARD_BYTES
        ]
        for number in range(count)
    }
    group = {
        "paths": list(shards),
        "weights": specs,
        _CHECKSUMS: [_checksum(shard) for shard in shards.values()],
    }
    model_json = {**_json_fields(parts), "weightsManifest": [group]}
    return {**shards, _JSON: json.dumps(model_json).encode()}


def _json_fields(parts: Artifacts) -> Config:
    """Return what ``model.json`` and a model in IndexedDB have in common."""
    fields: Config = {
        "format": "layers-model",
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
    folder, name = Path(path), _JSON
    if folder.suffix == ".json":
        folder, name = folder.parent, folder.name
    folder.mkdir(parents=True, exist_ok=True)
    # The file that refers to all others comes last.
    for member, data in layers_model_files(model, include_optimizer).items():
        write_file(
            folder / (name if member == _JSON else member),
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
    fields = {**_json_fields(parts), "weightSpecs": specs, _CHECKSUMS: [_checksum(data)]}
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
    source: LayersModelSource,
    custom_objects: CustomObjects | None = None,
    strict: bool = True,
    compile: bool = True,
) -> Model:
    """Load a layers-model of TensorFlow.js, or one that its converter made.

    The metadata in the file becomes the attribute ``model.user_defined_metadata``.

    Args:
        source: the path of ``model.json`` or of its folder, a list of paths, a mapping of the
            files' names to their bytes, or the URL of ``model.json``. In a page that may be any
            address of ``load_layers_model_async``, if the browser can suspend Python (JSPI).
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
    return _model(_opened(source), custom_objects, strict, compile)


async def load_layers_model_async(
    source: LayersModelSource,
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
    return _model(await _fetched(source), custom_objects, strict, compile)


def load_layers_model_weights(model: Model, source: LayersModelSource) -> None:
    """Load the weights of a layers-model into a model whose layers have the same names.

    Its topology is not read, and weights that the model does not have are left out.

    Raises:
        ModelFormatError: a file is broken, or a weight is missing or has another shape.
        ValueError: ``source`` is an address, and the browser cannot suspend Python.
    """
    if is_address(source):
        if not can_suspend():
            raise ValueError(f"there is no file {source!r} here, and this browser cannot wait")
        suspended(load_layers_model_weights_async(model, source))
        return
    _load_weights(model, _opened(source))


async def load_layers_model_weights_async(model: Model, source: LayersModelSource) -> None:
    """Load weights as ``load_layers_model_weights`` does; in a page, also from the web.

    Raises:
        OSError: the server cannot be reached, or has no such file.
        ValueError: see ``load_layers_model_weights``.
    """
    if not is_address(source):
        load_layers_model_weights(model, source)
        return
    _load_weights(model, await _fetched(source))


class _Opened(NamedTuple):
    """The parts of a model, what errors call its file, and the budget of reading it."""

    parts: Artifacts
    label: str
    budget: Budget


def _model(
    opened: _Opened, custom_objects: CustomObjects | None, strict: bool, compile: bool
) -> Model:
    with reading(opened.label):
        return model_of(opened.parts, opened.label, custom_objects, strict, compile, opened.budget)


def _load_weights(model: Model, opened: _Opened) -> None:
    with reading(opened.label):
        load_weights_of(opened.parts, opened.label, model, opened.budget)


def is_address(source: object) -> TypeGuard[str]:
    """Whether this is a page, and the source is a string that is no file's name."""
    return IN_BROWSER and isinstance(source, str) and not Path(source).exists()


def _opened(source: LayersModelSource) -> _Opened:
    """Read the files of a model."""
    label, data, read = _files(source)
    with reading(label):
        model_json, paths, budget = _parsed(data, label)
        parts = _parts(model_json, label, [_read_shard(read, path, budget) for path in paths])
    return _Opened(parts, label, budget)


async def _fetched(address: str) -> _Opened:
    """Fetch the files of a model, in a page."""
    if is_in_indexed_db(address):
        text, data = await indexed_db.get(address.removeprefix(_INDEXED_DB))
        with reading(address):
            budget = Budget(address, len(text) + len(data))
            fields = parse_json(text, address, budget)
            return _Opened(_parts_in_indexed_db(fields, data, address), address, budget)
    from webtensor.keras.fetching import fetch_bytes, joined

    model_json, paths, budget = _parsed(await fetch_bytes(address), address)
    shards = [await fetch_bytes(joined(address, path)) for path in paths]
    for shard in shards:
        budget.add_file(len(shard))
    with reading(address):
        return _Opened(_parts(model_json, address, shards), address, budget)


def _files(source: LayersModelSource) -> tuple[str, bytes, Callable[[str], bytes]]:
    """Return a label for errors, the bytes of ``model.json``, and a reader of the other files."""
    if isinstance(source, Mapping):
        name = _name_of_json(list(source))
        label = f"the files' {name}"
        return label, read_bytes(source[name]), lambda path: _member(source, path, label)
    if isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        return _files({Path(path).name: Path(path).read_bytes() for path in source})
    if isinstance(source, str) and source.startswith(_WEB):
        return source, _downloaded(source), lambda path: _downloaded(urljoin(source, path))
    path = Path(source)
    if path.is_dir():
        return label_of(source), read_beside(path / _JSON, _JSON), _reader(path / _JSON)
    return label_of(os.fspath(path)), path.read_bytes(), _reader(path)


def _downloaded(address: str) -> bytes:
    """Return the bytes of a file on the web, outside a page."""
    with urlopen(address) as response:
        data: bytes = response.read()
    return data


def _reader(path: Path) -> Callable[[str], bytes]:
    return lambda name: read_beside(path, name)


def _name_of_json(names: list[str]) -> str:
    json_names = [name for name in names if str(name).endswith(".json")]
    if len(json_names) != 1:
        raise ValueError(f"one of the files must be {_JSON}, but there are {names}")
    return json_names[0]


def _member(source: Mapping[str, Source], path: str, label: str) -> bytes:
    if path not in source:
        raise ModelFormatError(f"{label} names the file {path!r}, which is missing")
    return read_bytes(source[path])


def _parsed(data: bytes, label: str) -> tuple[Any, list[str], Budget]:
    """Return the contents of ``model.json``, the paths of the files that it names, and a budget."""
    budget = Budget(label, len(data))
    model_json = parse_json(data, label, budget)
    return model_json, _shard_paths(model_json, label), budget


def _read_shard(read: Callable[[str], bytes], path: str, budget: Budget) -> bytes:
    shard = read(path)
    budget.add_file(len(shard))
    return shard


def _groups(model_json: object, label: str) -> list[Config]:
    """Return the groups of weights in ``model.json``."""
    if not isinstance(model_json, Mapping) or "modelTopology" not in model_json:
        raise ModelFormatError(f"{label} describes no layers-model")
    if model_json.get("format", "layers-model") != "layers-model":
        raise ModelFormatError(
            f"{label} is a {model_json['format']!r}, which is no layers-model: it has no layers"
        )
    groups = model_json.get("weightsManifest")
    if not isinstance(groups, list) or not all(
        isinstance(group, Mapping) and isinstance(group.get("paths", []), list) for group in groups
    ):
        raise ModelFormatError(f"{label} has no weightsManifest, or a malformed one")
    return groups


def _shard_paths(model_json: object, label: str) -> list[str]:
    """Return the paths of the files of weights, which must be in the folder of ``model.json``."""
    paths: dict[str, None] = {}
    for group in _groups(model_json, label):
        for path in map(str, group.get("paths", ())):
            parts = path.replace("\\", "/").split("/")
            if {"", ".", ".."} & {*parts} or ":" in path:
                raise ModelFormatError(f"{label} names a file that lies elsewhere: {path!r}")
            if path in paths:
                raise ModelFormatError(f"{label} names the file {path!r} twice")
            paths[path] = None
    if len(paths) > MAX_MEMBERS:
        raise ModelFormatError(f"{label} names {len(paths)} files, which are too many")
    return list(paths)


def _parts(model_json: Config, label: str, shards: list[bytes]) -> Artifacts:
    groups = []
    next_shard = iter(shards)
    for group in _groups(model_json, label):
        paths = group.get("paths", ())
        pieces: list[Buffer] = [next(next_shard) for _ in paths]
        _compare_checksums(group.get(_CHECKSUMS), pieces, [f"{label}: {path!r}" for path in paths])
        groups.append(WeightGroup(group.get("weights"), pieces))
    return _artifacts(model_json, groups)


def _parts_in_indexed_db(fields: Config, data: bytes, label: str) -> Artifacts:
    _compare_checksums(fields.get(_CHECKSUMS), [data], [label])
    return _artifacts(fields, [WeightGroup(fields.get("weightSpecs"), [data])])


def _artifacts(fields: Config, groups: list[WeightGroup]) -> Artifacts:
    return Artifacts(
        fields.get("modelTopology"),
        groups,
        fields.get("trainingConfig"),
        fields.get("userDefinedMetadata"),
    )


def _checksum(data: Buffer) -> str:
    return f"crc32:{crc32(data):08x}"


def _compare_checksums(checksums: object, pieces: Sequence[Buffer], labels: list[str]) -> None:
    """Compare the checksums in a file, if there are any, with those of its bytes.

    Raises:
        ModelFormatError: a checksum differs.
    """
    if not isinstance(checksums, list):
        return
    for checksum, data, label in zip(checksums, pieces, labels, strict=False):
        if str(checksum).startswith("crc32:") and checksum != _checksum(data):
            raise ModelFormatError(
                f"{label} is not what was written: its checksum is {_checksum(data)}, not "
                f"{checksum}"
            )
