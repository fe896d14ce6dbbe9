"""Small files that would cost much: each is refused, or read cheaply, whatever it claims."""

import asyncio
import bz2
import gzip
import io
import json
import lzma
import struct
import sys
import tarfile
import tracemalloc
import wave
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import pytest

from tests_py.keras.test_saving_bad_input import configured, dense, members, numbers, small, zipped
from webtensor import ModelFormatError, keras as ours
from webtensor.formats.budgets import EXPANSION, FLOOR, Budget, parse_json, reading
from webtensor.formats.limits import MAX_DEPTH
from webtensor.keras.datasets import safe_pickle
from webtensor.keras.model_budgets import making_model
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.npz import read_npz

MIB = 1 << 20
UNDEFINED = (1 << 64) - 1
#: docs/saving.md: what is made of a file, and as much again while it is being made.
MEMORY = 3


@contextmanager
def cheaply(size: int = 0) -> Iterator[None]:
    """Check that a file of `size` bytes takes no more memory than is promised."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY * max(FLOOR, EXPANSION * size)


def refused(read: Callable[[], Any], message: str, size: int = 0) -> None:
    """Check that reading is refused, cheaply, with a short message."""
    with cheaply(size), pytest.raises(ModelFormatError, match=message) as caught:
        read()
    assert len(str(caught.value)) <= 500


def written(tree: Group) -> bytes:
    return b"".join(pieces(tree))


def with_h5py(data: bytes = b"", **options: Any) -> bytes:
    """An HDF5 file that needs h5py, as it has a chunked array."""
    file = io.BytesIO(data)
    with h5py.File(file, "r+" if data else "w") as opened:
        opened.attrs.pop("webtensor_checksum", None)
        opened.create_dataset("chunked", data=np.zeros(8, "float32"), chunks=(4,), **options)
    return file.getvalue()


# -- HDF5 --------------------------------------------------------------------------------------


def many_references() -> bytes:
    tree = Group()
    tree.attributes["texts"] = ["x" * 500_000] * 400
    return written(tree)


def test_attribute_of_many_references_to_one_text():
    data = many_references()
    assert len(data) < 600_000
    with cheaply(len(data)):
        texts: Any = read_hdf5(data, "f.h5").attributes["texts"]
    assert len(texts) == 400
    assert len({id(text) for text in texts}) == 1


def test_attribute_of_many_references_with_h5py():
    data = with_h5py(many_references())
    refused(
        lambda: read_hdf5(data, "f.h5"), r"attribute 'texts' would become 20\d{7} bytes", len(data)
    )


def test_attributes_with_h5py_are_read():
    tree = Group()
    tree.attributes |= {"config": "x" * 20_000, "names": ["a", "b"] * 100, "count": 3}
    attributes = read_hdf5(with_h5py(written(tree)), "f.h5").attributes
    assert attributes == tree.attributes


def test_heap_without_an_end():
    """HDF5's library reads free space of size zero again and again."""
    tree = Group()
    tree.attributes["texts"] = ["x" * 100]
    data = bytearray(with_h5py(written(tree)))
    free = data.index(b"x" * 100) + 104
    data[free : free + 16] = bytes(16)
    refused(lambda: read_hdf5(bytes(data), "f.h5"), "a global heap is broken")


