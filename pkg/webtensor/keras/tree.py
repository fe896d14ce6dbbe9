"""Structures under the names of ``keras.tree``: lists, tuples and dictionaries of things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.keras.nest import flatten, is_nested, map_structure, pack

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Return a structure like the given one with other things inside.

    Raises:
        ValueError: there are more or fewer things than before.

    Example:
        >>> from webtensor import keras
        >>> keras.tree.pack_sequence_as({"a": 1, "b": (2, 3)}, [4, 5, 6])
        {'a': 4, 'b': (5, 6)}
    """
    count = len(flatten(structure))
    if len(flat_sequence) != count:
        raise ValueError(
            f"pack_sequence_as: structure holds {count} things, but flat_sequence has "
            f"{len(flat_sequence)}"
        )
    return pack(structure, flat_sequence)


def assert_same_structure(a: Any, b: Any) -> None:
    """Compare two structures, but not what is inside.

    Raises:
        ValueError: they differ.
    """
    first, second = (map_structure(lambda _: None, one) for one in (a, b))
    if first != second or type(first) is not type(second):
        raise ValueError(f"assert_same_structure: the structures differ: {a!r} and {b!r}")
