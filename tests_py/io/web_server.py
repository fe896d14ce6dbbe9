"""A server of files whose answers may be slow, broken or missing, for tests."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from web.serve import running


@dataclass
class Answer:
    """An answer to a request: its status, headers and body, and what is wrong with it.

    Attributes:
        body: the bytes that are sent.
        status: the status.
        headers: headers beside Content-Length; that one replaces the right one.
        stalls: whether the connection stays open after the body, which the server announces to be
            longer, until the test ends.
        is_chunked: whether the answer is sent in chunks of unannounced length.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stalls: bool = False
    is_chunked: bool = False


@dataclass
class Server:
    """The server's address, its answers by path, and the requests that it got."""

    url: str
    answers: dict[str, Answer]
    requests: list[Request]
    lost: set[str]

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.requests]

    def was_asked_for(self, path: str) -> bool:
        """Whether a client asks for a path, within two minutes."""
        return _becomes_true(lambda: path in self.paths)

    def has_lost(self, path: str) -> bool:
        """Whether the client breaks off an answer, within two minutes."""
        return _becomes_true(lambda: path in self.lost)


def _becomes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 120
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds


@dataclass
class Request:
    """A request: its method, path with the query, headers and body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class QuickServer(ThreadingHTTPServer):
    """A server that ends as soon as it is told to."""

    def serve_forever(self, poll_interval: float = 0.01) -> None:
        """Answer until ``shutdown`` is called."""
        super().serve_forever(poll_interval)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing: clients that have read enough break off."""


def _received(connection: socket.socket) -> bytes:
    """Return a byte that has arrived, or none where the connection has ended."""
    try:
        return connection.recv(1)
    except ConnectionError:
        return b""


@contextmanager
def serving(files: Mapping[str, bytes | Answer]) -> Iterator[Server]:
    """Serve files by their paths, which begin with "/", within the ``with``."""
    answers = {
        path: answer if isinstance(answer, Answer) else Answer(answer)
        for path, answer in files.items()
    }
    requests: list[Request] = []
    lost: set[str] = set()
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 120

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self.answer
            raise AttributeError(name)

        def answer(self) -> None:
            try:
                self._answer()
            except ConnectionError:
                lost.add(self.path)
                raise

        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(size)
            requests.append(Request(self.command, self.path, dict(self.headers), body))
            answer = answers.get(urlsplit(self.path).path, Answer(status=404))
            self.send_response(answer.status)
            headers = {"Content-Length": str(len(answer.body)), **answer.headers}
            if answer.is_chunked:
                headers = {"Transfer-Encoding": "chunked"}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.is_chunked:
                for start in range(0, len(answer.body), 1000):
                    chunk = answer.body[start : start + 1000]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.wfile.write(answer.body)
                self.wfile.flush()
            if answer.stalls:
                self._wait()
            self.close_connection = True

        def _wait(self) -> None:
            """Wait until the client breaks off, or the test ends."""
            self.connection.setblocking(False)
            while not ended.wait(0.01):
                with suppress(BlockingIOError):
                    if not _received(self.connection):
                        lost.add(self.path)
                        return

        def log_message(self, format: str, *arguments: Any) -> None:
            """Write nothing."""

    with running(QuickServer(("127.0.0.1", 0), Handler)) as url:
        try:
            yield Server(url, answers, requests, lost)
        finally:
            ended.set()
