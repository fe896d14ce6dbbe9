"""Showing and editing files of weights: their objects, the objects' names, and the weights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from webtensor.engine import TensorLike
from webtensor.formats.budgets import parse_json, reading
from webtensor.formats.element_types import ITEM_SIZES, Elements
from webtensor.formats.files import Archive, PathLike, label_of, read_bytes, write_file
from webtensor.io.stored_tensors import elements_of, tensor_of
from webtensor.keras.logging import say
from webtensor.keras.models import Model
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.hdf5.tree import Attribute
from webtensor.keras.saving.keras_format import CONFIG, METADATA, weights_in_archive
from webtensor.keras.saving.variable_store import saved_state

__all__ = ["KerasFileEditor"]

_SUFFIX = ".weights.h5"
#: The weights of an object and the objects inside it, which are dictionaries, by their names.
_Weights: TypeAlias = "dict[str, TensorLike]"


class Comparison(TypedDict):
    """The numbers of differences between a file and a model, and of weights that fit."""

    status: Literal["success", "error"]
    error_count: int
    match_count: int


class KerasFileEditor:
    """An editor of the weights in an archive of Keras 3 (.keras) or in a .weights.h5.

    ``weights_dict`` has a dictionary for each object, such as a layer, with its weights by their
    names ("0", "1", …) and the objects inside it. ``metadata`` and ``config`` are those of an
    archive. ``object_metadata`` has the attributes of objects, by their paths.

    Args:
        filepath: a path that ends in ``.keras`` or ``.weights.h5``.

    Example:
        >>> import tempfile
        >>> from webtensor import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        >>> path = f"{tempfile.mkdtemp()}/old.weights.h5"
        >>> model.save_weights(path)
        >>> editor = keras.saving.KerasFileEditor(path)
        File '...old.weights.h5'
        >>> editor.rename_object("layers/dense", "first")
        >>> editor.summary()
        layers
            first
                0: shape=(2, 3), dtype=float32
                1: shape=(3,), dtype=float32

    Raises:
        ValueError: the name has another ending, or the file is broken.
    """

    def __init__(self, filepath: PathLike) -> None:
        self.filepath = os.fspath(filepath)
        self.metadata: object = None
        self.config: object = None
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

    # -- showing -------------------------------------------------------------------------------

    def summary(self) -> None:
        """Print the objects with their weights."""
        for depth, name, member in _rows(self.weights_dict):
            description = "" if isinstance(member, dict) else f": {_description(member)}"
            say(f"{'    ' * depth}{name}{description}")

    def compare(self, reference_model: Model) -> Comparison:
        """Print the differences between the file and a model, and return their number.

        Returns:
            A dictionary: ``status`` is "success" or "error", ``error_count`` the number of objects
            and weights that are missing on one side or differ in shape, and ``match_count`` the
            number of weights that fit.
        """
        model_weights = _weights_in(saved_state(reference_model), "the model")
        errors, match_count = _differences(self.weights_dict, model_weights, "")
        for error in errors:
            say(error)
        say(f"{match_count} weights fit the model, {len(errors)} objects or weights do not")
        return {
            "status": "error" if errors else "success",
            "error_count": len(errors),
            "match_count": match_count,
        }

    # -- editing -------------------------------------------------------------------------------

    def rename_object(self, object_name: str, new_name: str) -> None:
        """Rename an object.

        Args:
            object_name: the name of the object, or its path.
            new_name: another name, without slashes.

        Raises:
            ValueError: there is no such object, there are several, or the new name is not free.
        """
        parent, name = self._find("rename_object", object_name)
        if "/" in new_name or not new_name:
            raise ValueError(f"rename_object: new_name must be a name alone, but is {new_name!r}")
        if new_name in parent and new_name != name:
            raise ValueError(f"rename_object: there is a {new_name!r} already")
        parent[new_name] = parent.pop(name)

    def delete_object(self, object_name: str) -> None:
        """Delete an object.

        Args:
            object_name: the name of the object, or its path.

        Raises:
            ValueError: there is no such object, or there are several.
        """
        parent, name = self._find("delete_object", object_name)
        del parent[name]

    def add_object(self, object_path: str, weights: Mapping[str, TensorLike]) -> None:
        """Add an object.

        Args:
            object_path: its path; the objects around it must exist.
            weights: arrays by their names.

        Raises:
            ValueError: an object around it is missing, or ``weights`` is not a dictionary.
        """
        _check_weights("add_object", weights)
        parent = self.weights_dict
        parent_path, _, name = object_path.rpartition("/")
        if parent_path:
            parent = self._object("add_object", f"/{parent_path}")
        parent[name] = dict(weights)

    def delete_weight(self, object_name: str, weight_name: str) -> None:
        """Delete a weight of an object.

        Args:
            object_name: the name of the object, or its path.
            weight_name: the name of the weight.

        Raises:
            ValueError: there is no such object, there are several, or it has no such weight.
        """
        weights = self._object("delete_weight", object_name)
        if weight_name not in weights:
            raise ValueError(
                f"delete_weight: {object_name!r} has no weight {weight_name!r}; it has "
                f"{list(weights)}"
            )
        del weights[weight_name]

    def add_weights(self, object_name: str, weights: Mapping[str, TensorLike]) -> None:
        """Add weights to an object, or replace those of the same name.

        Args:
            object_name: the name of the object, or its path.
            weights: arrays by their names.

        Raises:
            ValueError: there is no such object, there are several, or ``weights`` is not a
                dictionary.
        """
        _check_weights("add_weights", weights)
        self._object("add_weights", object_name).update(weights)

    def _object(self, function: str, path: str) -> _Weights:
        """Return the dictionary of an object."""
        parent, name = self._find(function, path)
        weights: _Weights = parent[name]
        return weights

    def _find(self, function: str, path: str) -> tuple[_Weights, str]:
        """Return the dictionary that has an object, and the object's name in it."""
        *outer_names, name = path.strip("/").split("/") if "/" in path else [path]
        if "/" in path:
            parent = self.weights_dict
            for outer_name in outer_names:
                parent = parent.get(outer_name, {}) if isinstance(parent, dict) else {}
            parents = [parent]
        else:
            parents = [self.weights_dict, *(member for _, _, member in _rows(self.weights_dict))]
        parents = [
            parent
            for parent in parents
            if isinstance(parent, dict) and isinstance(parent.get(name), dict)
        ]
        if len(parents) != 1:
            raise ValueError(
                f"{function}: there is no object {path!r}"
                if not parents
                else f"{function}: there are {len(parents)} objects {path!r}; give a path"
            )
        return parents[0], name

    # -- saving --------------------------------------------------------------------------------

    def save(self, filepath: PathLike) -> None:
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

    def resave_weights(self, filepath: PathLike) -> None:
        """Write the weights to a .weights.h5, like ``save``."""
        self.save(filepath)


