"""``model.json`` of TensorFlow.js: the files of weights that it names, and their checksums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import MAX_MEMBERS

__all__ = [
    "CHECKSUMS",
    "MODEL_JSON",
    "SHARD_BYTES",
    "checksum",
    "compare_checksums",
    "parse_model_json",
    "shard_paths",
    "shards_of",
    "weight_groups",
]

#: The usual name of the file.
MODEL_JSON = "model.json"
#: The size of files of weights, as of those that TensorFlow.js's converter writes.
SHARD_BYTES = 4 << 20
#: The key of the weights' checksums, beside the files' paths; TensorFlow.js ignores it.
CHECKSUMS = "checksums"


def parse_model_json(data: bytes, label: str, format: str) -> tuple[Any, list[str], Budget]:
    """Return the contents of ``model.json``, the paths of the files that it names, and a budget.

    Args:
        data: the bytes of the file.
        label: what errors call the file.
        format: the format that the model must have, such as "layers-model".

    Raises:
        ModelFormatError: it is malformed, or of another format.
    """
    budget = Budget(label, len(data))
    model_json = parse_json(data, label, budget)
    if not isinstance(model_json, Mapping) or "modelTopology" not in model_json:
        raise ModelFormatError(f"{label} describes no {format}")
    if model_json.get("format", format) != format:
        raise ModelFormatError(
            f"{label} is a {model_json['format']!r}, which is no {format}: it has no layers"
        )
    return model_json, shard_paths(model_json, label), budget


def weight_groups(model_json: Mapping[str, Any], label: str) -> list[dict[str, Any]]:
    """Return the groups of weights in ``model.json``.

    Raises:
        ModelFormatError: they are missing or malformed.
    """
    groups = model_json.get("weightsManifest")
    if not isinstance(groups, list) or not all(
        isinstance(group, Mapping) and isinstance(group.get("paths", []), list) for group in groups
    ):
        raise ModelFormatError(f"{label} has no weightsManifest, or a malformed one")
    return groups


def shard_paths(model_json: Mapping[str, Any], label: str) -> list[str]:
    """Return the paths of the files of weights, which must be in the folder of ``model.json``.

    Raises:
        ModelFormatError: a file lies elsewhere or is named twice, or there are too many.
    """
    paths: dict[str, None] = {}
    for group in weight_groups(model_json, label):
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


def shards_of(data: bytes) -> dict[str, bytes]:
    """Return the files of weights by their names, each of ``SHARD_BYTES`` or less.

    Example:
        >>> shards_of(b"12")
        {'group1-shard1of1.bin': b'12'}
    """
    count = max(1, -(-len(data) // SHARD_BYTES))
    return {
        f"group1-shard{number + 1}of{count}.bin": data[
            number * SHARD_BYTES : (number + 1) * SHARD_BYTES
        ]
        for number in range(count)
    }


def checksum(data: Buffer) -> str:
    """Return the checksum of the bytes of a file.

    Example:
        >>> checksum(b"123456789")
        'crc32:cbf43926'
    """
    return f"crc32:{crc32(data):08x}"


def compare_checksums(checksums: object, pieces: Sequence[Buffer], labels: list[str]) -> None:
    """Compare the checksums in a file, if there are any, with those of its bytes.

    Raises:
        ModelFormatError: a checksum differs.
    """
    if not isinstance(checksums, list):
        return
    for expected, data, label in zip(checksums, pieces, labels, strict=False):
        if str(expected).startswith("crc32:") and expected != checksum(data):
            raise ModelFormatError(
                f"{label} is not what was written: its checksum is {checksum(data)}, not {expected}"
            )
