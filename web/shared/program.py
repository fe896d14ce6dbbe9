"""A program that visitors edit and run: its runs, one at a time, its output, and its errors.

Programs import `frames`, `on` and `at_end` from here. What they ask for by these ends with their
run, and so does everything that they hold.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import count
from time import perf_counter
from typing import Any

import page
from evaluation import ProgramError, evaluate, memory_facts
from page import element, run_in_background, write
from terminal import appendText

import webtensor as wt

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
    rate = FrameRate()
    for number in count():
        began = perf_counter()
        yield number
        rate.count(perf_counter() - began)
        await wt.next_frame()


class FrameRate:
    """Shows twice a second how long the program computes for a frame."""

    def __init__(self) -> None:
        """Count no frame yet."""
        self._restart()

    def _restart(self) -> None:
        self._since, self._frames, self._busy = perf_counter(), 0, 0.0

    def count(self, seconds: float) -> None:
        """Count a frame that took `seconds` to compute."""
        self._frames += 1
        self._busy += seconds
        passed = perf_counter() - self._since
        if passed >= SECONDS_BETWEEN_RATES:
            milliseconds = 1000 * self._busy / self._frames
            rate = self._frames / passed
            show_facts(f"{milliseconds:.1f} ms a frame", f"{rate:.0f} frames a second")
            self._restart()


def show_facts(*rates: str) -> None:
    """Say what computes, how fast, and how much memory its tensors take."""
    facts = page.find("facts")
    if facts is not None and wt.available_backends():
        facts.textContent = ", ".join([*rates, memory_facts()])


class Output(StringIO):
    """What the program prints, shown as it is printed."""

    def write(self, text: str) -> int:
        """Show text after what was printed before."""
        appendText(element("output"), text)
        return len(text)


@contextmanager
def undone_at_end() -> Iterator[None]:
    """Undo at the end what the run asked for, and let go of what it drew with."""
    global _undo
    with ExitStack() as _undo:
        yield


async def evaluate_here(source: str) -> ProgramError | None:
    """Run a program in the page, and undo at its end what it asked for."""
    return await evaluate(source, undone_at_end())


class Program:
    """The button of a program, and the run that goes on."""

    def __init__(
        self,
        read: Callable[[], str],
        on_error: Callable[[int | None, str], object] = lambda line, summary: None,
        evaluate: Callable[[str], Awaitable[ProgramError | None]] = evaluate_here,
    ) -> None:
        """Run what `read` returns at each click, and anew at each event `rerun` of the button.

        `on_error` hears of the line and of the error.
        """
        self._read = read
        self._on_error = on_error
        self._evaluate = evaluate
        self._button = element("run")
        self._task: asyncio.Task[None] | None = None
        page.on(self._button, "click", self.run_or_stop)
        page.on(self._button, "rerun", self.run_anew)

    def run_or_stop(self, event: Any = None) -> None:
        """Run the program; while it runs, end it where it awaits something."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._task = run_in_background(self._run())
            self._task.add_done_callback(self._forget)

    async def run_anew(self, event: Any = None) -> None:
        """Run the program from its beginning, after the end of the run that goes on."""
        while self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.run_or_stop()

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Note the end of a run, also of one that was cancelled before it began."""
        if self._task is task:
            self._task = None
            write_state("Stopped")

    async def _run(self) -> None:
        gc.collect()  # models and their layers refer to each other
        self._button.textContent = "Stop"
        write("output", "")
        write_state("Running")
        output = Output()
        try:
            with redirect_stdout(output), redirect_stderr(output):
                error = await self._evaluate(self._read())
            if error is None:
                write_state("Done")
            else:
                output.write(error.report)
                write_state("It ended with an error")
                self._on_error(error.line, error.summary)
        except asyncio.CancelledError:
            write_state("Stopped")
        finally:
            self._task = None
            self._button.textContent = "Run"
            # What the run awaited may hold tensors until the event loop has had its turn.
            asyncio.get_running_loop().call_soon(gc.collect)


def write_state(text: str) -> None:
    """Say what the program does."""
    write("run-state", text)
