"""Models in a browser's IndexedDB, where TensorFlow.js keeps them, too."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["get", "names", "put", "remove"]


@cache
def _database() -> Any:
    from pyodide.code import run_js

    return run_js(files(__package__).joinpath("indexed_db.js").read_text())


async def put(name: str, described: dict[str, Any], data: bytes, facts: dict[str, Any]) -> None:
    """Keep a model under a name."""
    from pyodide.ffi import to_js

    await _database().put(name, json.dumps(described), to_js(data), json.dumps(facts))


async def get(name: str) -> tuple[str, bytes]:
    """Return what a model is, as JSON, and its weights.

    Raises:
        ValueError: there is no such model.
    """
    found = await _database().get(name)
    if found is None:
        raise ValueError(f"indexeddb://{name}: there is no such model")
    described, data = found
    return str(described), data.to_bytes()


async def names() -> list[str]:
    """Return the names of all models."""
    return [str(name) for name in await _database().names()]


async def remove(name: str) -> None:
    """Forget a model."""
    await _database().remove(name)
