"""Images that Pillow opens: checks before their pixels are decoded, and their conversion."""

from __future__ import annotations

from math import prod
from os import SEEK_END, PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webtensor.formats.budgets import Budget

if TYPE_CHECKING:
    from io import BytesIO

__all__ = ["check_pixels", "in_eight_bits"]

#: The bytes that the pixels of any image may take, however small its file: 44 million pixels.
_PIXEL_FLOOR = 44_000_000 * 4


def check_pixels(image: Any, file: str | PathLike[str] | BytesIO, label: str) -> None:
    """Refuse an image whose pixels would take far more than its file, before they are decoded."""
    if isinstance(file, (str, PathLike)):
        size = Path(file).stat().st_size
    else:
        position = file.tell()
        size = file.seek(0, SEEK_END)
        file.seek(position)
    Budget(label, size, floor=_PIXEL_FLOOR).spend(4 * prod(image.size))


def in_eight_bits(image: Any, mode: str) -> Any:
    """Convert an image to a mode of 8 bits a channel; of 16-bit levels these are the upper ones."""
    if image.mode.startswith("I"):
        # Pillow itself would clip these levels.
        image = image.convert("I").point(lambda level: level * (1 / 256)).convert("L")
    return image.convert(mode)
