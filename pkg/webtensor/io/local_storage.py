"""Models in a browser's LocalStorage, under the keys of TensorFlow.js.

LocalStorage holds text, a few megabytes in all: weights are stored as base64.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from webtensor.environment import IN_BROWSER
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
from webtensor.transfer import javascript_text

__all__ = ["SCHEME", "LocalStorageStore", "browser_local_storage"]

SCHEME = "localstorage://"

_PREFIX = "tensorflowjs_models/"
_INFORMATION = "info"
_TOPOLOGY = "model_topology"
_SPECS = "weight_specs"
_DATA = "weight_data"
_METADATA = "model_metadata"
#: The parts of a model, each under a key of its own.
_PARTS = (_INFORMATION, _TOPOLOGY, _SPECS, _DATA, _METADATA)


def _storage(label: str) -> Any:
    """Return the storage.

    Raises:
        OSError: there is none, as in workers.
    """
    if IN_BROWSER:
        import js
        from pyodide.ffi import JsException

        try:
            storage = getattr(js, "localStorage", None)
        except JsException as error:
            raise OSError(f"{label}: the browser gives this page no storage ({error})") from None
        if storage is not None:
            return storage
        raise OSError(f"{label}: workers have no LocalStorage; use indexeddb://")
    raise OSError(f"{label}: there is no LocalStorage outside of pages")


def _key(name: str, part: str) -> str:
    return f"{_PREFIX}{name}/{part}"


def _item(storage: Any, name: str, part: str) -> str | None:
    value = storage.getItem(javascript_text(_key(name, part)))
    return None if value is None else str(value)


class LocalStorageStore:
    """The models in the storage."""

    scheme = SCHEME

    async def information(self) -> dict[str, ModelArtifactsInfo]:
        """Return the date and the sizes of each model, by its name; workers have none."""
        import js

        if not hasattr(js, "document"):
            return {}
        storage = _storage(SCHEME)
        listed = {}
        for name in _names(storage):
            text = _item(storage, name, _INFORMATION)
            with reading(f"{SCHEME}{name}"):
                listed[name] = ModelArtifactsInfo.from_json(parse_json(text or "", name))
        return listed

    async def remove(self, name: str) -> None:
        """Delete a model."""
        storage = _storage(f"{SCHEME}{name}")
        for part in _PARTS:
            storage.removeItem(javascript_text(_key(name, part)))


def _names(storage: Any) -> Iterator[str]:
    keys = [str(storage.key(number)) for number in range(storage.length)]
    suffix = f"/{_INFORMATION}"
    for key in keys:
        if key.startswith(_PREFIX) and key.endswith(suffix):
            yield key.removeprefix(_PREFIX).removesuffix(suffix)


class _LocalStorageHandler(IOHandler):
    def __init__(self, name: str, on_progress: ProgressFunction | None) -> None:
        self.label = f"{SCHEME}{name}"
        self._name, self._on_progress = name, on_progress

    def load(self) -> ModelArtifacts:
        storage = _storage(self.label)
        progress = Progress(self._on_progress, 1)
        parts = {part: _item(storage, self._name, part) for part in _PARTS}
        if parts[_INFORMATION] is None:
            raise ValueError(f"{self.label}: there is no such model")
        with reading(self.label):
            texts = {part: text for part, text in parts.items() if text is not None}
            missing = {_TOPOLOGY, _SPECS, _DATA} - {*texts}
            if missing:
                raise ValueError(f"its {min(missing)} is missing")
            budget = Budget(self.label, sum(map(len, texts.values())))
            values = {
                part: parse_json(texts[part], f"{self.label}: {part}", budget)
                for part in (_TOPOLOGY, _SPECS, _METADATA)
                if part in texts
            }
            metadata = values.get(_METADATA) or {}
            if not isinstance(metadata, Mapping):
                raise ValueError(f"its {_METADATA} is malformed")
            data = base64.b64decode(texts[_DATA], validate=True)
            for checksum in metadata.get(CHECKSUMS) or ():
                check_integrity(str(checksum), [data], self.label)
            fields = {**metadata, "modelTopology": values[_TOPOLOGY]}
            artifacts = ModelArtifacts.from_json(
                fields, values[_SPECS], data, label=self.label, budget=budget
            )
        progress.end()
        return artifacts

    def save(self, artifacts: ModelArtifacts) -> SaveResult:
        storage = _storage(self.label)
        information = get_model_artifacts_info_for_json(artifacts)
        data = CompositeArrayBuffer(artifacts.weight_data or b"").view()
        metadata = {
            name: value
            for name, value in json_fields(artifacts).items()
            if name != "modelTopology" and value is not None
        }
        texts = {
            _INFORMATION: json.dumps(information.to_json()),
            _TOPOLOGY: json.dumps(artifacts.model_topology),
            _SPECS: json.dumps(artifacts.weight_specs or []),
            _DATA: base64.b64encode(data).decode(),
            _METADATA: json.dumps({**metadata, CHECKSUMS: [checksum_of([data])]}),
        }
        _replace(
            storage, {_key(self._name, part): text for part, text in texts.items()}, self.label
        )
        return SaveResult(information)


def _replace(storage: Any, texts: Mapping[str, str], label: str) -> None:
    """Store texts under keys; if there is no room for all, the former ones stay.

    Raises:
        OSError: there is no room.
    """
    from pyodide.ffi import JsException

    former = {key: storage.getItem(javascript_text(key)) for key in texts}
    try:
        for key, text in texts.items():
            storage.setItem(javascript_text(key), javascript_text(text))
    except JsException as error:
        for key in texts:
            storage.removeItem(javascript_text(key))
        for key, value in former.items():
            if value is not None:
                storage.setItem(javascript_text(key), javascript_text(str(value)))
        raise OSError(
            f"{label}: there is too little storage for it, as LocalStorage holds a few megabytes. "
            f"What was stored before is kept; use indexeddb:// for larger models ({error})"
        ) from None


def browser_local_storage(
    model_path: str, *, on_progress: ProgressFunction | None = None
) -> IOHandler:
    """Return a handler that keeps a model in the browser's LocalStorage, as TensorFlow.js does.

    Args:
        model_path: the name of the model.
        on_progress: called with 0 and, when the model is loaded, with 1.

    Raises:
        ValueError: the name is empty.

    Example:
        In a page::

            wt.io.browser_local_storage("digits").save(artifacts)
            artifacts = wt.io.browser_local_storage("digits").load()
    """
    if not model_path:
        raise ValueError("browser_local_storage: the name of the model must not be empty")
    return _LocalStorageHandler(model_path, on_progress)
