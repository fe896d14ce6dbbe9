"""The files of a session: those of its working folder and the folders in it."""

from pathlib import Path

MOST_FILES = 500  # listed


def list_files(folder: Path) -> list[dict[str, str | int]]:
    """Return names and sizes of the files in a folder and below it, in order of their names."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and is_visible(path, folder)
    )
    return [
        {"name": path.relative_to(folder).as_posix(), "size": path.stat().st_size}
        for path in files[:MOST_FILES]
    ]


def is_visible(path: Path, folder: Path) -> bool:
    """Whether a file is the visitor's, rather than a hidden one or Python's cache."""
    parts = path.relative_to(folder).parts
    return not any(part.startswith(".") or part == "__pycache__" for part in parts)
