"""Containers that tell a layer of what is put into them later, so that it knows its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex
from weakref import WeakMethod

from webtensor.engine import Tensor
from webtensor.keras.nest import flatten
from webtensor.keras.symbols import KerasTensor

__all__ = ["TrackedDict", "TrackedList", "TrackedSet", "follow", "tracked"]

_PLAIN = (str, int, float, bool)
_TENSORS = (Tensor, KerasTensor)

#: A method that is told of each thing that comes into a container.
Note = Callable[[Any], None]


def tracked(value: Any, note: Note) -> Any:
    """Return a list, set or dictionary as one that tells of what comes; other things as they are.

    Containers of numbers and text alone, and those with tensors, stay what they are. What is inside
    is told at once.
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        for one in flatten(value):
            if not isinstance(one, _PLAIN):
                note(one)
        return value
    inside = _inside(value)
    if value and all(isinstance(one, _PLAIN) for one in inside):
        return value
    if any(isinstance(one, _TENSORS) for one in inside):
        return value
    return kind(value, note)


def follow(value: Any, note: Note) -> None:
    """Let the containers of a layer that was copied tell it, as those of the first layer do."""
    if isinstance(value, _Telling):
        value._note = WeakMethod(note)
        for part in _inside(value):
            follow(part, note)


def _inside(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


class _Telling:
    """What the containers share. They do not keep the layer alive, and their copies tell nobody."""

    _note: WeakMethod[Note] | None = None

    def _seen(self, value: Any) -> Any:
        note = None if self._note is None else self._note()
        return value if note is None else tracked(value, note)

    def __getstate__(self) -> None:
        """Nothing is kept by copies."""


class TrackedList(_Telling, list[Any]):
    """A list."""

    def __init__(self, values: Iterable[Any] = (), note: Note | None = None) -> None:
        super().__init__()
        self._note = None if note is None else WeakMethod(note)
        self.extend(values)

    def append(self, value: Any) -> None:
        """Add a thing."""
        super().append(self._seen(value))

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Add a thing before another."""
        super().insert(index, self._seen(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Add things."""
        super().extend(self._seen(one) for one in values)

    def __iadd__(self, values: Iterable[Any]) -> TrackedList:  # type: ignore[misc]
        self.extend(values)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, [self._seen(one) for one in value])
        else:
            super().__setitem__(index, self._seen(value))


class TrackedDict(_Telling, dict[Any, Any]):
    """A dictionary."""

    def __init__(self, values: Any = (), note: Note | None = None) -> None:
        super().__init__()
        self._note = None if note is None else WeakMethod(note)
        self.update(values)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, self._seen(value))

    def update(self, *others: Any, **named: Any) -> None:
        """Set several entries."""
        for key, value in dict(*others, **named).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return an entry, which is made if there is none."""
        if key not in self:
            self[key] = default
        return self[key]


class TrackedSet(_Telling, set[Any]):
    """A set."""

    def __init__(self, values: Iterable[Any] = (), note: Note | None = None) -> None:
        super().__init__()
        self._note = None if note is None else WeakMethod(note)
        self.update(values)

    def add(self, value: Any) -> None:
        """Add a thing."""
        super().add(self._seen(value))

    def update(self, *others: Iterable[Any]) -> None:
        """Add things."""
        for values in others:
            for one in values:
                self.add(one)


_KINDS: dict[type, Any] = {list: TrackedList, dict: TrackedDict, set: TrackedSet}