def test_object_headers_that_share_an_attribute():
    """Many small headers may continue in the same bytes, which are spent each time."""
    texts = b"".join(b"%-512d" % number for number in range(120))
    body = struct.pack("<BBHHH", 1, 0, 2, 8, 16) + b"a\0".ljust(8, b"\0")
    body += b"\x13\0\0\0" + struct.pack("<I", 512) + struct.pack("<BBB5xQ", 1, 1, 0, 120) + texts
    shared = struct.pack("<HHB3x", 0x000C, len(body), 0) + body
    count, shared_at = 2_000, 96
    links_at = shared_at + len(shared)
    link_size = 8 + 24
    objects_at = links_at + 16 + count * link_size
    header = struct.pack("<BBHII4x", 1, 0, 2, 1, 56)
    header += struct.pack("<HHB3xQQ", 0x0010, 16, 0, shared_at, len(shared))
    header += struct.pack("<HHB3xBBQQ6x", 0x0002, 24, 0, 0, 0, UNDEFINED, UNDEFINED)
    links = b""
    for number in range(count):
        name = b"%08x" % number
        address = objects_at + number * len(header)
        message = struct.pack("<BBB", 1, 0, 8) + name + struct.pack("<Q", address)
        links += struct.pack("<HHB3x", 0x0006, 24, 0) + message.ljust(24, b"\0")
    root = struct.pack("<BBHII4x", 1, 0, count, 1, len(links)) + links
    superblock = written(Group())[:96]
    superblock = superblock[:64] + struct.pack("<Q", links_at) + superblock[72:]
    data = superblock + shared + root + header * (count)
    refused(lambda: read_hdf5(data, "f.h5"), "f.h5 would become", len(data))


def test_groups_linked_twice():
    """Thirteen levels of groups, each with two links to the next, are 8,192 paths."""
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        group = opened
        for _ in range(13):
            inner = group.create_group("a")
            group["b"] = inner
            group = inner
    data = file.getvalue()
    refused(lambda: read_hdf5(data, "f.h5"), "linked twice")
    refused(lambda: read_hdf5(with_h5py(data), "f.h5"), "linked twice")


def test_groups_nested_too_deeply():
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened.create_group("a/" * 2_000)
    data = file.getvalue()
    refused(lambda: read_hdf5(data, "f.h5"), "more than 64 levels deep")
    refused(lambda: read_hdf5(with_h5py(data), "f.h5"), "more than 64 levels deep")


def test_arrays_that_are_not_stored():
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        for number in range(80):
            opened.create_dataset(str(number), shape=(MIB * 2,), dtype="f8", chunks=(1 << 12,))
    data = file.getvalue()
    assert len(data) < 100_000
    refused(lambda: read_hdf5(data, "f.h5"), "would become", len(data))


# -- shapes ------------------------------------------------------------------------------------


def layers_model(**changes: Any) -> dict[str, bytes]:
    """The files of a layers-model with other entries in its group of weights."""
    files = ours.saving.layers_model_files(small())
    described = json.loads(files["model.json"])
    described["weightsManifest"][0].pop("checksums", None)
    described["weightsManifest"][0].update(changes)
    return {**files, "model.json": json.dumps(described).encode()}


def weight(**changes: Any) -> dict[str, Any]:
    return {"name": "w", "shape": [1], "dtype": "float32", **changes}


@pytest.mark.parametrize(
    "shape, message",
    [([10**18] * 20_000, "20000 axes"), ([0] + [10**18] * 63, "many elements")],
)
def test_shape_of_a_weight(shape: list[int], message: str):
    files = layers_model(weights=[weight(shape=shape)])
    refused(lambda: ours.saving.load_layers_model(files), message)


@pytest.mark.parametrize(
    "shape, message",
    [("9, " * 80_000, "header has 240"), ("9, " * 100, "100 axes"), ("9" * 5_000, "too many digi")],
)
def test_shape_in_an_npz_header(shape: str, message: str):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    data = b"\x93NUMPY\2\0" + struct.pack("<I", len(header)) + header
    refused(lambda: read_npz(zipped({"a.npy": data}), "f.npz"), message)


def test_names_that_nest_groups():
    with pytest.raises(ModelFormatError, match="more than 64 levels deep"):
        read_npz(zipped({"a/" * 1_000 + "b.npy": b""}), "f.npz")


# -- layers-models -----------------------------------------------------------------------------


def test_file_of_weights_that_is_named_often():
    files = {**layers_model(paths=["w"] * 800), "w": bytes(MIB)}
    refused(lambda: ours.saving.load_layers_model(files), "names the file 'w' twice")


