"""Structures under the names of ``keras.tree``: lists, tuples and dictionaries of things.

All of them check what they are given; the library itself uses ``nest``, which does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from webtensor.keras.nest import alike, flatten, is_nested, keys, pack
from webtensor.keras.symbols import is_shape

__all__ = [
    "MAP_TO_NONE",
    "assert_same_paths",
    "assert_same_structure",
    "flatten",
    "flatten_with_path",
    "is_nested",
    "lists_to_tuples",
    "map_shape_structure",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
    "traverse",
]


class MAP_TO_NONE:  # noqa: N801  (Keras's name)
    """What a function returns to ``traverse`` for None, as None itself changes nothing."""


def flatten_with_path(structure: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return all things inside, each after the keys and indices that lead to it.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.flatten_with_path([{"a": 42}])
        [((0, 'a'), 42)]
    """
    if not is_nested(structure):
        return [((), structure)]
    return [
        ((key, *path), one)
        for key in keys(structure)
        for path, one in flatten_with_path(structure[key])
    ]


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """Return a structure like the given one with other things inside.

    Raises:
        TypeError: ``flat_sequence`` is not iterable.
        ValueError: there are more or fewer things than before.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.pack_sequence_as({"a": 1, "b": (2, 3)}, [4, 5, 6])
        {'a': 4, 'b': (5, 6)}
    """
    if not isinstance(flat_sequence, Iterable):
        raise TypeError(
            f"pack_sequence_as: flat_sequence must be iterable, but got {flat_sequence!r}"
        )
    things = list(flat_sequence)
    count = len(flatten(structure))
    if len(things) != count:
        raise ValueError(
            f"pack_sequence_as: structure has {count} leaves, but flat_sequence holds {len(things)}"
        )
    return pack(structure, things)


# -- comparing ---------------------------------------------------------------------------------


def _kind(structure: Any) -> type:
    """What must be the same in structures that correspond."""
    return dict if isinstance(structure, dict) else type(structure)


def _check_pair(where: str, first: Any, second: Any) -> None:
    """Compare the outermost level of two structures."""
    begin = f"{where}: the structures don't have the same nested structure: "
    if _kind(first) is not _kind(second):
        kinds = [_named_kind(one) for one in (first, second)]
        raise ValueError(f"{begin}expected {kinds[0]}, but got {kinds[1]}: {second!r}")
    if len(first) != len(second):
        raise ValueError(
            f"{begin}their number of parts differs (arity mismatch): expected {len(first)} parts, "
            f"but got {len(second)}: {second!r}"
        )
    if isinstance(first, dict) and first.keys() != second.keys():
        raise ValueError(
            f"{begin}dictionary key mismatch: expected {list(first)}, but got {list(second)}"
        )


def _named_kind(structure: Any) -> str:
    kind = type(structure)
    is_named = isinstance(structure, tuple) and hasattr(structure, "_fields")
    what = f"namedtuple {kind.__module__}.{kind.__name__}" if is_named else kind.__name__
    return what if is_nested(structure) else f"no structure but a leaf ({what})"


def assert_same_structure(a: Any, b: Any, check_types: Any = None) -> None:
    """Compare two structures, but not what is inside; kinds of dictionaries are one.

    ``check_types`` changes nothing.

    Raises:
        ValueError: they differ.
    """
    _mapped("assert_same_structure", lambda *_: None, (a, b), True, True)


def assert_same_paths(a: Any, b: Any) -> None:
    """Compare the keys and indices that lead to things, but not what kinds of structures these are.

    Raises:
        ValueError: they differ.
    """
    paths = [dict(flatten_with_path(one)).keys() for one in (a, b)]
    if paths[0] != paths[1]:
        raise ValueError(
            "assert_same_paths: the structures don't have the same paths: only in a: "
            f"{sorted(map(str, paths[0] - paths[1]))}, only in b: "
            f"{sorted(map(str, paths[1] - paths[0]))}"
        )


# -- mapping -----------------------------------------------------------------------------------


