"""Structures: lists, tuples and dictionaries, which may be nested, and their leaves.

The items of dictionaries are in the order of their sorted keys, as in Keras, so that the leaves of
equal dictionaries correspond; an OrderedDict has its own order. Named tuples and deques are
structures, too, and keep their types. None is a leaf, except to ``leaves`` and ``pack_leaves``: to
functions of functions it is an empty structure, as in JAX.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeGuard

__all__ = [
    "Structure",
    "alike",
    "flatten",
    "form",
    "is_nested",
    "keys",
    "leaves",
    "map_structure",
    "pack",
    "pack_leaves",
]

Structure: TypeAlias = list[Any] | tuple[Any, ...] | dict[Any, Any] | deque[Any]


def is_nested(structure: object) -> TypeGuard[Structure]:
    """Whether an object is a structure, not a leaf."""
    return isinstance(structure, (list, tuple, dict, deque))


def flatten(structure: object) -> list[Any]:
    """Return the leaves of a structure, in order."""
    leaves: list[Any] = []
    _collect(structure, leaves)
    return leaves


def _collect(structure: object, leaves: list[object]) -> None:
    if isinstance(structure, (list, tuple, deque)):
        for item in structure:
            _collect(item, leaves)
    elif isinstance(structure, dict):
        for key in keys(structure):
            _collect(structure[key], leaves)
    else:
        leaves.append(structure)


def keys(structure: Structure) -> Sequence[Any]:
    """Return the indices or keys of a structure's items, in order."""
    if not isinstance(structure, dict):
        return range(len(structure))
    if isinstance(structure, OrderedDict):
        return list(structure)
    try:
        return sorted(structure)
    except TypeError:  # keys of several types
        return list(structure)


def alike(structure: Structure, items: list[Any]) -> Any:
    """Return a structure of the same type with other items, one for each of its ``keys``."""
    if isinstance(structure, dict):
        by_key = dict(zip(keys(structure), items, strict=True))
        ordered = {key: by_key[key] for key in structure}
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, ordered)
        return type(structure)(ordered) if isinstance(structure, OrderedDict) else ordered
    if isinstance(structure, deque):
        return type(structure)(items, structure.maxlen)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*items)
    return tuple(items) if isinstance(structure, tuple) else list(items)


def pack(structure: object, leaves: Iterable[object]) -> Any:
    """Return a structure like the given one with other leaves."""
    return _pack(structure, iter(leaves))


def _pack(structure: object, leaves: Iterator[object]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return alike(structure, [_pack(structure[key], leaves) for key in keys(structure)])


def map_structure(function: Callable[..., object], structure: object, *others: object) -> Any:
    """Return a structure of the results of a function that is called with corresponding leaves."""
    if not others:
        return _mapped(function, structure)
    columns = [flatten(each) for each in (structure, *others)]
    return pack(structure, [function(*leaves) for leaves in zip(*columns, strict=True)])


def _mapped(function: Callable[..., object], structure: object) -> Any:
    if not is_nested(structure):
        return function(structure)
    return alike(structure, [_mapped(function, structure[key]) for key in keys(structure)])


def form(structure: object) -> Any:
    """Return a structure with words for its leaves; those of structures alike are equal."""
    return _mapped(lambda leaf: None if leaf is None else "tensor", structure)


def leaves(structure: object) -> list[Any]:
    """Return the leaves of a structure that are not None, in order."""
    return [leaf for leaf in flatten(structure) if leaf is not None]


def pack_leaves(structure: object, leaves: Iterable[object]) -> Any:
    """Return a structure like the given one with other ``leaves``, and None where it has None."""
    remaining = iter(leaves)
    return map_structure(lambda leaf: None if leaf is None else next(remaining), structure)
