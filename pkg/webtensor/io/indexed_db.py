"""Models in a browser's IndexedDB, in the database of TensorFlow.js."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from functools import cache
from typing import Any

from webtensor.javascript import function_of
from webtensor.transfer import javascript_bytes, javascript_text, python_bytes

__all__ = ["get", "information", "names", "put", "remove"]


_FULL = (
    "there is too little storage for it. What was stored before is kept; remove other models or "
    "site data, or save to a file"
)
_BLOCKED = (
    "the browser gives this page no storage: site data may be blocked, or the window private. "
    "Models can still be saved to files"
)


async def _settled(name: str, request: Awaitable[Any]) -> Any:
    """Wait for the database.

    Raises:
        OSError: the browser does not store, or has no room.
    """
    from pyodide.ffi import JsException

    try:
        return await request
    except JsException as error:
        reason = _FULL if error.name == "QuotaExceededError" else _BLOCKED
        raise OSError(f"indexeddb://{name}: {reason} ({error})") from None


@cache
def _database() -> Any:
    return function_of("io/indexed_db.js")()


async def put(name: str, fields: dict[str, Any], data: bytes, information: dict[str, Any]) -> None:
    """Store a model under a name.

    Args:
        name: the model's name.
        fields: those of ``model.json``.
        data: the bytes of the weights.
        information: the date and the sizes in bytes, which TensorFlow.js lists.

    Raises:
        OSError: the browser does not store, or has no room.
    """
    writing = _database().put(
        javascript_text(name),
        javascript_text(json.dumps(fields)),
        javascript_bytes(data),
        javascript_text(json.dumps(information)),
    )
    await _settled(name, writing)


async def get(name: str) -> tuple[str, bytes]:
    """Return the fields of a model's ``model.json`` as text, and the bytes of its weights.

    Raises:
        OSError: the browser does not store.
        ValueError: there is no such model.
    """
    model = await _settled(name, _database().get(javascript_text(name)))
    if model is None:
        raise ValueError(f"indexeddb://{name}: there is no such model")
    fields, data = model
    return str(fields), python_bytes(data)


async def names() -> list[str]:
    """Return the names of all models."""
    return [str(name) for name in await _settled("", _database().names())]


async def information() -> dict[str, dict[str, Any]]:
    """Return the date and the sizes of each model, by its name."""
    listed: dict[str, dict[str, Any]] = json.loads(str(await _database().information()))
    return listed


async def remove(name: str) -> None:
    """Delete a model."""
    await _settled(name, _database().remove(javascript_text(name)))
