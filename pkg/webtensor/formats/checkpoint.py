"""TensorFlow's checkpoints: an index of tensors by their key, and files with the tensors' bytes.

The index, such as ``variables.index``, is a sorted table of messages, one for each key, which say
the tensor's dtype, shape, position and checksum. The empty key has a header. The bytes are in one
file or several, such as ``variables.data-00000-of-00001``, which are read when a tensor is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.crc32c import crc32c, masked_crc32c
from webtensor.formats.element_types import Buffer, Elements
from webtensor.formats.graph_def import Shape, shape_of
from webtensor.formats.sorted_tables import read_table
from webtensor.formats.tensorflow_messages import ITEM_SIZES, SCHEMA, dtype_name
from webtensor.formats.varints import read_varint

__all__ = ["Checkpoint", "CheckpointEntry", "read_checkpoint"]

#: Keys of the parts of partitioned variables begin with this.
_PART = b"\0"
#: The largest number of files with tensors' bytes.
_MAX_SHARDS = 10_000


class CheckpointEntry(NamedTuple):
    """A tensor of a checkpoint.

    Attributes:
        dtype: its dtype.
        shape: its shape.
        file: the name of the file with its bytes, after that of the checkpoint.
        offset: where they begin.
        size: how many there are.
        checksum: their checksum.
        is_sliced: whether the tensor is a partitioned variable, whose parts have keys of their own.
    """

    dtype: str
    shape: Shape
    file: str
    offset: int
    size: int
    checksum: int
    is_sliced: bool


class Checkpoint:
    """The tensors of a checkpoint.

    Args:
        entries: the tensors by their key.
        read: returns the contents of a file with their bytes.
        where: what errors call the checkpoint.
        budget: limits what reading may cost.
    """

    def __init__(
        self,
        entries: Mapping[str, CheckpointEntry],
        read: Callable[[str], Buffer],
        where: str,
        budget: Budget,
    ) -> None:
        self.entries = entries
        self._read, self._where, self._budget = read, where, budget
        self._contents: dict[str, memoryview] = {}

    def elements(self, key: str) -> Elements:
        """Return a tensor.

        Raises:
            ModelFormatError: there is no such key, the tensor is partitioned or of a dtype without
                elements, or its bytes are missing or differ from their checksum.
        """
        where = f"{self._where}: tensor {key!r:.200}"
        if key not in self.entries:
            raise ModelFormatError(f"{where} is missing")
        entry = self.entries[key]
        if entry.is_sliced:
            raise ModelFormatError(
                f"{where} is a partitioned variable, which is not supported; save the model "
                "without a partitioner"
            )
        if entry.shape is None or None in entry.shape:
            raise ModelFormatError(f"{where} has the shape {entry.shape}")
        shape = tuple(size for size in entry.shape if size is not None)
        with reading(where):
            data = self._bytes(entry, where)
            size = self._budget.size_of(shape, where)
            if entry.dtype == "string":
                return Elements(shape, "string", self._strings(data, size, entry, where))
            if entry.dtype not in ITEM_SIZES:
                raise ModelFormatError(f"{where} is of dtype {entry.dtype!r}, which is not read")
            if size * ITEM_SIZES[entry.dtype] != len(data):
                raise ModelFormatError(
                    f"{where} of dtype {entry.dtype!r} and shape {shape} has {len(data)} bytes"
                )
            if masked_crc32c(data) != entry.checksum:
                raise _differs(where)
            return Elements(shape, entry.dtype, data)

    def _bytes(self, entry: CheckpointEntry, where: str) -> memoryview:
        if entry.file not in self._contents:
            self._contents[entry.file] = memoryview(self._read(entry.file)).cast("B")
            self._budget.add_file(len(self._contents[entry.file]))
        contents = self._contents[entry.file]
        end = entry.offset + entry.size
        if min(entry.offset, entry.size) < 0 or end > len(contents):
            raise ModelFormatError(
                f"{where} ends at byte {end} of the file {entry.file}, which has {len(contents)}"
            )
        return contents[entry.offset : end]

    def _strings(
        self, data: memoryview, size: int, entry: CheckpointEntry, where: str
    ) -> tuple[bytes, ...]:
        """Return strings, which follow their lengths and these lengths' checksum."""
        if size > len(data):
            raise ModelFormatError(f"{where} of {size} strings has {len(data)} bytes")
        self._budget.spend_items(size, where)
        self._budget.spend(len(data), where)
        lengths, position = [], 0
        for _ in range(size):
            length, position = read_varint(data, position, len(data))
            lengths.append(length)
        # In the checksum, lengths have a fixed size.
        fixed = b"".join(
            length.to_bytes(4 if length < 1 << 32 else 8, "little") for length in lengths
        )
        lengths_checksum = data[position : position + 4]
        position += 4
        if masked_crc32c(fixed) != int.from_bytes(lengths_checksum, "little"):
            raise _differs(where)
        if position + sum(lengths) != len(data):
            raise ModelFormatError(
                f"{where} has {len(data) - position} bytes, but strings of {sum(lengths)}"
            )
        checksum = crc32c(lengths_checksum, crc32c(fixed))
        if masked_crc32c(data[position:], checksum) != entry.checksum:
            raise _differs(where)
        strings = []
        for length in lengths:
            strings.append(bytes(data[position : position + length]))
            position += length
        return tuple(strings)


