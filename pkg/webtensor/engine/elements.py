"""What reading a tensor returns: its elements in host memory, which show their numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from webtensor.dtypes import DType

__all__ = ["Elements", "read_only"]


class Elements:
    """The elements of a tensor, flat and read-only, like a typed array of JavaScript.

    They are a sequence of numbers and a buffer, and have the attributes and methods of a
    ``memoryview``, such as ``tolist``, ``tobytes`` and ``nbytes``.
    """

    __slots__ = ("_view", "dtype")

    def __init__(self, view: memoryview[Any], dtype: DType) -> None:
        self._view = view
        self.dtype = dtype

    def __buffer__(self, flags: int, /) -> memoryview[Any]:
        return self._view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._view)

    def __getitem__(self, key: Any) -> Any:
        part = self._view[key]
        return Elements(part, self.dtype) if isinstance(key, slice) else part

    def __eq__(self, other: object) -> bool:
        return self._view == (other._view if isinstance(other, Elements) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from webtensor.engine.array_text import array_text

        start = "Elements("
        text = array_text(self._view.tolist(), (len(self),), self.dtype, indent=len(start))
        return f"{start}{text}, dtype={self.dtype})"


def read_only(elements: Any, dtype: DType) -> Any:
    """Return elements in host memory so that they cannot be written to; text is a tuple anyway."""
    if type(elements) is tuple:
        return elements
    if sys.version_info >= (3, 12):
        return Elements(elements.toreadonly(), dtype.stored)
    return elements.toreadonly()  # before Python 3.12 no class of Python can be a buffer
