"""Models in a browser's IndexedDB, in the database of TensorFlow.js."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from functools import cache
from typing import Any

from webtensor.formats.budgets import Budget, parse_json, reading
from webtensor.formats.checksums import check_integrity, checksum_of
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.model_artifacts import (
    ModelArtifacts,
    ModelArtifactsInfo,
    get_model_artifacts_info_for_json,
    json_fields,
)
from webtensor.formats.model_json import CHECKSUMS
from webtensor.io.handlers import IOHandler, ProgressFunction, SaveResult
from webtensor.io.progress import Progress
from webtensor.javascript import function_of
from webtensor.transfer import javascript_bytes, javascript_text, python_buffer

__all__ = ["SCHEME", "IndexedDBStore", "browser_indexed_db"]

SCHEME = "indexeddb://"

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
        raise OSError(f"{SCHEME}{name}: {reason} ({error})") from None


@cache
def _database() -> Any:
    return function_of("io/indexed_db.js")()


class IndexedDBStore:
    """The models in the database."""

    scheme = SCHEME

    async def information(self) -> dict[str, ModelArtifactsInfo]:
        """Return the date and the sizes of each model, by its name."""
        listed: dict[str, Any] = json.loads(str(await _settled("", _database().information())))
        return {name: ModelArtifactsInfo.from_json(fields) for name, fields in listed.items()}

    async def remove(self, name: str) -> None:
        """Delete a model."""
        await _settled(name, _database().remove(javascript_text(name)))


class _IndexedDBHandler(IOHandler):
    def __init__(self, name: str, on_progress: ProgressFunction | None) -> None:
        self.label = f"{SCHEME}{name}"
        self._name, self._on_progress = name, on_progress

    async def load_async(self) -> ModelArtifacts:
        progress = Progress(self._on_progress, 1)
        model = await _settled(self._name, _database().get(javascript_text(self._name)))
        if model is None:
            raise ValueError(f"{self.label}: there is no such model")
        text, weights = model
        text, data = str(text), python_buffer(weights)
        progress.end()
        with reading(self.label):
            budget = Budget(self.label, len(text) + len(data))
            fields = parse_json(text, self.label, budget)
            if not isinstance(fields, Mapping):
                raise ValueError("it is no model")
            for checksum in fields.get(CHECKSUMS) or ():
                check_integrity(str(checksum), [data], self.label)
            return ModelArtifacts.from_json(
                fields, weight_data=data, label=self.label, budget=budget
            )

    async def save_async(self, artifacts: ModelArtifacts) -> SaveResult:
        information = get_model_artifacts_info_for_json(artifacts)
        fields = json_fields(artifacts)
        data = CompositeArrayBuffer(artifacts.weight_data or b"").view()
        if artifacts.weight_specs is not None:
            fields["weightSpecs"] = artifacts.weight_specs
            fields[CHECKSUMS] = [checksum_of([data])]
        writing = _database().put(
            javascript_text(self._name),
            javascript_text(json.dumps(fields)),
            javascript_bytes(data),
            javascript_text(json.dumps(information.to_json())),
        )
        await _settled(self._name, writing)
        return SaveResult(information)


def browser_indexed_db(
    model_path: str, *, on_progress: ProgressFunction | None = None
) -> IOHandler:
    """Return a handler that keeps a model in the browser's IndexedDB, as TensorFlow.js does.

    Args:
        model_path: the name of the model.
        on_progress: called with 0 and, when the model is loaded, with 1.

    Raises:
        ValueError: the name is empty.

    Example:
        In a page::

            await wt.io.browser_indexed_db("digits").save_async(artifacts)
            artifacts = await wt.io.browser_indexed_db("digits").load_async()
    """
    if not model_path:
        raise ValueError("browser_indexed_db: the name of the model must not be empty")
    return _IndexedDBHandler(model_path, on_progress)
