"""Structures: nested lists, tuples and dictionaries, flattened and packed again.

Dictionaries are flattened in the sorted order of their keys, as in Keras, so that equal ones
correspond; an OrderedDict keeps its order. Named tuples and deques keep their types.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["alike", "flatten", "is_nested", "keys", "map_structure", "pack"]


def is_nested(structure: Any) -> bool:
    """Whether there may be things inside."""
    return isinstance(structure, (list, tuple, dict, deque))


def flatten(structure: Any) -> list[Any]:
    """Return all things inside, in order."""
    leaves: list[Any] = []
    _collect(structure, leaves)
    return leaves


def _collect(structure: Any, leaves: list[Any]) -> None:
    if isinstance(structure, (list, tuple, deque)):
        for item in structure:
            _collect(item, leaves)
    elif isinstance(structure, dict):
        for key in keys(structure):
            _collect(structure[key], leaves)
    else:
        leaves.append(structure)


def keys(structure: Any) -> Sequence[Any]:
    """Return what to index a structure with, in the order in which it is taken apart."""
    if not isinstance(structure, dict):
        return range(len(structure))
    if isinstance(structure, OrderedDict):
        return list(structure)
    try:
        return sorted(structure)
    except TypeError:  # of several types
        return list(structure)


def alike(structure: Any, parts: list[Any]) -> Any:
    """Return a structure like ``structure`` with other parts, one for each of its ``keys``."""
    if isinstance(structure, dict):
        parts_by_key = dict(zip(keys(structure), parts, strict=True))
        ordered = {key: parts_by_key[key] for key in structure}
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, ordered)
        return type(structure)(ordered) if isinstance(structure, OrderedDict) else ordered
    if isinstance(structure, deque):
        return type(structure)(parts, structure.maxlen)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return tuple(parts) if isinstance(structure, tuple) else list(parts)


def pack(structure: Any, things: Iterable[Any]) -> Any:
    """Return a structure like ``structure`` with other leaves."""
    return _packed(structure, iter(things))


def _packed(structure: Any, things: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(things)
    return alike(structure, [_packed(structure[key], things) for key in keys(structure)])


def map_structure(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Call a function with the leaves at corresponding positions; return a structure of results."""
    columns = [flatten(tree) for tree in (structure, *others)]
    return pack(structure, [function(*row) for row in zip(*columns, strict=True)])
