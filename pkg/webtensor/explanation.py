"""Errors that name the function that was called and the argument that is wrong.

Most checks of the ops name both. An error raised deeper, by another op that the called one is
composed of or by Python itself, names neither; it is completed where it leaves the called function.
A call that succeeds costs nothing more.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import iscoroutinefunction, isfunction
from types import ModuleType
from typing import Any, NoReturn, ParamSpec, TypeVar

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


#: The wrappers of functions.
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

    wrapper: Any = call_async if iscoroutinefunction(function) else call
    wrapper.explains_errors = True
    _explained[function] = wrapper
    return wrapper  # type: ignore[no-any-return]


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
    All arguments are listed if the text names none of them, or if it is about a value and names
    only some, since the value may be wrong only in combination with another. Errors of the user's
    own functions are not changed.
    """
    from webtensor.error_completion import completed_error  # which only errors need

    completed = completed_error(function, error, args, kwargs)
    try:
        if completed is error:
            raise error
        raise completed from error
    finally:  # the traceback refers to this frame, which must not refer to the traceback
        del error, completed
