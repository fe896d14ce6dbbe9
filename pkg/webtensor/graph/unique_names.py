"""Names that no two nodes of a graph have."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["UniqueNames"]


class UniqueNames:
    """Hands out names, each of them once.

    Args:
        names: the names that are taken already.

    Example:
        >>> names = UniqueNames(["x"])
        >>> names.new("x"), names.new("x"), names.new("y")
        ('x_1', 'x_2', 'y')
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        #: The last number that was put after each name.
        self._numbers = dict.fromkeys(names, 0)

    def __len__(self) -> int:
        return len(self._numbers)

    def new(self, wanted: str) -> str:
        """Take a name, with a number after it where it is taken already, and return it."""
        name = wanted
        while name in self._numbers:
            self._numbers[wanted] += 1
            name = f"{wanted}_{self._numbers[wanted]}"
        self._numbers[name] = 0
        return name
