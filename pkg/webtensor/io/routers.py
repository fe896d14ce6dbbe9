"""From addresses to handlers: which place an address, a path or an object stands for.

A router is a function of an address that returns a handler for it, or None.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from webtensor.environment import IN_BROWSER
from webtensor.formats.files import PathLike, Source
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io.folders import file_system, from_files
from webtensor.io.handlers import (
    CustomHandler,
    IOHandler,
    LoadOptions,
    SaveResult,
    is_handler,
)
from webtensor.io.indexed_db import SCHEME as INDEXED_DB, browser_indexed_db
from webtensor.io.local_storage import SCHEME as LOCAL_STORAGE, browser_local_storage
from webtensor.io.memory import from_memory
from webtensor.io.visitor_files import DOWNLOADS, browser_downloads, browser_files
from webtensor.io.web_models import WebHandler, http, is_http_scheme

__all__ = [
    "LoadRouter",
    "ModelSource",
    "ModelTarget",
    "SaveRouter",
    "get_load_handlers",
    "get_save_handlers",
    "has_scheme",
    "load_artifacts",
    "load_artifacts_async",
    "load_described",
    "register_load_router",
    "register_save_router",
    "save_artifacts",
    "save_artifacts_async",
]

LoadRouter: TypeAlias = Callable[[Any, LoadOptions], Any]
SaveRouter: TypeAlias = Callable[[str], Any]
#: What models are loaded from: addresses, paths, files by their names, handlers, and artifacts.
ModelSource: TypeAlias = (
    PathLike | Sequence[PathLike] | Mapping[str, Source] | IOHandler | ModelArtifacts
)
#: What models are saved to.
ModelTarget: TypeAlias = PathLike | IOHandler

_FILE = "file://"
#: The options that have no meaning for files.
_WEB_OPTIONS = LoadOptions.__annotations__.keys() - {"on_progress", "integrity"}

#: The users' routers, the last first.
_load_routers: list[LoadRouter] = []
_save_routers: list[SaveRouter] = []


def register_load_router(load_router: LoadRouter) -> None:
    """Register a function that finds handlers for addresses of a kind of one's own.

    Args:
        load_router: called with an address, or with the list of addresses that
            ``get_load_handlers`` was given, and a mapping of the options of ``http`` that were
            given; returns an object with a method ``load``, or None where the address is of another
            kind. The router that was registered last is called first, the library's own last.

    Example:
        >>> import webtensor as wt
        >>> models = {"drawer://a": wt.io.ModelArtifacts(format="layers-model")}
        >>> def route(url, options):
        ...     return wt.io.from_memory(models[url]) if url.startswith("drawer://") else None
        >>> wt.io.register_load_router(route)
        >>> wt.io.get_load_handlers("drawer://a")[0].load().format
        'layers-model'
    """
    _load_routers.insert(0, load_router)


def register_save_router(save_router: SaveRouter) -> None:
    """Register a function that finds handlers for addresses to save models to.

    Args:
        save_router: called with an address; returns an object with a method ``save``, or None where
            the address is of another kind. The router that was registered last is called first.

    Example:
        >>> import webtensor as wt
        >>> models = {}
        >>> def route(url):
        ...     if url.startswith("shelf://"):
        ...         return wt.io.with_save_handler(lambda model: models.update({url: model}))
        >>> wt.io.register_save_router(route)
        >>> result = wt.io.get_save_handlers("shelf://a")[0].save(wt.io.ModelArtifacts())
        >>> list(models)
        ['shelf://a']
    """
    _save_routers.insert(0, save_router)


def get_load_handlers(
    url: str | Sequence[str], load_options: LoadOptions | None = None
) -> list[IOHandler]:
    """Return the handlers that can load from an address; the first is the one that is used.

    Only routers of the user find any for a list of addresses.

    Example:
        >>> import webtensor as wt
        >>> [handler.label for handler in wt.io.get_load_handlers("https://example.org/model.json")]
        ['https://example.org/model.json']
    """
    options: LoadOptions = load_options or {}
    own_routers = _LOAD_ROUTERS if isinstance(url, str) else ()
    handlers = [router(url, options) for router in (*_load_routers, *own_routers)]
    return [_as_handler(handler) for handler in handlers if handler is not None]


def get_save_handlers(url: str) -> list[IOHandler]:
    """Return the handlers that can save to an address; the first is the one that is used.

    Example:
        >>> import webtensor as wt
        >>> len(wt.io.get_save_handlers("folder/without/scheme"))
        0
    """
    handlers = [router(url) for router in (*_save_routers, *_SAVE_ROUTERS)]
    return [_as_handler(handler) for handler in handlers if handler is not None]


def _as_handler(handler: Any) -> IOHandler:
    return handler if isinstance(handler, IOHandler) else CustomHandler(handler)


# -- the library's own -------------------------------------------------------------------------


def _load_http(url: str, options: LoadOptions) -> IOHandler | None:
    return http(url, **options) if is_http_scheme(url) else None


def _load_files(url: str, options: LoadOptions) -> IOHandler | None:
    if not url.startswith(_FILE):
        return None
    return file_system(url.removeprefix(_FILE), **_file_options(options))


def _file_options(options: LoadOptions) -> Any:
    return {name: value for name, value in options.items() if name not in _WEB_OPTIONS}


def _load_stored(
    scheme: str, browser_handler: Callable[..., IOHandler], url: str, options: LoadOptions
) -> IOHandler | None:
    if not url.startswith(scheme) or not IN_BROWSER:
        return None
    return browser_handler(url.removeprefix(scheme), on_progress=options.get("on_progress"))


def _save(
    scheme: str, handler: Callable[[str], IOHandler], needs_page: bool, url: str
) -> IOHandler | None:
    if not url.startswith(scheme) or (needs_page and not IN_BROWSER):
        return None
    return handler(url.removeprefix(scheme))


_LOAD_ROUTERS: tuple[LoadRouter, ...] = (
    _load_http,
    _load_files,
    partial(_load_stored, INDEXED_DB, browser_indexed_db),
    partial(_load_stored, LOCAL_STORAGE, browser_local_storage),
)
_SAVE_ROUTERS: tuple[SaveRouter, ...] = (
    lambda url: http(url) if is_http_scheme(url) else None,
    partial(_save, _FILE, file_system, False),
    partial(_save, INDEXED_DB, browser_indexed_db, True),
    partial(_save, LOCAL_STORAGE, browser_local_storage, True),
    partial(_save, DOWNLOADS, browser_downloads, True),
)


# -- what models are loaded from, and saved to -------------------------------------------------


def has_scheme(address: object) -> bool:
    """Whether something is an address such as "indexeddb://name", rather than a path."""
    return isinstance(address, str) and "://" in address


def _loader(source: Any, options: LoadOptions) -> IOHandler:
    """Return the handler that a source stands for.

    Raises:
        TypeError: it is something else.
        ValueError: there is none for the address.
    """
    if is_handler(source):
        return _as_handler(source)
    if isinstance(source, ModelArtifacts):
        return from_memory(source)
    is_place = isinstance(source, (os.PathLike, Iterable)) and not isinstance(source, bytes)
    if not is_place:
        raise TypeError(
            "source must be an address, a path, files by their names, or a handler with a method "
            f"'load', but is {source!r:.200}"
        )
    if isinstance(source, str):
        handlers = get_load_handlers(source, options)
        if handlers:
            return handlers[0]
        if has_scheme(source):
            raise ValueError(f"{source}: models cannot be loaded from this address here")
        if IN_BROWSER and not Path(source).exists():
            return http(source, **options)
    if isinstance(source, Mapping):
        return from_files(source, **_file_options(options))
    if IN_BROWSER and _is_javascript(source):
        return browser_files(source, **_file_options(options))
    return file_system(source, **_file_options(options))


#: The methods of JavaScript's files, and of what a visitor dropped.
_JAVASCRIPT_METHODS = ("arrayBuffer", "webkitGetAsEntry")


def _is_javascript(source: Any) -> bool:
    """Whether something is a list of JavaScript's files, or a list of Python's that has some."""
    items = [] if isinstance(source, (str, bytes, os.PathLike)) else list(source)
    return bool(items) and any(hasattr(items[0], name) for name in _JAVASCRIPT_METHODS)


def _saver(target: Any) -> IOHandler:
    """Return the handler that a target stands for.

    Raises:
        TypeError: it is something else.
        ValueError: there is none for the address.
    """
    if is_handler(target):
        return _as_handler(target)
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError(
            "target must be an address, a path, or a handler with a method 'save', but is "
            f"{target!r:.200}"
        )
    if isinstance(target, str):
        handlers = get_save_handlers(target)
        if handlers:
            return handlers[0]
        if has_scheme(target):
            raise ValueError(f"{target}: models cannot be saved to this address here")
    return file_system(target)


def load_artifacts(source: ModelSource, **options: Unpack[LoadOptions]) -> ModelArtifacts:
    """Return the model that an address, a path, files or a handler has.

    Args:
        source: an address (``https://…``, ``indexeddb://…``, ``localstorage://…``, ``file://…``, or
            one of a registered router), the path of ``model.json`` or of its folder, the paths of
            all files, their contents by name, a handler, or artifacts, which are returned.
        **options: those of ``http``; other places than servers use ``on_progress`` and
            ``integrity``.

    Raises:
        ModelFormatError: the model is broken.
        OSError: the place cannot be reached, or has no model.
        ValueError: nothing is loaded from such an address, or Python cannot wait for it.

    Example:
        >>> import webtensor as wt
        >>> wt.io.load_artifacts({"model.json": b'{"modelTopology": {}}'}).model_topology
        {}
    """
    return _loader(source, options).load()


async def load_artifacts_async(
    source: ModelSource, **options: Unpack[LoadOptions]
) -> ModelArtifacts:
    """Return the model that ``load_artifacts`` does, without blocking the page.

    Example:
        In a page::

            artifacts = await wt.io.load_artifacts_async("model/model.json", on_progress=print)
    """
    return await _loader(source, options).load_async()


async def load_described(
    source: ModelSource,
    describe: Callable[[ModelArtifacts], object],
    **options: Unpack[LoadOptions],
) -> ModelArtifacts:
    """Return the model that ``load_artifacts_async`` does, and call a function with it before.

    From a server, the function is called without the weights, while they are on their way.

    Args:
        source: as of ``load_artifacts``.
        describe: the function; an error that it raises ends the downloads.
        **options: as of ``load_artifacts``.
    """
    handler = _loader(source, options)
    if isinstance(handler, WebHandler):
        return await handler.load_described(describe)
    artifacts = await handler.load_async()
    describe(artifacts)
    return artifacts


def save_artifacts(artifacts: ModelArtifacts, target: ModelTarget) -> SaveResult:
    """Save a model to an address, a folder or a handler.

    Raises:
        OSError: the place cannot be reached, or has no room.
        ValueError: nothing is saved to such an address, or Python cannot wait for it.

    Example:
        >>> import tempfile
        >>> import webtensor as wt
        >>> artifacts = wt.io.ModelArtifacts(weight_specs=[], weight_data=b"")
        >>> result = wt.io.save_artifacts(artifacts, tempfile.mkdtemp())
        >>> result.model_artifacts_info.weight_data_bytes
        0
    """
    return _saver(target).save(artifacts)


async def save_artifacts_async(artifacts: ModelArtifacts, target: ModelTarget) -> SaveResult:
    """Save a model as ``save_artifacts`` does, without blocking the page.

    Example:
        In a page::

            await wt.io.save_artifacts_async(artifacts, "indexeddb://digits")
    """
    return await _saver(target).save_async(artifacts)