def test_same_file_of_weights_under_other_names(tmp_path: Path):
    for name, data in layers_model(paths=["w", "./w"]).items():
        (tmp_path / name).write_bytes(data)
    refused(lambda: ours.saving.load_layers_model(tmp_path), "names the file 'w' twice")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_are_not_followed(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(36))
    folder = tmp_path / "model"
    ours.saving.save_layers_model(small(), folder)
    shard = folder / "group1-shard1of1.bin"
    shard.unlink()
    shard.symlink_to(secret)
    refused(lambda: ours.saving.load_layers_model(folder), "link that leads elsewhere")
    refused(lambda: ours.saving.load_layers_model(folder / "model.json"), "leads elsewhere")
    small().save_weights(tmp_path / "m.weights.json", max_shard_size=1)
    part = tmp_path / "m_00000.weights.h5"
    part.rename(secret)
    part.symlink_to(secret)
    refused(lambda: small().load_weights(tmp_path / "m.weights.json"), "leads elsewhere")


# -- layers ------------------------------------------------------------------------------------


def layer(kind: str, **config: Any) -> Callable[[Any], None]:
    def change(described: Any) -> None:
        described["config"]["layers"][1] = {
            "module": "keras.layers",
            "class_name": kind,
            "config": {"name": "l", **config},
            "registered_name": None,
        }

    return change


def metric(kind: str, **config: Any) -> Callable[[Any], None]:
    def change(described: Any) -> None:
        metric_config = {"module": "keras.metrics", "class_name": kind, "config": config}
        described["compile_config"] = {
            "optimizer": "sgd",
            "loss": "mse",
            "metrics": [metric_config],
        }

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (layer("StringLookup", num_oov_indices=10**8), "num_oov_indices=100000000"),
        (layer("IntegerLookup", num_oov_indices=10**8), "num_oov_indices=100000000"),
        (layer("MelSpectrogram", num_mel_bins=10**4, fft_length=4096), "num_mel_bins=10000"),
        (layer("MelSpectrogram", fft_length=10**7), "fft_length=10000000"),
        (metric("SensitivityAtSpecificity", specificity=0.5, num_thresholds=10**8), "num_thre"),
        (layer("Embedding", input_dim=10**9, output_dim=10), "larger than what the file"),
        (metric("AUC", num_thresholds=10**8), "num_thresholds=100000000"),
        (metric("PrecisionAtRecall", recall=0.5, num_thresholds=10**8), "num_thresholds=1000"),
        (metric("MeanIoU", num_classes=10**6), "larger than what the file"),
    ],
)
def test_arguments_that_allocate(change: Any, message: str):
    data = configured(change)
    refused(lambda: ours.saving.load_model(data), message, len(data))


def test_layers_of_usual_sizes_are_read():
    layers = [ours.layers.MelSpectrogram(num_mel_bins=128), ours.layers.StringLookup(None, 3)]
    for layer in layers:
        config = ours.saving.serialize_keras_object(layer)
        with making_model(Budget("f"), 0):
            assert type(ours.saving.deserialize_keras_object(config)) is type(layer)


def test_special_tokens_of_lookups_are_counted_rather_than_listed():
    with cheaply():
        layer = ours.layers.StringLookup(10**9 + 5, 10**9, vocabulary=["a", "b"])
    assert layer.vocabulary_size() == 10**9 + 2


def test_trial_of_a_large_input():
    """Operations find out their shapes by computing, also of an input that a file makes huge."""
    x = ours.Input((2,), name="x")
    model = ours.Model(x, ours.ops.repeat(x, 2, axis=1))
    parts = members(model)
    config = parts["config.json"].replace(b"[null, 2]", b"[%d, 100000]" % 10**5)
    data = zipped({**parts, "config.json": config})
    refused(lambda: ours.saving.load_model(data), "larger than what the file allows for")


def test_trial_of_a_large_result(backend: str):
    x = ours.Input((2,), name="x")
    model = ours.Model(x, ours.ops.repeat(x, 77, axis=1))
    parts = members(model)
    assert b"77" in parts["config.json"]
    config = parts["config.json"].replace(b"77", b"%d" % (6 * 10**7))
    data = zipped({**parts, "config.json": config})
    refused(lambda: ours.saving.load_model(data), "larger than what the file allows for")


