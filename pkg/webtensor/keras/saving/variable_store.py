"""The variables of a model as a tree of arrays, under the names that Keras gives them, and back.

Keras walks over attributes: the variables of a layer or an optimizer that is the attribute
``dense`` are in ``dense/vars``; objects in lists are named after their classes. An object that is
reached twice is saved under its first path, so the order matters, too: the layers of functional
models come first, then attributes by name, those with an underscore last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from sys import modules
from tempfile import TemporaryDirectory
from typing import TypeAlias
from warnings import warn

from webtensor.engine import Tensor, Variable
from webtensor.io.stored_tensors import elements_of, tensor_of
from webtensor.keras.layers import Layer
from webtensor.keras.models import Functional, Sequential
from webtensor.keras.names import to_snake_case
from webtensor.keras.nodes import Operation
from webtensor.keras.saving.hdf5 import Group

__all__ = ["OTHER_NAMES", "load_state", "saved_assets", "saved_state"]

#: Base classes of objects with variables. They are looked up by name, since there are no such
#: objects before their module is imported.
_BASES = (
    ("webtensor.keras.optimizers", "Optimizer"),
    ("webtensor.keras.metrics", "Metric"),
    ("webtensor.keras.losses", "Loss"),
    ("webtensor.keras.feature_space", "FeaturePart"),
)

#: The names in Keras of classes that have another name here.
OTHER_NAMES = {"GroupQueryAttention": "GroupedQueryAttention"}

_Container: TypeAlias = "list[object] | tuple[object, ...] | dict[object, object]"


def _bases() -> Iterator[type]:
    """Yield the base classes of the objects whose attributes are walked over."""
    yield Operation
    for module, name in _BASES:
        base = getattr(modules.get(module), name, None)
        if base is not None:
            yield base


def _is_saveable(obj: object) -> bool:
    return isinstance(obj, tuple(_bases()))


@cache
def _skipped_attributes(base: type) -> frozenset[str]:
    """Return the attributes that all objects of a base class have, which are not walked over."""
    if base is Layer:
        return frozenset({*dir(Layer(name="layer")), "operations", "_functional", "_arguments"})
    return frozenset(dir(base)) - {"variables"}


def _children(obj: object) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object with their names, in Keras's order."""
    if isinstance(obj, (Functional, Sequential)):
        yield "layers", obj.layers
    base = next(base for base in (Layer, *_bases()) if isinstance(obj, base))
    skipped = _skipped_attributes(base)
    names = [name for name in dir(obj) if not name.startswith("__") and name not in skipped]
    for name in sorted(names, key=lambda name: f"~{name}" if name.startswith("_") else name):
        try:
            child = getattr(obj, name)
        except Exception:  # a property may raise anything, for instance before ``build``
            continue
        yield name, child


def _saveables(
    model: object, *, skipped: Iterable[object] = (), repeated: Iterable[object] = ()
) -> Iterator[tuple[str, object]]:
    """Yield all objects that may have variables, with their paths.

    Each object comes once, under its first path; those in ``repeated`` come under all their paths.
    """
    visited = {id(obj) for obj in skipped}
    repeated_ids = {id(obj) for obj in repeated}
    #: The objects that contain the current one, which may lead back to them.
    ancestors: list[int] = []

    def walk(path: str, obj: object) -> Iterator[tuple[str, object]]:
        identity = id(obj)
        if identity in (ancestors if identity in repeated_ids else visited):
            return
        visited.add(identity)
        ancestors.append(identity)
        yield path, obj
        for name, child in _children(obj):
            child_path = f"{path}/{name}" if path else name
            if _is_saveable(child):
                yield from walk(child_path, child)
            elif isinstance(child, (list, tuple, dict)):
                yield from walk_container(child_path, child)
        ancestors.pop()

    def walk_container(path: str, container: _Container) -> Iterator[tuple[str, object]]:
        if id(container) in visited:
            return
        visited.add(id(container))
        containers.append(container)
        counts: dict[str, int] = {}
        for item in container.values() if isinstance(container, dict) else container:
            if _is_saveable(item):
                yield from walk(f"{path}/{_unique(_name_of(item), counts)}", item)
            elif isinstance(item, (list, tuple, dict)):
                yield from walk_container(f"{path}/{_unique('container', counts)}", item)

    # An ``id`` is unique only while its object lives, and properties return new lists.
    containers: list[_Container] = []
    yield from walk("", model)


def _name_of(obj: object) -> str:
    name = type(obj).__name__
    return to_snake_case(OTHER_NAMES.get(name, name))


def _unique(name: str, counts: dict[str, int]) -> str:
    if name in counts:
        counts[name] += 1
        return f"{name}_{counts[name]}"
    counts[name] = 0
    return name


# -- saving ------------------------------------------------------------------------------------


