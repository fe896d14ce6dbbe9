"""Clothes: 70,000 images of 28 x 28 pixels, of ten kinds."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from webtensor.keras.budgets import Budget, read_stream, reading
from webtensor.keras.datasets.sources import ORIGIN, Parts, numpy_for
from webtensor.keras.utils.downloads import get_file

__all__ = ["load_data"]

_PIXELS = (28, 28)


def load_data() -> Parts:
    """Return images, uint8 ``(60000, 28, 28)`` and ``(10000, 28, 28)``, and their kinds."""
    numpy = numpy_for("fashion_mnist")

    def read(name: str, head: int, shape: tuple[int, ...]) -> Any:
        path = get_file(
            name, f"{ORIGIN}{name}", cache_subdir=str(Path("datasets", "fashion-mnist"))
        )
        with reading(path), gzip.open(path) as file:
            data = read_stream(file, Budget(path, Path(path).stat().st_size), path)
            return numpy.frombuffer(data, numpy.uint8, offset=head).reshape(-1, *shape)

    def part(name: str) -> tuple[Any, Any]:
        labels = read(f"{name}-labels-idx1-ubyte.gz", 8, ())
        return read(f"{name}-images-idx3-ubyte.gz", 16, _PIXELS), labels

    return part("train"), part("t10k")
