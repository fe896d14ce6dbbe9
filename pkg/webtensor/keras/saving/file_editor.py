"""Looking into files of weights, and changing them: names, objects and weights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webtensor.keras.budgets import parse_json, reading
from webtensor.keras.saving.element_types import ITEM_SIZES, Elements, elements_of, tensor_of
from webtensor.keras.saving.files import Archive, label_of, read_bytes, write_file
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.keras_format import CONFIG, METADATA, weights_in_archive
from webtensor.keras.saving.variable_store import saved_state
from webtensor.keras.utils.logging import say

__all__ = ["KerasFileEditor"]

_SUFFIX = ".weights.h5"
Weights = dict[str, Any]


class KerasFileEditor:
    """The weights in an archive of Keras 3 (.keras), or in a .weights.h5, to be changed and saved.

    ``weights_dict`` has a dict for each object, such as a layer, with its weights by their names
    ("0", "1", …) and the objects inside it. ``metadata`` and ``config`` are those of an archive,
    and ``object_metadata`` has the names of objects, by their paths.

    Example:
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        >>> model.save_weights("/tmp/old.weights.h5")
        >>> editor = keras.saving.KerasFileEditor("/tmp/old.weights.h5")
        File '/tmp/old.weights.h5'
        >>> editor.rename_object("layers/dense", "first")
        >>> editor.summary()
        layers
            first
                0: shape=(2, 3), dtype=float32
                1: shape=(3,), dtype=float32

    Raises:
        ValueError: the name has another ending, or the file is broken.
    """

    def __init__(self, filepath: Any) -> None:
        self.filepath = os.fspath(filepath)
        self.metadata: Any = None
        self.config: Any = None
        label = label_of(self.filepath)
        if label.endswith(".keras"):
            with (
                reading(label),
                Path(label).open("rb") as file,
                Archive(file, label) as archive,
            ):
                tree = weights_in_archive(archive)
                self.config, self.metadata = (
                    parse_json(archive.read(name), f"{label}: {name}", archive.budget)
                    for name in (CONFIG, METADATA)
                )
        elif label.endswith(_SUFFIX):
            tree = read_hdf5(read_bytes(self.filepath), label)
        else:
            raise ValueError(
                f"KerasFileEditor: filepath must end in '.keras' or {_SUFFIX!r}, but got {label!r}"
            )
        with reading(label):
            self.weights_dict = _weights_in(tree, label)
        self.object_metadata = dict(_attributes_in(tree))
        say(f"File {label!r}")
        if isinstance(self.metadata, Mapping):
            say(
                f"Saved by Keras {self.metadata.get('keras_version')}, "
                f"{self.metadata.get('date_saved')}"
            )

    # -- looking -------------------------------------------------------------------------------

    def summary(self) -> None:
        """Print the objects with their weights."""
        for depth, name, held in _rows(self.weights_dict):
            about = "" if isinstance(held, dict) else f": {_described(held)}"
            say(f"{'    ' * depth}{name}{about}")

    def compare(self, reference_model: Any) -> dict[str, Any]:
        """Print in what the file differs from a model, and return how many things do.

        ``status`` is "success" or "error"; ``error_count`` is the number of objects and weights
        that are in one of both only or differ in shape, ``match_count`` that of weights that fit.
        """
        wanted = _weights_in(saved_state(reference_model), "the model")
        errors, matches = _differences(self.weights_dict, wanted, "")
        for text in errors:
            say(text)
        say(f"{matches} weights fit the model, {len(errors)} things do not")
        return {
            "status": "error" if errors else "success",
            "error_count": len(errors),
            "match_count": matches,
        }

    # -- changing ------------------------------------------------------------------------------

    def rename_object(self, object_name: str, new_name: str) -> None:
        """Give an object, named or by its path, another name.

        Raises:
            ValueError: there is no such object, there are several, or the name is a path or taken.
        """
        holder, name = self._find("rename_object", object_name)
        if "/" in new_name or not new_name:
            raise ValueError(f"rename_object: new_name must be a name alone, but is {new_name!r}")
        if new_name in holder and new_name != name:
            raise ValueError(f"rename_object: there is a {new_name!r} already")
        holder[new_name] = holder.pop(name)

    def delete_object(self, object_name: str) -> None:
        """Take an object, named or by its path, out.

        Raises:
            ValueError: there is no such object, or there are several.
        """
        holder, name = self._find("delete_object", object_name)
        del holder[name]

    def add_object(self, object_path: str, weights: Mapping[str, Any]) -> None:
        """Put an object in, by its path, with its weights by their names.

        Raises:
            ValueError: its place is not there, or ``weights`` is no dict.
        """
        _check_weights("add_object", weights)
        holder = self.weights_dict
        outer, _, name = object_path.rpartition("/")
        if outer:
            around, last = self._find("add_object", f"/{outer}")
            holder = around[last]
        holder[name] = dict(weights)

    def delete_weight(self, object_name: str, weight_name: str) -> None:
        """Take a weight of an object out.

        Raises:
            ValueError: there is no such object, there are several, or it has no such weight.
        """
        holder, name = self._find("delete_weight", object_name)
        if weight_name not in holder[name]:
            raise ValueError(
                f"delete_weight: {object_name!r} has no weight {weight_name!r}; it has "
                f"{list(holder[name])}"
            )
        del holder[name][weight_name]

    def add_weights(self, object_name: str, weights: Mapping[str, Any]) -> None:
        """Give an object more weights, by their names.

        Raises:
            ValueError: there is no such object, there are several, or ``weights`` is no dict.
        """
        _check_weights("add_weights", weights)
        holder, name = self._find("add_weights", object_name)
        holder[name].update(weights)

    def _find(self, function: str, wanted: str) -> tuple[Weights, str]:
        """What holds an object, and the object's name there."""
        if "/" in wanted:
            holder: Any = self.weights_dict
            *outer, name = wanted.strip("/").split("/")
            for one in outer:
                holder = holder.get(one)
                if not isinstance(holder, dict):
                    break
            found = [holder] if isinstance(holder, dict) else []
        else:
            name = wanted
            inner = (held for _, _, held in _rows(self.weights_dict) if isinstance(held, dict))
            found = [self.weights_dict, *inner]
        found = [one for one in found if isinstance(one.get(name), dict)]
        if len(found) != 1:
            raise ValueError(
                f"{function}: there is no object {wanted!r}"
                if not found
                else f"{function}: there are {len(found)} objects {wanted!r}; give a path"
            )
        return found[0], name

    # -- saving --------------------------------------------------------------------------------

    def save(self, filepath: Any) -> None:
        """Write the weights to a .weights.h5.

        Raises:
            ValueError: the name has another ending.
        """
        label = os.fspath(filepath)
        if not label.endswith(_SUFFIX):
            raise ValueError(f"save: filepath must end in {_SUFFIX!r}, but got {label!r}")
        tree = Group()
        _put(tree, "", self.weights_dict)
        write_file(label, lambda file: file.writelines(pieces(tree)))

    def resave_weights(self, filepath: Any) -> None:
        """Write the weights to a .weights.h5, like ``save``."""
        self.save(filepath)