def saved_state(model: object, skipped: Iterable[object] = ()) -> Group:
    """Return a tree with the values of all variables but those of the ``skipped`` objects."""
    tree = Group()
    for path, obj in _saveables(model, skipped=skipped):
        if not hasattr(obj, "save_own_variables"):
            continue
        store: dict[str, object] = {}
        obj.save_own_variables(store)
        group = tree.make(f"{path}/vars" if path else "vars")
        name = getattr(obj, "name", None)
        if isinstance(name, str):
            group.attributes["name"] = name
        for variable_name, value in store.items():
            group.put(variable_name, elements_of(value))
    return tree


def saved_assets(model: object) -> dict[str, bytes]:
    """Return the files that layers save beside their variables, such as vocabularies, by path."""
    assets = {}
    for path, obj in _saveables(model):
        if hasattr(obj, "save_assets"):
            for name, data in _files_of(obj.save_assets):
                assets[f"{path}/{name}" if path else name] = data
    return assets


def _files_of(save: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that a function saves in a folder, with their paths in it."""
    with TemporaryDirectory() as folder:
        save(folder)
        for file in sorted(Path(folder).rglob("*")):
            if file.is_file():
                yield file.relative_to(folder).as_posix(), file.read_bytes()


# -- loading -----------------------------------------------------------------------------------


class Store(Mapping[str, Tensor]):
    """The arrays of one layer or optimizer in a file, each made into a tensor when it is read."""

    def __init__(self, group: Group | None, where: str) -> None:
        self._arrays = {} if group is None else dict(group.arrays())
        self._where = where

    def __getitem__(self, name: str) -> Tensor:
        return tensor_of(self._arrays[name], f"{self._where}/{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def load_state(
    model: object,
    tree: Group,
    label: str,
    *,
    assets: Mapping[str, bytes] | None = None,
    skip_mismatch: bool = False,
    skipped: Iterable[object] = (),
) -> None:
    """Assign the values in a tree to all variables, or to none where one does not fit.

    Where the first path of an object in the tree does not fit, its other paths are tried.

    Args:
        model: whose variables are assigned to.
        tree: the arrays in the file.
        label: what errors call the file.
        assets: the files that layers saved beside their variables, by path.
        skip_mismatch: whether an object that does not fit stays as it was, with a warning.
        skipped: objects that stay as they were.

    Raises:
        ValueError: a part of the tree is missing or does not fit.
    """
    skipped = list(skipped)
    saveables = list(_saveables(model, skipped=skipped))
    old_values = [
        (variable, variable.value) for _, obj in saveables for variable in _variables_of(obj)
    ]
    old_value_of = {id(variable): value for variable, value in old_values}
    failures: dict[int, tuple[str, object, Exception]] = {}

    def load(path: str, obj: object) -> None:
        try:
            _load_object(obj, path, tree, label, assets)
            failures.pop(id(obj), None)
        except Exception as error:
            failures.setdefault(id(obj), (path, obj, error))
            for variable in _variables_of(obj):
                variable.assign(old_value_of[id(variable)])

    for path, obj in saveables:
        load(path, obj)
    if failures:
        failed = [obj for _, obj, _ in failures.values()]
        for path, obj in _saveables(model, skipped=skipped, repeated=failed):
            if id(obj) in failures and path != failures[id(obj)][0]:
                load(path, obj)
    if not failures:
        return
    path, obj, first_error = next(iter(failures.values()))
    text = f"{label}: {path or 'the model'} does not fit {_described(obj)}: {first_error}"
    if skip_mismatch:
        others = f" (and {len(failures) - 1} others)" if len(failures) > 1 else ""
        warn(f"{text}{others}; skipped", stacklevel=3)
        return
    for variable, value in old_values:
        variable.assign(value)
    raise ValueError(text) from first_error


def _load_object(
    obj: object, path: str, tree: Group, label: str, assets: Mapping[str, bytes] | None
) -> None:
    if hasattr(obj, "load_own_variables"):
        group_path = f"{path}/vars" if path else "vars"
        obj.load_own_variables(Store(tree.group(group_path), f"{label}: {group_path}"))
    if assets:
        _load_assets(obj, f"{path}/" if path else "", assets)


def _load_assets(obj: object, prefix: str, assets: Mapping[str, bytes]) -> None:
    own_assets = {
        name.removeprefix(prefix): data for name, data in assets.items() if name.startswith(prefix)
    }
    if not own_assets or not hasattr(obj, "load_assets"):
        return
    with TemporaryDirectory() as folder:
        for name, data in own_assets.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        obj.load_assets(folder)


def _variables_of(obj: object) -> list[Variable]:
    if isinstance(obj, Layer):
        return [*obj._trainable_variables, *obj._non_trainable_variables]
    return list(getattr(obj, "variables", ())) if hasattr(obj, "load_own_variables") else []


def _described(obj: object) -> str:
    return f"{type(obj).__name__} {getattr(obj, 'name', '')!r}"
