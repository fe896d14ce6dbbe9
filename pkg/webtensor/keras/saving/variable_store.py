"""The state of a model as a tree, under the names that Keras gives it, and back.

Keras walks over attributes: what a layer or an optimizer keeps in ``dense`` has its variables in
``dense/vars``; things in lists are named after their classes. Whatever is met twice is saved where
it was met first, so the order matters, too: the layers of functional models, then attributes by
name, those with an underscore last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from sys import modules
from tempfile import TemporaryDirectory
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras.layers import Layer
from webtensor.keras.models import Functional, Sequential
from webtensor.keras.names import to_snake_case
from webtensor.keras.nodes import Operation
from webtensor.keras.saving.element_types import elements_of, tensor_of
from webtensor.keras.saving.hdf5 import Group

__all__ = ["OTHER_NAMES", "load_state", "saved_assets", "saved_state"]

_BASES = (
    ("webtensor.keras.optimizers", "Optimizer"),
    ("webtensor.keras.metrics", "Metric"),
    ("webtensor.keras.losses", "Loss"),
    ("webtensor.keras.utils.feature_space", "FeaturePart"),
)


#: Classes that Keras itself calls differently.
OTHER_NAMES = {"GroupQueryAttention": "GroupedQueryAttention"}


def _bases() -> Iterator[Any]:
    """Classes whose attributes are walked over; of modules not imported there are no objects."""
    yield Operation
    for module, name in _BASES:
        if module in modules:
            yield getattr(modules[module], name, ())


def _is_saveable(thing: Any) -> bool:
    return any(isinstance(thing, base) for base in _bases())


@cache
def _skipped(base: type) -> frozenset[str]:
    """Attributes that are not walked over: those that all of a kind have."""
    if base is Layer:
        made: Any = Layer(name="layer")
        return frozenset({*dir(made), "operations", "_functional", "_arguments"})
    return frozenset(dir(base)) - {"variables"}


def _children(thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes by name, in Keras's order."""
    if isinstance(thing, (Functional, Sequential)):
        yield "layers", thing.layers
    skipped = _skipped(next(one for one in (Layer, *_bases()) if isinstance(thing, one)))
    names = [name for name in dir(thing) if not name.startswith("__") and name not in skipped]
    for name in sorted(names, key=lambda name: f"~{name}" if name.startswith("_") else name):
        try:
            child = getattr(thing, name)
        except Exception:  # a property may raise anything, such as that there is nothing yet
            continue
        yield name, child


def _saveables(
    model: Any, *, skipped: Iterable[Any] = (), anywhere: Iterable[Any] = ()
) -> Iterator[tuple[str, Any]]:
    """All that may have state, with its path; each once, but what is ``anywhere`` at all places."""
    visited = {id(one) for one in skipped}
    repeated = {id(one) for one in anywhere}
    #: What is being walked over, which may lead back to itself.
    around: list[int] = []

    def walk(path: str, thing: Any) -> Iterator[tuple[str, Any]]:
        known = id(thing)
        if known in (around if known in repeated else visited):
            return
        visited.add(known)
        around.append(known)
        yield path, thing
        for name, child in _children(thing):
            inner = f"{path}/{name}" if path else name
            if _is_saveable(child):
                yield from walk(inner, child)
            elif isinstance(child, (list, tuple, dict)):
                yield from walk_container(inner, child)
        around.pop()

    def walk_container(path: str, container: Any) -> Iterator[tuple[str, Any]]:
        if id(container) in visited:
            return
        visited.add(id(container))
        kept.append(container)
        taken: dict[str, int] = {}
        for one in container.values() if isinstance(container, dict) else container:
            if _is_saveable(one):
                yield from walk(f"{path}/{_unique(_name_of(one), taken)}", one)
            elif isinstance(one, (list, tuple, dict)):
                yield from walk_container(f"{path}/{_unique('container', taken)}", one)

    # Identities are told apart only while their owners live, and properties make new lists.
    kept: list[Any] = []
    yield from walk("", model)


def _name_of(thing: Any) -> str:
    name = type(thing).__name__
    return to_snake_case(OTHER_NAMES.get(name, name))


def _unique(name: str, taken: dict[str, int]) -> str:
    if name in taken:
        taken[name] += 1
        return f"{name}_{taken[name]}"
    taken[name] = 0
    return name


# -- saving ------------------------------------------------------------------------------------


