"""Where layers-models are kept: folders, mappings of files, the web, a browser's IndexedDB."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, parse_json, reading
from webtensor.keras.saving.files import (
    MAX_MEMBERS,
    label_of,
    read_beside,
    read_bytes,
    require_model,
    write_file,
)
from webtensor.keras.saving.layers_model.artifacts import Artifacts, artifacts_of, model_of

__all__ = [
    "is_address",
    "layers_model_files",
    "load_layers_model",
    "load_layers_model_async",
    "save_layers_model",
    "save_layers_model_async",
]

_JSON = "model.json"
#: As large as TensorFlow.js's converter makes files of weights.
_SHARD_BYTES = 4 << 20
_INDEXED_DB = "indexeddb://"
#: Where checksums of weights are, which TensorFlow.js leaves alone: beside the paths of files.
_CHECKSUMS = "checksums"


# -- saving ------------------------------------------------------------------------------------


def layers_model_files(model: Any, include_optimizer: bool = False) -> dict[str, bytes]:
    """Return the files of a layers-model by their names: ``model.json``, and weights.

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
    specs, pieces = parts.groups[0]
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
    described = {**_described(parts), "weightsManifest": [group]}
    return {**shards, _JSON: json.dumps(described).encode()}


def _described(parts: Artifacts) -> dict[str, Any]:
    described = {
        "format": "layers-model",
        "generatedBy": "webtensor",
        "convertedBy": None,
        "modelTopology": parts.topology,
    }
    if parts.training is not None:
        described["trainingConfig"] = parts.training
    if parts.metadata is not None:
        described["userDefinedMetadata"] = parts.metadata
    return described


def save_layers_model(model: Any, path: Any, include_optimizer: bool = False) -> None:
    """Save a model for TensorFlow.js: ``model.json`` and files of weights, in a folder.

    ``path`` is the folder, or that of ``model.json`` in it. ``model.user_defined_metadata`` is
    saved, too, if there is such an attribute.

    Raises:
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model", model, "model, path")
    given = Path(path)
    folder, name = (given.parent, given.name) if given.suffix == ".json" else (given, _JSON)
    folder.mkdir(parents=True, exist_ok=True)
    # The file that refers to all others comes last.
    for member, data in layers_model_files(model, include_optimizer).items():
        write_file(
            folder / (name if member == _JSON else member),
            lambda file, data=data: file.write(data),  # type: ignore[misc]
        )


async def save_layers_model_async(model: Any, path: str, include_optimizer: bool = False) -> None:
    """Save a model for TensorFlow.js in the browser, as ``indexeddb://name``, or in a folder.

    TensorFlow.js finds it there, and ``load_layers_model_async`` what TensorFlow.js left.

    Raises:
        ValueError: TensorFlow.js has no such layer, argument, optimizer or loss.
    """
    require_model("save_layers_model_async", model, "model, path")
    if not str(path).startswith(_INDEXED_DB):
        save_layers_model(model, path, include_optimizer)
        return
    from webtensor.keras.saving.layers_model.indexed_db import put

    parts = artifacts_of(model, include_optimizer)
    specs, pieces = parts.groups[0]
    data = b"".join(pieces)
    described = {**_described(parts), "weightSpecs": specs, _CHECKSUMS: [_checksum(data)]}
    facts = {
        "dateSaved": datetime.now(UTC).isoformat(),
        "modelTopologyType": "JSON",
        "modelTopologyBytes": len(json.dumps(parts.topology)),
        "weightSpecsBytes": len(json.dumps(specs)),
        "weightDataBytes": len(data),
    }
    await put(path.removeprefix(_INDEXED_DB), described, data, facts)


# -- loading -----------------------------------------------------------------------------------


def load_layers_model(
    source: Any,
    custom_objects: Mapping[str, Any] | None = None,
    strict: bool = True,
    compile: bool = True,
) -> Any:
    """Load a layers-model of TensorFlow.js, also one that its converter made.

    ``source`` is the path of ``model.json`` or of its folder, a list of paths, or a mapping of
    files' names to bytes. What users noted in it becomes ``model.user_defined_metadata``.

    In a page it may be an address, too, as in ``load_layers_model_async``, where the browser can
    suspend Python (JSPI).

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
                f"load_layers_model: there is no file {source!r} here; a page waits for what is on "
                f"the web: await keras.saving.load_layers_model_async({source!r})"
            )
        return suspended(load_layers_model_async(source, custom_objects, strict, compile))
    label, data, read = _files(source)
    with reading(label):
        described, paths, budget = _opened(data, label)
        parts = _parts(described, label, [_read_shard(read, path, budget) for path in paths])
        return model_of(parts, label, custom_objects, strict, compile, budget)


