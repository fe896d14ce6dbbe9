"""Where layers-models are kept: folders, mappings of files, the web, a browser's IndexedDB."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webtensor.environment import IN_BROWSER
from webtensor.keras.saving.files import as_json, label_of, read_bytes, write_file
from webtensor.keras.saving.layers_model.artifacts import Artifacts, artifacts_of, model_of

__all__ = [
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
    described = {
        **_described(parts),
        "weightsManifest": [{"paths": list(shards), "weights": specs}],
    }
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
    if not str(path).startswith(_INDEXED_DB):
        save_layers_model(model, path, include_optimizer)
        return
    from webtensor.keras.saving.layers_model.indexed_db import put

    parts = artifacts_of(model, include_optimizer)
    specs, pieces = parts.groups[0]
    data = b"".join(pieces)
    described = {**_described(parts), "weightSpecs": specs}
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

    Raises:
        ValueError: a part is broken or unknown, or does not fit another; with ``strict`` also where
            there are more weights than the model has.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> files = keras.saving.layers_model_files(model)
        >>> keras.saving.load_layers_model(files).output_shape
        (None, 1)
    """
    label, described, read = _files(source)
    parts = _parts(described, label, [read(path) for path in _shards(described, label)])
    return model_of(parts, label, custom_objects, strict, compile)


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
    if not IN_BROWSER or not isinstance(source, str) or Path(source).exists():
        return load_layers_model(source, custom_objects, strict, compile)
    if source.startswith(_INDEXED_DB):
        from webtensor.keras.saving.layers_model.indexed_db import get

        described, data = await get(source.removeprefix(_INDEXED_DB))
        held = as_json(described.encode(), source)
        parts = Artifacts(
            held.get("modelTopology"),
            [(held.get("weightSpecs"), data)],
            held.get("trainingConfig"),
            held.get("userDefinedMetadata"),
        )
    else:
        from webtensor.keras.saving.layers_model.web import fetch_bytes, joined

        held = as_json(await fetch_bytes(source), source)
        shards = [await fetch_bytes(joined(source, path)) for path in _shards(held, source)]
        parts = _parts(held, source, shards)
    return model_of(parts, source, custom_objects, strict, compile)


def _files(source: Any) -> tuple[str, Any, Any]:
    """What errors call the model, what ``model.json`` says, and how its other files are read."""
    if isinstance(source, Mapping):
        name = _one_json(list(source))
        label = f"the files' {name}"
        return (
            label,
            as_json(read_bytes(source[name]), label),
            lambda path: _found(source, path, label),
        )
    if isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        return _files({Path(path).name: Path(path).read_bytes() for path in source})
    path = Path(source)
    if path.is_dir():
        path /= _JSON
    label = label_of(os.fspath(path))
    return label, as_json(path.read_bytes(), label), lambda name: (path.parent / name).read_bytes()


def _one_json(names: list[str]) -> str:
    found = [name for name in names if str(name).endswith(".json")]
    if len(found) != 1:
        raise ValueError(f"one of the files must be {_JSON}, but there are {names}")
    return found[0]


def _found(source: Mapping[str, Any], path: str, label: str) -> bytes:
    if path not in source:
        raise ValueError(f"{label} names the file {path!r}, which is missing")
    return read_bytes(source[path])


def _groups(described: Any, label: str) -> list[Mapping[str, Any]]:
    if not isinstance(described, Mapping) or "modelTopology" not in described:
        raise ValueError(f"{label} describes no layers-model")
    if described.get("format", "layers-model") != "layers-model":
        raise ValueError(
            f"{label} is a {described['format']!r}, which is no layers-model: it has no layers"
        )
    groups = described.get("weightsManifest")
    if not isinstance(groups, list) or not all(
        isinstance(one, Mapping) and isinstance(one.get("paths", []), list) for one in groups
    ):
        raise ValueError(f"{label} has no weightsManifest, or a malformed one")
    return groups


def _shards(described: Any, label: str) -> list[str]:
    """Paths of the files of weights, which must lie beside ``model.json`` or below it."""
    found = []
    for group in _groups(described, label):
        for path in group.get("paths", ()):
            parts = str(path).replace("\\", "/").split("/")
            if ".." in parts or parts[0] == "" or ":" in str(path):
                raise ValueError(f"{label} names a file that lies elsewhere: {path!r}")
            found.append(str(path))
    return found


def _parts(described: Any, label: str, shards: list[bytes]) -> Artifacts:
    groups = []
    rest = iter(shards)
    for group in _groups(described, label):
        data = b"".join(next(rest) for _ in group.get("paths", ()))
        groups.append((group.get("weights"), data))
    return Artifacts(
        described["modelTopology"],
        groups,
        described.get("trainingConfig"),
        described.get("userDefinedMetadata"),
    )