# -- archives ----------------------------------------------------------------------------------


def test_configuration_of_many_values():
    whole = b"[" + b"{}," * 5_000_000 + b"{}]"
    data = zipped({**members(), "config.json": whole}, zipfile.ZIP_DEFLATED)
    assert len(data) < 32_000
    refused(lambda: ours.saving.load_model(data), r"config\.json.* would become", len(data))


def test_archive_with_a_million_entries(tmp_path: Path):
    """As many entries of a directory as there are lead to the same member."""
    entry = b"PK\1\2" + bytes(42)
    count = 1_000_000
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry) * count, 0, 0)
    path = tmp_path / "m.keras"
    path.write_bytes(entry * count + end)
    refused(lambda: ours.saving.load_model(path), "1000000 members")
    with pytest.raises(ModelFormatError, match="1000000 members"):
        ours.saving.load_model(path.read_bytes())


def test_vocabulary_of_many_lines():
    lookup = ours.layers.StringLookup(name="l")
    lookup.adapt(["a", "b"])
    parts = members(ours.Sequential([ours.Input((1,), dtype="string"), lookup]))
    (name,) = (name for name in parts if name.endswith("vocabulary.txt"))
    data = zipped({**parts, name: b"aa\n" * 5_000_000}, zipfile.ZIP_DEFLATED)
    refused(lambda: ours.saving.load_model(data), "vocabulary.txt would become", len(data))


# -- nested structures -------------------------------------------------------------------------

NESTED = b"[" * 100_000


@pytest.mark.parametrize("nested", [NESTED, b'{"a":' * 100_000, b'["\\"[",' * 100_000])
def test_nested_json(nested: bytes):
    refused(lambda: parse_json(nested, "f"), f"more than {MAX_DEPTH} levels deep")


def test_brackets_in_texts_nest_nothing():
    text = "[{" * 1_000 + '\\"' * 100
    assert parse_json(json.dumps({"a": text}), "f") == {"a": text}
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_json(deepest, "f") == json.loads(deepest)


def nested_hdf5(**attributes: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "nested.h5")
        small().save(path)
        tree = read_hdf5(path.read_bytes(), "f")
    tree.attributes |= attributes
    return written(tree)


@pytest.mark.parametrize(
    "read",
    [
        lambda: ours.saving.load_model(zipped({**members(), "config.json": NESTED})),
        lambda: ours.saving.load_model(nested_hdf5(model_config=NESTED.decode())),
        lambda: ours.saving.load_model(nested_hdf5(training_config=NESTED.decode())),
        lambda: ours.saving.load_layers_model({"model.json": NESTED}),
        lambda: ours.models.model_from_json(NESTED.decode()),
        lambda: ours.saving.deserialize_keras_object(json_like(1_000)),
    ],
)
def test_nested_json_everywhere(read: Any):
    refused(read, f"more than {MAX_DEPTH} levels deep")


def test_nested_json_in_other_files(tmp_path: Path):
    index = tmp_path / "m.weights.json"
    index.write_bytes(NESTED)
    refused(lambda: small().load_weights(index), r"m\.weights\.json: it is nested")
    archive = tmp_path / "m.keras"
    archive.write_bytes(zipped({**members(), "metadata.json": NESTED}))
    refused(lambda: ours.saving.KerasFileEditor(archive), r"metadata\.json: it is nested")


