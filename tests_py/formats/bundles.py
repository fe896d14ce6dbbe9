"""Checkpoints as TensorFlow writes them, made without it: sorted tables, and files of tensors."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from webtensor.formats.crc32c import crc32c, masked_crc32c
from webtensor.formats.sorted_tables import MAGIC
from webtensor.formats.tensorflow_messages import DTYPES, SCHEMA
from webtensor.formats.varints import write_varint

__all__ = ["bundle", "compressed", "entry", "table"]

NUMBERS = {name: number for number, name in DTYPES.items()}


def compressed(data: bytes) -> bytes:
    """Data in Snappy's form, of literals and of copies of what came 1 to 60 bytes before."""
    pieces = [write_varint(len(data))]
    position = 0
    while position < len(data):
        for offset in range(1, min(60, position) + 1):
            length = 4
            window = data[position - offset : position]
            while length <= 64 and (window * 65)[:length] == data[position : position + length]:
                length += 1
            if length > 4:
                length -= 1
                pieces.append(bytes([(length - 1) << 2 | 2]) + offset.to_bytes(2, "little"))
                break
        else:
            length = 1
            pieces.append(bytes([0, data[position]]))
        position += length
    return b"".join(pieces)


def block(items: Mapping[bytes, bytes], compress: Callable[[bytes], bytes] | None) -> bytes:
    """A block with its trailer; every fourth key is whole."""
    entries, restarts, last = b"", [], b""
    for index, (key, value) in enumerate(items.items()):
        shared = 0
        if index % 4:
            shared = next(n for n in range(len(key) + 1) if key[: n + 1] != last[: n + 1])
        else:
            restarts.append(len(entries))
        entries += b"".join(write_varint(size) for size in (shared, len(key) - shared, len(value)))
        entries += key[shared:] + value
        last = key
    restarts = restarts or [0]
    contents = entries + b"".join(number.to_bytes(4, "little") for number in restarts)
    contents += len(restarts).to_bytes(4, "little")
    stored = (compress(contents) + b"\1") if compress else contents + b"\0"
    return stored + masked_crc32c(stored).to_bytes(4, "little")


def table(
    items: Mapping[bytes, bytes],
    compress: Callable[[bytes], bytes] | None = None,
    block_items: int = 10,
) -> bytes:
    """A sorted table."""
    data, index = b"", {}

    def add(contents: Mapping[bytes, bytes]) -> bytes:
        nonlocal data
        written = block(contents, compress)
        handle = write_varint(len(data)) + write_varint(len(written) - 5)
        data += written
        return handle

    keys = sorted(items)
    for start in range(0, len(keys), block_items):
        part = keys[start : start + block_items]
        index[part[-1]] = add({key: items[key] for key in part})
    footer = add({}) + add(index)
    return data + footer.ljust(40, b"\0") + MAGIC


def stored(array: Any) -> tuple[str, bytes, int]:
    """The dtype, the bytes and the checksum of an array."""
    if array.dtype != object:
        data = array.tobytes()
        return array.dtype.name, data, masked_crc32c(data)
    texts = [text.encode() if isinstance(text, str) else text for text in array.ravel()]
    fixed = b"".join(len(text).to_bytes(4, "little") for text in texts)
    checksum = masked_crc32c(fixed).to_bytes(4, "little")
    data = b"".join(write_varint(len(text)) for text in texts) + checksum + b"".join(texts)
    return "string", data, masked_crc32c(b"".join(texts), crc32c(checksum, crc32c(fixed)))


def entry(array: Any, shard: int = 0, offset: int = 0, **other: Any) -> dict[str, Any]:
    """The entry of an array in the index."""
    dtype, data, checksum = stored(array)
    return {
        "dtype": NUMBERS[dtype],
        "shape": {"dim": [{"size": size} for size in array.shape]},
        "shard_id": shard,
        "offset": offset,
        "size": len(data),
        "crc32c": checksum,
        **other,
    }


def bundle(
    arrays: Mapping[str, Any],
    prefix: str = "variables",
    shards: int = 1,
    compress: Callable[[bytes], bytes] | None = None,
) -> dict[str, bytes]:
    """The files of a checkpoint, by their names."""
    parts = [b""] * shards
    items = {b"": SCHEMA.encode("BundleHeaderProto", {"num_shards": shards})}
    for number, (key, value) in enumerate(arrays.items()):
        array, shard = np.asarray(value), number % shards
        row = entry(array, shard, len(parts[shard]))
        items[key.encode()] = SCHEMA.encode("BundleEntryProto", row)
        parts[shard] += stored(array)[1]
    files = {f"{prefix}.index": table(items, compress)}
    for number, part in enumerate(parts):
        files[f"{prefix}.data-{number:05}-of-{shards:05}"] = part
    return files
