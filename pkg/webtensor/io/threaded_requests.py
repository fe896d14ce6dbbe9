"""Requests to servers outside of pages, by the standard library, in threads."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from webtensor.io.handlers import ServerResponse
from webtensor.io.shard_buffers import Shard

__all__ = ["ThreadedRequests", "send", "url_chunks"]

_CHUNK = 1 << 18
#: What an address may have beside letters, digits and "_.-~"; other characters are quoted.
_ADDRESS_CHARACTERS = ":/?#[]@!$&'()*+,;=%"
#: Headers for one server alone, as ``Request`` writes their names.
_CREDENTIALS = frozenset({"Authorization", "Cookie", "Proxy-authorization"})


class _PlainHandler(HTTPHandler):
    """Opens HTTP, and notes the connections."""

    def __init__(self, connections: set[HTTPConnection]) -> None:
        super().__init__()
        self._connections = connections

    def http_open(self, request: Request) -> HTTPResponse:
        """Open an address."""
        return self.do_open(_recording(HTTPConnection, self._connections), request)


class _SecureHandler(HTTPSHandler):
    """Opens HTTPS, and notes the connections."""

    def __init__(self, connections: set[HTTPConnection]) -> None:
        super().__init__()
        self._connections = connections

    def https_open(self, request: Request) -> HTTPResponse:
        """Open an address."""
        return self.do_open(_recording(HTTPSConnection, self._connections), request)


class _RedirectHandler(HTTPRedirectHandler):
    """Follows a server elsewhere, but tells other servers no credentials, as ``fetch`` does."""

    def redirect_request(self, request: Request, *answer: Any) -> Request | None:
        """Return the request to where a server redirects."""
        redirected = super().redirect_request(request, *answer)
        if redirected is not None and _origin(redirected) != _origin(request):
            for name in _CREDENTIALS & {*redirected.headers}:
                redirected.remove_header(name)
        return redirected


def _origin(request: Request) -> tuple[str, str]:
    return request.type, request.host.lower()


def _recording(
    connect: Callable[..., HTTPConnection], connections: set[HTTPConnection]
) -> Callable[..., HTTPConnection]:
    def connection(*args: Any, **kwargs: Any) -> HTTPConnection:
        new_connection = connect(*args, **kwargs)
        connections.add(new_connection)
        return new_connection

    return connection


def _opener(connections: set[HTTPConnection]) -> OpenerDirector:
    """Return what opens HTTP and HTTPS only, also where a server redirects."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        _PlainHandler(connections),
        _SecureHandler(connections),
        _RedirectHandler(),
        UnknownHandler(),
        HTTPErrorProcessor(),
        HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _request(url: str, request_init: Mapping[str, Any], body: bytes | None = None) -> Request:
    """Return a request with the method and the headers of options of ``fetch``."""
    return Request(
        quote(url, safe=_ADDRESS_CHARACTERS),
        body,
        {str(name): str(value) for name, value in dict(request_init.get("headers") or {}).items()},
        method=request_init.get("method"),
    )


@contextmanager
def _answering(url: str) -> Iterator[None]:
    """Turn the errors of a request into one that names the address."""
    try:
        yield
    except HTTPError as error:
        error.close()
        raise OSError(f"{url}: the server answered {error.code}") from None
    except (OSError, ValueError, HTTPException) as error:
        raise OSError(
            f"{url}: the server cannot be reached, or its answer broke off ({error})"
        ) from error


def _opened(
    opener: OpenerDirector, url: str, request_init: Mapping[str, Any], timeout: float | None
) -> HTTPResponse:
    """Return a server's answer, whose body is not read yet.

    Raises:
        OSError: the server cannot be reached, has no such file, or encodes it.
    """
    with _answering(url):
        response = opener.open(_request(url, request_init), timeout=timeout)
    assert isinstance(response, HTTPResponse)
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        response.close()
        raise OSError(f"{url}: the server encodes the file as {encoding!r}")
    return response


