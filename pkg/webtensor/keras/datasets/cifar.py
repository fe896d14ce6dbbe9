"""The files of CIFAR: pickled dicts of pixels and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webtensor.errors import ModelFormatError
from webtensor.keras.data_formats import image_data_format
from webtensor.keras.datasets import safe_pickle
from webtensor.keras.datasets.safe_pickle import Content
from webtensor.keras.datasets.sources import Array, Parts, numpy_for
from webtensor.keras.utils.downloads import get_file

__all__ = ["load_parts"]

_ORIGIN = "https://www.cs.toronto.edu/~kriz/"
_ARCHIVES = {"cifar10": "cifar-10-python", "cifar100": "cifar-100-python"}


def load_parts(
    name: str, folder: str, file_hash: str, training: Sequence[str], testing: str, key: bytes
) -> Parts:
    """Return the images and the labels of the training files and the test file of an archive."""
    numpy = numpy_for(name)
    origin = f"{_ORIGIN}{_ARCHIVES[name]}.tar.gz"
    unpacked = get_file(f"{folder}-target", origin, extract=True, file_hash=file_hash)

    def part(files: Sequence[str]) -> tuple[Array, Array]:
        batches = [_read(Path(unpacked, folder, file)) for file in files]
        pixels = numpy.concatenate([batch[b"data"] for batch in batches]).reshape(-1, 3, 32, 32)
        labels = numpy.concatenate([batch[key] for batch in batches]).reshape(-1, 1)
        is_last = image_data_format() == "channels_last"
        return pixels.transpose(0, 2, 3, 1) if is_last else pixels, labels

    return part(training), part([testing])


def _read(path: Path) -> dict[bytes, Content]:
    with path.open("rb") as file:
        content = safe_pickle.load(file)
    if not isinstance(content, dict):
        raise ModelFormatError(f"{path}: the file must have a dict, but has {type(content)}")
    return content
