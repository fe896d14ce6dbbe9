"""Exports scikit-learn's handwritten digits for the page, at build time.

`digits.bin`: zlib-compressed bytes, all images one after the other (a byte per pixel, row by row),
then all labels. `digits.json` says how many there are, where they come from and their licence.
"""

import json
import zlib
from pathlib import Path

INFO = {
    "name": "Optical Recognition of Handwritten Digits",
    "source": "UCI Machine Learning Repository, https://doi.org/10.24432/C50P49",
    "authors": "E. Alpaydin and C. Kaynak, 1998",
    "licence": "Creative Commons Attribution 4.0 (CC BY 4.0)",
    "through": "scikit-learn's load_digits (BSD 3-Clause)",
}


def export(output_dir: Path) -> None:
    """Write `digits.bin` and `digits.json` into a folder."""
    from sklearn.datasets import load_digits  # slow to import

    digits = load_digits()
    pixels = digits.images.astype("uint8")
    labels = digits.target.astype("uint8")
    count, height, width = pixels.shape

    content = zlib.compress(pixels.tobytes() + labels.tobytes(), level=9)
    (output_dir / "digits.bin").write_bytes(content)
    info = {
        **INFO,
        "count": count,
        "height": height,
        "width": width,
        "classes": 10,
        "white": 0,
        "black": 16,
        "layout": "zlib-compressed: a byte per pixel, row by row, all images; a byte per label",
    }
    (output_dir / "digits.json").write_text(json.dumps(info, indent=2) + "\n")