def json_like(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def nested_layers(depth: int, kind: str) -> tuple[Any, str]:
    """A configuration of models, or of wrappers, in one another; and the same as JSON."""
    config: Any = {"module": "keras.layers", "class_name": "Dense", "config": {"units": 1}}
    text = json.dumps(config)
    for _ in range(depth):
        is_model = kind == "Sequential"
        config = {
            "class_name": kind,
            "config": {"layers": [config]} if is_model else {"layer": config},
        }
        inner = f'"layers": [{text}]' if is_model else f'"layer": {text}'
        text = f'{{"class_name": "{kind}", "config": {{{inner}}}}}'
    return config, text


@pytest.mark.parametrize("kind", ["Sequential", "TimeDistributed"])
@pytest.mark.parametrize("depth", [34, 60, 1_000])
def test_nested_layers(kind: str, depth: int):
    config, text = nested_layers(depth, kind)
    archive = zipped({**members(), "config.json": text.encode()})
    described = f'{{"modelTopology": {text}, "weightsManifest": []}}'.encode()
    refused(lambda: ours.models.model_from_json(text), "levels deep")
    refused(lambda: ours.saving.load_model(archive), "levels deep")
    refused(lambda: ours.saving.load_layers_model({"model.json": described}), "levels deep")
    refused(lambda: ours.Sequential.from_config({"layers": [config]}), "levels deep")


def test_models_nested_as_deep_as_is_read():
    model = ours.Sequential([ours.Input((2,)), ours.layers.Dense(1)])
    for _ in range(28):
        model = ours.Sequential([ours.Input((2,)), model])
    again = ours.saving.load_model(zipped(members(model)))
    np.testing.assert_array_equal(again(np.ones((1, 2))), model(np.ones((1, 2))))


# -- downloads and data sets -------------------------------------------------------------------


def unpacked(path: Path) -> Any:
    return ours.utils.get_file(
        origin=path.as_uri(), extract=True, cache_dir=path.parent / "kept", cache_subdir="."
    )


def tar_of(*rows: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for member, data in rows:
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def member(name: str, size: int, **options: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    for key, value in options.items():
        setattr(info, key, value)
    return info


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_archive_that_expands(compress: Any, tmp_path: Path):
    path = tmp_path / "bomb"
    path.write_bytes(compress(tar_of((member("zeros", 1 << 25), bytes(1 << 25)))))
    refused(lambda: unpacked(path), "would become", path.stat().st_size)
    assert not (tmp_path / "kept" / "bomb").exists()


def test_header_of_an_archive_that_expands(tmp_path: Path):
    path = tmp_path / "bomb"
    comment = {"comment": "x" * (1 << 25)}
    path.write_bytes(gzip.compress(tar_of((member("a", 0, pax_headers=comment), b""))))
    refused(lambda: unpacked(path), "would become", path.stat().st_size)


def test_sparse_file_in_an_archive(tmp_path: Path):
    """A sparse file of 64 GiB takes a header alone."""
    head = bytearray(member("a", 0).tobuf(tarfile.GNU_FORMAT))
    head[156:157] = tarfile.GNUTYPE_SPARSE
    head[483:495] = b"%011o\0" % (1 << 32)
    head[148:156] = b"%06o\0 " % (sum(head[:148]) + 256 + sum(head[156:]))
    path = tmp_path / "bomb"
    path.write_bytes(bytes(head) + bytes(1024))
    refused(lambda: unpacked(path), "would become", path.stat().st_size)


def test_zip_that_expands(tmp_path: Path):
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"zeros": bytes(1 << 25)}, zipfile.ZIP_DEFLATED))
    refused(lambda: unpacked(path), "would become", path.stat().st_size)


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8b broken", b"BZh9 broken", zipped({"a": b"text"}).replace(b"text", b"else")],
    ids=["gzip", "bz2", "zip"],
)
def test_broken_archive_of_a_download(data: bytes, tmp_path: Path):
    path = tmp_path / "broken"
    path.write_bytes(data)
    refused(lambda: unpacked(path), "get_file: .*broken_archive: ")


def test_data_set_that_expands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    folder = tmp_path / "datasets" / "fashion-mnist"
    folder.mkdir(parents=True)
    labels = folder / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(bytes(1 << 25)))
    refused(ours.datasets.fashion_mnist.load_data, "labels-idx1-ubyte.gz would become")
    labels.write_bytes(labels.read_bytes()[:1000])
    refused(ours.datasets.fashion_mnist.load_data, "labels-idx1-ubyte.gz: ")