# -- trees as dictionaries ---------------------------------------------------------------------


def _weights_in(tree: Group, label: str) -> _Weights:
    """Return the weights in a tree, without objects that have none."""
    weights: _Weights = {}
    for name, member in tree.members.items():
        if isinstance(member, Elements):
            weights[name] = _array(member, f"{label}: {name!r}")
            continue
        inner = _weights_in(member, label)
        if name == "vars":
            weights = {**inner, **weights}
        elif inner:
            weights[name] = inner
    return weights


def _array(elements: Elements, where: str) -> TensorLike:
    """Return the elements as an array where NumPy is installed and has their dtype, or a tensor."""
    try:
        import numpy as np
    except ImportError:
        return tensor_of(elements, where)
    if elements.dtype in ("bfloat16", "string"):
        return tensor_of(elements, where)
    return np.frombuffer(elements.data, elements.dtype).reshape(elements.shape)


def _elements(value: TensorLike) -> Elements:
    dtype = str(getattr(value, "dtype", ""))
    if hasattr(value, "tobytes") and dtype in ITEM_SIZES:
        return Elements(tuple(value.shape), dtype, value.tobytes())
    return elements_of(value)


def _attributes_in(tree: Group, path: str = "") -> Iterator[tuple[str, dict[str, Attribute]]]:
    """Yield the paths of objects and their attributes."""
    if tree.attributes:
        yield path.removesuffix("/vars"), dict(tree.attributes)
    for name, member in tree.members.items():
        if isinstance(member, Group):
            yield from _attributes_in(member, f"{path}/{name}")


def _put(tree: Group, path: str, weights: _Weights) -> None:
    for name, member in weights.items():
        if isinstance(member, dict):
            _put(tree, f"{path}{name}/", member)
        else:
            tree.put(f"{path}vars/{name}", _elements(member))


def _rows(weights: _Weights, depth: int = 0) -> Iterator[tuple[int, str, TensorLike]]:
    """Yield the depth and the name of all objects and weights, and these."""
    for name, member in weights.items():
        yield depth, name, member
        if isinstance(member, dict):
            yield from _rows(member, depth + 1)


def _differences(file: _Weights, model: _Weights, path: str) -> tuple[list[str], int]:
    """Return a text about each difference, and the number of weights that fit."""
    errors: list[str] = []
    match_count = 0
    for name in {**model, **file}:
        where = f"{path}/{name}"
        if name not in file:
            errors.append(f"{where} is in the model, but not in the file")
            continue
        if name not in model:
            errors.append(f"{where} is in the file, but not in the model")
            continue
        in_file, in_model = file[name], model[name]
        if isinstance(in_file, dict) and isinstance(in_model, dict):
            inner_errors, inner_count = _differences(in_file, in_model, where)
            errors += inner_errors
            match_count += inner_count
        elif _shape(in_file) != _shape(in_model):
            errors.append(
                f"{where} is {_description(in_file)} in the file, {_description(in_model)} in the "
                "model"
            )
        else:
            match_count += 1
    return errors, match_count


def _shape(member: TensorLike) -> tuple[int, ...] | None:
    """Return the shape of a weight, or None for an object."""
    return None if isinstance(member, dict) else tuple(getattr(member, "shape", ()))


def _description(member: TensorLike) -> str:
    if isinstance(member, dict):
        return "an object"
    return f"shape={_shape(member)}, dtype={getattr(member, 'dtype', type(member).__name__)}"


def _check_weights(function: str, weights: object) -> None:
    if not isinstance(weights, Mapping):
        raise ValueError(
            f"{function}: weights must be a dict of arrays by their names, but is {weights!r}"
        )
