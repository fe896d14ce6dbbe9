"""The addresses of data sets, and the arrays in their files."""

from __future__ import annotations

from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.files import Archive
from webtensor.keras.datasets import safe_pickle
from webtensor.keras.utils.downloads import get_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ORIGIN", "Array", "Parts", "numpy_for", "read_arrays", "shuffled", "split"]

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
#: The files there, with their SHA-256 hashes.
_HASHES = {
    "boston_housing.npz": "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    "california_housing.npz": "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    "imdb.npz": "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    "mnist.npz": "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    "reuters.npz": "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
}

Array: TypeAlias = "NDArray[Any]"
#: ``(x_train, y_train), (x_test, y_test)``
Parts: TypeAlias = tuple[tuple[Array, Array], tuple[Array, Array]]


def numpy_for(name: str) -> Any:
    """Return NumPy.

    Raises:
        ImportError: NumPy is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            f"datasets.{name}: NumPy is needed, which is not installed (in Pyodide: await "
            "pyodide.loadPackage('numpy'))"
        ) from error
    return numpy


def read_arrays(name: str, path: str, *names: str) -> list[Array]:
    """Download an npz file, cache it as ``path``, and return the arrays with some names in it."""
    numpy_for(name)
    file_path = get_file(path, origin=f"{ORIGIN}{name}.npz", file_hash=_HASHES[f"{name}.npz"])
    with (
        reading(file_path),
        Path(file_path).open("rb") as file,
        Archive(file, file_path) as archive,
    ):
        return [
            _array(archive.read(f"{array_name}.npy"), f"{file_path}: {array_name!r}")
            for array_name in names
        ]


def _array(data: bytes, label: str) -> Array:
    format = numpy_for(label).lib.format
    file = BytesIO(data)
    version = format.read_magic(file)
    read_header = (
        format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
    )
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        return safe_pickle.load_array(file)
    if prod(shape) * dtype.itemsize > len(data):
        raise ModelFormatError(f"{label} has shape {shape} of {dtype}, but {len(data)} bytes")
    array: Array = format.read_array(BytesIO(data), allow_pickle=False)
    return array


def shuffled(name: str, seed: int, *arrays: Array) -> list[Array]:
    """Shuffle arrays, all by the same permutation, as Keras does."""
    numpy = numpy_for(name)
    order = numpy.arange(len(arrays[0]))
    numpy.random.RandomState(seed).shuffle(order)
    return [array[order] for array in arrays]


def split(x: Array, y: Array, test_split: float) -> Parts:
    """Split data in a first part, for training, and a last one, for testing."""
    count = int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])
