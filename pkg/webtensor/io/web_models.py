"""Models on the web: ``model.json`` and files of weights are loaded, or sent to a server."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import partial
from inspect import isawaitable
from typing import Any, Protocol, TypeVar

from webtensor.engine.jspi import loop_runs
from webtensor.environment import IN_BROWSER
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.model_artifacts import ModelArtifacts, get_model_artifacts_info_for_json
from webtensor.formats.model_json import MODEL_JSON, model_files
from webtensor.io.handlers import (
    FetchFunction,
    IOHandler,
    ProgressFunction,
    SaveResult,
    ServerResponse,
    without_awaiting,
)
from webtensor.io.progress import Progress
from webtensor.io.shard_buffers import MAX_BYTES, ModelReader, Shard

__all__ = [
    "WebHandler",
    "address_beside",
    "browser_http_request",
    "fetch_files",
    "http",
    "is_http_scheme",
]

Result = TypeVar("Result")

#: The number of files that are downloaded at once.
_MAX_DOWNLOADS = 8
#: The time that a server may take for its next bytes.
_SECONDS = 60
_WEIGHTS_NAME = "model.weights.bin"
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
#: An address without a path, in a page perhaps without its scheme.
_ORIGIN = re.compile(r"([^/]*:)?//[^/]*")
_SUCCESS = range(200, 300)


class _Requests(Protocol):
    """Downloads that end together."""

    async def receive(
        self, url: str, shard: Shard, on_bytes: Callable[[int], object] | None = None, /
    ) -> None:
        """Download a file, calling a function with the numbers of bytes that have arrived."""

    def abort(self) -> None:
        """Stop all downloads."""

    async def end(self, is_complete: bool, /) -> None:
        """Give back what downloads need; stop them unless they are complete."""


class _CustomRequests:
    """Downloads by a function of the user."""

    def __init__(self, fetch: FetchFunction, request_init: Mapping[str, Any]) -> None:
        self._fetch, self._request_init = fetch, request_init

    async def receive(
        self, url: str, shard: Shard, on_bytes: Callable[[int], object] | None = None
    ) -> None:
        response = await _response_of(url, self._fetch(url, self._request_init))
        if response.status not in _SUCCESS:
            raise OSError(f"{url}: the server answered {response.status}")
        shard.write(response.body)
        if on_bytes is not None:
            on_bytes(len(response.body))

    def abort(self) -> None:
        """Do nothing: the tasks that await the function are cancelled."""

    async def end(self, is_complete: bool) -> None:
        """Do nothing."""


class WebHandler(IOHandler):
    """A server; see ``http``."""

    def __init__(
        self,
        path: str,
        *,
        on_progress: ProgressFunction | None,
        request_init: Mapping[str, Any] | None,
        fetch_func: FetchFunction | None,
        weight_path_prefix: str | None,
        weight_url_converter: Callable[[str], str | Awaitable[str]] | None,
        cache: str | None,
        integrity: str | Mapping[str, str] | None,
        timeout: float | None,
    ) -> None:
        self.label = self._url = path
        self._on_progress, self._fetch = on_progress, fetch_func
        self._request_init = dict(request_init or {})
        self._weight_path_prefix, self._convert = weight_path_prefix, weight_url_converter
        self._cache, self._integrity, self._timeout = cache, integrity, timeout

    def load(self) -> ModelArtifacts:
        return self._synchronously(self.load_async, "load_async")

    async def load_async(self) -> ModelArtifacts:
        return await self.load_described(lambda _: None)

    async def load_described(self, describe: Callable[[ModelArtifacts], object]) -> ModelArtifacts:
        """Return the model; call a function with what it is before its weights have arrived."""
        requests = _requests(self._request_init, self._fetch, self._cache, self._timeout)
        async with _ending(requests):
            return await self._loaded(requests, describe)

    async def _loaded(
        self, requests: _Requests, describe: Callable[[ModelArtifacts], object]
    ) -> ModelArtifacts:
        description = Shard(MODEL_JSON, self.label, MAX_BYTES)
        await requests.receive(self._url, description)
        with reading(self.label):
            reader = ModelReader(b"".join(description.pieces), self.label, self._integrity)
            reader.reserve()
        addresses = [await self._address(shard.path) for shard in reader.shards]
        progress = Progress(self._on_progress, reader.declared_bytes, len(reader.shards))
        failures: list[BaseException] = []

        def count(size: int, *, ends_file: bool = False) -> None:
            try:
                progress.add(size, ends_file=ends_file)
            except BaseException as error:
                failures.append(error)
                requests.abort()

        async def receive(url: str, shard: Shard) -> None:
            await requests.receive(url, shard, count if self._on_progress else None)
            count(0, ends_file=True)

        async def describe_model() -> None:
            describe(reader.description())

        jobs: list[Callable[[], Awaitable[object]]] = [
            partial(receive, url, shard)
            for url, shard in zip(addresses, reader.shards, strict=True)
        ]
        # Downloads go on while Python reads the description, so that some begin before.
        jobs.insert(_MAX_DOWNLOADS - 1, describe_model)
        try:
            await _together(jobs)
        except OSError:
            if failures:
                raise failures[0] from None
            raise
        if failures:
            raise failures[0]
        with reading(self.label):
            artifacts = reader.artifacts()
        progress.end()
        return artifacts

    async def _address(self, path: str) -> str:
        """Return the address of a file of weights."""
        if self._convert is not None:
            address = self._convert(path)
            return await address if isawaitable(address) else address
        return address_beside(self._url, path, self._weight_path_prefix)

    def save(self, artifacts: ModelArtifacts) -> SaveResult:
        return self._synchronously(lambda: self.save_async(artifacts), "save_async")

    async def save_async(self, artifacts: ModelArtifacts) -> SaveResult:
        content_type, body = _form(artifacts)
        headers = dict(self._request_init.get("headers") or {})
        options = {
            "method": "POST",
            **self._request_init,
            "headers": {**headers, "Content-Type": content_type},
        }
        response = await self._send(options, body)
        if response.status not in _SUCCESS:
            raise OSError(f"{self._url}: the server answered {response.status}")
        return SaveResult(get_model_artifacts_info_for_json(artifacts), [response])

    async def _send(self, options: dict[str, Any], body: bytes) -> ServerResponse:
        if self._fetch is not None:
            return await _response_of(self._url, self._fetch(self._url, {**options, "body": body}))
        if IN_BROWSER:
            from webtensor.io import fetching

            return await fetching.send(self._url, options, body)
        from webtensor.io import threaded_requests

        return await threaded_requests.send(self._url, options, body, self._timeout)

    def _synchronously(
        self, function: Callable[[], Coroutine[Any, Any, Result]], alternative: str
    ) -> Result:
        if IN_BROWSER or self._fetch is not None or not loop_runs():
            return without_awaiting(function, self.label, alternative)
        return _in_another_thread(function)


def _requests(
    request_init: Mapping[str, Any],
    fetch: FetchFunction | None = None,
    cache: str | None = None,
    timeout: float | None = _SECONDS,
) -> _Requests:
    if fetch is not None:
        return _CustomRequests(fetch, request_init)
    if IN_BROWSER:
        from webtensor.io.fetching import Fetching

        return Fetching(request_init, cache, timeout)
    from webtensor.io.threaded_requests import ThreadedRequests

    return ThreadedRequests(request_init, timeout, _MAX_DOWNLOADS)


@asynccontextmanager
async def _ending(requests: _Requests) -> AsyncIterator[None]:
    """End downloads after the ``with``; an error or a cancellation stops them."""
    is_complete = False
    try:
        yield
        is_complete = True
    finally:
        await requests.end(is_complete)


def _in_another_thread(function: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Return what a coroutine function returns, in an event loop of its own."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(function())
    thread = threading.Thread(target=_run, args=(loop, task), name="webtensor-event-loop")
    thread.start()
    try:
        thread.join()
    except BaseException:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    return task.result()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()


async def _together(jobs: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Do jobs, some of them at the same time; the first error ends the others."""
    waiting = iter(jobs)

    async def work() -> None:
        for job in waiting:
            await job()

    workers = [asyncio.ensure_future(work()) for _ in jobs[:_MAX_DOWNLOADS]]
    try:
        await asyncio.gather(*workers)
    except BaseException:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        raise


