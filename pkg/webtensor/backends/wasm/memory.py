"""Blocks of linear memory: handing them out, and keeping freed ones for the next tensor.

The allocator lives in the module (``wasm_build/source/allocator.c``). Crossing to it for every
tensor would cost more than many kernels do, so freed blocks are **parked** here by size class:
training steps, which make tensors of the same sizes over and over, soon allocate without crossing.
Parked blocks go back to the allocator, which joins neighbours, before memory would have to grow.
"""

from __future__ import annotations

from array import array

from webtensor.backends.wasm.host import Host
from webtensor.errors import BackendError

__all__ = ["BlockPool", "OutOfMemoryError", "size_class"]

#: How many addresses fit into the module's exchange area.
_EXCHANGE_LENGTH = 1024
_LARGEST = 0x7FFF0000


class OutOfMemoryError(BackendError, MemoryError):
    """Linear memory has no room for a tensor."""


def size_class(count: int) -> int:
    """Round a number of bytes up: to multiples of 64, and to eight sizes per power of two."""
    if count <= 1024:
        return (count + 63) & -64
    step = 1 << (count - 1).bit_length() - 4
    return (count + step - 1) & -step


class BlockPool:
    """Hands out blocks of linear memory by address."""

    def __init__(self, host: Host) -> None:
        """Bind the allocator's exports."""
        self._host = host
        self._allocate = host.function("allocate")
        self._release_all = host.function("release_all")
        self._heap_bytes = host.function("heap_bytes")
        self._exchange = host.function("exchange_area")()
        #: Size class of each block in use, by address.
        self._live: dict[int, int] = {}
        #: Addresses of freed blocks by size class.
        self._parked: dict[int, list[int]] = {}

    def allocate(self, count: int) -> int:
        """Return the address of at least ``count`` bytes, with arbitrary contents.

        Raises:
            OutOfMemoryError: there is no room.
        """
        size = (count + 63) & -64 if count <= 1024 else size_class(count)
        parked = self._parked.get(size)
        address = parked.pop() if parked else self._fetch(size, count)
        self._live[address] = size
        return address

    def release(self, handle: int) -> None:
        """Take back the block at an address."""
        size = self._live.pop(handle)
        parked = self._parked.get(size)
        if parked is None:
            self._parked[size] = [handle]
        else:
            parked.append(handle)

    def counts(self) -> dict[str, int]:
        """Bytes and blocks in use, and the size of the linear memory."""
        return {
            "bytes": sum(self._live.values()),
            "blocks": len(self._live),
            "parked_bytes": self._parked_bytes(),
            "heap_bytes": self._heap_bytes(),
        }

    def trim(self) -> None:
        """Give every parked block back to the allocator."""
        addresses = [address for parked in self._parked.values() for address in parked]
        self._parked.clear()
        for begin in range(0, len(addresses), _EXCHANGE_LENGTH):
            part = array("i", addresses[begin : begin + _EXCHANGE_LENGTH])
            self._host.write(self._exchange, memoryview(part).cast("B"))
            self._release_all(self._exchange, len(part))

    def _parked_bytes(self) -> int:
        return sum(size * len(parked) for size, parked in self._parked.items())

    def _fetch(self, size: int, count: int) -> int:
        """Get a block from the allocator; only as a last resort by growing memory."""
        if size <= _LARGEST:
            address: int = self._allocate(size, 0)
            if address:
                return address
            # Trimming for a few bytes would only cost the reuse of those blocks.
            if 8 * self._parked_bytes() >= self._heap_bytes():
                self.trim()
                address = self._allocate(size, 0)
                if address:
                    return address
            address = self._allocate(size, 1)
            self._host.memory_grew()
            if address:
                return address
            self.trim()
            address = self._allocate(size, 1)
            self._host.memory_grew()
            if address:
                return address
        held = self.counts()
        raise OutOfMemoryError(
            f"the wasm backend has no room for {count:,} bytes: {held['bytes']:,} bytes are in use "
            f"by {held['blocks']:,} tensors, of at most 2 GB"
        )
