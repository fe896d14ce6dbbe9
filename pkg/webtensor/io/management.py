"""Copying models, and listing, moving and removing those that a browser stores."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from webtensor.environment import IN_BROWSER
from webtensor.formats.model_artifacts import ModelArtifactsInfo
from webtensor.io.handlers import without_awaiting
from webtensor.io.indexed_db import IndexedDBStore
from webtensor.io.local_storage import LocalStorageStore
from webtensor.io.routers import has_scheme, load_artifacts_async, save_artifacts_async

__all__ = [
    "copy_model",
    "copy_model_async",
    "list_models",
    "list_models_async",
    "move_model",
    "move_model_async",
    "remove_model",
    "remove_model_async",
]

Result = TypeVar("Result")


def _synchronously(function: Callable[[], Coroutine[Any, Any, Result]], name: str) -> Result:
    return without_awaiting(function, name, f"{name}_async")


_Store: TypeAlias = IndexedDBStore | LocalStorageStore
_STORES: tuple[_Store, ...] = IndexedDBStore(), LocalStorageStore()


def _store_of(function: str, address: str) -> tuple[_Store, str]:
    """Return where the model of an address is, and its name there."""
    for store in _STORES:
        if isinstance(address, str) and address.startswith(store.scheme):
            return store, address.removeprefix(store.scheme)
    schemes = " or ".join(repr(store.scheme) for store in _STORES)
    raise ValueError(f"{function}: an address begins with {schemes}, but got {address!r}")


async def list_models_async() -> dict[str, ModelArtifactsInfo]:
    """Return the date and the sizes of each model that the browser keeps, by its address.

    Models are in IndexedDB and, outside of workers, in LocalStorage. Outside of pages there are
    none.

    Example:
        In a page::

            await wt.io.browser_indexed_db("digits").save_async(artifacts)
            list(await wt.io.list_models_async())  # ["indexeddb://digits"]
    """
    if not IN_BROWSER:
        return {}
    return {
        f"{store.scheme}{name}": information
        for store in _STORES
        for name, information in (await store.information()).items()
    }


async def copy_model_async(source_url: str, dest_url: str) -> ModelArtifactsInfo:
    """Copy a model to another address, replacing a model there.

    Args:
        source_url: an address that models are loaded from, such as ``https://…`` or
            ``indexeddb://…``.
        dest_url: an address that models are saved to, such as ``indexeddb://…``.

    Raises:
        OSError: the address has no room or cannot be reached; what was stored there stays.
        ValueError: no models are at such an address, there is no model to copy, or the addresses
            are the same.

    Example:
        In a page::

            await wt.io.copy_model_async("localstorage://digits", "indexeddb://digits")
    """
    return await _copied("copy_model_async", source_url, dest_url)


async def _copied(function: str, source_url: str, dest_url: str) -> ModelArtifactsInfo:
    if source_url == dest_url:
        raise ValueError(f"{function}: the addresses are the same, {source_url!r}")
    if not has_scheme(dest_url):
        raise ValueError(
            f"{function}: dest_url must be an address such as 'indexeddb://name', but is "
            f"{dest_url!r}"
        )
    artifacts = await load_artifacts_async(source_url)
    return (await save_artifacts_async(artifacts, dest_url)).model_artifacts_info


async def move_model_async(source_url: str, dest_url: str) -> ModelArtifactsInfo:
    """Move a model that the browser keeps to another address, replacing a model there.

    The model is removed from the old address when it is at the new one.

    Raises:
        OSError: as of ``copy_model_async``.
        ValueError: as of ``copy_model_async``, or the old address does not begin with
            ``indexeddb://`` or ``localstorage://``.

    Example:
        In a page::

            await wt.io.move_model_async("indexeddb://digits", "indexeddb://old/digits")
    """
    return await _moved("move_model_async", source_url, dest_url)


async def _moved(function: str, source_url: str, dest_url: str) -> ModelArtifactsInfo:
    store, name = _store_of(function, source_url)
    information = await _copied(function, source_url, dest_url)
    await store.remove(name)
    return information


async def remove_model_async(url: str) -> ModelArtifactsInfo:
    """Remove a model that the browser keeps, and return what was known of it.

    Raises:
        ValueError: the address does not begin with ``indexeddb://`` or ``localstorage://``, or
            there is no such model.

    Example:
        In a page::

            await wt.io.remove_model_async("indexeddb://digits")
    """
    return await _removed("remove_model_async", url)


async def _removed(function: str, url: str) -> ModelArtifactsInfo:
    store, name = _store_of(function, url)
    listed = await store.information() if IN_BROWSER else {}
    if name not in listed:
        raise ValueError(f"{function}: there is no model {url!r}")
    await store.remove(name)
    return listed[name]


def list_models() -> dict[str, ModelArtifactsInfo]:
    """Return what ``list_models_async`` does, where the browser can suspend Python (JSPI).

    Raises:
        ValueError: the browser cannot suspend Python.

    Example:
        >>> import webtensor as wt
        >>> wt.io.list_models()
        {}
    """
    return _synchronously(list_models_async, "list_models") if IN_BROWSER else {}


def copy_model(source_url: str, dest_url: str) -> ModelArtifactsInfo:
    """Copy a model as ``copy_model_async`` does, where the browser can suspend Python (JSPI).

    Raises:
        OSError: as of ``copy_model_async``.
        ValueError: as of ``copy_model_async``, or the browser cannot suspend Python.

    Example:
        In a page::

            wt.io.copy_model("localstorage://digits", "indexeddb://digits")
    """
    return _synchronously(lambda: _copied("copy_model", source_url, dest_url), "copy_model")


def move_model(source_url: str, dest_url: str) -> ModelArtifactsInfo:
    """Move a model as ``move_model_async`` does, where the browser can suspend Python (JSPI).

    Raises:
        OSError: as of ``copy_model_async``.
        ValueError: as of ``copy_model_async``, or the browser cannot suspend Python.

    Example:
        In a page::

            wt.io.move_model("indexeddb://digits", "indexeddb://old/digits")
    """
    return _synchronously(lambda: _moved("move_model", source_url, dest_url), "move_model")


def remove_model(url: str) -> ModelArtifactsInfo:
    """Remove a model as ``remove_model_async`` does, where the browser can suspend Python (JSPI).

    Raises:
        ValueError: as of ``remove_model_async``, or the browser cannot suspend Python.

    Example:
        In a page::

            wt.io.remove_model("indexeddb://digits")
    """
    return _synchronously(lambda: _removed("remove_model", url), "remove_model")