async def fetch_files(
    addresses: Sequence[str], request_init: Mapping[str, Any] | None = None
) -> list[Buffer]:
    """Return the contents of files on the web, which are downloaded at the same time.

    Raises:
        OSError: a server cannot be reached, breaks off, or has no such file.
    """
    requests = _requests(dict(request_init or {}))
    files = [Shard(address, address, MAX_BYTES) for address in addresses]
    async with _ending(requests):
        await _together([partial(requests.receive, file.path, file) for file in files])
    return [b"".join(file.pieces) for file in files]


async def _response_of(url: str, answer: Any) -> ServerResponse:
    """Return what a function of the user answers: bytes, or the response of a library.

    Raises:
        TypeError: it is neither.
    """
    if isawaitable(answer):
        answer = await answer
    if isinstance(answer, Buffer):
        return ServerResponse(200, bytes(answer))
    status = getattr(answer, "status", getattr(answer, "status_code", 200))
    for name in ("content", "bytes", "arrayBuffer", "read"):
        body = getattr(answer, name, None)
        body = body() if callable(body) else body
        body = await body if isawaitable(body) else body
        if body is not None:
            return ServerResponse(int(status), _bytes_of(body))
    raise TypeError(
        f"fetch_func must return bytes or a response, but for {url} returned {answer!r:.200}"
    )


def _bytes_of(body: Any) -> bytes:
    if hasattr(body, "byteLength"):
        from webtensor.transfer import python_bytes

        return python_bytes(body)
    return bytes(body)


