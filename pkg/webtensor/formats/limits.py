"""Limits of structures in files, which the stack rather than the memory sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webtensor.errors import ModelFormatError

__all__ = ["MAX_DEPTH", "check_depth"]

#: The largest depth of JSON. Keras needs four levels for a model in a model; in Pyodide, json.loads
#: overflows the browser's stack, which ends Python, between 4,000 and 8,000.
MAX_DEPTH = 200


def check_depth(value: object, where: str) -> None:
    """Refuse lists and dicts that are nested too deeply for recursive functions.

    Raises:
        ModelFormatError: they are nested more than ``MAX_DEPTH`` levels deep.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner_values(outer)]
        if not level:
            return
    raise ModelFormatError(f"{where}: it is nested more than {MAX_DEPTH} levels deep")


def _inner_values(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()
