"""Photographs: 60,000 colour images of 32 x 32 pixels, in ten classes."""

from __future__ import annotations

from webtensor.keras.datasets.cifar import load_parts
from webtensor.keras.datasets.sources import Parts

__all__ = ["load_data"]

_HASH = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def load_data() -> Parts:
    """Return images, uint8 ``(50000, 32, 32, 3)`` and ``(10000, 32, 32, 3)``, and their classes."""
    training = [f"data_batch_{number}" for number in range(1, 6)]
    (x_train, y_train), (x_test, y_test) = load_parts(
        "cifar10", "cifar-10-batches-py", _HASH, training, "test_batch", b"labels"
    )
    return (x_train, y_train.astype("uint8")), (x_test, y_test.astype("uint8"))
