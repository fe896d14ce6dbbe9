"""What an error lacks when it leaves a public function: the names of function and arguments."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from reprlib import Repr
from traceback import walk_tb
from typing import Any

from webtensor.errors import AxisError, OutOfMemoryError, TensorSizeError

__all__ = ["completed_error"]

#: Errors that keep their type; others become one of these.
_SAME_TYPES = (TypeError, ValueError, IndexError, OutOfMemoryError, TensorSizeError)

#: Packages that functions of this one may call.
_OWN_PACKAGES = {"webtensor", "numpy", "wasmtime", *sys.stdlib_module_names} - {"__main__"}

_MAX_CHARACTERS = 500
#: The name of a function that the text of an error begins with.
_PREFIX = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*: ")

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def completed_error(
    function: Callable[..., Any],
    error: Exception,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Exception:
    """Return the error to raise: the same one, with a longer text, or one of another type."""
    name = function.__name__
    called_signature = signature(function)
    try:
        arguments = called_signature.bind(*args, **kwargs).arguments
        arguments.pop("self", None)
    except TypeError:  # Python names the argument that is missing or unknown
        text = re.sub(r"^[\w.<>]+(?=\(\))", name, str(error))  # not the name of an inner function
        error.args = (f"{text}; its signature is {name}{_without_types(called_signature)}",)
        return error
    if not _is_own(error) or isinstance(error, FloatingPointError):  # debug mode, about a result
        return error
    reason = _reason(error)
    prefix = _PREFIX.match(reason)
    kind = _kind(error, prefix is not None, prefix is not None and prefix[0] == f"{name}: ")
    about = reason[prefix.end() :] if prefix else reason
    complaint = about.partition(", but ")[0]
    named = [argument for argument in arguments if _names(complaint, argument)]
    text = reason if re.search(rf"\b{name}\b", reason) else f"{name}: {about}"
    if not named and kind is not ValueError:
        misfit = _misfit(arguments, called_signature)
        if misfit is not None:
            kind, text, named = TypeError, f"{name}: {misfit}", [*arguments]
    if len(named) < len(arguments) and not (named and kind is TypeError):
        values = (f"{argument}={_described(value)}" for argument, value in arguments.items())
        text = f"{text} (called with {', '.join(values)})"
    completed = error if kind is type(error) else kind()
    if text != str(completed):
        completed.args = (text,)
        completed.unexplained = reason  # type: ignore[attr-defined]
    return completed


def _without_types(called_signature: Signature) -> Signature:
    empty = Signature.empty
    parameters = called_signature.parameters.values()
    return Signature([parameter.replace(annotation=empty) for parameter in parameters])


#: Descriptions of valid arguments, by the beginning of the annotation.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Callable": (callable, "callable"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (lambda value: isinstance(value, int), "an integer"),
    "str": (lambda value: isinstance(value, str), "a string"),
}


def _misfit(arguments: Mapping[str, Any], called_signature: Signature) -> str | None:
    """Return which of the arguments does not fit its annotation, if one does not."""
    for argument, value in arguments.items():
        parameter = called_signature.parameters[argument]
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
    """Return the text of an error, shortened, as it was before another function completed it."""
    if isinstance(error, RecursionError):
        return "an argument is nested too deeply"
    text = getattr(error, "unexplained", None) or str(error) or type(error).__name__
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


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
