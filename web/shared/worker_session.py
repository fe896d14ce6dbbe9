"""A program that runs in a worker, and what it tells its page (`worker_program.py`)."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from time import perf_counter
from typing import Any

from evaluation import evaluate, memory_facts
from pyodide.ffi import to_js

import webtensor as wt


class Session:
    """A run of a program, whose page hears by `post` what becomes of it."""

    def __init__(self, post: Callable[[Any], object]) -> None:
        """Begin."""
        self._post = post
        self._reported_at = perf_counter()

    def send(self, kind: str, **content: Any) -> None:
        """Post a message."""
        self._post(to_js({"kind": kind, **content}))

    def report(self, facts: dict[str, Any]) -> None:
        """Post facts, how long they took since the last ones, and how much memory."""
        began, self._reported_at = self._reported_at, perf_counter()
        milliseconds = 1000 * (self._reported_at - began)
        self.send("report", facts=facts, costs=f"{milliseconds:.0f} ms a report, {memory_facts()}")


class Output(StringIO):
    """What the program prints, which the page shows."""

    def write(self, text: str) -> int:
        """Post text."""
        _session.send("printed", text=text)
        return len(text)


#: That of the program that runs.
_session: Session


async def run(source: str, backend: str, post: Callable[[Any], object]) -> None:
    """Run a program on a backend, and post what becomes of it."""
    global _session
    wt.set_backend(backend)
    await wt.ready()
    _session = Session(post)
    output = Output()
    with redirect_stdout(output), redirect_stderr(output):
        error = await evaluate(source)
    if error is not None:
        _session.send("error", **error._asdict())


def report(**facts: Any) -> None:
    """Send the page facts for its `stage`: numbers, text, and tensors."""
    values = {
        name: fact.tolist() if isinstance(fact, wt.Tensor) else fact for name, fact in facts.items()
    }
    _session.report(values)
