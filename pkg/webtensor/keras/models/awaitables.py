"""Loops that can wait, so that ``fit`` and ``fit_async`` have the same body.

A loop is a generator that yields functions which return awaitables, in order to wait for them.
``finish_async`` awaits each of them. ``finish`` does so only where the browser can suspend Python
(JSPI); elsewhere it continues at once, and values are read when they are used.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import wraps
from inspect import Signature, signature
from time import perf_counter
from typing import Any, ParamSpec, TypeAlias, TypeVar

from webtensor.browser import next_frame
from webtensor.engine import Tensor
from webtensor.engine.jspi import can_suspend, suspended
from webtensor.keras.names import check_keywords

__all__ = ["Breather", "Loop", "Wait", "finish", "finish_async", "forms_of", "required"]

Wait: TypeAlias = Callable[[], Awaitable[Any]]
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
#: Yields what it waits for, is sent what that returned, and returns a result.
Loop: TypeAlias = Generator[Wait, Any, Result]

#: The maximum time between two frames of a page.
_SECONDS = 0.012


class _RequiredWait:
    """A wait without which a loop cannot continue."""

    def __init__(self, wait: Wait, explanation: str) -> None:
        self.wait, self.explanation = wait, explanation

    def __call__(self) -> Awaitable[object]:
        return self.wait()


def required(wait: Wait, explanation: str) -> Wait:
    """Mark a wait as required; where waiting is impossible, the explanation is the error's text."""
    return _RequiredWait(wait, explanation)


def finish(loop: Loop[Result]) -> Result:
    """Run a loop to its end."""
    suspends = can_suspend()
    result = None
    try:
        while True:
            wait = loop.send(result)
            result = None
            if suspends:
                result = suspended(wait())
            elif isinstance(wait, _RequiredWait):
                raise RuntimeError(wait.explanation)
    except StopIteration as end:
        value: Result = end.value
        return value
    finally:
        loop.close()


async def finish_async(loop: Loop[Result]) -> Result:
    """Run a loop to its end without blocking."""
    result = None
    try:
        while True:
            result = await loop.send(result)()
    except StopIteration as end:
        value: Result = end.value
        return value
    finally:
        loop.close()


def forms_of(
    loop: Callable[Parameters, Loop[Result]],
) -> tuple[Callable[Parameters, Result], Callable[Parameters, Coroutine[Any, Any, Result]]]:
    """Return the methods that run a loop, blocking and asynchronous, such as fit and fit_async.

    Their names are ``loop``'s without the underscore that it starts with.
    """
    name, cls = loop.__name__.removeprefix("_"), loop.__qualname__.rpartition(".")[0]
    accepted = signature(loop).parameters

    def started(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Loop[Result]:
        check_keywords(name, kwargs, accepted)
        return loop(*args, **kwargs)

    @wraps(loop)
    def blocking(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return finish(started(*args, **kwargs))

    @wraps(loop)
    async def asynchronous(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return await finish_async(started(*args, **kwargs))

    for method, method_name in ((blocking, name), (asynchronous, f"{name}_async")):
        method.__name__, method.__qualname__ = method_name, f"{cls}.{method_name}"
        # The result is not the generator that the annotation of ``loop`` names.
        vars(method)["__signature__"] = signature(loop).replace(return_annotation=Signature.empty)
    asynchronous.__doc__ = f"``{name}`` without blocking the page."
    return blocking, asynchronous


class Breather:
    """Waits for a page to paint, every few milliseconds, and for the device to catch up.

    Work on a device is queued, and a loop that never waits would let the queue grow.
    """

    def __init__(self) -> None:
        self._last_frame = perf_counter()
        self._previous: Tensor | None = None

    def after(self, result: Tensor | None) -> Generator[Wait, object, None]:
        """Wait for the result of the previous step, and for a frame of the page if one is due."""
        if self._previous is not None and not self._previous.is_disposed:
            yield self._previous.data
        self._previous = result
        if perf_counter() - self._last_frame > _SECONDS:
            yield next_frame
            self._last_frame = perf_counter()
