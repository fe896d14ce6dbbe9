"""Requests to servers in a page, by ``fetch``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import cache
from typing import Any

import js
import pyodide_js
from pyodide.ffi import JsException, create_proxy

from webtensor.io.handlers import ServerResponse
from webtensor.io.shard_buffers import MAX_BYTES, Shard
from webtensor.javascript import function_of
from webtensor.transfer import javascript_bytes, javascript_text, python_buffer, python_bytes

__all__ = ["Fetching", "blob_chunks", "fetch_bytes", "send", "url_chunks"]


@cache
def _functions() -> Any:
    return function_of("io/fetching.js")(pyodide_js._module)


async def _answered(url: str, request: Awaitable[Any]) -> Any:
    """Wait for a server.

    Raises:
        OSError: the server cannot be reached, or breaks off.
    """
    try:
        return await request
    except JsException as error:
        raise OSError(
            f"{url}: the server cannot be reached, or its answer broke off ({error})"
        ) from None


class Fetching:
    """The downloads of one model.

    Args:
        request_init: options of requests, as of ``fetch``, which must be values of JSON.
        cache: the name of the cache that responses are taken from, and put into.
        timeout: the number of seconds that a server may take for its next bytes.

    Raises:
        OSError: the page has no caches.
        TypeError: an option is no value of JSON.
    """

    def __init__(
        self, request_init: Mapping[str, Any], cache: str | None, timeout: float | None
    ) -> None:
        if cache is not None and not hasattr(js, "caches"):
            raise OSError(f"cache={cache!r}: this page has no caches, because it is not secure")
        self._uses_cache = cache is not None
        self._downloads = _functions().begin(
            javascript_text(json.dumps(dict(request_init))),
            None if cache is None else javascript_text(cache),
            timeout,
        )

    async def receive(
        self, url: str, shard: Shard, on_bytes: Callable[[int], object] | None = None
    ) -> None:
        """Download a file, calling a function with the numbers of bytes that have arrived.

        Raises:
            ModelFormatError: it is larger than it may be.
            OSError: the server cannot be reached, breaks off, or has no such file.
        """
        counted = None if on_bytes is None else create_proxy(on_bytes)
        try:
            answer = await _answered(
                url,
                self._downloads.receive(
                    javascript_text(url), shard.address, len(shard.region), shard.limit, counted
                ),
            )
        finally:
            if counted is not None:
                counted.destroy()
        if not hasattr(answer, "size"):
            raise OSError(f"{url}: the server answered {answer.status}")
        shard.check_limit(answer.size)
        shard.filled = min(answer.size, len(shard.region))
        if answer.rest is not None:
            shard.rest.append(python_buffer(answer.rest))

    def abort(self) -> None:
        """Stop all downloads; nothing is written to their memory any more."""
        self._downloads.abort()

    async def end(self, is_complete: bool) -> None:
        """Wait until the cache has what was downloaded, or has forgotten it."""
        if not is_complete:
            self.abort()
        if self._uses_cache:
            await (self._downloads.settled() if is_complete else self._downloads.forget())


async def fetch_bytes(url: str) -> bytes:
    """Return the bytes of the file at an address.

    Raises:
        OSError: the server cannot be reached, breaks off, or has no such file.
    """
    file = Shard(url, url, MAX_BYTES)
    await Fetching({}, None, None).receive(url, file)
    return b"".join(file.pieces)


async def send(url: str, request_init: Mapping[str, Any], body: bytes) -> ServerResponse:
    """Send bytes to an address.

    Raises:
        OSError: the server cannot be reached.
    """
    options = javascript_text(json.dumps(dict(request_init)))
    request = _functions().send(javascript_text(url), options, javascript_bytes(body))
    answer = await _answered(url, request)
    return ServerResponse(answer.status, python_bytes(answer.body))


async def url_chunks(
    url: str, request_init: Mapping[str, Any], timeout: float | None
) -> AsyncGenerator[bytes, None]:
    """Give the bytes of the file at an address as they arrive.

    Raises:
        OSError: the server cannot be reached, breaks off, has no such file, or sends nothing for
            ``timeout`` seconds.
    """
    options = javascript_text(json.dumps(dict(request_init)))
    opening = _functions().open(javascript_text(url), options)
    source = await _in_time(url, _answered(url, opening), timeout)
    if not hasattr(source, "read"):
        raise OSError(f"{url}: the server answered {source.status}")
    async for chunk in _chunks(url, source, timeout):
        yield chunk


async def blob_chunks(blob: Any) -> AsyncGenerator[bytes, None]:
    """Give the bytes of a Blob or a File.

    Raises:
        OSError: it cannot be read.
    """
    label = getattr(blob, "name", "blob")
    async for chunk in _chunks(label, _functions().openBlob(blob), None):
        yield chunk


async def _chunks(label: str, source: Any, timeout: float | None) -> AsyncGenerator[bytes, None]:
    try:
        while True:
            chunk = await _in_time(label, _answered(label, source.read()), timeout)
            if chunk is None:
                return
            yield python_bytes(chunk)
    finally:
        source.cancel()


async def _in_time(label: str, awaitable: Awaitable[Any], timeout: float | None) -> Any:
    try:
        return await asyncio.wait_for(awaitable, timeout)
    except TimeoutError:
        raise OSError(f"{label}: no bytes for {timeout} s") from None
