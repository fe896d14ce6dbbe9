"""The page's side of a worker with a Python of its own (`python_worker.js`)."""

from collections.abc import Callable, Sequence
from typing import Any

import js
from page import on
from pyodide.ffi import to_js


class PythonWorker:
    """A worker, from its start until `end`."""

    def __init__(
        self, script: str, hear: Callable[[Any], object], fail: Callable[[str], object]
    ) -> None:
        """Start a script; `hear` gets what it posts, and `fail` the reason why it gave up."""
        self._worker = js.Worker.new(f"{script}{js.location.search}", to_js({"type": "module"}))
        self._hear, self._fail = hear, fail
        self._has_spoken = False
        self._waiting: list[tuple[Any, Any]] = []
        self._undo = [
            on(self._worker, "message", self._receive),
            # An event without a message tells of a script that could not be fetched.
            on(self._worker, "error", lambda event: self._give_up(getattr(event, "message", None))),
        ]

    def send(self, message: dict[str, Any], transferred: Sequence[Any] = ()) -> None:
        """Send a message, with what it hands over to the worker."""
        self._waiting.append((to_js(message), to_js(list(transferred))))
        if self._has_spoken:
            self._post()

    def end(self) -> None:
        """End the worker, whatever it does, if it has not ended."""
        self._worker.terminate()
        while self._undo:
            self._undo.pop()()

    def _post(self) -> None:
        for message, transferred in self._waiting:
            self._worker.postMessage(message, transferred)
        self._waiting.clear()

    def _receive(self, event: Any) -> None:
        # What is sent before the script has run would be lost.
        self._has_spoken = True
        self._post()
        if event.data.kind == "failed":
            self._give_up(event.data.error)
        else:
            self._hear(event.data)

    def _give_up(self, reason: str | None) -> None:
        self.end()
        self._fail(reason or "it could not start")
