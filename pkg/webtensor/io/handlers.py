"""Handlers: places that models are loaded from and saved to.

A handler of one's own derives from ``IOHandler``, or is any object with a method ``load`` or
``save``, which may be coroutine functions.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeAlias, TypedDict, TypeVar

from webtensor.engine.jspi import can_suspend, suspended
from webtensor.environment import IN_BROWSER
from webtensor.formats.files import label_of
from webtensor.formats.model_artifacts import (
    ModelArtifacts,
    ModelArtifactsInfo,
    get_model_artifacts_info_for_json,
)

__all__ = [
    "CustomHandler",
    "FetchFunction",
    "IOHandler",
    "LoadOptions",
    "ProgressFunction",
    "SaveResult",
    "ServerResponse",
    "is_handler",
    "without_awaiting",
]

Result = TypeVar("Result")

#: Called with the fraction of the bytes that are there, from 0 to 1.
ProgressFunction: TypeAlias = Callable[[float], object]
#: Called with an address and ``request_init``; returns the bytes, a response, or an awaitable.
FetchFunction: TypeAlias = Callable[[str, Mapping[str, Any]], Any]


class LoadOptions(TypedDict, total=False):
    """How a model is loaded; ``webtensor.io.http`` describes the options."""

    on_progress: ProgressFunction | None
    request_init: Mapping[str, Any] | None
    fetch_func: FetchFunction | None
    weight_path_prefix: str | None
    weight_url_converter: Callable[[str], str | Awaitable[str]] | None
    cache: str | None
    integrity: str | Mapping[str, str] | None
    timeout: float | None


@dataclass
class ServerResponse:
    """What a server answered to a model that was sent to it."""

    status: int
    body: bytes


@dataclass
class SaveResult:
    """What is known of a model that was saved."""

    model_artifacts_info: ModelArtifactsInfo
    responses: list[ServerResponse] = field(default_factory=list)


class IOHandler:
    """A place that models are loaded from, saved to, or both.

    A subclass overrides ``load`` or ``load_async``, and ``save`` or ``save_async``; of each pair
    the other follows. ``label`` is what errors call the place.

    Example:
        >>> import webtensor as wt
        >>> class Drawer(wt.io.IOHandler):
        ...     def save(self, artifacts):
        ...         self.artifacts = artifacts
        ...         return wt.io.SaveResult(wt.io.get_model_artifacts_info_for_json(artifacts))
        ...     def load(self):
        ...         return self.artifacts
    """

    label: str = "the handler"

    def load(self) -> ModelArtifacts:
        """Return the model.

        Raises:
            ModelFormatError: the model is broken.
            OSError: the place cannot be reached, or has no model.
            ValueError: nothing is loaded from this place, or only ``load_async`` can wait for it.
        """
        if type(self).load_async is IOHandler.load_async:
            raise ValueError(f"{self.label}: models cannot be loaded from here")
        return without_awaiting(self.load_async, self.label, "load_async")

    async def load_async(self) -> ModelArtifacts:
        """Return the model, as ``load`` does, without blocking the page."""
        if type(self).load is IOHandler.load:
            raise ValueError(f"{self.label}: models cannot be loaded from here")
        return self.load()

    def save(self, artifacts: ModelArtifacts) -> SaveResult:
        """Save a model.

        Raises:
            OSError: the place cannot be reached, or has no room; what was there before is kept.
            ValueError: nothing is saved in this place, or only ``save_async`` can wait for it.
        """
        if type(self).save_async is IOHandler.save_async:
            raise ValueError(f"{self.label}: models cannot be saved here")
        return without_awaiting(lambda: self.save_async(artifacts), self.label, "save_async")

    async def save_async(self, artifacts: ModelArtifacts) -> SaveResult:
        """Save a model, as ``save`` does, without blocking the page."""
        if type(self).save is IOHandler.save:
            raise ValueError(f"{self.label}: models cannot be saved here")
        return self.save(artifacts)


class CustomHandler(IOHandler):
    """A handler of an object with methods ``load`` or ``save``, which may return awaitables."""

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self.label = getattr(handler, "label", None) or label_of(handler)

    async def load_async(self) -> ModelArtifacts:
        """Return what the object loads."""
        return self._artifacts(await _settled(self._method("load")()))

    def load(self) -> ModelArtifacts:
        """Return what the object loads."""
        loaded = self._method("load")()
        if isawaitable(loaded):
            loaded = without_awaiting(lambda: _settled(loaded), self.label, "load_async")
        return self._artifacts(loaded)

    async def save_async(self, artifacts: ModelArtifacts) -> SaveResult:
        """Have the object save a model."""
        return _save_result(await _settled(self._method("save")(artifacts)), artifacts)

    def save(self, artifacts: ModelArtifacts) -> SaveResult:
        """Have the object save a model."""
        saved = self._method("save")(artifacts)
        if isawaitable(saved):
            saved = without_awaiting(lambda: _settled(saved), self.label, "save_async")
        return _save_result(saved, artifacts)

    def _method(self, name: str) -> Callable[..., Any]:
        method = getattr(self._handler, name, None)
        if not callable(method):
            raise ValueError(f"{self.label}: there is no method {name!r}")
        return method  # type: ignore[no-any-return]

    def _artifacts(self, loaded: object) -> ModelArtifacts:
        if isinstance(loaded, Mapping):
            return ModelArtifacts.from_json(loaded, label=self.label)
        if not isinstance(loaded, ModelArtifacts):
            raise TypeError(
                f"{self.label}: load must return ModelArtifacts, but got {loaded!r:.200}"
            )
        if loaded.label == ModelArtifacts.label:
            loaded.label = self.label
        return loaded


async def _settled(value: Any) -> Any:
    return await value if isawaitable(value) else value


def _save_result(saved: object, artifacts: ModelArtifacts) -> SaveResult:
    if isinstance(saved, SaveResult):
        return saved
    return SaveResult(get_model_artifacts_info_for_json(artifacts))


def is_handler(value: object) -> bool:
    """Whether something has a method to load or to save a model."""
    if isinstance(value, (str, bytes, os.PathLike, Mapping, Iterable)):
        return isinstance(value, IOHandler)
    return any(callable(getattr(value, name, None)) for name in ("load", "save"))


def without_awaiting(
    function: Callable[[], Coroutine[Any, Any, Result]], label: str, alternative: str
) -> Result:
    """Return what a coroutine function returns, where waiting does not block the page.

    Args:
        function: a function without arguments.
        label: what errors call the place.
        alternative: the function to await instead, which errors name.

    Raises:
        ValueError: the browser cannot suspend Python (JSPI), or, outside of pages, an event loop is
            running.
    """
    if can_suspend():
        return suspended(function())
    reason = "this browser cannot suspend Python (JSPI)"
    if not IN_BROWSER:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function())
        reason = "an event loop is running"
    raise ValueError(
        f"{label}: Python cannot wait here, as {reason}; await {alternative}() instead"
    )
