"""Lists, sets and dictionaries that report new items, so that layers find variables in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex, TypeAlias
from weakref import WeakMethod

from webtensor.engine import Tensor
from webtensor.keras.symbols import KerasTensor
from webtensor.nest import flatten

__all__ = ["TrackedDict", "TrackedList", "TrackedSet", "follow", "tracked"]

_PLAIN_TYPES = (str, int, float, bool)
_TENSOR_TYPES = (Tensor, KerasTensor)

#: A method that is called with each new item.
Observer: TypeAlias = Callable[[object], None]


def tracked(value: object, observer: Observer) -> Any:
    """Return a list, set or dictionary as one that reports its items; other values as they are.

    Containers of numbers and strings alone, and those with tensors, stay as they are. The present
    items are reported at once.
    """
    container_class = _CLASSES.get(type(value))
    if container_class is None:
        for leaf in flatten(value):
            if not isinstance(leaf, _PLAIN_TYPES):
                observer(leaf)
        return value
    items = _items(value)
    if value and all(isinstance(item, _PLAIN_TYPES) for item in items):
        return value
    if any(isinstance(item, _TENSOR_TYPES) for item in items):
        return value
    return container_class(value, observer)


def follow(value: object, observer: Observer) -> None:
    """Let the containers of a copied layer report to the copy."""
    if isinstance(value, _Reporting):
        value._observer = WeakMethod(observer)
        for item in _items(value):
            follow(item, observer)


def _items(container: Any) -> Iterable[object]:
    return container.values() if isinstance(container, dict) else container


class _Reporting:
    """What the containers share. They do not keep the layer alive; copies report to nobody."""

    _observer: WeakMethod[Observer] | None = None

    def _observe(self, observer: Observer | None) -> None:
        self._observer = None if observer is None else WeakMethod(observer)

    def _reported(self, value: object) -> Any:
        """Report a new item; return it, or a container that reports in its place."""
        observer = None if self._observer is None else self._observer()
        return value if observer is None else tracked(value, observer)

    def __getstate__(self) -> None:
        """Copies have no attributes."""


class TrackedList(_Reporting, list[Any]):
    """A list that reports new items."""

    def __init__(self, values: Iterable[object] = (), observer: Observer | None = None) -> None:
        super().__init__()
        self._observe(observer)
        self.extend(values)

    def append(self, value: object) -> None:
        """Add an item."""
        super().append(self._reported(value))

    def insert(self, index: SupportsIndex, value: object) -> None:
        """Add an item before another."""
        super().insert(index, self._reported(value))

    def extend(self, values: Iterable[object]) -> None:
        """Add items."""
        super().extend(self._reported(value) for value in values)

    def __iadd__(self, values: Iterable[object]) -> TrackedList:  # type: ignore[misc]
        self.extend(values)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, [self._reported(item) for item in value])
        else:
            super().__setitem__(index, self._reported(value))


class TrackedDict(_Reporting, dict[Any, Any]):
    """A dictionary that reports new values."""

    def __init__(
        self,
        values: Mapping[object, object] | Iterable[tuple[object, object]] = (),
        observer: Observer | None = None,
    ) -> None:
        super().__init__()
        self._observe(observer)
        self.update(values)

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, self._reported(value))

    def update(self, *others: Any, **named: object) -> None:
        """Set several values."""
        for key, value in dict(*others, **named).items():
            self[key] = value

    def setdefault(self, key: object, default: object = None) -> Any:
        """Return a value; set it to the default if there is none."""
        if key not in self:
            self[key] = default
        return self[key]


class TrackedSet(_Reporting, set[Any]):
    """A set that reports new items."""

    def __init__(self, values: Iterable[object] = (), observer: Observer | None = None) -> None:
        super().__init__()
        self._observe(observer)
        self.update(values)

    def add(self, value: object) -> None:
        """Add an item."""
        super().add(self._reported(value))

    def update(self, *others: Iterable[object]) -> None:
        """Add items."""
        for values in others:
            for value in values:
                self.add(value)


_CLASSES: dict[type, Callable[..., Any]] = {
    list: TrackedList,
    dict: TrackedDict,
    set: TrackedSet,
}
