"""What a program consists of, as type checkers see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Stage"]


class Stage(Protocol):
    """A part of a program: calls of kernels, a loop, or a way back through one.

    Attributes:
        values: the numbers of the values that it makes.
    """

    values: list[int]

    def results(self, storages: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return what it makes: storages, and histories of loops."""

    def close(self) -> None:
        """Free what the backend keeps."""
