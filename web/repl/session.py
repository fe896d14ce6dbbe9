"""A session: one namespace in which programs and console entries run one after the other.

Source may await at its top level. If it ends with an expression, the session shows its value.
"""

import ast
import asyncio
import codeop
import inspect
import linecache
import re
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import TracebackException
from types import CodeType
from typing import Any

import webtensor as wt

#: The file name of the first program in the page's editor, as tracebacks show it.
PROGRAM = "<program>"

PACKAGES_HINT = "Packages that Python lacks here can be added below, under “Packages”."

KERAS_HINT = "Keras's layers and models are part of webtensor here: from webtensor import keras"

#: Libraries whose compiled parts need threads and drivers that a page lacks.
OTHER_LIBRARIES = ("tensorflow", "torch", "jax")

OTHER_LIBRARY_HINT = (
    "It does not run in a page. The documentation's pages “Coming from …” say what its functions "
    "are called in webtensor."
)

STANDARD_LIBRARY_HINT = (
    "No package has this part of Python, which needs processes, a terminal or windows."
)

#: What to do in place of what fails with some words.
HINTS = {
    "can't start new thread": "Python has one thread here, on which tasks of asyncio take turns.",
    **dict.fromkeys(
        ("TLS not supported", "Socket not connected"),
        "Python has no sockets here. Pages download so: from pyodide.http import pyfetch; "
        "content = await (await pyfetch(url)).bytes()",
    ),
}

PIP_COMMAND = re.compile(r"\s*[%!]?\s*(python3? -m )?pip3? install\b")

NOTEBOOK_HINT = "Commands of notebooks (%…, !… and …?) are not Python; help(x) describes x."

NOTEBOOK_COMMAND = re.compile(r"\s*(%%?[a-z]|![a-z]|\?\w)|\s*[\w.]+\?+\s*$")

#: Where Python and packages are, among them webtensor and this one.
LIBRARY_FOLDERS = (
    str(Path(ast.__file__).parent),
    sysconfig.get_path("purelib"),
    str(Path(wt.__file__).parent),
    str(Path(__file__).parent),
)


@dataclass(frozen=True)
class Failure:
    """What a run ended with.

    `text` is the traceback without frames of libraries, `full_text` the one with them, if there are
    any; `line` is the line of the program that the traceback leads to.
    """

    text: str
    full_text: str | None
    summary: str
    line: int | None


class Session:
    """Runs source in a namespace; `show` presents values of last expressions."""

    def __init__(self, namespace: dict[str, Any], show: Callable[[Any], None]) -> None:
        """Start with what is in `namespace`."""
        self.namespace = namespace
        self._show = show
        self._task: asyncio.Task[Any] | None = None
        self._is_interrupted = False
        #: The file name, the source and the number of the program that ran last.
        self._program, self._source, self._number = PROGRAM, "", 0
        self._compiler = codeop.CommandCompiler()
        self._compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    async def run(self, source: str, filename: str) -> Failure | None:
        """Run source, and return how it failed, if it did."""
        if filename == PROGRAM:
            filename = self._program = self._name_of_program(source)
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        self._task, self._is_interrupted = asyncio.current_task(), False
        try:
            statements, expression = compile_source(source, filename)
            await self._evaluate(statements)
            if expression is not None:
                self._show_result(await self._evaluate(expression))
        except SystemExit as error:
            if not error.code:
                return None  # as a process that ends well
            return describe(error, self._program)
        except asyncio.CancelledError as error:
            if not self._is_interrupted:
                return describe(error, self._program)
            interrupt = KeyboardInterrupt().with_traceback(error.__traceback__)
            return describe(interrupt, self._program)
        except BaseException as error:  # whatever a visitor's program raises is shown
            return describe(error, self._program)
        finally:
            self._task = None
        return None

    def interrupt(self) -> None:
        """End a run that waits in an `await`."""
        if self._task is not None:
            self._is_interrupted = True
            self._task.cancel()

    def is_complete(self, source: str) -> bool:
        """Whether a console entry can run as it is, or else needs further lines."""
        *lines, last = source.split("\n")
        source = "\n".join([*lines, last.rstrip()])
        for symbol in ("single", "exec"):  # one statement, several ones
            with suppress(SyntaxError, ValueError, OverflowError):
                return self._compiler(source, symbol=symbol) is not None
        return True  # running it shows the error

    def _name_of_program(self, source: str) -> str:
        """Return the file name of a program; functions of earlier ones keep theirs, and lines."""
        if source != self._source:
            self._source, self._number = source, self._number + 1
        return f"<program {self._number}>" if self._number > 1 else PROGRAM

    async def _evaluate(self, code: CodeType) -> Any:
        with interruptible():
            value = eval(code, self.namespace)
            return await value if code.co_flags & inspect.CO_COROUTINE else value

    def _show_result(self, value: Any) -> None:
        if value is not None:
            self.namespace["_"] = value
            with interruptible():
                self._show(value)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt end what runs within; elsewhere the worker ignores it.

    The page interrupts Python again and again until a run has ended: a second interrupt must not
    end the description of the first.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def compile_source(source: str, filename: str) -> tuple[CodeType, CodeType | None]:
    """Compile source; the code of the expression that it ends with comes second."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    expression = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        expression = compile(last, filename, "eval", flags, dont_inherit=True)
    return compile(tree, filename, "exec", flags, dont_inherit=True), expression


def describe(error: BaseException, program: str) -> Failure:
    """Describe an exception, without the frames of this module, and its line in a program."""
    report = TracebackException.from_exception(error)
    while report.stack and report.stack[0].filename == __file__:
        del report.stack[0]
    full_text = "".join(report.format())
    report.stack[:] = [frame for frame in report.stack if not is_of_library(frame.filename)]
    text = "".join(report.format())
    is_shortened = text != full_text
    summary = "".join(TracebackException(type(error), error, None).format_exception_only())
    if hint := hint_for(error, summary):
        text += f"{hint}\n"
    # The source comes before what is wrong with it, and notes after what happened.
    line_of_summary = -1 if isinstance(error, SyntaxError) else 0
    return Failure(
        text,
        full_text if is_shortened else None,
        summary.strip().splitlines()[line_of_summary],
        line_of_program(error, program),
    )


def hint_for(error: BaseException, summary: str) -> str | None:
    """Return what to do here in place of what works in notebooks, shells and other Pythons."""
    source = (error.text or "") if isinstance(error, SyntaxError) else ""
    if isinstance(error, ModuleNotFoundError) or PIP_COMMAND.match(source):
        package = (getattr(error, "name", None) or "").partition(".")[0]
        if package == "keras":
            return KERAS_HINT
        if package in sys.stdlib_module_names:
            return STANDARD_LIBRARY_HINT
        return OTHER_LIBRARY_HINT if package in OTHER_LIBRARIES else PACKAGES_HINT
    if NOTEBOOK_COMMAND.match(source):
        return NOTEBOOK_HINT
    return next((hint for words, hint in HINTS.items() if words in summary), None)


def is_of_library(filename: str) -> bool:
    """Whether a file belongs to Python or to a package, rather than to the visitor."""
    return filename.startswith(("<frozen ", *LIBRARY_FOLDERS))


def line_of_program(error: BaseException, program: str) -> int | None:
    """Return the line of the program in which an exception arose, or which led to it."""
    if isinstance(error, SyntaxError) and error.filename == program:
        return error.lineno
    frames = TracebackException.from_exception(error).stack
    return next((frame.lineno for frame in reversed(frames) if frame.filename == program), None)
