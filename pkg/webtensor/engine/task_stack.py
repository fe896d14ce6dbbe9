"""State with a separate value for each task of the event loop.

While a task awaits within a ``with``, other tasks run; the block must not affect them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["TaskStack"]

Item = TypeVar("Item")


class TaskStack(Generic[Item]):
    """A stack for each task; a new task starts with a copy of its parent's.

    Blocks may end in another order than they began.
    """

    __slots__ = ("_items", "get")

    def __init__(self, name: str) -> None:
        self._items: ContextVar[tuple[Item, ...]] = ContextVar(name, default=())
        #: Return all items, the innermost last. Every call of a layer uses it, so it is bound once.
        self.get = self._items.get

    def push(self, item: Item) -> None:
        """Push an item."""
        self._items.set((*self._items.get(), item))

    def remove(self, item: Item) -> None:
        """Remove an item, the innermost if it is there several times."""
        items = self._items.get()
        if items and items[-1] is item:
            self._items.set(items[:-1])
            return
        for index in reversed(range(len(items))):
            if items[index] is item:
                self._items.set(items[:index] + items[index + 1 :])
                return

    @contextmanager
    def holding(self, item: Item) -> Iterator[Item]:
        """Have an item on the stack within the ``with``."""
        self.push(item)
        try:
            yield item
        finally:
            self.remove(item)

    @property
    def top(self) -> Item:
        """The innermost item."""
        return self._items.get()[-1]

    def __iter__(self) -> Iterator[Item]:
        """Iterate from the outermost item to the innermost."""
        return iter(self._items.get())

    def __reversed__(self) -> Iterator[Item]:
        return reversed(self._items.get())

    def __contains__(self, item: object) -> bool:
        return any(other is item for other in self._items.get())

    def __bool__(self) -> bool:
        return bool(self._items.get())
