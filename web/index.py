"""The front page: the program that visitors edit and run, and what this browser offers."""

import asyncio
import platform
import traceback
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from io import StringIO
from typing import Any

from capabilities import capabilities
from highlight import highlight
from page import element, on, run_in_background, write
from pyodide.code import eval_code_async

import webtensor as wt

DEVICES = {"webgl": "the graphics processor", "wasm": "the processor's vector units"}
PROGRAM = "program.py"


class Output(StringIO):
    """What the program prints, shown as it is printed."""

    def write(self, text: str) -> int:
        """Show text after what was printed before."""
        element("output").append(text)
        return len(text)


class Program:
    """The editor with its buttons, and the run of the program in it."""

    def __init__(self) -> None:
        """Colour the source, wire the controls, and run where a visitor asked for it already."""
        self.source = element("source")
        self.button = element("run")
        self.task: asyncio.Task[None] | None = None
        self.show_colours()
        on(self.source, "input", self.show_colours)
        on(self.button, "click", self.run_or_stop)
        if self.button.hasAttribute("data-wanted"):
            self.run_or_stop()

    def show_colours(self, event: Any = None) -> None:
        """Colour the source as it is now."""
        element("colours").innerHTML = highlight(self.source.value)

    def run_or_stop(self, event: Any = None) -> None:
        """Run the program; while it runs, end it where it awaits something."""
        if self.task is not None:
            self.task.cancel()
            return
        self.task = run_in_background(self.run())

    async def run(self) -> None:
        """Run the program, and show what it prints, and its error."""
        self.button.textContent = "Stop"
        write("output", "")
        write_state("Running")
        output = Output()
        try:
            with redirect_stdout(output), redirect_stderr(output):
                names = {"__name__": "__main__"}
                await eval_code_async(self.source.value, names, filename=PROGRAM)
            write_state("Done")
        except asyncio.CancelledError:
            write_state("Stopped")
        except BaseException as error:  # a visitor's program may raise anything
            output.write(own_traceback(error))
            write_state("It ended with an error")
        finally:
            self.task = None
            self.button.textContent = "Run"


def own_traceback(error: BaseException) -> str:
    """Write the traceback of an error, from the program's own first line on."""
    report = traceback.TracebackException.from_exception(error)
    frames = [frame.filename == PROGRAM for frame in report.stack]
    if True in frames:
        del report.stack[: frames.index(True)]
    return "".join(report.format())


def write_state(text: str) -> None:
    """Say what the program does."""
    write("run-state", text)


def row(name: str, works: bool, answer: str, detail: str) -> str:
    """Return a row of a table of facts."""
    kind = "yes" if works else "no"
    return (
        f'<tr><th scope="row">{escape(name)}</th><td class="{kind}">{answer}</td>'
        f"<td>{escape(detail)}</td></tr>"
    )


def backend_rows() -> str:
    """List the backends that compute in pages, and say which is chosen or why one can't be."""
    chosen = wt.get_backend() if wt.available_backends() else None
    rows = []
    for name, device in DEVICES.items():
        reason = wt.unavailable_reason(name)
        answer = "no" if reason else "chosen" if name == chosen else "yes"
        detail = reason or wt.priority_reason(name) or device
        rows.append(row(name, reason is None, answer, detail))
    return "".join(rows)


Program()
element("capabilities").innerHTML = "".join(
    row(fact.name, fact.there, "yes" if fact.there else "no", fact.detail)
    for fact in capabilities()
)
element("backends").innerHTML = backend_rows()
versions = f"webtensor {wt.__version__}, Python {platform.python_version()}"
write("versions", versions)