def _differs(where: str) -> ModelFormatError:
    return ModelFormatError(f"{where} is not what was written: its checksum differs")


def read_checkpoint(
    index: Buffer, read: Callable[[str], Buffer], where: str, budget: Budget | None = None
) -> Checkpoint:
    """Return the checkpoint with an index.

    Args:
        index: the contents of the index.
        read: returns the contents of a file with tensors' bytes, by the end of its name, such as
            "data-00000-of-00001". It is called once for each, when a tensor of it is read.
        where: what errors call the checkpoint.
        budget: limits what reading may cost; it is raised by that of the files that are read.

    Raises:
        ModelFormatError: the index is broken, or costs more than the budget.
    """
    budget = budget or Budget(where)
    budget.add_file(len(index))
    entries: dict[str, CheckpointEntry] = {}
    shards: tuple[str, ...] = ()
    for key, value in read_table(index, where, budget):
        with reading(f"{where}: key {key!r:.200}"):
            if not key:
                shards = _shards(value, where, budget)
            elif not shards:
                raise ModelFormatError(f"{where} has no header")
            elif not key.startswith(_PART):
                entries[key.decode()] = _entry(value, shards, where, budget)
    return Checkpoint(entries, read, where, budget)


def _shards(header: Buffer, where: str, budget: Budget) -> tuple[str, ...]:
    """Return the ends of the names of the files with tensors' bytes."""
    message = SCHEMA.decode("BundleHeaderProto", header, where, budget)
    count = message["num_shards"]
    if message["endianness"]:
        raise ModelFormatError(f"{where} is big-endian, which is not supported")
    if not 0 < count <= _MAX_SHARDS:
        raise ModelFormatError(f"{where} has {count} files")
    return tuple(f"data-{number:05}-of-{count:05}" for number in range(count))


def _entry(value: Buffer, shards: tuple[str, ...], where: str, budget: Budget) -> CheckpointEntry:
    message = SCHEMA.decode("BundleEntryProto", value, where, budget)
    shard = message["shard_id"]
    if not 0 <= shard < len(shards):
        raise ValueError(f"it is in the file {shard} of {len(shards)}")
    return CheckpointEntry(
        dtype_name(message["dtype"]),
        shape_of(message["shape"]),
        shards[shard],
        message["offset"],
        message["size"],
        message["crc32c"],
        bool(message["slices"]),
    )
