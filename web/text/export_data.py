"""Puts the model beside the page, at build time: it is one of the examples of the docs."""

import shutil
from pathlib import Path

MODEL = Path(__file__).parents[2] / "docs" / "examples" / "character_model.py"
SOURCES = [MODEL]


def export(output_dir: Path) -> None:
    """Copy `character_model.py` into a folder."""
    shutil.copy(MODEL, output_dir)
