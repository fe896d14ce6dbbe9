"""Weights in several HDF5 files, none of them too large, and a JSON file that names them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, parse_json
from webtensor.keras.saving.files import label_of, read_beside, read_bytes, write_file
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5

__all__ = ["read_shards", "write_shards"]

_SUFFIX = ".weights.json"
_GIBIBYTE = 1 << 30


def write_shards(path: str, tree: Group, most: float, overwrite: bool) -> None:
    """Write a tree beside ``path``, in files that hold at most ``most`` GiB of arrays each.

    Raises:
        ValueError: an array alone is larger.
    """
    base = Path(path).name.removesuffix(_SUFFIX)
    places: dict[str, list[str]] = {}
    total = 0
    for number, (shard, size) in enumerate(_parted(tree, most)):
        name = f"{base}_{number:05}.weights.h5"
        total += size
        write_file(
            Path(path).with_name(name),
            lambda file, shard=shard: file.writelines(pieces(shard)),  # type: ignore[misc]
            overwrite=overwrite,
        )
        for place, _ in shard.arrays():
            named = places.setdefault("/" + place.rpartition("/")[0], [])
            if name not in named:
                named.append(name)
    index = {"metadata": {"total_size": total}, "weight_map": places}
    text = json.dumps(index, indent=4).encode()
    write_file(path, lambda file: file.writelines([text]), overwrite=overwrite)


def _parted(tree: Group, most: float) -> Iterator[tuple[Group, int]]:
    """Parts of a tree, in the order of its arrays, with the bytes of each."""
    shard, size = Group(), 0
    for place, elements in tree.arrays():
        length = len(elements.data)
        if length > most * _GIBIBYTE:
            raise ValueError(
                f"save_weights: {place} has {length} bytes, which are more than max_shard_size="
                f"{most} GiB"
            )
        if size + length > most * _GIBIBYTE:
            yield shard, size
            shard, size = Group(), 0
        shard.put(place, elements)
        group = place.rpartition("/")[0]
        shard.make(group).attributes |= tree.make(group).attributes
        size += length
    yield shard, size


def read_shards(path: Any) -> Group:
    """Return the tree that lies in the files that one names.

    Raises:
        ModelFormatError: a file is broken, or one of another folder.
    """
    label = label_of(path)
    data = read_bytes(path)
    budget = Budget(label, len(data))
    index = parse_json(data, label, budget)
    places = index.get("weight_map") if isinstance(index, Mapping) else None
    if not isinstance(places, Mapping):
        raise ModelFormatError(f"{label} has no weight_map")
    found = Group()
    for name in _names(places, label):
        shard = read_beside(Path(path), name)
        budget.add_file(len(shard))
        for place, elements in read_hdf5(shard, str(Path(path).with_name(name)), budget).arrays():
            found.put(place, elements)
    return found


def _names(places: Mapping[str, Any], label: str) -> list[str]:
    """The names of files, each once."""
    names: dict[str, None] = {}
    for listed in places.values():
        for name in listed if isinstance(listed, list) else [listed]:
            if not isinstance(name, str) or Path(name).name != name or "\\" in name:
                raise ModelFormatError(f"{label}: {name!r} is no name of a file beside it")
            names[name] = None
    return list(names)
