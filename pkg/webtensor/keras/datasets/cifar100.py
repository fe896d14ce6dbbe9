"""Photographs: 60,000 colour images of 32 x 32 pixels, in a hundred classes."""

from __future__ import annotations

from webtensor.arguments import check_choice
from webtensor.keras.datasets.cifar import load_parts
from webtensor.keras.datasets.sources import Parts

__all__ = ["load_data"]

_HASH = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"


def load_data(label_mode: str = "fine") -> Parts:
    """Return images, uint8 ``(50000, 32, 32, 3)`` and ``(10000, 32, 32, 3)``, and their classes.

    ``label_mode`` is "fine" for a hundred classes, "coarse" for twenty.

    Raises:
        ValueError: ``label_mode`` is neither.
    """
    check_choice("load_data", "label_mode", label_mode, ("fine", "coarse"))
    key = f"{label_mode}_labels".encode()
    return load_parts("cifar100", "cifar-100-python", _HASH, ["train"], "test", key)
