"""The interpreter of the REPL, in its worker: answers the page's requests.

Requests and answers are JSON. While a request runs, the interpreter sends messages of its own:
`{"stream": …, "text": …}` for what a program writes, `{"content": …}` for what it shows.
"""

import asyncio
import bdb
import builtins
import inspect
import json
import os
import platform
import pydoc
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import webtensor as wt

from . import completion
from .files import list_files
from .packages import install
from .pictures import picture
from .plots import plot
from .rendering import content_of
from .session import Session, interruptible, is_of_library
from .streams import ConsoleInput, ConsoleOutput, write_help

#: The backends that the page offers, and their names there.
BACKENDS = {"webgl": "WebGL", "wasm": "WebAssembly", "numpy": "NumPy"}

NO_INPUT = (
    "input() has to wait for the page, which needs shared memory (a page that is cross-origin "
    "isolated) or JSPI; there is neither here. Assign the text to a variable instead."
)
RUNS_ALREADY = (
    "asyncio: programs run in an event loop here, and may await at their top level: write "
    "`await main()` in place of `asyncio.run(main())` and `loop.run_until_complete(main())`"
)


class Interpreter:
    """A session that writes to the page's console and reads from it."""

    def __init__(self, send: Callable[[dict[str, Any]], None], folder: Path) -> None:
        """Start a session whose messages go to `send` and whose files are in `folder`."""
        self._send = send
        self._folder = folder
        namespace = vars(sys.modules["__main__"])
        namespace["wt"] = wt
        self._session = Session(namespace, self.display)
        self._requests: dict[str, Callable[..., Any]] = {
            "run": self.run,
            "isComplete": self._session.is_complete,
            "complete": lambda before: completion.complete(before, namespace),
            "signature": lambda before: completion.signature(before, namespace),
            "describe": self.describe,
            "setBackend": self.set_backend,
            "install": self.install,
            "listFiles": lambda: list_files(folder),
            "removeFile": lambda name: (folder / name).unlink(),
        }

    async def answer(self, request: str, arguments: str) -> str:
        """Answer a request, whose arguments are a JSON list, by its value or error as JSON."""
        try:
            result = self._requests[request](*json.loads(arguments))
            if inspect.isawaitable(result):
                result = await result
        except (Exception, KeyboardInterrupt) as error:
            return json.dumps({"error": str(error) or type(error).__name__})
        return json.dumps({"value": result})

    def interrupt(self) -> None:
        """End a run that awaits something."""
        self._session.interrupt()

    def display(self, *values: Any) -> None:
        """Show values as the session shows results."""
        flush_output()
        for value in values:
            self._send({"content": content_of(value)})

    async def run(self, source: str, filename: str) -> dict[str, Any]:
        """Run source, and tell how it ended."""
        began = time.perf_counter()
        failure = await self._session.run(source, filename)
        seconds = time.perf_counter() - began
        flush_output()
        return {"failure": failure and asdict(failure), "seconds": seconds}

    def describe(self) -> dict[str, Any]:
        """Return versions, and which backends there are."""
        active = wt.get_backend()
        return {
            "webtensor": wt.__version__,
            "python": platform.python_version(),
            "backends": [
                {
                    "name": name,
                    "label": label,
                    "isActive": name == active,
                    "reason": wt.unavailable_reason(name),
                }
                for name, label in BACKENDS.items()
            ],
            "threads": wt.wasm.get_threads_count() if active == "wasm" else None,
        }

    async def set_backend(self, name: str) -> dict[str, Any]:
        """Compute on another backend from now on."""
        with interruptible():
            wt.set_backend(name)
            await wt.ready()
        return self.describe()

    async def install(self, names: str) -> dict[str, Any]:
        """Load packages, whose names are parted by spaces or commas."""
        with interruptible():
            await install(*names.replace(",", " ").split())
        return self.describe()


