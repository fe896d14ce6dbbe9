"""Where data sets are, and the arrays in their files."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import reading
from webtensor.keras.datasets import safe_pickle
from webtensor.keras.saving.files import Archive
from webtensor.keras.utils.downloads import get_file

__all__ = ["ORIGIN", "Parts", "numpy_for", "parted", "read_arrays", "shuffled"]

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
#: The files there, with their SHA-256 sums.
_SUMS = {
    "boston_housing.npz": "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    "california_housing.npz": "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    "imdb.npz": "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    "mnist.npz": "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    "reuters.npz": "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
}

#: ``(x_train, y_train), (x_test, y_test)``
Parts = tuple[tuple[Any, Any], tuple[Any, Any]]


def numpy_for(name: str) -> Any:
    """Return NumPy.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            f"datasets.{name}: NumPy is needed, which is not installed (in Pyodide: await "
            "pyodide.loadPackage('numpy'))"
        ) from error
    return numpy


def read_arrays(name: str, path: Any, *names: str) -> list[Any]:
    """Fetch one of the npz files, keep it as ``path``, and return the arrays in it."""
    numpy_for(name)
    kept = get_file(path, origin=f"{ORIGIN}{name}.npz", file_hash=_SUMS[f"{name}.npz"])
    with reading(kept), Path(kept).open("rb") as file, Archive(file, kept) as archive:
        return [_array(archive.read(f"{one}.npy"), f"{kept}: {one!r}") for one in names]


def _array(data: bytes, label: str) -> Any:
    from numpy.lib import format

    file = BytesIO(data)
    version = format.read_magic(file)
    read_header = (
        format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
    )
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        return safe_pickle.load(file)
    if prod(shape) * dtype.itemsize > len(data):
        raise ModelFormatError(f"{label} has shape {shape} of {dtype}, but {len(data)} bytes")
    return format.read_array(BytesIO(data), allow_pickle=False)


def shuffled(name: str, seed: int, *arrays: Any) -> list[Any]:
    """Bring arrays into another order, all into the same, as Keras does."""
    numpy = numpy_for(name)
    order = numpy.arange(len(arrays[0]))
    numpy.random.RandomState(seed).shuffle(order)
    return [one[order] for one in arrays]


def parted(x: Sequence[Any], y: Sequence[Any], test_split: float) -> Parts:
    """Return the first part of data, for training, and the last one, for testing."""
    first = int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])