def test_nested_pickle():
    data = b"\x80\x02}" + b"K\1}" * 1_000 + b"s" * 1_000 + b"."
    refused(lambda: safe_pickle.load(io.BytesIO(data)), "nested more than")
    refused(lambda: safe_pickle.load(io.BytesIO(data[:50])), "the pickle: ")


def wav(frames: bytes, **changes: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as opened:
        opened.setparams((1, 2, 8000, 0, "NONE", ""))
        opened.writeframes(frames)
    data = bytearray(file.getvalue())
    for name, value in changes.items():
        struct.pack_into("<I", data, {"riff": 4, "format": 16, "data": 40}[name], value)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"RIFF", wav(b"", format=1 << 31), wav(b"")[:30]],
)
def test_broken_sound(data: bytes, tmp_path: Path):
    (tmp_path / "a.wav").write_bytes(data)
    sounds: Any = ours.utils.audio_dataset_from_directory(tmp_path, labels=None, verbose=False)
    refused(lambda: next(iter(sounds)), "a.wav' is no WAV file of integers")


def test_sound_that_claims_more(tmp_path: Path):
    (tmp_path / "a.wav").write_bytes(wav(b"abcd", riff=(1 << 32) - 1, data=(1 << 32) - 200))
    sounds: Any = ours.utils.audio_dataset_from_directory(tmp_path, labels=None, verbose=False)
    refused(lambda: next(iter(sounds)), "a.wav' ends before its last sample")


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error, message",
    [
        (MemoryError(), "not enough memory"),
        (RecursionError("maximum"), "nested too deeply"),
        (OverflowError("int too large"), "OverflowError: int too large"),
        (KeyError("name"), "KeyError: 'name'"),
        (OSError(36, "File name too long"), "File name too long"),
        (zipfile.BadZipFile("bad"), "BadZipFile: bad"),
        (gzip.BadGzipFile("not gzipped"), "not gzipped"),
        (EOFError(), "EOFError"),
        (ValueError("x" * 10_000), r"x \.\.\. x"),
    ],
)
def test_errors_name_the_file(error: Exception, message: str):
    def read() -> None:
        with reading("m.keras: config.json"):
            raise error

    refused(read, rf"^m\.keras: config\.json: .*{message}")


@pytest.mark.parametrize("error", [FileNotFoundError(2, "no file"), PermissionError(13, "no")])
def test_errors_of_the_system_stay(error: OSError):
    with pytest.raises(type(error)), reading("m.keras"):
        raise error


def test_integer_of_too_many_digits():
    parts = {**members(), "config.json": b'{"a": ' + b"9" * 5_000 + b"}"}
    refused(lambda: ours.saving.load_model(zipped(parts)), r"config\.json: it has an integer of")


def test_name_that_is_too_long(tmp_path: Path):
    files = layers_model(paths=["w" * 5_000])
    (tmp_path / "model.json").write_bytes(files["model.json"])
    refused(lambda: ours.saving.load_layers_model(tmp_path), r"model\.json")
    vocabulary = {"assets/" + "layers/" * 100 + "v" * 5_000: b"a"}
    ours.saving.load_model(zipped({**members(), **vocabulary}))


# -- what configurations may name --------------------------------------------------------------


def function(name: str, module: str = "builtins") -> dict[str, Any]:
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


@pytest.mark.parametrize(
    "argument, value",
    [
        ("activation", function("load_model", "keras.models")),
        ("activation", function("save_model")),
        ("activation", function("clone_model", "keras.models")),
        ("activation", function("deserialize", "keras.activations")),
        ("activation", function("get", "keras.losses")),
        ("activation", function("mean_squared_error", "keras.losses")),
        ("activation", {"module": "keras.losses", "class_name": "Huber", "config": {}}),
        ("kernel_initializer", function("relu", "keras.activations")),
        ("kernel_initializer", {"module": "keras.layers", "class_name": "ReLU", "config": {}}),
        ("kernel_regularizer", {"module": "keras.layers", "class_name": "ReLU", "config": {}}),
        ("kernel_constraint", {"module": "keras.regularizers", "class_name": "L2", "config": {}}),
    ],
)
def test_what_is_of_another_kind(argument: str, value: Any):
    if isinstance(value["config"], str):
        value = {**value, "registered_name": "function"}
    data = configured(lambda c: dense(c)["config"].update({argument: value}))
    refused(lambda: ours.saving.load_model(data), r"is no \w+|is not known")