def start(
    post: Callable[[str], None], read_line: Callable[[], Any], *, can_block: bool
) -> Interpreter:
    """Start the interpreter in the worker.

    `post` sends JSON to the page. `read_line` returns the page's answer as JSON; where the worker
    cannot block, it returns a promise of that.
    """
    namespace = vars(sys.modules["__main__"])
    for name in [name for name in namespace if not name.startswith("_")]:
        del namespace[name]  # what Python's start has left there
    interpreter = Interpreter(lambda message: post(json.dumps(message)), Path.cwd())

    def stream(name: str) -> ConsoleOutput:
        return ConsoleOutput(lambda text: post(json.dumps({"stream": name, "text": text})))

    streams = {
        "stdout": stream("stdout"),
        "stderr": stream("stderr"),
        "stdin": ConsoleInput(lambda: read_from_page(read_line, can_block=can_block)),
    }
    for name, value in streams.items():
        setattr(sys, name, value)
        setattr(sys, f"__{name}__", value)  # from which programs restore the other
    os.environ["MPLBACKEND"] = f"module://{__package__}.matplotlib_backend"
    vars(pydoc)["pager"] = write_help
    hide_frames_from_the_debugger()
    vars(builtins).update(display=interpreter.display, plot=plot, picture=picture)
    loop = asyncio.get_event_loop()
    loop.set_exception_handler(report_task_error)
    if can_block:
        vars(asyncio)["run"] = refuse_to_run
        for name in ("__init__", "run_until_complete"):  # a second loop would block the first
            setattr(type(loop), name, lambda loop, future=None: refuse_to_run(future))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # save where a visitor's code runs
    # An interrupt may hit the event loop instead of the program.
    vars(loop)["_keyboard_interrupt_handler"] = interpreter.interrupt
    return interpreter


def hide_frames_from_the_debugger() -> None:
    """Have the debugger's `where` and `up` begin with a visitor's frame, not with the page's."""
    get_stack = bdb.Bdb.get_stack

    def get_shorter_stack(
        self: bdb.Bdb, frame: FrameType | None, traceback: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        stack, index = get_stack(self, frame, traceback)
        hidden = 0
        while hidden < index and is_of_library(stack[hidden][0].f_code.co_filename):
            hidden += 1
        return stack[hidden:], index - hidden

    bdb.Bdb.get_stack = get_shorter_stack  # type: ignore[assignment, method-assign]


def refuse_to_run(main: Any, **options: Any) -> None:
    """Stand in for `asyncio.run`, which would wait for an event loop that is running already."""
    if inspect.iscoroutine(main):
        main.close()
    raise RuntimeError(RUNS_ALREADY)


def make_sleep_interruptible(wait: Callable[[float], bool]) -> None:
    """Have `time.sleep` wait by `wait`, which takes seconds and returns whether it was stopped."""

    def sleep(seconds: float, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        flush_output()
        if wait(seconds):
            raise KeyboardInterrupt

    vars(time)["sleep"] = sleep


def read_from_page(read_line: Callable[[], Any], *, can_block: bool) -> str | None:
    """Read a line from the page; None stands for the end of the input."""
    flush_output()
    if can_block:
        line = json.loads(read_line())
    else:
        from webtensor.engine.jspi import can_suspend, suspended

        if not can_suspend():
            raise OSError(NO_INPUT)
        line = json.loads(suspended(read_line()))
    if line.get("isInterrupted"):
        raise KeyboardInterrupt
    text: str | None = line["text"]
    return text


def flush_output() -> None:
    """Pass on what a program wrote, whatever it has put in place of the streams."""
    streams: list[Any] = [sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__]
    for stream in streams:
        with suppress(Exception):
            stream.flush()


def report_task_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Write an exception that nobody awaits to the console."""
    error = context.get("exception")
    if error is None:
        sys.stderr.write(f"{context['message']}\n")
    else:
        traceback.print_exception(error)
    sys.stderr.flush()