class ThreadedRequests:
    """The downloads of one model.

    Args:
        request_init: options of requests, as of ``fetch``, of which outside of pages the method and
            the headers count.
        timeout: the number of seconds that a server may take for its next bytes.
        count: the number of threads.
    """

    def __init__(self, request_init: Mapping[str, Any], timeout: float | None, count: int) -> None:
        self._request_init, self._timeout = request_init, timeout
        self._connections: set[HTTPConnection] = set()
        self._opener = _opener(self._connections)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="webtensor-download")
        self._responses: set[HTTPResponse] = set()
        self._is_aborted = False

    async def receive(
        self, url: str, shard: Shard, on_bytes: Callable[[int], object] | None = None
    ) -> None:
        """Download a file, calling a function with the numbers of bytes that have arrived.

        Raises:
            ModelFormatError: it is larger than it may be.
            OSError: the server cannot be reached, breaks off, or has no such file.
        """
        loop = asyncio.get_running_loop()

        def count(size: int) -> None:
            if on_bytes is not None:
                loop.call_soon_threadsafe(on_bytes, size)

        await loop.run_in_executor(self._pool, self._receive, url, shard, count)

    def _receive(self, url: str, shard: Shard, count: Callable[[int], object]) -> None:
        with _opened(self._opener, url, self._request_init, self._timeout) as response:
            self._responses.add(response)
            try:
                self._read(url, response, shard, count)
            finally:
                self._responses.discard(response)

    def _read(
        self, url: str, response: HTTPResponse, shard: Shard, count: Callable[[int], object]
    ) -> None:
        while not self._is_aborted:
            place = shard.region[shard.filled :][:_CHUNK]
            with _answering(url):
                data = b"" if len(place) else response.read(_CHUNK)
                size = response.readinto(place) if len(place) else len(data)
            if not size:
                break
            if len(place):
                shard.filled += size
            else:
                shard.write(data)
            count(size)
        if self._is_aborted or response.length:
            raise OSError(f"{url}: the server's answer broke off after {shard.size} bytes")

    def abort(self) -> None:
        """Stop all downloads; threads that wait for a server end at once."""
        self._is_aborted = True
        for connection in tuple(self._connections):
            opened = connection.sock
            if opened is not None:
                _shut_down(opened.fileno)
        for response in tuple(self._responses):
            _shut_down(response.fileno)

    async def end(self, is_complete: bool) -> None:
        """Give the threads back."""
        if not is_complete:
            self.abort()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _shut_down(descriptor: Callable[[], int]) -> None:
    """End a connection that a thread may be waiting for."""
    with (
        suppress(AttributeError, OSError, ValueError),  # it may have ended meanwhile
        socket.fromfd(descriptor(), socket.AF_INET, socket.SOCK_STREAM) as connection,
    ):
        connection.shutdown(socket.SHUT_RDWR)


async def send(
    url: str, request_init: Mapping[str, Any], body: bytes, timeout: float | None
) -> ServerResponse:
    """Send bytes to an address.

    Raises:
        OSError: the server cannot be reached.
    """

    def sent() -> ServerResponse:
        with _answering(url):
            try:
                response = _opener(set()).open(_request(url, request_init, body), timeout=timeout)
            except HTTPError as error:
                response = error
            with response:
                return ServerResponse(response.status, response.read())

    return await asyncio.get_running_loop().run_in_executor(None, sent)


async def url_chunks(
    url: str, request_init: Mapping[str, Any], timeout: float | None
) -> AsyncGenerator[bytes, None]:
    """Give the bytes of the file at an address as they arrive.

    Raises:
        OSError: the server cannot be reached, breaks off, has no such file, or sends nothing for
            ``timeout`` seconds.
    """
    run = asyncio.get_running_loop().run_in_executor
    response = await run(None, _opened, _opener(set()), url, request_init, timeout)

    def read() -> bytes:
        with _answering(url):
            return response.read1(_CHUNK)

    with response:
        while data := await run(None, read):
            yield data
        if response.length:
            raise OSError(f"{url}: the server's answer broke off, {response.length} bytes early")