def saved_state(model: Any, skipped: Iterable[Any] = ()) -> Group:
    """Return a tree with the values of all variables, without those of what is ``skipped``."""
    tree = Group()
    for path, thing in _saveables(model, skipped=skipped):
        if not hasattr(thing, "save_own_variables"):
            continue
        store: dict[str, Any] = {}
        thing.save_own_variables(store)
        group = tree.make(f"{path}/vars" if path else "vars")
        if isinstance(getattr(thing, "name", None), str):
            group.attributes["name"] = thing.name
        for name, value in store.items():
            group.put(name, elements_of(value))
    return tree


def saved_assets(model: Any) -> dict[str, bytes]:
    """Return files that layers keep, such as vocabularies, by their paths."""
    found = {}
    for path, thing in _saveables(model):
        if hasattr(thing, "save_assets"):
            with TemporaryDirectory() as folder:
                thing.save_assets(folder)
                for file in sorted(Path(folder).rglob("*")):
                    if file.is_file():
                        inside = file.relative_to(folder).as_posix()
                        found[f"{path}/{inside}" if path else inside] = file.read_bytes()
    return found


# -- loading -----------------------------------------------------------------------------------


class Store(Mapping[str, Any]):
    """The values of one layer or optimizer in a file, made into tensors when they are asked for."""

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
    model: Any,
    tree: Group,
    label: str,
    *,
    assets: Mapping[str, bytes] | None = None,
    skip_mismatch: bool = False,
    skipped: Iterable[Any] = (),
) -> None:
    """Give all variables the values in a tree; where one does not fit, none is changed.

    ``skip_mismatch`` leaves a layer as it was where its part does not fit, with a warning;
    ``skipped`` are left alone. What does not fit where it is met first may lie in the file where it
    is met later, under another name.

    Raises:
        ValueError: a part is missing or does not fit.
    """
    skipped = list(skipped)
    found = list(_saveables(model, skipped=skipped))
    before = [(one, one.value) for _, thing in found for one in _variables_of(thing)]
    old = {id(variable): value for variable, value in before}
    failures: dict[int, tuple[str, Any, Exception]] = {}

    def load(path: str, thing: Any) -> None:
        try:
            _load_one(thing, path, tree, label, assets)
            failures.pop(id(thing), None)
        except Exception as error:
            failures.setdefault(id(thing), (path, thing, error))
            for one in _variables_of(thing):
                one.assign(old[id(one)])

    for path, thing in found:
        load(path, thing)
    if failures:
        failed = [thing for _, thing, _ in failures.values()]
        for path, thing in _saveables(model, skipped=skipped, anywhere=failed):
            if id(thing) in failures and path != failures[id(thing)][0]:
                load(path, thing)
    if not failures:
        return
    path, thing, first = next(iter(failures.values()))
    text = f"{label}: {path or 'the model'} does not fit {_described(thing)}: {first}"
    if skip_mismatch:
        _warn_of_skipping(text, len(failures))
        return
    for variable, value in before:
        variable.assign(value)
    raise ValueError(text) from first


def _load_one(
    thing: Any, path: str, tree: Group, label: str, assets: Mapping[str, bytes] | None
) -> None:
    if hasattr(thing, "load_own_variables"):
        place = f"{path}/vars" if path else "vars"
        thing.load_own_variables(Store(tree.group(place), f"{label}: {place}"))
    if assets and hasattr(thing, "load_assets"):
        _load_assets(thing, f"{path}/" if path else "", assets)


def _load_assets(thing: Any, prefix: str, assets: Mapping[str, bytes]) -> None:
    own = {
        name.removeprefix(prefix): data for name, data in assets.items() if name.startswith(prefix)
    }
    if not own:
        return
    with TemporaryDirectory() as folder:
        for name, data in own.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        thing.load_assets(folder)


def _variables_of(thing: Any) -> list[Any]:
    if isinstance(thing, Layer):
        return [*thing._trainable_variables, *thing._non_trainable_variables]
    return list(thing.variables) if hasattr(thing, "load_own_variables") else []


def _described(thing: Any) -> str:
    return f"{type(thing).__name__} {getattr(thing, 'name', '')!r}"


def _warn_of_skipping(text: str, count: int) -> None:
    from warnings import warn

    more = f" (and {count - 1} others)" if count > 1 else ""
    warn(f"{text}{more}; skipped", stacklevel=4)
