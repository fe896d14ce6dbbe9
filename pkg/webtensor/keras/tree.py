"""The functions of ``keras.tree`` on structures: lists, tuples and dictionaries, maybe nested.

They check their arguments; the library itself uses ``nest``, which does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from webtensor.arguments import check_callable
from webtensor.keras.symbols import is_shape
from webtensor.nest import Structure, alike, flatten, is_nested, keys, pack

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


#: The keys and indices that lead to a leaf.
Path: TypeAlias = tuple[Any, ...]


class MAP_TO_NONE:  # noqa: N801  (Keras's name)
    """The result by which a function makes ``traverse`` replace a part by None."""


def flatten_with_path(structure: object) -> list[tuple[Path, Any]]:
    """Return pairs of paths and leaves; a path consists of keys and indices.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.flatten_with_path([{"a": 42}])
        [((0, 'a'), 42)]
    """
    if not is_nested(structure):
        return [((), structure)]
    return [
        ((key, *path), leaf)
        for key in keys(structure)
        for path, leaf in flatten_with_path(structure[key])
    ]


def pack_sequence_as(structure: object, flat_sequence: Iterable[object]) -> Any:
    """Return a structure like the given one with other leaves.

    Raises:
        TypeError: ``flat_sequence`` is not iterable.
        ValueError: the number of leaves differs.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.pack_sequence_as({"a": 1, "b": (2, 3)}, [4, 5, 6])
        {'a': 4, 'b': (5, 6)}
    """
    if not isinstance(flat_sequence, Iterable):
        raise TypeError(
            f"pack_sequence_as: flat_sequence must be iterable, but got {flat_sequence!r}"
        )
    leaves = list(flat_sequence)
    count = len(flatten(structure))
    if len(leaves) != count:
        raise ValueError(
            f"pack_sequence_as: structure has {count} leaves, but flat_sequence holds {len(leaves)}"
        )
    return pack(structure, leaves)


# -- comparing ---------------------------------------------------------------------------------


def _kind(structure: object) -> type:
    """Return the type that corresponding structures share; all dictionaries are of one type."""
    return dict if isinstance(structure, dict) else type(structure)


def _check_pair(function: str, first: Structure, second: Any) -> None:
    """Compare the outermost level of two structures."""
    prefix = f"{function}: the structures don't have the same nested structure: "
    if _kind(first) is not _kind(second):
        raise ValueError(
            f"{prefix}expected {_kind_name(first)}, but got {_kind_name(second)}: {second!r}"
        )
    if len(first) != len(second):
        raise ValueError(
            f"{prefix}their number of parts differs (arity mismatch): expected {len(first)} parts, "
            f"but got {len(second)}: {second!r}"
        )
    if isinstance(first, dict) and first.keys() != second.keys():
        raise ValueError(
            f"{prefix}dictionary key mismatch: expected {list(first)}, but got {list(second)}"
        )


def _kind_name(structure: object) -> str:
    kind = type(structure)
    is_named = isinstance(structure, tuple) and hasattr(structure, "_fields")
    name = f"namedtuple {kind.__module__}.{kind.__name__}" if is_named else kind.__name__
    return name if is_nested(structure) else f"no structure but a leaf ({name})"


def assert_same_structure(a: object, b: object, check_types: object = None) -> None:
    """Check that two structures are the same except for their leaves and types of dictionaries.

    ``check_types`` has no effect.

    Raises:
        ValueError: they differ.
    """
    _mapped("assert_same_structure", lambda *_: None, (a, b), True, True)


def assert_same_paths(a: object, b: object) -> None:
    """Check that the leaves of two structures have the same paths, whatever the types are.

    Raises:
        ValueError: they differ.
    """
    paths_a, paths_b = (dict(flatten_with_path(structure)).keys() for structure in (a, b))
    if paths_a != paths_b:
        raise ValueError(
            "assert_same_paths: the structures don't have the same paths: only in a: "
            f"{sorted(map(str, paths_a - paths_b))}, only in b: "
            f"{sorted(map(str, paths_b - paths_a))}"
        )


# -- mapping -----------------------------------------------------------------------------------


def _check_arguments(function: str, func: object, structures: tuple[object, ...]) -> None:
    check_callable(function, "func", func)
    if not structures:
        raise ValueError(f"{function}: there must be at least one structure")


def _mapped(
    function: str,
    func: Callable[..., object],
    structures: tuple[Any, ...],
    to_leaves: bool,
    none_is_leaf: bool,
) -> Any:
    """Call ``func`` with corresponding parts, down to the leaves of the first structure.

    With ``to_leaves``, the leaves of the other structures must correspond to these.
    """
    first = structures[0]
    if not is_nested(first):
        for other in structures[1:] if to_leaves else ():
            if is_nested(other) or (first is None and not none_is_leaf and other is not None):
                raise ValueError(
                    f"{function}: the structures don't have the same nested structure: expected a "
                    f"leaf like {first!r}, but got {other!r}"
                )
        return None if first is None and not none_is_leaf else func(*structures)
    for other in structures[1:]:
        _check_pair(function, first, other)
    items = [
        _mapped(
            function,
            func,
            tuple(structure[key] for structure in structures),
            to_leaves,
            none_is_leaf,
        )
        for key in keys(first)
    ]
    return alike(first, items)


def map_structure(
    func: Callable[..., object], *structures: object, none_is_leaf: bool = True
) -> Any:
    """Return a structure of the results of a function that is called with corresponding leaves.

    Without ``none_is_leaf``, it is not called with None, and the result there is None.

    Raises:
        TypeError: ``func`` is not callable.
        ValueError: the structures differ, or there are none.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.map_structure(lambda x, y: x * y, [1, {"a": 2}], [3, {"a": 4}])
        [3, {'a': 8}]
    """
    _check_arguments("map_structure", func, structures)
    return _mapped("map_structure", func, structures, True, none_is_leaf)


def map_structure_up_to(
    shallow_structure: object, func: Callable[..., object], *structures: object
) -> Any:
    """Call a function with the parts of structures at the leaves of ``shallow_structure``.

    Raises:
        TypeError: ``func`` is not callable.
        ValueError: a structure differs from ``shallow_structure``, or there are none.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.map_structure_up_to([None, None], len, [[1, 1], [2]])
        [2, 1]
    """
    name = "map_structure_up_to"
    _check_arguments(name, func, structures)
    return _mapped(
        name, lambda _, *parts: func(*parts), (shallow_structure, *structures), False, True
    )


def map_shape_structure(func: Callable[..., object], structure: object) -> Any:
    """Call a function with the shapes in a structure, and with its other leaves.

    A shape is a tuple or a list of integers and None.

    Raises:
        TypeError: ``func`` is not callable.
    """
    _check_arguments("map_shape_structure", func, (structure,))
    if is_shape(structure) or not is_nested(structure):
        return func(structure)
    return alike(structure, [map_shape_structure(func, structure[key]) for key in keys(structure)])


def traverse(func: Callable[[Any], object], structure: object, top_down: bool = True) -> Any:
    """Call a function with a structure and all its parts, which the results replace.

    A result of None replaces nothing, and ``MAP_TO_NONE`` replaces a part by None. The items of a
    replaced part are not visited. Unless ``top_down``, items are visited before their structure.

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
    _check_arguments("traverse", func, (structure,))
    result = func(structure) if top_down else None
    if result is None and is_nested(structure):
        items = [traverse(func, structure[key], top_down) for key in keys(structure)]
        structure = alike(structure, items)
    if not top_down:
        result = func(structure)
    if result is MAP_TO_NONE or isinstance(result, MAP_TO_NONE):
        return None
    return structure if result is None else result


def lists_to_tuples(structure: object) -> Any:
    """Return the structure with tuples instead of lists."""

    def as_tuple(part: object) -> tuple[Any, ...] | None:
        return tuple(part) if isinstance(part, list) else None

    return traverse(as_tuple, structure, top_down=False)
