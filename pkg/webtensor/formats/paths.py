"""Paths that files name: those of other files of the same model, which must lie beside it."""

from __future__ import annotations

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
    parts = path.replace("\\", "/").split("/")
    while parts and parts[0] == ".":
        parts.pop(0)
    if not parts or {"", ".", ".."} & {*parts} or {":", "\0"} & {*path}:
        raise ModelFormatError(f"{where} names a file that lies elsewhere: {path!r:.200}")
    return "/".join(parts)
