"""Runs a page's program in a worker, which Stop ends (`worker_session.py` is the worker's side)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from evaluation import ProgramError
from page import element, write
from python_worker import PythonWorker
from terminal import appendText

import webtensor as wt


def in_worker(
    script: str, begin: Callable[[], Callable[[Any], object]]
) -> Callable[[str], Awaitable[ProgramError | None]]:
    """Return a function that runs a program in a new worker with this script.

    `begin` is called for each run, and returns what hears the program's reports.
    """

    async def evaluate(source: str) -> ProgramError | None:
        run = Run(script, begin())
        try:
            return await run.result(source)
        finally:
            run.end()

    return evaluate


class Run:
    """A run in a worker."""

    def __init__(self, script: str, hear: Callable[[Any], object]) -> None:
        """Start the worker."""
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._error: ProgramError | None = None
        self._hear_report = hear
        self._worker = PythonWorker(script, self._hear, self._fail)

    async def result(self, source: str) -> ProgramError | None:
        """Run a program, and return the error that ended it, or None."""
        self._worker.send({"source": source, "backend": wt.get_backend()})
        await self._end
        return self._error

    def end(self) -> None:
        """End the worker."""
        self._worker.end()

    def _hear(self, message: Any) -> None:
        match message.kind:
            case "loading":
                write("facts", f"The worker's own Python: {message.text}")
            case "printed":
                appendText(element("output"), message.text)
            case "report":
                write("facts", f"A worker: {message.costs}")
                self._hear_report(message.facts)
            case "error":
                self._error = ProgramError(message.report, message.summary, message.line)
            case "done":
                self._end.set_result(None)

    def _fail(self, reason: str) -> None:
        self._error = ProgramError(f"{reason}\n", f"The worker failed: {reason}", None)
        self._end.set_result(None)
