"""``model.json`` of TensorFlow.js: the files of weights that it names, and their checksums."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json
from webtensor.formats.checksums import checksum_of
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import MAX_MEMBERS
from webtensor.formats.model_artifacts import ModelArtifacts, json_fields
from webtensor.formats.paths import path_beside

__all__ = [
    "CHECKSUMS",
    "MODEL_JSON",
    "SHARD_BYTES",
    "WeightGroup",
    "model_files",
    "parse_model_json",
    "weight_groups",
]

#: The usual name of the file.
MODEL_JSON = "model.json"
#: The size of files of weights, as of those that TensorFlow.js's converter writes.
SHARD_BYTES = 4 << 20
#: The key of the checksums of the files, beside their paths; TensorFlow.js ignores it.
CHECKSUMS = "checksums"


class WeightGroup(NamedTuple):
    """Weights that lie one after another in files; ``specs`` is their list as in JSON."""

    paths: list[str]
    specs: Any
    checksums: list[str]


def parse_model_json(data: bytes, label: str, budget: Budget) -> Mapping[str, Any]:
    """Return the contents of ``model.json``.

    Raises:
        ModelFormatError: it is malformed, or has neither a topology nor weights.
    """
    model_json = parse_json(data, label, budget)
    if not isinstance(model_json, Mapping) or not {"modelTopology", "weightsManifest"} & {
        *model_json
    }:
        raise ModelFormatError(f"{label} describes no model")
    return model_json


def weight_groups(manifest: object, label: str) -> list[WeightGroup]:
    """Return the groups of a weights manifest, with the paths of their files.

    A path stays within the folder of ``model.json``; "./" at its beginning is removed.

    Raises:
        ModelFormatError: the manifest is malformed, or a file lies elsewhere or is named twice, or
            there are too many.

    Example:
        >>> weight_groups([{"paths": ["./weights.bin"], "weights": []}], "model.json")[0].paths
        ['weights.bin']
    """
    if not isinstance(manifest, list) or not all(
        isinstance(group, Mapping) and isinstance(group.get("paths", []), list)
        for group in manifest
    ):
        raise ModelFormatError(f"{label} has no weightsManifest, or a malformed one")
    groups = []
    names: set[str] = set()
    for group in manifest:
        paths = [path_beside(str(path), label) for path in group.get("paths", ())]
        for path in paths:
            if path in names:
                raise ModelFormatError(f"{label} names the file {path!r} twice")
            names.add(path)
        checksums = group.get(CHECKSUMS)
        texts = [str(text) for text in checksums] if isinstance(checksums, list) else []
        groups.append(WeightGroup(paths, group.get("weights"), texts))
    if len(names) > MAX_MEMBERS:
        raise ModelFormatError(f"{label} names {len(names)} files, which are too many")
    return groups


def model_files(
    artifacts: ModelArtifacts,
    *,
    shard_bytes: int = SHARD_BYTES,
    checksum: str = "crc32",
    json_name: str = MODEL_JSON,
    weights_name: str | None = None,
) -> Iterator[tuple[str, Buffer]]:
    """Yield the names and the bytes of a model's files; ``model.json`` comes last.

    Args:
        artifacts: the model.
        shard_bytes: the largest size of a file of weights.
        checksum: the algorithm of the files' checksums, "crc32" or "sha256".
        json_name: the name of the file that refers to all others.
        weights_name: the name of the one file of all weights; by default there are several, with
            the names that TensorFlow.js's converter gives them.

    Raises:
        ValueError: ``shard_bytes`` is not positive, or so small that there would be more files
            than ``weight_groups`` allows.
    """
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes must be positive, but is {shard_bytes!r}")
    fields = json_fields(artifacts)
    if artifacts.weight_specs is not None:
        composite = CompositeArrayBuffer(artifacts.weight_data or b"")
        group: dict[str, Any] = {"paths": [], "weights": artifacts.weight_specs, CHECKSUMS: []}
        for name, part in _shards(composite, shard_bytes, weights_name):
            group["paths"].append(name)
            group[CHECKSUMS].append(checksum_of([part], checksum))
            yield name, part
        fields["weightsManifest"] = [group]
    yield json_name, json.dumps(fields).encode()


def _shards(
    composite: CompositeArrayBuffer, shard_bytes: int, name: str | None
) -> Iterable[tuple[str, Buffer]]:
    if name is not None:
        return [(name, composite.view())]
    count = max(1, -(-composite.byte_length // shard_bytes))
    if count > MAX_MEMBERS:
        minimum = -(-composite.byte_length // MAX_MEMBERS)
        raise ValueError(
            f"shard_bytes must be at least {minimum:,} here, but is {shard_bytes:,}: the weights "
            f"would become {count:,} files, and a model may have {MAX_MEMBERS:,}"
        )
    return (
        (
            f"group1-shard{number + 1}of{count}.bin",
            composite.view(number * shard_bytes, (number + 1) * shard_bytes),
        )
        for number in range(count)
    )
