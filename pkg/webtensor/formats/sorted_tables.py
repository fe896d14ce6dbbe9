"""LevelDB's sorted tables, in which TensorFlow's checkpoints have their index: keys with values.

A table is a series of blocks. Each key in a block says how many bytes it has in common with the one
before. After a block stand its compression and its checksum. The last block has, for each of the
others, where it is; the file's last 48 bytes say where that one is.
"""

from __future__ import annotations

from collections.abc import Iterator

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.crc32c import masked_crc32c
from webtensor.formats.element_types import Buffer
from webtensor.formats.snappy import uncompressed
from webtensor.formats.varints import read_varint

__all__ = ["MAGIC", "read_table"]

#: The last eight bytes of a table.
MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
_FOOTER_BYTES = 48
#: After a block: a byte that says how it is compressed, and a checksum.
_TRAILER_BYTES = 5
_PLAIN, _SNAPPY = 0, 1


def read_table(
    data: Buffer, where: str, budget: Budget | None = None
) -> Iterator[tuple[bytes, memoryview]]:
    """Yield the keys and the values of a table, in the order of the keys.

    Raises:
        ModelFormatError: it is no table, is broken, or costs more than the budget.
    """
    view = memoryview(data).cast("B")
    with reading(where):
        yield from _Reader(view, where, budget or Budget(where, len(view))).items()


class _Reader:
    def __init__(self, data: memoryview, where: str, budget: Budget) -> None:
        self.data, self.where, self.budget = data, where, budget

    def broken(self, reason: str) -> ModelFormatError:
        return ModelFormatError(f"{self.where} is a broken table: {reason}")

    def items(self) -> Iterator[tuple[bytes, memoryview]]:
        footer = self.data[-_FOOTER_BYTES:]
        if len(footer) < _FOOTER_BYTES or footer[-len(MAGIC) :] != MAGIC:
            raise ModelFormatError(f"{self.where} is no index of a checkpoint")
        # The first block that the footer names holds nothing.
        _, _, position = self.handle(footer, 0)
        begin, size, _ = self.handle(footer, position)
        last_key, last_end = b"", 0
        is_first = True
        for _, handle in self.entries(begin, size):
            begin, size, _ = self.handle(handle, 0)
            if begin < last_end:
                raise self.broken(f"the block at byte {begin} overlaps another one")
            last_end = begin + size
            for key, value in self.entries(begin, size):
                if key <= last_key and not is_first:
                    raise self.broken(f"the key {key!r:.100} is not in its order")
                is_first, last_key = False, key
                yield key, value

    def handle(self, data: memoryview, position: int) -> tuple[int, int, int]:
        """Return where a block begins, its size, and the position after these two numbers."""
        begin, position = self.varint(data, position)
        size, position = self.varint(data, position)
        return begin, size, position

    def varint(self, data: memoryview, position: int) -> tuple[int, int]:
        try:
            return read_varint(data, position, len(data))
        except ValueError as error:
            raise self.broken(str(error)) from None

    def block(self, begin: int, size: int) -> memoryview:
        """Return the contents of a block."""
        end = begin + size + _TRAILER_BYTES
        if end > len(self.data):
            raise self.broken(f"a block of {size} bytes at byte {begin} ends after the file")
        stored = self.data[begin : end - 4]
        checksum = int.from_bytes(self.data[end - 4 : end], "little")
        if masked_crc32c(stored) != checksum:
            raise self.broken(f"the checksum of the block at byte {begin} differs")
        contents, compression = stored[:-1], stored[-1]
        if compression == _SNAPPY:
            where = f"{self.where}: the block at byte {begin}"
            return memoryview(uncompressed(contents, where, self.budget))
        if compression != _PLAIN:
            raise self.broken(f"the block at byte {begin} is compressed in the way {compression}")
        return contents

    def entries(self, begin: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
        """Yield the keys and values of a block."""
        block = self.block(begin, size)
        # Behind the entries stand positions of whole keys, and their number.
        restarts = int.from_bytes(block[-4:], "little")
        end = len(block) - 4 * (restarts + 1)
        if len(block) < 4 or end < 0:
            raise self.broken(f"the block at byte {begin} is too short")
        block = block[:end]
        position, key = 0, b""
        while position < end:
            shared, position = self.varint(block, position)
            added, position = self.varint(block, position)
            length, position = self.varint(block, position)
            if shared > len(key) or position + added + length > end:
                raise self.broken(f"an entry of the block at byte {begin} is too long")
            self.budget.spend_items(2, self.where)
            self.budget.spend(shared + added, self.where)
            key = key[:shared] + bytes(block[position : position + added])
            position += added
            yield key, block[position : position + length]
            position += length
