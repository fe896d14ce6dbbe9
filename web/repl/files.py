"""The files of a session: those of its working folder and the folders in it."""

from pathlib import Path
from typing import Any

MAX_FILES = 500  # listed


def list_files(folder: Path) -> dict[str, Any]:
    """Return names and sizes of the files in a folder and below it, in order of their names.

    Of many files, the last ones are counted as `others`.
    """
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and is_visible(path, folder)
    )
    listed = [
        {"name": path.relative_to(folder).as_posix(), "size": path.stat().st_size}
        for path in files[:MAX_FILES]
    ]
    return {"files": listed, "others": len(files) - len(listed)}


def is_visible(path: Path, folder: Path) -> bool:
    """Whether a file is the visitor's, rather than a hidden one or Python's cache."""
    parts = path.relative_to(folder).parts
    return not any(part.startswith(".") or part == "__pycache__" for part in parts)
