"""Clothes: 70,000 images of 28 x 28 pixels, in ten classes."""

from __future__ import annotations

import gzip
from pathlib import Path

from webtensor.formats.budgets import Budget, read_stream, reading
from webtensor.keras.datasets.sources import ORIGIN, Array, Parts, numpy_for
from webtensor.keras.utils.downloads import get_file

__all__ = ["load_data"]

_PIXELS = (28, 28)


def load_data() -> Parts:
    """Return images, uint8 ``(60000, 28, 28)`` and ``(10000, 28, 28)``, and their classes."""
    numpy = numpy_for("fashion_mnist")

    def read(name: str, header: int, shape: tuple[int, ...]) -> Array:
        path = get_file(
            name, f"{ORIGIN}{name}", cache_subdir=str(Path("datasets", "fashion-mnist"))
        )
        with reading(path), gzip.open(path) as file:
            data = read_stream(file, Budget(path, Path(path).stat().st_size), path)
            array: Array = numpy.frombuffer(data, numpy.uint8, offset=header)
            return array.reshape(-1, *shape)

    def part(name: str) -> tuple[Array, Array]:
        labels = read(f"{name}-labels-idx1-ubyte.gz", 8, ())
        return read(f"{name}-images-idx3-ubyte.gz", 16, _PIXELS), labels

    return part("train"), part("t10k")
