"""Blocks of linear memory: allocating them, and keeping freed ones for the next tensor.

The allocator is in the module (``wasm_build/source/allocator.c``). Calling it for every tensor
would cost more than many kernels do, so freed blocks are **parked** here by size class:
training steps, which make tensors of the same sizes over and over, soon allocate without crossing.
Parked blocks go back to the allocator, which joins neighbours, before memory would have to grow.

Addresses and sizes are unsigned, but exports return signed integers, so those above 2 GiB are
returned as negative numbers; exports take either.
"""

from __future__ import annotations

from array import array

from webtensor.backends.wasm.host import Host
from webtensor.errors import OutOfMemoryError

__all__ = ["LARGEST_BLOCK", "BlockPool", "size_class"]

#: How many addresses fit into the module's exchange area.
_EXCHANGE_LENGTH = 1024
#: Kernels count bytes in signed 32-bit integers, as C does within one object.
LARGEST_BLOCK = 0x7FFF0000


def _unsigned(integer: int) -> int:
    """Return the address or size that an export returned."""
    return integer & 0xFFFFFFFF


def size_class(count: int) -> int:
    """Round a number of bytes up: to multiples of 64, and to eight sizes per power of two."""
    if count <= 1024:
        return (count + 63) & -64
    step = 1 << (count - 1).bit_length() - 4
    return (count + step - 1) & -step


class BlockPool:
    """Allocates blocks of linear memory by address."""

    def __init__(self, host: Host) -> None:
        """Bind the allocator's exports."""
        self._host = host
        self._allocate = host.function("allocate")
        self._release_all = host.function("release_all")
        self._heap_bytes = host.function("heap_bytes")
        self._exchange = host.function("exchange_area")()
        #: Addresses of freed blocks by size class.
        self._parked: dict[int, list[int]] = {}
        #: The list in which each allocated block is parked when freed, by address.
        self._homes: dict[int, list[int]] = {}
        self._allocated_bytes = 0

    def allocate(self, count: int) -> int:
        """Return the address of at least ``count`` bytes, with arbitrary contents.

        Raises:
            OutOfMemoryError: there is no room.
        """
        size = (count + 63) & -64 if count <= 1024 else size_class(count)
        parked = self._parked.get(size)
        return parked.pop() if parked else self._fetch(size, count)

    def parked(self, count: int) -> list[int]:
        """Return the list, always the same, of the freed blocks for ``count`` bytes."""
        return self._parked.setdefault(size_class(count), [])

    def release(self, handle: int) -> None:
        """Free the block at an address."""
        self._homes[handle].append(handle)

    def counts(self) -> dict[str, int]:
        """Bytes and blocks in use, and the size of the linear memory."""
        parked_bytes = self._parked_bytes()
        return {
            "bytes": self._allocated_bytes - parked_bytes,
            "blocks": len(self._homes) - sum(map(len, self._parked.values())),
            "parked_bytes": parked_bytes,
            "heap_bytes": _unsigned(self._heap_bytes()),
        }

    def trim(self) -> None:
        """Return every parked block to the allocator."""
        addresses: list[int] = []
        for size, parked in self._parked.items():
            while parked:  # another thread may free blocks meanwhile
                addresses.append(parked.pop())
                self._allocated_bytes -= size
        for address in addresses:
            del self._homes[address]
        for begin in range(0, len(addresses), _EXCHANGE_LENGTH):
            part = array("I", addresses[begin : begin + _EXCHANGE_LENGTH])
            self._host.write(self._exchange, memoryview(part).cast("B"))
            self._release_all(self._exchange, len(part))

    def _parked_bytes(self) -> int:
        return sum(size * len(parked) for size, parked in self._parked.items())

    def _fetch(self, size: int, count: int) -> int:
        """Get a block from the allocator."""
        if count > LARGEST_BLOCK:
            raise OutOfMemoryError(
                f"the wasm backend has no room for {count:,} bytes in one block, only for "
                f"{LARGEST_BLOCK:,}"
            )
        address = self._find(min(size, LARGEST_BLOCK))
        if address:
            self._homes[address] = self._parked.setdefault(size, [])
            self._allocated_bytes += size
            return address
        counts = self.counts()
        raise OutOfMemoryError(
            f"the wasm backend has no room for {count:,} bytes: {counts['bytes']:,} bytes are in "
            f"use by {counts['blocks']:,} tensors, and its memory cannot grow beyond "
            f"{counts['heap_bytes']:,}"
        )

    def _find(self, size: int) -> int:
        """Return a block, growing memory as a last resort; 0 if there is no room."""
        address = self._ask(size, may_grow=False)
        # Trimming for a few bytes would only prevent the reuse of those blocks.
        if not address and 8 * self._parked_bytes() >= _unsigned(self._heap_bytes()):
            self.trim()
            address = self._ask(size, may_grow=False)
        if not address:
            address = self._ask(size, may_grow=True)
        if not address:
            self.trim()
            address = self._ask(size, may_grow=True)
        return address

    def _ask(self, size: int, *, may_grow: bool) -> int:
        return _unsigned(self._allocate(size, int(may_grow)))
