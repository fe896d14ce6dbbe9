"""SavedModels that TensorFlow wrote, and what it computes with them.

`python -m tests_py.tensorflow_conversions` writes them; the files' bytes are compressed.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import webtensor as wt

__all__ = ["SAMPLES", "Sample", "array_of", "as_tensor"]

Array = NDArray[Any]


class Sample(NamedTuple):
    """A SavedModel's files by their paths, its inputs, and its outputs, sorted by name."""

    files: Mapping[str, bytes]
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]

    def write(self, folder: Path) -> Path:
        """Write the files into a folder."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder


def array_of(stored: Mapping[str, Any]) -> Array:
    """An array that is stored as JSON."""
    dtype = stored["dtype"]
    elements = stored["elements"]
    if dtype == "string":
        dtype, elements = object, [text.encode() for text in elements]
    return np.array(elements, dtype).reshape(stored["shape"])


def as_tensor(array: Array) -> wt.Tensor:
    """A tensor of an array, which may be of texts."""
    if array.dtype == object:
        return wt.tensor(array.ravel().tolist(), shape=array.shape, dtype="string")
    return wt.tensor(array)


def _sample(stored: Mapping[str, Any]) -> Sample:
    files = stored["files"].items()
    return Sample(
        {name: zlib.decompress(b64decode(data)) for name, data in files},
        {name: array_of(value) for name, value in stored["inputs"].items()},
        {name: array_of(stored["outputs"][name]) for name in sorted(stored["outputs"])},
    )


_STORED = json.loads(Path(__file__).with_name("saved_models.json").read_text())
SAMPLES = {name: _sample(stored) for name, stored in _STORED.items()}
