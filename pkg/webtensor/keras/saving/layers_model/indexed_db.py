"""Models in a browser's IndexedDB, in the database of TensorFlow.js."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from webtensor.javascript import function_of
from webtensor.keras.types import Config
from webtensor.transfer import javascript_bytes, javascript_text, python_bytes

__all__ = ["get", "information", "names", "put", "remove"]


@cache
def _database() -> Any:
    return function_of("keras/saving/layers_model/indexed_db.js")()


async def put(name: str, fields: Config, data: bytes, information: Config) -> None:
    """Store a model under a name.

    Args:
        name: the model's name.
        fields: those of ``model.json``.
        data: the bytes of the weights.
        information: the date and the sizes in bytes, which TensorFlow.js lists.
    """
    await _database().put(
        javascript_text(name),
        javascript_text(json.dumps(fields)),
        javascript_bytes(data),
        javascript_text(json.dumps(information)),
    )


async def get(name: str) -> tuple[str, bytes]:
    """Return the fields of a model's ``model.json`` as text, and the bytes of its weights.

    Raises:
        ValueError: there is no such model.
    """
    model = await _database().get(javascript_text(name))
    if model is None:
        raise ValueError(f"indexeddb://{name}: there is no such model")
    fields, data = model
    return str(fields), python_bytes(data)


async def names() -> list[str]:
    """Return the names of all models."""
    return [str(name) for name in await _database().names()]


async def information() -> dict[str, Config]:
    """Return the date and the sizes of each model, by its name."""
    listed: dict[str, Config] = json.loads(str(await _database().information()))
    return listed


async def remove(name: str) -> None:
    """Delete a model."""
    await _database().remove(javascript_text(name))
