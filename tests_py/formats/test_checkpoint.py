"""TensorFlow's checkpoints, of which a few bytes that TensorFlow itself wrote are here, too."""

import base64
import json
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests_py.formats.bundles import bundle, compressed, entry, table
from webtensor import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.checkpoint import Checkpoint, read_checkpoint
from webtensor.formats.crc32c import crc32c, masked_crc32c
from webtensor.formats.snappy import uncompressed
from webtensor.formats.sorted_tables import MAGIC, read_table
from webtensor.formats.tensorflow_messages import SCHEMA
from webtensor.formats.varints import write_varint

RANDOM = np.random.default_rng(5)
ARRAYS = {
    "a/kernel": RANDOM.normal(size=(3, 4)).astype("float32"),
    "a/bias": RANDOM.normal(size=4),
    "b": np.array([[1, -2]], "int64"),
    "bytes": np.arange(5, dtype="uint8"),
    "complex": np.array([1 + 2j], "complex128"),
    "empty": np.zeros((2, 0), "float32"),
    "flags": np.array([True, False]),
    "half": np.array([1.5, -2], "float16"),
    "brain": np.array([1.5, -2], ml_dtypes.bfloat16),
    "scalar": np.array(7, "int32"),
    "texts": np.array([["", "ü"], ["a" * 300, "b"]], object),
    "text": np.array(b"\xff", object),
    **{f"many/{number}/value": np.array(number, "float32") for number in range(40)},
}


def opened(files: dict[str, bytes]) -> Checkpoint:
    return read_checkpoint(
        files["variables.index"], lambda name: files[f"variables.{name}"], "checkpoint"
    )


def assert_elements(checkpoint: Checkpoint, key: str, expected: Any) -> None:
    elements = checkpoint.elements(key)
    assert elements.shape == expected.shape
    if expected.dtype == object:
        texts = [text.encode() if isinstance(text, str) else text for text in expected.ravel()]
        assert (elements.dtype, list(elements.data)) == ("string", texts)
    else:
        assert elements.dtype == expected.dtype.name
        assert bytes(elements.data) == expected.tobytes()


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("compress", [None, compressed])
def test_all_tensors_of_a_checkpoint(shards: int, compress: Any):
    checkpoint = opened(bundle(ARRAYS, shards=shards, compress=compress))
    assert list(checkpoint.entries) == sorted(ARRAYS)
    files = {entry.file for entry in checkpoint.entries.values()}
    assert files == {f"data-{n:05}-of-{shards:05}" for n in range(shards)}
    for key, array in ARRAYS.items():
        assert_elements(checkpoint, key, array)


def test_a_checkpoint_that_tensorflow_wrote():
    stored = json.loads((Path(__file__).parent / "checkpoint.json").read_text())
    checkpoint = opened({name: base64.b64decode(data) for name, data in stored.items()})
    assert_elements(
        checkpoint, "kernel/.ATTRIBUTES/VARIABLE_VALUE", np.array([[1, 2], [3, 4]], "float32")
    )
    texts = np.array(["x", "üü", ""], object)
    assert_elements(checkpoint, "texts/.ATTRIBUTES/VARIABLE_VALUE", texts)
    assert checkpoint.elements("_CHECKPOINTABLE_OBJECT_GRAPH").dtype == "string"


def test_files_are_read_once_and_when_needed():
    files = bundle(ARRAYS, shards=3)
    names = []

    def read(name: str) -> bytes:
        names.append(name)
        return files[f"variables.{name}"]

    checkpoint = read_checkpoint(files["variables.index"], read, "checkpoint")
    assert names == []
    first = next(iter(ARRAYS))
    data = checkpoint.elements(first).data
    assert data.obj is files["variables.data-00000-of-00003"]
    checkpoint.elements(first)
    assert names == ["data-00000-of-00003"]


# -- what is refused ---------------------------------------------------------------------------


def index_of(**rows: Any) -> dict[str, bytes]:
    header = {"num_shards": 1, **rows.pop("header", {})}
    items = {b"": SCHEMA.encode("BundleHeaderProto", header)}
    items |= {key.encode(): SCHEMA.encode("BundleEntryProto", row) for key, row in rows.items()}
    return {"variables.index": table(items), "variables.data-00000-of-00001": b"abcd"}


LETTERS = np.frombuffer(b"abcd", "uint8")


