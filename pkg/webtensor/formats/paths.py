"""Paths that files name: those of other files of the same model, which must lie beside it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from webtensor.errors import ModelFormatError

__all__ = ["path_beside"]


def path_beside(path: str, where: str) -> str:
    """Return a relative path, with slashes, of a file in the same folder or below it.

    Raises:
        ModelFormatError: the path is absolute, leads out of the folder or to another host.

    Example:
        >>> path_beside("./weights/part1.bin", "model.onnx")
        'weights/part1.bin'
        >>> path_beside("../../etc/passwd", "model.onnx")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: model.onnx names a file that lies elsewhere: ...
    """
    relative = path.replace("\\", "/")
    while relative.startswith("./"):
        relative = relative[2:]
    # In addresses %2e is a dot, a path ends at ? and #, and browsers leave out blanks around it and
    # tabs inside.
    parts = {part.strip() for part in re.split(r"[/\\?#]", unquote(relative))}
    if {"", ".", ".."} & parts or ":" in path or min(path) < " ":
        raise ModelFormatError(f"{where} names a file that lies elsewhere: {path!r:.200}")
    return relative
