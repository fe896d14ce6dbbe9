"""Errors that name the function that was called and the argument that is wrong.

Most checks of the ops name both. An error raised deeper, by another op that the called one is
composed of or by Python itself, names neither; it is completed where it leaves the called function.
A call that succeeds costs nothing more.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, iscoroutinefunction, isfunction, signature
from reprlib import Repr
from traceback import walk_tb
from types import ModuleType
from typing import Any, NoReturn, ParamSpec, TypeVar

from webtensor.errors import AxisError, OutOfMemoryError, TensorSizeError

__all__ = ["MISUSE", "explained", "explained_functions", "raise_explained"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Errors that Python raises for a wrong argument.
MISUSE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)

#: Errors that keep their type; others become one of these.
_SAME_TYPES = (TypeError, ValueError, IndexError, OutOfMemoryError, TensorSizeError)

#: Packages that functions of this one may call.
_OWN_PACKAGES = {"webtensor", "numpy", "wasmtime", *sys.stdlib_module_names} - {"__main__"}

_MOST_CHARACTERS = 500
#: The name of a function that the text of an error begins with.
_PREFIX = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*: ")

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


#: Functions by their wrappers.
_explained: dict[Callable[..., Any], Any] = {}


def explained(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make a function complete the errors that leave it; the same for the same function."""
    if getattr(function, "explains_errors", False):
        return function
    if function in _explained:
        return _explained[function]  # type: ignore[no-any-return]

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except MISUSE as error:
            raise_explained(function, error, args, kwargs)

    @wraps(function)
    async def call_async(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
        try:
            return await function(*args, **kwargs)  # type: ignore[misc]
        except MISUSE as error:
            raise_explained(function, error, args, kwargs)

    chosen: Any = call_async if iscoroutinefunction(function) else call
    chosen.explains_errors = True
    _explained[function] = chosen
    return chosen  # type: ignore[no-any-return]


def explained_functions(namespace: ModuleType) -> dict[str, Any]:
    """Return the public functions of a namespace, each completing its errors."""
    functions = {name: getattr(namespace, name) for name in _public_names(namespace)}
    return {name: explained(value) for name, value in functions.items() if isfunction(value)}


def _public_names(namespace: ModuleType) -> Sequence[str]:
    names = [name for name in vars(namespace) if not name.startswith("_")]
    return getattr(namespace, "__all__", names)


def raise_explained(
    function: Callable[..., Any],
    error: Exception,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> NoReturn:
    """Raise a call's error, or a similar one that adds the missing names of function and arguments.

    The name of an inner function that the text begins with gives way to that of the called one.
    Where no argument is named, all are listed; so they are where a value is wrong and not all are
    named, since it may be wrong beside another only. What a function of the user's raises stays.
    """
    completed = _completed(function, error, args, kwargs)
    try:
        if completed is error:
            raise error
        raise completed from error
    finally:  # this frame is part of the traceback, and must not hold what holds that
        del error, completed


def _completed(
    function: Callable[..., Any],
    error: Exception,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Exception:
    """Return the error to raise."""
    name = function.__name__
    form = signature(function)
    try:
        arguments = form.bind(*args, **kwargs).arguments
    except TypeError:  # Python says which argument is missing, or unknown
        return error
    if not _is_own(error) or isinstance(error, FloatingPointError):  # a result's, of debug mode
        return error
    reason = _reason(error)
    prefix = _PREFIX.match(reason)
    kind = _kind(error, prefix is not None, prefix is not None and prefix[0] == f"{name}: ")
    about = reason[prefix.end() :] if prefix else reason
    complaint = about.partition(", but ")[0]
    named = [argument for argument in arguments if _names(complaint, argument)]
    text = reason if re.search(rf"\b{name}\b", reason) else f"{name}: {about}"
    if not named and kind is not ValueError:
        misfit = _misfit(arguments, form)
        if misfit is not None:
            kind, text, named = TypeError, f"{name}: {misfit}", [*arguments]
    if not named or (kind is not TypeError and len(named) < len(arguments)):
        values = (f"{argument}={_described(value)}" for argument, value in arguments.items())
        text = f"{text} (called with {', '.join(values)})"
    completed = error if kind is type(error) else kind()
    if text != str(completed):
        completed.args = (text,)
        completed.unexplained = reason  # type: ignore[attr-defined]
    return completed


#: Descriptions of valid arguments, by the beginning of the annotation.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Callable": (callable, "callable"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (lambda value: isinstance(value, int), "an integer"),
    "str": (lambda value: isinstance(value, str), "a string"),
}


def _misfit(arguments: Mapping[str, Any], form: Signature) -> str | None:
    """Return which of the arguments does not fit its annotation, if one does not."""
    for argument, value in arguments.items():
        parameter = form.parameters[argument]
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        annotation, _, other = str(parameter.annotation).partition(" | ")
        is_kind, words = _KINDS.get(annotation.partition("[")[0], (None, ""))
        if is_kind is None or other not in ("", "None") or (other and value is None):
            continue
        if not is_kind(value):
            return f"{argument} must be {words}, but got {_described(value)}"
    return None


def _is_own(error: Exception) -> bool:
    """Whether an error was raised by this package, and not by a user's function that it calls."""
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return all(name.partition(".")[0] in _OWN_PACKAGES for name in modules)


def _reason(error: Exception) -> str:
    """Return what an error says, in few characters, before another function completed it."""
    if isinstance(error, RecursionError):
        return "an argument is nested too deeply"
    text = getattr(error, "unexplained", None) or str(error) or type(error).__name__
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _kind(error: Exception, is_deliberate: bool, is_own: bool) -> type[Exception]:
    """Return what type an error should have; an index that only we computed is no user's."""
    kind = type(error)
    if kind in _SAME_TYPES and (kind is not IndexError or is_deliberate):
        return kind
    if kind in (AxisError, BufferError) and is_own:
        return kind
    if isinstance(error, MemoryError):
        return OutOfMemoryError
    of_values = (ArithmeticError, IndexError, RecursionError, ValueError)
    return ValueError if isinstance(error, of_values) else TypeError


def _names(text: str, name: str) -> bool:
    """Whether a text mentions an argument: its name as a word, but not the article ``a``.

    "shape" in "of shape (2, 3)" is no mention of an argument either.
    """
    article = r"(?=[.,=]| (?:and|has|is|must|of)\b)" if name == "a" else ""
    return re.search(rf"(?<![\w.])(?<!of ){name}\b{article}", text) is not None


def _described(value: Any) -> str:
    """Describe a value briefly: a tensor by its shape and dtype."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return _short.repr(value)
    state = "disposed, " if getattr(value, "is_disposed", False) else ""
    return f"{type(value).__name__}({state}shape={_short.repr(shape)}, dtype={dtype})"