def test_activations_that_are_layers_or_operations():
    for activation in (ours.layers.LeakyReLU(), ours.ops.tanh, ours.activations.gelu, "relu6"):
        layer = ours.layers.Dense(1, activation=activation)
        config = json.loads(json.dumps(ours.saving.serialize_keras_object(layer)))
        again = ours.saving.deserialize_keras_object(config)
        assert type(again.activation) is type(layer.activation)


# -- checksums ---------------------------------------------------------------------------------


def flipped(data: bytes, old: bytes) -> bytes:
    """The data with a bit of a piece of it changed."""
    offset = data.index(old)
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


def test_weights_that_were_changed(tmp_path: Path):
    model = small()
    path = tmp_path / "m.weights.h5"
    model.save_weights(path)
    kernel = model.get_weights()[0].tobytes()
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, kernel))
    refused(lambda: model.load_weights(path), r"m\.weights\.h5: .*checksum")
    with h5py.File(path, "r+") as file:
        del file.attrs["webtensor_checksum"]
    model.load_weights(path)


def test_checksum_of_every_dtype():
    """It is the same for either reader."""
    tree = Group()
    for dtype in ("float32", "float16", "int8", "int64", "bool", "uint32"):
        tree.put(f"a/{dtype}", numbers(2, 3, dtype=dtype))
    tree.put("a/empty", numbers(0, 3))
    assert [path for path, _ in read_hdf5(written(tree), "f").arrays()]
    file = io.BytesIO(written(tree))
    with h5py.File(file, "r+") as opened:
        values = opened["a/int8"][()]
        del opened["a/int8"]
        opened.create_dataset("a/int8", data=values, chunks=True)
    assert len(list(read_hdf5(file.getvalue(), "f").arrays())) == 7
    with h5py.File(file, "r+") as opened:
        opened["a/int8"][0, 0] = 1
    refused(lambda: read_hdf5(file.getvalue(), "f"), "checksum")


def test_layers_model_that_was_changed(tmp_path: Path):
    files = ours.saving.layers_model_files(small())
    name = "group1-shard1of1.bin"
    changed = {**files, name: flipped(files[name], files[name][:4])}
    refused(lambda: ours.saving.load_layers_model(changed), f"{name}' is not what was written")


# -- where models come from --------------------------------------------------------------------


def test_layers_model_is_a_model(tmp_path: Path):
    model = small()
    ours.saving.save_layers_model(model, tmp_path / "m")
    for source in (tmp_path / "m", tmp_path / "m" / "model.json", str(tmp_path / "m/model.json")):
        again = ours.saving.load_model(source)
        np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])
    with pytest.raises(ModelFormatError, match=r"for model\.json, pass its path"):
        ours.saving.load_model((tmp_path / "m" / "model.json").read_bytes())
    with pytest.raises(ValueError, match=r"there is no file .*fetched first, as with keras\.utils"):
        ours.saving.load_model("https://example.org/model.keras")


@pytest.mark.parametrize(
    "call",
    [
        lambda model: ours.saving.save_layers_model("m", model),  # type: ignore[arg-type]
        lambda model: asyncio.run(ours.saving.save_layers_model_async("m", model)),  # type: ignore[arg-type]
        lambda model: ours.saving.layers_model_files("m", model),  # type: ignore[arg-type]
        lambda model: ours.saving.save_model("m.keras", model),  # type: ignore[arg-type]
        lambda model: ours.saving.save_weights("m.weights.h5", model),  # type: ignore[arg-type]
        lambda model: ours.saving.load_weights("m.weights.h5", model),  # type: ignore[arg-type]
    ],
)
def test_swapped_arguments(call: Any):
    with pytest.raises(TypeError, match="the first argument must be a model, but is 'm"):
        call(small())
