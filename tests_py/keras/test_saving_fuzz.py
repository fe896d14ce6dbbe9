"""Mutated files of each format: only ``ValueError`` comes out, with little memory and no hang.

The suite reads a sample; ``make fuzz`` reads a thousand mutations of each format.
"""

import io
import os
import time
import tracemalloc
import wave
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

from tests_py.keras.saved_models import MODELS
from tests_py.keras.test_saving_bad_input import zipped
from tests_py.mutations import mutated, mutated_archive, mutated_json
from webtensor import ModelFormatError, keras as ours
from webtensor.formats.budgets import EXPANSION, FLOOR
from webtensor.keras.saving import keras_format
from webtensor.keras.saving.hdf5 import read_hdf5
from webtensor.keras.saving.npz import read_npz

COUNT = 1_000 if os.environ.get("WEBTENSOR_FUZZ") else 60
#: As in test_saving_budgets.
MEMORY = 3

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def equal_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the same files in each run, so that their mutations are the same, too."""
    ours.utils.clear_session()  # or names of layers would count those of other tests
    now = datetime(2026, 1, 1)
    monkeypatch.setattr(keras_format, "datetime", SimpleNamespace(now=lambda: now))
    monkeypatch.setattr(time, "localtime", lambda *_: now.timetuple())  # of files in archives


class Format(NamedTuple):
    """How a file of a format is made and read; of some archives only members are mutated."""

    make: Callable[[Path], bytes]
    read: Callable[[bytes, Path], Any]
    is_whole: bool = True


def model() -> Any:
    functional = MODELS["functional"].make(ours)
    functional.compile("adam", "mse", metrics=["mae"])
    return functional


def saved(name: str) -> Callable[[Path], bytes]:
    def make(folder: Path) -> bytes:
        original = model()
        path = folder / name
        (original.save_weights if ".weights." in name else original.save)(path)
        return path.read_bytes()

    return make


def load_weights(ending: str) -> Callable[[bytes, Path], Any]:
    def read(data: bytes, folder: Path) -> Any:
        path = folder / f"read{ending}"
        path.write_bytes(data)
        model().load_weights(path)

    return read


def layers_model(_: Path) -> bytes:
    """A layers-model's files as one zip archive, whose members are mutated."""
    return zipped(ours.saving.layers_model_files(model(), include_optimizer=True))


def load_layers_model(data: bytes, folder: Path) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        ours.saving.load_layers_model({name: archive.read(name) for name in archive.namelist()})


def sound(_: Path) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as opened:
        opened.setparams((2, 2, 8000, 0, "NONE", ""))
        opened.writeframes(bytes(range(64)))
    return file.getvalue()


def load_sound(data: bytes, folder: Path) -> Any:
    (folder / "a.wav").write_bytes(data)
    sounds: Any = ours.utils.audio_dataset_from_directory(folder, labels=None, verbose=False)
    next(iter(sounds))


def chunked(_: Path) -> bytes:
    """HDF5 that only h5py reads here."""
    file = io.BytesIO()
    with h5py.File(file, "w", libver="latest") as opened:
        for number in range(12):
            name = f"layers/l{number}/vars"
            values = np.arange(50.0)
            opened.create_dataset(name, data=values, chunks=(10,), compression="gzip")
        opened.attrs["names"] = ["a", "b"]
    return file.getvalue()


def npz(_: Path) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, a=np.arange(6.0).reshape(2, 3), b=np.float32(2), c=np.zeros((0,)))
    return file.getvalue()


def get_archive(data: bytes, folder: Path) -> Any:
    (folder / "origin").write_bytes(data)
    ours.utils.get_file(
        origin=(folder / "origin").as_uri(),
        extract=True,
        force_download=True,
        cache_dir=folder,
        cache_subdir="kept",
    )


FORMATS = {
    "keras": Format(saved("m.keras"), lambda data, _: ours.saving.load_model(data)),
    "h5": Format(saved("m.h5"), lambda data, _: ours.saving.load_model(data)),
    "weights.h5": Format(saved("m.weights.h5"), load_weights(".weights.h5")),
    "weights.npz": Format(saved("m.weights.npz"), load_weights(".weights.npz")),
    "layers-model": Format(layers_model, load_layers_model, False),
    "npz": Format(npz, lambda data, _: list(read_npz(data, "f.npz").arrays())),
    "h5py": Format(chunked, lambda data, _: list(read_hdf5(data, "f.h5").arrays())),
    "wav": Format(sound, load_sound),
    "zip": Format(lambda _: zipped({"a/b": b"text" * 50, "c": b""}, 8), get_archive),
}


def mutation(data: bytes, is_whole: bool, random: Random) -> bytes:
    """A mutated file: of an archive, sometimes a mutated member within a whole archive."""
    if data[:2] != b"PK" or (is_whole and random.random() < 0.3):
        change = mutated_archive if data[:2] == b"PK" and random.random() < 0.5 else mutated
        return change(data, random)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice([name for name, part in parts.items() if part])
    is_json = name.endswith(".json") and random.random() < 0.7
    parts[name] = (mutated_json if is_json else mutated)(parts[name], random)
    return zipped(parts)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name: str, tmp_path: Path):
    make, read, is_whole = FORMATS[name]
    data = make(tmp_path)
    random = Random(name)
    tracemalloc.start()
    read(data, tmp_path)
    messages = []
    for _ in range(COUNT):
        changed = mutation(data, is_whole, random)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            read(changed, tmp_path)
        except ModelFormatError as error:
            messages.append(str(error))
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < MEMORY * max(FLOOR, EXPANSION * len(changed))
    tracemalloc.stop()
    assert 0 < max(map(len, messages)) <= 500
