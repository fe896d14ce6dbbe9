"""A program that runs in a worker, and what it tells its page (`worker_program.py`)."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from evaluation import evaluate, memory_facts
from pyodide.ffi import to_js

import webtensor as wt

#: Posts a message to the page, while a program runs.
_post: Callable[[Any], object] = print


class Output(StringIO):
    """What the program prints, which the page shows."""

    def write(self, text: str) -> int:
        """Post text."""
        _send("printed", text=text)
        return len(text)


async def run(source: str, backend: str, post: Callable[[Any], object]) -> None:
    """Run a program on a backend, and post what becomes of it."""
    global _post
    _post = post
    wt.set_backend(backend)
    await wt.ready()
    output = Output()
    with redirect_stdout(output), redirect_stderr(output):
        error = await evaluate(source)
    if error is not None:
        _send("error", **error._asdict())


def report(**facts: Any) -> None:
    """Send the page facts for its `stage`: numbers, text, tensors, and lists of these."""
    values = {
        name: fact.tolist() if isinstance(fact, wt.Tensor) else fact for name, fact in facts.items()
    }
    _send("report", facts=values, memory=memory_facts())


def _send(kind: str, **content: Any) -> None:
    _post(to_js({"kind": kind, **content}))
