"""Structures: lists, tuples and dictionaries of things, taken apart and put together again.

Dictionaries are taken apart in the order of their keys, as in Keras, so that equal ones correspond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["flatten", "is_nested", "map_structure", "pack"]


def is_nested(structure: Any) -> bool:
    """Whether there may be things inside."""
    return isinstance(structure, (list, tuple, dict))


def flatten(structure: Any) -> list[Any]:
    """Return all things inside, in order."""
    found: list[Any] = []
    _collect(structure, found)
    return found


def _collect(structure: Any, found: list[Any]) -> None:
    if isinstance(structure, (list, tuple)):
        for one in structure:
            _collect(one, found)
    elif isinstance(structure, dict):
        for key in _keys(structure):
            _collect(structure[key], found)
    else:
        found.append(structure)


def _keys(structure: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:  # of several types
        return list(structure)


def pack(structure: Any, things: Iterable[Any]) -> Any:
    """Return a structure like the given one with other things inside."""
    return _packed(structure, iter(things))


def _packed(structure: Any, things: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], things) for key in _keys(structure)}
        return {key: made[key] for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_packed(one, things) for one in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(_packed(one, things) for one in structure)
    return next(things)


def map_structure(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Call a function with what is inside, at corresponding places; a structure of its results."""
    columns = [flatten(one) for one in (structure, *others)]
    return pack(structure, [function(*row) for row in zip(*columns, strict=True)])