# -- trees as dicts ----------------------------------------------------------------------------


def _weights_in(tree: Group, label: str) -> Weights:
    """Objects with their weights; those that have none, and nothing in them, are left out."""
    found: Weights = {}
    for name, member in tree.members.items():
        if isinstance(member, Elements):
            found[name] = _array(member, f"{label}: {name!r}")
            continue
        inner = _weights_in(member, label)
        if name == "vars":
            found = {**inner, **found}
        elif inner:
            found[name] = inner
    return found


def _array(elements: Elements, where: str) -> Any:
    """The elements as an array where there is NumPy and it has their dtype, else as a tensor."""
    try:
        import numpy as np
    except ImportError:
        return tensor_of(elements, where)
    if elements.dtype in ("bfloat16", "string"):
        return tensor_of(elements, where)
    return np.frombuffer(elements.data, elements.dtype).reshape(elements.shape)


def _elements(value: Any) -> Elements:
    dtype = str(getattr(value, "dtype", ""))
    if hasattr(value, "tobytes") and dtype in ITEM_SIZES:
        return Elements(tuple(value.shape), dtype, value.tobytes())
    return elements_of(value)


def _attributes_in(tree: Group, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Paths of objects with what the file says about them."""
    if tree.attributes:
        yield path.removesuffix("/vars"), dict(tree.attributes)
    for name, member in tree.members.items():
        if isinstance(member, Group):
            yield from _attributes_in(member, f"{path}/{name}")


def _put(tree: Group, path: str, weights: Weights) -> None:
    for name, held in weights.items():
        if isinstance(held, dict):
            _put(tree, f"{path}{name}/", held)
        else:
            tree.put(f"{path}vars/{name}", _elements(held))


def _rows(weights: Weights, depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    for name, held in weights.items():
        yield depth, name, held
        if isinstance(held, dict):
            yield from _rows(held, depth + 1)


def _differences(file: Weights, model: Weights, path: str) -> tuple[list[str], int]:
    """What to say about all that differs, and how many weights fit."""
    errors: list[str] = []
    matches = 0
    for name in {**model, **file}:
        where = f"{path}/{name}"
        if name not in file or name not in model:
            one, other = ("the model", "the file") if name in model else ("the file", "the model")
            errors.append(f"{where} is in {one}, but not in {other}")
            continue
        held, wanted = file[name], model[name]
        if isinstance(held, dict) and isinstance(wanted, dict):
            inner, count = _differences(held, wanted, where)
            errors += inner
            matches += count
        elif _shape(held) != _shape(wanted):
            errors.append(
                f"{where} is {_described(held)} in the file, {_described(wanted)} in the model"
            )
        else:
            matches += 1
    return errors, matches


def _shape(held: Any) -> Any:
    return None if isinstance(held, dict) else tuple(getattr(held, "shape", ()))


def _described(held: Any) -> str:
    if isinstance(held, dict):
        return "an object"
    return f"shape={_shape(held)}, dtype={getattr(held, 'dtype', type(held).__name__)}"


def _check_weights(function: str, weights: Any) -> None:
    if not isinstance(weights, Mapping):
        raise ValueError(
            f"{function}: weights must be a dict of arrays by their names, but is {weights!r}"
        )
