"""Packages whose modules are imported when one of their names is first used.

A package says which module has which of its names; editors and type checkers read the imports that
stand beside under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any

__all__ = ["Members", "contents", "lazy_aliases", "lazy_contents"]


def contents(table: str) -> dict[str, list[str]]:
    """Return the names of each module, given as ``module: name name …``, over one line or several.

    Example:
        >>> contents("first: one two second: three")
        {'first': ['one', 'two'], 'second': ['three']}
    """
    modules: dict[str, list[str]] = {}
    for word in table.split():
        if word.endswith(":"):
            names = modules[word[:-1]] = []
        else:
            names.append(word)
    return modules


def lazy_contents(
    package: str,
    contents: Mapping[str, Iterable[str]],
    *namespaces: str,
    base: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package.

    ``contents`` has the public names of each module in the package, or in the package ``base``;
    ``namespaces`` are modules that are public themselves. A name that was used once is an attribute
    of the package.
    """
    homes = {name: module for module, names in contents.items() for name in names}

    def load(name: str) -> Any:
        if name in homes:
            value: object = getattr(import_module(f"{base or package}.{homes[name]}"), name)
        elif name in namespaces:
            value = import_module(f"{package}.{name}")
        else:
            text = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *namespaces})

    return load, names


def lazy_aliases(
    namespace: str, package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a namespace of another package's names.

    ``names`` has, for each name of the namespace, the name in the package, which may be dotted.
    """

    def load(name: str) -> Any:
        if name not in names:
            from webtensor.peer_names import missing_attribute

            raise missing_attribute(sys.modules[namespace], name)
        value: object = attrgetter(names[name])(sys.modules[package])
        setattr(sys.modules[namespace], name, value)
        return value

    return load, lambda: sorted(names)


class Members(Mapping[str, Any]):
    """Names of a package, with what they name, which is imported when it is read."""

    def __init__(self, package: str, names: Iterable[str]) -> None:
        self._package = package
        self._names = tuple(names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(sys.modules[self._package], name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
