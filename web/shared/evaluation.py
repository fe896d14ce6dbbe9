"""Running a visitor's program, in the page or in a worker, and what is said of it."""

import asyncio
import linecache
import traceback
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from pyodide.code import eval_code_async

import webtensor as wt

PROGRAM = "<program>"
NOTHING = nullcontext()


class ProgramError(NamedTuple):
    """An error that ended a program."""

    #: The traceback, from the program's own first line on, and its last line.
    report: str
    summary: str
    #: The program's line that has a syntax error, or that led to another error.
    line: int | None


async def evaluate(
    source: str, surroundings: AbstractContextManager[object] = NOTHING
) -> ProgramError | None:
    """Run a program, let go of its names, and return the error that ended it, or None."""
    names = {"__name__": "__main__"}
    # Tracebacks show these lines. A name without <> could be that of a file of the page.
    linecache.cache[PROGRAM] = (len(source), None, source.splitlines(keepends=True), PROGRAM)
    try:
        with surroundings:
            await eval_code_async(source, names, filename=PROGRAM)
    except asyncio.CancelledError:
        raise
    except SystemExit as error:
        return _described(error) if error.code else None
    except BaseException as error:  # a visitor's program may raise anything
        return _described(error)
    finally:
        names.clear()
    return None


def memory_facts() -> str:
    """Say how much memory the tensors of the active backend take."""
    backend = wt.get_backend()
    memory = wt.memory()
    size = memory["num_bytes_in_gpu" if backend == "webgl" else "num_bytes"]
    location = "on the GPU" if backend == "webgl" else "in WebAssembly's memory"
    amount = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    return f"{amount} {location}"


def _described(error: BaseException) -> ProgramError:
    report = traceback.TracebackException.from_exception(error)
    own = [frame.filename == PROGRAM for frame in report.stack]
    del report.stack[: own.index(True) if True in own else None]
    summary = "".join(report.format_exception_only()).strip()
    return ProgramError("".join(report.format()), summary, _line(error, report))


def _line(error: BaseException, report: traceback.TracebackException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == PROGRAM:
        return error.lineno
    lines = [frame.lineno for frame in report.stack if frame.filename == PROGRAM]
    return lines[-1] if lines else None
