"""A program that visitors edit and run: its runs, one at a time, its output, and its errors.

Programs import `frames`, `on` and `at_end` from here. What they ask for by these ends with their
run, and so does everything that they hold.
"""

import asyncio
import gc
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import count
from time import perf_counter
from typing import Any

import page
from page import element, run_in_background, write
from pyodide.code import eval_code_async

import webtensor as wt

PROGRAM = "program.py"
SECONDS_BETWEEN_RATES = 0.5

#: What the run that goes on has to undo at its end.
_undo = ExitStack()


def on(target: Any, event: str, handler: Callable[[Any], Any]) -> None:
    """Call a function, or run a coroutine function, at each event of an element, during the run."""
    _undo.callback(page.on(target, event, handler))


def at_end(undo: Callable[[], object]) -> None:
    """Call a function when the run ends, in whatever way; the last one is called first."""
    _undo.callback(undo)


async def frames() -> AsyncIterator[int]:
    """Yield the numbers of frames, and show how long the program computes for each.

    The page paints and handles events in between.
    """
    counted_from, counted, busy = perf_counter(), 0, 0.0
    for number in count():
        began = perf_counter()
        yield number
        now = perf_counter()
        counted, busy = counted + 1, busy + now - began
        if now - counted_from >= SECONDS_BETWEEN_RATES:
            rate = counted / (now - counted_from)
            show_facts(f"{1000 * busy / counted:.1f} ms a frame", f"{rate:.0f} frames a second")
            counted_from, counted, busy = now, 0, 0.0
        await wt.next_frame()


def show_facts(*rates: str) -> None:
    """Say what computes, how fast, and how much memory its tensors take."""
    facts = page.find("facts")
    if facts is not None and wt.available_backends():
        backend = wt.get_backend()
        memory = wt.memory()
        size = memory["num_bytes_in_gpu" if backend == "webgl" else "num_bytes"]
        place = "on the GPU" if backend == "webgl" else "in WebAssembly's memory"
        facts.textContent = ", ".join([*rates, f"{size / 1e6:.1f} MB {place}"])


class Output(StringIO):
    """What the program prints, shown as it is printed."""

    def write(self, text: str) -> int:
        """Show text after what was printed before."""
        element("output").append(text)
        return len(text)


class Program:
    """The button of a program, and the run that goes on."""

    def __init__(
        self,
        read: Callable[[], str],
        on_error: Callable[[int | None, str], object] = lambda line, summary: None,
    ) -> None:
        """Run what `read` returns at each click; `on_error` hears of the line and of the error."""
        self._read = read
        self._on_error = on_error
        self._button = element("run")
        self._task: asyncio.Task[None] | None = None
        page.on(self._button, "click", self.run_or_stop)

    def run_or_stop(self, event: Any = None) -> None:
        """Run the program; while it runs, end it where it awaits something."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._task = run_in_background(self._run())

    async def run_anew(self) -> None:
        """Run the program from its beginning, after the end of the run that goes on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.run_or_stop()

    async def _run(self) -> None:
        self._button.textContent = "Stop"
        write("output", "")
        write_state("Running")
        output = Output()
        names = {"__name__": "__main__"}
        try:
            with redirect_stdout(output), redirect_stderr(output), undone_at_end():
                await eval_code_async(self._read(), names, filename=PROGRAM)
            write_state("Done")
        except asyncio.CancelledError:
            write_state("Stopped")
        except BaseException as error:  # a visitor's program may raise anything
            report = own_traceback(error)
            output.write("".join(report.format()))
            write_state("It ended with an error")
            self._on_error(line_of(error, report), "".join(report.format_exception_only()).strip())
        finally:
            names.clear()
            gc.collect()  # models refer to themselves, and have weights
            self._task = None
            self._button.textContent = "Run"


@contextmanager
def undone_at_end() -> Iterator[None]:
    """Undo at the end what the run asked for, and let go of what it drew with."""
    global _undo
    with ExitStack() as _undo:
        yield


def own_traceback(error: BaseException) -> traceback.TracebackException:
    """Return the traceback of an error, from the program's own first line on."""
    report = traceback.TracebackException.from_exception(error)
    frames = [frame.filename == PROGRAM for frame in report.stack]
    if True in frames:
        del report.stack[: frames.index(True)]
    return report


def line_of(error: BaseException, report: traceback.TracebackException) -> int | None:
    """Return the line of the program that has a syntax error, or that led to another error."""
    if isinstance(error, SyntaxError) and error.filename == PROGRAM:
        return error.lineno
    lines = [frame.lineno for frame in report.stack if frame.filename == PROGRAM]
    return lines[-1] if lines else None


def write_state(text: str) -> None:
    """Say what the program does."""
    write("run-state", text)
