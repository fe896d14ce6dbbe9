"""Storages whose elements must not be read while what a function computes is recorded.

What a function does after it has read elements depends on them, and what is recorded does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from webtensor.engine import Storage, state
from webtensor.engine.state import is_within_capture
from webtensor.errors import CaptureError

__all__ = ["UnreadStorages"]


_READ = (
    "captured functions and those of vmap must not read elements that follow from their arguments "
    "or variables (as by float(x), x.tolist(), if x: or for shapes), since a replay would not; "
    "return the tensor and read it outside, or use wt.where"
)


class _UnreadStorage(Storage):
    """A storage whose elements must not be read."""

    __slots__ = ()
    is_readable = False

    def read(self) -> memoryview[Any]:
        if not is_within_capture():  # another thread; a copy on the host would mislead this one
            assert self.backend is not None
            return self.host or self.backend.read(self.handle, self.dtype, self.size)
        if not state.captures:
            raise CaptureError(_READ)
        state.captures[-1].refuse(_READ)
        return self.read()  # it is a storage like others now

    async def read_async(self) -> memoryview[Any]:
        return self.read()

    def move_to(self, backend: Any, operation: str) -> None:
        self.__class__ = Storage  # type: ignore[assignment]
        try:
            self.move_to(backend, operation)
        finally:
            self.__class__ = _UnreadStorage


class UnreadStorages:
    """The storages that must not be read for now; reading one raises ``CaptureError``."""

    def __init__(self) -> None:
        self._storages: WeakSet[Storage] = WeakSet()

    def add(self, storage: Storage) -> None:
        """Refuse reads of a storage; those of text and disposed ones stay as they are."""
        if type(storage) is Storage:
            storage.__class__ = _UnreadStorage
            self._storages.add(storage)

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Allow reads of all storages within the context."""
        unread = WeakSet[Storage](
            storage for storage in self._storages if type(storage) is _UnreadStorage
        )
        for storage in unread:
            storage.__class__ = Storage
        try:
            yield
        finally:
            for storage in unread & self._storages:
                storage.__class__ = _UnreadStorage
                if storage.backend is not None:
                    storage.host = None  # what was read meanwhile would mislead

    def release(self) -> None:
        """Allow reads of all storages again, and forget them."""
        for storage in self._storages:
            storage.__class__ = Storage
        self._storages.clear()
