"""Models in a browser's IndexedDB, where TensorFlow.js keeps them, too."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from webtensor.javascript import function_of
from webtensor.transfer import javascript_bytes, javascript_text, python_bytes

__all__ = ["get", "names", "put", "remove"]


@cache
def _database() -> Any:
    return function_of("keras/saving/layers_model/indexed_db.js")()


async def put(name: str, described: dict[str, Any], data: bytes, facts: dict[str, Any]) -> None:
    """Keep a model under a name."""
    texts = (javascript_text(json.dumps(value)) for value in (described, facts))
    await _database().put(javascript_text(name), next(texts), javascript_bytes(data), next(texts))


async def get(name: str) -> tuple[str, bytes]:
    """Return what a model is, as JSON, and its weights.

    Raises:
        ValueError: there is no such model.
    """
    found = await _database().get(javascript_text(name))
    if found is None:
        raise ValueError(f"indexeddb://{name}: there is no such model")
    described, data = found
    return str(described), python_bytes(data)


async def names() -> list[str]:
    """Return the names of all models."""
    return [str(name) for name in await _database().names()]


async def remove(name: str) -> None:
    """Forget a model."""
    await _database().remove(javascript_text(name))
