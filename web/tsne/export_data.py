"""Puts the algorithm beside the page, at build time: it is one of the examples of the docs."""

import shutil
from pathlib import Path

ALGORITHM = Path(__file__).parents[2] / "docs" / "examples" / "tsne.py"
SOURCES = [ALGORITHM]


def export(output_dir: Path) -> None:
    """Copy `tsne.py` into a folder."""
    shutil.copy(ALGORITHM, output_dir)