@pytest.mark.parametrize(
    "row, message",
    [
        (entry(LETTERS, slices=[{"extent": [{"start": 0}]}]), "is a partitioned variable"),
        (entry(LETTERS, shape={"dim": [{"size": -1}]}), r"has the shape \(None,\)"),
        (entry(LETTERS, shape={"unknown_rank": True}), "has the shape None"),
        (entry(LETTERS, shape={"dim": [{"size": 5}]}), "of dtype 'uint8' and shape .* has 4 bytes"),
        (entry(LETTERS, size=5), "ends at byte 5 of the file data-00000-of-00001, which has 4"),
        (entry(LETTERS, offset=-1), "which has 4"),
        (entry(LETTERS, size=-1), "which has 4"),
        (entry(LETTERS, crc32c=1), "is not what was written: its checksum differs"),
        (entry(LETTERS, dtype=20), "is of dtype 'resource', which is not read"),
        (entry(LETTERS, dtype=7), "of 4 strings|has 4 bytes|checksum|an integer has no end"),
        (entry(LETTERS, dtype=7, shape={"dim": [{"size": 9}]}), "of 9 strings has 4 bytes"),
        (entry(LETTERS, dtype=7, shape={}), "its checksum differs"),
    ],
)
def test_broken_tensors(row: Any, message: str):
    with pytest.raises(ModelFormatError, match=f"^checkpoint: tensor 'a'.*({message})"):
        opened(index_of(a=row)).elements("a")


def test_missing_tensors():
    with pytest.raises(ModelFormatError, match="checkpoint: tensor 'b' is missing"):
        opened(index_of(a=entry(LETTERS))).elements("b")


@pytest.mark.parametrize("change", [(1, -1), (-1, 1)])
def test_strings_whose_lengths_lie(change: tuple[int, int]):
    files = bundle({"a": np.array(["abc", "defg"], object)})
    data = bytearray(files["variables.data-00000-of-00001"])
    data[0] += change[0]
    data[1] += change[1]
    files["variables.data-00000-of-00001"] = bytes(data)
    with pytest.raises(ModelFormatError, match="its checksum differs"):
        opened(files).elements("a")


@pytest.mark.parametrize(
    "files, message",
    [
        (index_of(header={"endianness": 1}), "is big-endian"),
        (index_of(header={"num_shards": 0}), "has 0 files"),
        (index_of(header={"num_shards": 10**9}), "has 1000000000 files"),
        (index_of(a=entry(LETTERS, shard=1)), "key b'a': it is in the file 1 of 1"),
        (index_of(a={"dtype": 99}), "key b'a': there is no dtype of number 99"),
        ({"variables.index": table({b"a": b""})}, "has no header"),
        ({"variables.index": table({b"": b"\x08\x01", b"\xff": b""})}, "can't decode byte 0xff"),
        ({"variables.index": table({b"": b"\xff"})}, "an integer has no end"),
    ],
)
def test_broken_indices(files: dict[str, bytes], message: str):
    with pytest.raises(ModelFormatError, match=f"^checkpoint.*{message}"):
        opened(files)


# -- tables ------------------------------------------------------------------------------------


def items_of(data: bytes) -> dict[bytes, bytes]:
    return {key: bytes(value) for key, value in read_table(data, "t")}


@pytest.mark.parametrize("count", [0, 1, 10, 11, 200])
@pytest.mark.parametrize("compress", [None, compressed])
def test_tables(count: int, compress: Any):
    items = {f"key/{number:03}".encode(): b"value" * (number % 7) for number in range(count)}
    assert items_of(table(items, compress)) == items


def with_checksum(block: bytes) -> bytes:
    return block + masked_crc32c(block).to_bytes(4, "little")


def one_block(entries: bytes, restarts: int = 1, kind: int = 0) -> bytes:
    """A table whose index has one block, which is right, and whose other one is as given."""
    contents = entries + bytes(4) + restarts.to_bytes(4, "little")
    block = with_checksum(contents + bytes([kind]))
    handle = bytes([0, len(contents)])
    index = bytes([0, 1, len(handle)]) + b"z" + handle
    index_contents = index + bytes(4) + b"\1\0\0\0"
    footer = bytes([0, 0, len(block), len(index_contents)]).ljust(40, b"\0") + MAGIC
    return block + with_checksum(index_contents + b"\0") + footer