def _form(artifacts: ModelArtifacts) -> tuple[str, bytes]:
    """Return the type and the bytes of a form with the files of a model, as TensorFlow.js sends."""
    boundary = f"webtensor-{secrets.token_hex(16)}"
    types = {MODEL_JSON: "application/json", _WEIGHTS_NAME: "application/octet-stream"}
    pieces: list[Buffer] = []
    files = dict(model_files(artifacts, weights_name=_WEIGHTS_NAME))
    for name, data in sorted(files.items()):
        pieces += [
            f"--{boundary}\r\n"
            f'Content-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
            f"Content-Type: {types[name]}\r\n\r\n".encode(),
            data,
            b"\r\n",
        ]
    body = b"".join([*pieces, f"--{boundary}--\r\n".encode()])
    return f"multipart/form-data; boundary={boundary}", body


def address_beside(url: str, path: str, folder: str | None = None) -> str:
    """Return the address of a file in ``folder``, or in that of ``url``, with the query of ``url``.

    A query may end with an address itself, as of a proxy: ``?url=https://example.org/model.json``.

    Example:
        >>> address_beside("https://example.org/m/model.json?key=1", "weights.bin")
        'https://example.org/m/weights.bin?key=1'
    """
    location, question_mark, query = url.partition("#")[0].partition("?")
    _, slash, name = query.rpartition("/")
    if slash and ("?" in name or name.endswith((".json", ".onnx"))):
        address = address_beside(query, path, folder)
        return address if folder else f"{location}?{address}"
    if _ORIGIN.fullmatch(location):
        location += "/"
    start = f"{folder.removesuffix('/')}/" if folder else location[: location.rfind("/") + 1]
    return f"{start}{path}{question_mark}{query}"


def is_http_scheme(url: str) -> bool:
    """Return whether an address begins with ``http://`` or ``https://``.

    Example:
        >>> import webtensor as wt
        >>> wt.io.is_http_scheme("https://example.org/model.json")
        True
    """
    return _SCHEME.match(url) is not None


def http(
    path: str,
    *,
    on_progress: ProgressFunction | None = None,
    request_init: Mapping[str, Any] | None = None,
    fetch_func: FetchFunction | None = None,
    weight_path_prefix: str | None = None,
    weight_url_converter: Callable[[str], str | Awaitable[str]] | None = None,
    cache: str | None = None,
    integrity: str | Mapping[str, str] | None = None,
    timeout: float | None = _SECONDS,
) -> IOHandler:
    """Return a handler that loads a model from a server, or sends one to it.

    Files of weights are downloaded at the same time, straight to their places in memory. Cancelling
    the task that awaits ``load_async`` aborts the downloads. A model is sent as TensorFlow.js does:
    as a form with the files ``model.json`` and ``model.weights.bin``.

    Args:
        path: the address of ``model.json``, or the one that models are sent to. In a page it may be
            relative to the page.
        on_progress: called with the fraction of the weights that have arrived, from 0 to 1.
        request_init: options of requests, as of JavaScript's ``fetch``, as values of JSON; outside
            of pages the method and the headers count.
        fetch_func: called with an address and ``request_init`` in place of ``fetch``; returns
            bytes, the response of a library, or an awaitable of one of them.
        weight_path_prefix: the folder of the files of weights, by default that of ``model.json``;
            their addresses have the query of ``path``.
        weight_url_converter: called with the path of a file of weights; returns its address, or an
            awaitable of it.
        cache: in a page, the name of the cache (of the Cache API) that files are taken from, and
            put into. A model that is broken is removed from it.
        integrity: the checksum that ``model.json`` must have, as ``"sha256-"`` and base64, or
            ``"sha256:"`` and hexadecimal digits; or those of several files by their paths.
        timeout: the number of seconds that a server may take for its next bytes, or None.

    Raises:
        ValueError: an argument is invalid, or has no meaning outside of pages.

    Example:
        In a page::

            handler = wt.io.http("https://example.org/model.json", on_progress=print)
            artifacts = await handler.load_async()
    """
    if not isinstance(path, str) or not path:
        raise ValueError(f"http: path must be an address, but is {path!r}")
    if not IN_BROWSER and not is_http_scheme(path) and fetch_func is None:
        raise ValueError(f"http: path must begin with http:// or https://, but is {path!r}")
    if "body" in (request_init or {}):
        raise ValueError("http: request_init must have no body: that is the model")
    if cache is not None and not IN_BROWSER:
        raise ValueError(f"http: only pages have caches, but cache is {cache!r}")
    return WebHandler(
        path,
        on_progress=on_progress,
        request_init=request_init,
        fetch_func=fetch_func,
        weight_path_prefix=weight_path_prefix,
        weight_url_converter=weight_url_converter,
        cache=cache,
        integrity=integrity,
        timeout=timeout,
    )


#: TensorFlow.js's older name.
browser_http_request = http
