"""Weights in several HDF5 files of a limited size, and a JSON file that names them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json
from webtensor.formats.files import PathLike, label_of, read_beside, read_bytes, write_file
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5

__all__ = ["read_shards", "write_shards"]

_SUFFIX = ".weights.json"
_GIBIBYTE = 1 << 30


def write_shards(path: str, tree: Group, max_shard_size: float, overwrite: bool) -> None:
    """Write the arrays of a tree into several files, and their names into ``path``.

    Each file has at most ``max_shard_size`` GiB of arrays and is in the folder of ``path``.

    Raises:
        ValueError: an array alone is larger.
    """
    base = Path(path).name.removesuffix(_SUFFIX)
    #: The names of the files that have the arrays of a group, by the group's path.
    weight_map: dict[str, list[str]] = {}
    total_size = 0
    for number, (shard, size) in enumerate(_shards(tree, max_shard_size)):
        file_name = f"{base}_{number:05}.weights.h5"
        total_size += size
        write_file(
            Path(path).with_name(file_name),
            lambda file, shard=shard: file.writelines(pieces(shard)),  # type: ignore[misc]
            overwrite=overwrite,
        )
        for array_path, _ in shard.arrays():
            file_names = weight_map.setdefault("/" + array_path.rpartition("/")[0], [])
            if file_name not in file_names:
                file_names.append(file_name)
    index = {"metadata": {"total_size": total_size}, "weight_map": weight_map}
    text = json.dumps(index, indent=4).encode()
    write_file(path, lambda file: file.writelines([text]), overwrite=overwrite)


def _shards(tree: Group, max_shard_size: float) -> Iterator[tuple[Group, int]]:
    """Yield the parts of a tree, in the order of its arrays, with the bytes of each."""
    shard, shard_bytes = Group(), 0
    for path, elements in tree.arrays():
        size = len(elements.data)
        if size > max_shard_size * _GIBIBYTE:
            raise ValueError(
                f"save_weights: {path} has {size} bytes, which are more than max_shard_size="
                f"{max_shard_size} GiB"
            )
        if shard_bytes + size > max_shard_size * _GIBIBYTE:
            yield shard, shard_bytes
            shard, shard_bytes = Group(), 0
        shard.put(path, elements)
        group_path = path.rpartition("/")[0]
        shard.make(group_path).attributes |= tree.make(group_path).attributes
        shard_bytes += size
    yield shard, shard_bytes


def read_shards(path: PathLike) -> Group:
    """Return the tree of all arrays in the files that a .weights.json names.

    Raises:
        ModelFormatError: a file is broken, or is in another folder.
    """
    label = label_of(path)
    data = read_bytes(path)
    budget = Budget(label, len(data))
    index = parse_json(data, label, budget)
    weight_map = index.get("weight_map") if isinstance(index, Mapping) else None
    if not isinstance(weight_map, Mapping):
        raise ModelFormatError(f"{label} has no weight_map")
    tree = Group()
    for name in _file_names(weight_map, label):
        shard = read_beside(Path(path), name)
        budget.add_file(len(shard))
        shard_label = str(Path(path).with_name(name))
        for array_path, elements in read_hdf5(shard, shard_label, budget).arrays():
            tree.put(array_path, elements)
    return tree


def _file_names(weight_map: Mapping[str, object], label: str) -> list[str]:
    """Return the names of the files in an index, each once."""
    names: dict[str, None] = {}
    for value in weight_map.values():
        for name in value if isinstance(value, list) else [value]:
            if not isinstance(name, str) or Path(name).name != name or "\\" in name:
                raise ModelFormatError(f"{label}: {name!r} is no name of a file beside it")
            names[name] = None
    return list(names)