def _check_mapping(where: str, func: Any, structures: tuple[Any, ...]) -> None:
    if not callable(func):
        raise TypeError(f"{where}: func must be callable, but got {func!r}")
    if not structures:
        raise ValueError(f"{where}: there must be at least one structure")


def _mapped(
    where: str,
    func: Callable[..., Any],
    rows: tuple[Any, ...],
    is_whole: bool,
    none_is_leaf: bool,
) -> Any:
    """Map corresponding parts, down to the leaves of the first structure.

    Where ``is_whole``, the others end there, too.
    """
    first = rows[0]
    if not is_nested(first):
        for one in rows[1:] if is_whole else ():
            if is_nested(one) or (first is None and not none_is_leaf and one is not None):
                raise ValueError(
                    f"{where}: the structures don't have the same nested structure: expected a "
                    f"leaf like {first!r}, but got {one!r}"
                )
        return None if first is None and not none_is_leaf else func(*rows)
    for one in rows[1:]:
        _check_pair(where, first, one)
    parts = [
        _mapped(where, func, tuple(one[key] for one in rows), is_whole, none_is_leaf)
        for key in keys(first)
    ]
    return alike(first, parts)


def map_structure(func: Callable[..., Any], *structures: Any, none_is_leaf: bool = True) -> Any:
    """Call a function with what is inside, at corresponding places; a structure of its results.

    Without ``none_is_leaf`` it is not called with None, which stays.

    Raises:
        TypeError: ``func`` is not callable.
        ValueError: the structures differ, or there is none.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.map_structure(lambda x, y: x * y, [1, {"a": 2}], [3, {"a": 4}])
        [3, {'a': 8}]
    """
    _check_mapping("map_structure", func, structures)
    return _mapped("map_structure", func, structures, True, none_is_leaf)


def map_structure_up_to(shallow_structure: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """Call a function with the parts of structures that are where another one has its leaves.

    Raises:
        TypeError: ``func`` is not callable.
        ValueError: a structure is shallower or another, or there is none.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.map_structure_up_to([None, None], len, [[1, 1], [2]])
        [2, 1]
    """
    where = "map_structure_up_to"
    _check_mapping(where, func, structures)
    rows = (shallow_structure, *structures)
    return _mapped(where, lambda _, *parts: func(*parts), rows, False, True)


def map_shape_structure(func: Callable[..., Any], structure: Any) -> Any:
    """Call a function with the shapes in a structure, and with other things that are in it.

    A shape is a tuple or a list of integers and None.

    Raises:
        TypeError: ``func`` is not callable.
    """
    _check_mapping("map_shape_structure", func, (structure,))
    if is_shape(structure) or not is_nested(structure):
        return func(structure)
    return alike(structure, [map_shape_structure(func, structure[key]) for key in keys(structure)])


def traverse(func: Callable[[Any], Any], structure: Any, top_down: bool = True) -> Any:
    """Call a function with a structure and all parts of it; what it returns replaces them.

    None replaces nothing, and ``MAP_TO_NONE`` stands for None. What was replaced is not entered.
    If not ``top_down``, parts come before what they are in.

    Raises:
        TypeError: ``func`` is not callable.

    Example:
        >>> from webtensor import keras
        >>> seen = []
        >>> keras.tree.traverse(seen.append, [(1, 2), 3])
        [(1, 2), 3]
        >>> seen
        [[(1, 2), 3], (1, 2), 1, 2, 3]
    """
    _check_mapping("traverse", func, (structure,))
    found = func(structure) if top_down else None
    if found is None and is_nested(structure):
        parts = [traverse(func, structure[key], top_down) for key in keys(structure)]
        structure = alike(structure, parts)
    if not top_down:
        found = func(structure)
    if found is MAP_TO_NONE or isinstance(found, MAP_TO_NONE):
        return None
    return structure if found is None else found


def lists_to_tuples(structure: Any) -> Any:
    """Return the structure with tuples in the places of lists."""

    def as_tuple(one: Any) -> Any:
        return tuple(one) if isinstance(one, list) else None

    return traverse(as_tuple, structure, top_down=False)
