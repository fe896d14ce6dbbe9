"""Memory of the temporary values of programs: where each lies, and the block that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["Lifetime", "TemporaryBlock", "aligned_size", "arranged"]

#: The sizes of blocks are multiples of this number of bytes.
_GRANULE = 64


def aligned_size(count: int) -> int:
    """Return a number of bytes, rounded up so that what follows is aligned, too."""
    return max((count + _GRANULE - 1) & -_GRANULE, _GRANULE)


class Lifetime(NamedTuple):
    """The bytes that a value needs, from a call to another one."""

    first: int
    last: int
    bytes: int


def arranged(lifetimes: Sequence[Lifetime]) -> tuple[list[int], int]:
    """Return offsets of values in one block, and its size: those that live at once don't overlap.

    The largest are placed first, each at the first gap that has room.
    """
    offsets = [0] * len(lifetimes)
    size = 0
    #: The values that are placed, by the calls during which they live.
    alive: defaultdict[int, list[int]] = defaultdict(list)
    for index in sorted(range(len(lifetimes)), key=lambda index: -lifetimes[index].bytes):
        lifetime = lifetimes[index]
        times = range(lifetime.first, lifetime.last + 1)
        others = {other for time in times for other in alive[time]}
        start = 0
        for begin, count in sorted((offsets[other], lifetimes[other].bytes) for other in others):
            if begin - start >= lifetime.bytes:
                break
            start = max(start, begin + count)
        offsets[index] = start
        size = max(size, start + lifetime.bytes)
        for time in times:
            alive[time].append(index)
    return offsets, size


class TemporaryBlock:
    """The memory in which all programs have their temporary values, one after the other.

    It is as large as the largest of them needs.
    """

    def __init__(self, backend: WasmBackend) -> None:
        self._backend = backend
        self._users: set[int] = set()
        self._address = self._bytes = 0
        #: Another number for another address.
        self.generation = 0

    def reserve(self, user: int, count: int) -> int:
        """Return the address of ``count`` bytes for a user.

        Raises:
            OutOfMemoryError: there is no room.
        """
        self._users.add(user)
        if count > self._bytes:
            self._free()
            self._address = self._backend.allocate(count)
            self._bytes = count
        return self._address

    def release(self, user: int) -> None:
        """Note that a user needs no memory any more; the last one frees it."""
        self._users.discard(user)
        if not self._users:
            self._free()

    def _free(self) -> None:
        if self._bytes:
            address, self._address, self._bytes = self._address, 0, 0
            self.generation += 1
            self._backend.release(address)
