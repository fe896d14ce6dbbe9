"""Names that nodes of a graph may have, and that no two of them have."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["UniqueNames", "node_name"]


def node_name(tensor: str) -> str:
    """Return a name for the node of a tensor, which has no colons.

    Example:
        >>> node_name("x:0"), node_name("onnx::Conv_1")
        ('x', 'onnx__Conv_1')
    """
    return tensor.removesuffix(":0").replace(":", "_").lstrip("/^") or "node"


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

    def new(self, base: str) -> str:
        """Take a name, with a number after it where it is taken already, and return it."""
        name = base
        while name in self._numbers:
            self._numbers[base] += 1
            name = f"{base}_{self._numbers[base]}"
        self._numbers[name] = 0
        return name