async def load_layers_model_async(
    source: Any,
    custom_objects: Mapping[str, Any] | None = None,
    strict: bool = True,
    compile: bool = True,
) -> Any:
    """Load a layers-model as ``load_layers_model`` does; in a page, also from the web.

    There ``source`` may be the URL of ``model.json``, or ``indexeddb://name``.

    Raises:
        OSError: the page cannot be reached.
        ValueError: see ``load_layers_model``.
    """
    if not is_address(source):
        return load_layers_model(source, custom_objects, strict, compile)
    if source.startswith(_INDEXED_DB):
        from webtensor.keras.saving.layers_model.indexed_db import get

        text, data = await get(source.removeprefix(_INDEXED_DB))
        with reading(source):
            budget = Budget(source, len(text) + len(data))
            parts = _kept_parts(parse_json(text, source, budget), data, source)
    else:
        from webtensor.keras.saving.layers_model.web import fetch_bytes, joined

        described, paths, budget = _opened(await fetch_bytes(source), source)
        shards = [await fetch_bytes(joined(source, path)) for path in paths]
        for shard in shards:
            budget.add_file(len(shard))
        with reading(source):
            parts = _parts(described, source, shards)
    with reading(source):
        return model_of(parts, source, custom_objects, strict, compile, budget)


def is_address(source: Any) -> bool:
    """Whether, in a page, a model is to be fetched: there is no file of that name."""
    return IN_BROWSER and isinstance(source, str) and not Path(source).exists()


def _files(source: Any) -> tuple[str, bytes, Callable[[str], bytes]]:
    """What errors call the model, its ``model.json``, and how its other files are read."""
    if isinstance(source, Mapping):
        name = _name_of_json(list(source))
        label = f"the files' {name}"
        return label, read_bytes(source[name]), lambda path: _member(source, path, label)
    if isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        return _files({Path(path).name: Path(path).read_bytes() for path in source})
    path = Path(source)
    if path.is_dir():
        return label_of(source), read_beside(path / _JSON, _JSON), _reader(path / _JSON)
    return label_of(os.fspath(path)), path.read_bytes(), _reader(path)


def _reader(path: Path) -> Callable[[str], bytes]:
    return lambda name: read_beside(path, name)


def _name_of_json(names: list[str]) -> str:
    ending = [name for name in names if str(name).endswith(".json")]
    if len(ending) != 1:
        raise ValueError(f"one of the files must be {_JSON}, but there are {names}")
    return ending[0]


def _member(source: Mapping[str, Any], path: str, label: str) -> bytes:
    if path not in source:
        raise ModelFormatError(f"{label} names the file {path!r}, which is missing")
    return read_bytes(source[path])


def _opened(data: bytes, label: str) -> tuple[Any, list[str], Budget]:
    """What ``model.json`` says, which files it names, and what reading them may cost."""
    budget = Budget(label, len(data))
    described = parse_json(data, label, budget)
    return described, _shards(described, label), budget


def _read_shard(read: Callable[[str], bytes], path: str, budget: Budget) -> bytes:
    shard = read(path)
    budget.add_file(len(shard))
    return shard


def _groups(described: Any, label: str) -> list[Mapping[str, Any]]:
    if not isinstance(described, Mapping) or "modelTopology" not in described:
        raise ModelFormatError(f"{label} describes no layers-model")
    if described.get("format", "layers-model") != "layers-model":
        raise ModelFormatError(
            f"{label} is a {described['format']!r}, which is no layers-model: it has no layers"
        )
    groups = described.get("weightsManifest")
    if not isinstance(groups, list) or not all(
        isinstance(group, Mapping) and isinstance(group.get("paths", []), list) for group in groups
    ):
        raise ModelFormatError(f"{label} has no weightsManifest, or a malformed one")
    return groups


def _shards(described: Any, label: str) -> list[str]:
    """Paths of the files of weights, which must lie beside ``model.json`` or below it."""
    paths: dict[str, None] = {}
    for group in _groups(described, label):
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


def _parts(described: Any, label: str, shards: list[bytes]) -> Artifacts:
    groups = []
    rest = iter(shards)
    for group in _groups(described, label):
        paths = group.get("paths", ())
        pieces = [next(rest) for _ in paths]
        _check_sums(group.get(_CHECKSUMS), pieces, [f"{label}: {path!r}" for path in paths])
        groups.append((group.get("weights"), b"".join(pieces)))
    return Artifacts(
        described["modelTopology"],
        groups,
        described.get("trainingConfig"),
        described.get("userDefinedMetadata"),
    )


def _kept_parts(described: Any, data: bytes, label: str) -> Artifacts:
    """The parts of a model in IndexedDB."""
    _check_sums(described.get(_CHECKSUMS), [data], [label])
    return Artifacts(
        described.get("modelTopology"),
        [(described.get("weightSpecs"), data)],
        described.get("trainingConfig"),
        described.get("userDefinedMetadata"),
    )


def _checksum(data: bytes) -> str:
    return f"crc32:{crc32(data):08x}"


def _check_sums(wanted: Any, pieces: list[bytes], labels: list[str]) -> None:
    """Compare checksums, where there are any.

    Raises:
        ModelFormatError: the bytes are not those that were written.
    """
    if not isinstance(wanted, list):
        return
    for checksum, data, label in zip(wanted, pieces, labels, strict=False):
        if str(checksum).startswith("crc32:") and checksum != _checksum(data):
            raise ModelFormatError(
                f"{label} is not what was written: its checksum is {_checksum(data)}, not "
                f"{checksum}"
            )
