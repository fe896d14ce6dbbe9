"""Handwritten digits: 70,000 images of 28 x 28 pixels."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Parts, read_arrays

__all__ = ["load_data"]


def load_data(path: str = "mnist.npz") -> Parts:
    """Return images, uint8 ``(60000, 28, 28)`` and ``(10000, 28, 28)``, and their digits."""
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = read_arrays("mnist", path, *names)
    return (x_train, y_train), (x_test, y_test)