def test_a_table_by_hand():
    assert items_of(one_block(b"\0\2\1abX\1\1\0c")) == {b"ab": b"X", b"ac": b""}


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "is no index of a checkpoint"),
        (bytes(100), "is no index of a checkpoint"),
        (table({b"a": b""})[1:], "is a broken table: "),
        (one_block(b"\1\1\0a"), "an entry of the block at byte 0 is too long"),
        (one_block(b"\0\x7f\0a"), "an entry of the block at byte 0 is too long"),
        (one_block(b"\0\1\x7fa"), "an entry of the block at byte 0 is too long"),
        (one_block(b"\x80"), "an integer has no end"),
        (one_block(b"\0\1\0b\0\1\0a"), "the key b'a' is not in its order"),
        (one_block(b"", restarts=9), "the block at byte 0 is too short"),
        (one_block(b"", kind=2), "the block at byte 0 is compressed in the way 2"),
        (bytes(40) + MAGIC, "a block of 0 bytes at byte 0|checksum"),
    ],
)
def test_broken_tables(data: bytes, message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        items_of(data)
    assert str(info.value).startswith("t")


def test_a_changed_block():
    data = bytearray(table({b"a": b"value"}))
    data[5] ^= 1
    with pytest.raises(ModelFormatError, match="the checksum of the block at byte 0 differs"):
        items_of(bytes(data))


def test_blocks_that_overlap():
    block = one_block(b"\0\1\0a")[:17]
    index = b"\0\1\2b\0\x0c" + b"\0\1\2c\0\x0c" + bytes(4) + b"\1\0\0\0"
    footer = bytes([0, 0, 17, len(index)]).ljust(40, b"\0") + MAGIC
    with pytest.raises(ModelFormatError, match="the block at byte 0 overlaps another one"):
        items_of(block + with_checksum(index + b"\0") + footer)


# -- compression and checksums -----------------------------------------------------------------


def test_snappy_as_another_library_writes_it():
    text = (
        b"the quick brown fox; the quick brown fox; " + b"a" * 70 + bytes(range(80)) + b"the quick"
    )
    data = bytes.fromhex(
        "c9015074686520717569636b2062726f776e20666f783b205215000061fe01000501f05800010203040506070809"
        "0a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
        "38393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f74686520717569636b"
    )
    assert uncompressed(data, "block", Budget("file")) == text


@pytest.mark.parametrize("length_bytes", [0, 1, 2, 3, 4])
def test_snappy_literals_of_all_lengths(length_bytes: int):
    length = 61 if length_bytes else 60
    tag = bytes([(59 + length_bytes) << 2])
    if length_bytes:
        tag += (length - 1).to_bytes(length_bytes, "little")
    data = write_varint(length) + tag + bytes(length)
    assert uncompressed(data, "block", Budget("file")) == bytes(length)


def test_snappy_copies_from_far_away():
    text = Random(1).randbytes(70_000)
    literal = bytes([62 << 2]) + (len(text) - 1).to_bytes(3, "little") + text
    copy = bytes([7 << 2 | 3]) + (69_999).to_bytes(4, "little")
    data = write_varint(len(text) + 8) + literal + copy
    assert uncompressed(data, "block", Budget("file")) == text + text[1:9]


@pytest.mark.parametrize(
    "data, message",
    [
        ("", "has no size"),
        ("ff ff ff ff ff 01", "has no size"),
        ("05 10 61 62", "ends too early"),
        ("05 f0", "ends too early"),
        ("05 00 61 01", "ends too early"),
        ("05 00 61 01 00", "copies from before its begin"),
        ("05 00 61 01 02", "copies from before its begin"),
        ("05 00 61", "is not of the size 5"),
        ("01 04 61 62", "is not of the size 1"),
        ("80 80 80 80 04 00 61", "would become 1073741824 bytes"),
    ],
)
def test_broken_snappy(data: str, message: str):
    with pytest.raises(ModelFormatError, match=f"block.*{message}"):
        uncompressed(bytes.fromhex(data), "block", Budget("file"))


@pytest.mark.parametrize(
    "data, checksum",
    [
        (b"", 0),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"123456789", 0xE3069283),
    ],
)
def test_checksums(data: bytes, checksum: int):
    assert crc32c(data) == checksum


@pytest.mark.parametrize(
    "size", [0, 4096 * 64 - 1, 4096 * 64, 4096 * 65 + 17, 4096 * 1024 + 300_000]
)
def test_checksums_of_large_data_are_those_of_its_parts(size: int):
    data = Random(size).randbytes(size)
    checksum = 0
    for start in range(0, size, 100_000):
        checksum = crc32c(data[start : start + 100_000], checksum)
    assert crc32c(data) == checksum
