"""Loops that wait: one body for ``fit`` and ``fit_async``.

A loop is a generator that yields what it would wait for, a function that returns an awaitable. The
asynchronous driver awaits it. The synchronous one does, too, where the browser can suspend Python
(JSPI); elsewhere it goes on without: values are then read when they are needed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from time import perf_counter
from typing import Any, TypeVar

from webtensor.browser import next_frame
from webtensor.engine import Tensor
from webtensor.engine.jspi import can_suspend, suspended

__all__ = ["Breather", "Wait", "finish", "finish_async", "needed"]

Wait = Callable[[], Awaitable[Any]]
Result = TypeVar("Result")
Loop = Generator[Wait, Any, Result]

#: How long a page is kept from painting.
_SECONDS = 0.012


class _Needed:
    """Something that a loop cannot go on without."""

    def __init__(self, wait: Wait, explanation: str) -> None:
        self.wait, self.explanation = wait, explanation

    def __call__(self) -> Awaitable[Any]:
        return self.wait()


def needed(wait: Wait, explanation: str) -> Wait:
    """Mark what must be waited for; the explanation is for those who cannot."""
    return _Needed(wait, explanation)


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
            elif isinstance(wait, _Needed):
                raise RuntimeError(wait.explanation)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        loop.close()


async def finish_async(loop: Loop[Result]) -> Result:
    """Run a loop to its end without blocking."""
    result = None
    try:
        while True:
            result = await loop.send(result)()
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        loop.close()


class Breather:
    """Lets a page paint every few milliseconds, and a device catch up.

    Work that is queued on a device is not done: a loop that never waits would fill the queue.
    """

    def __init__(self) -> None:
        self._since = perf_counter()
        self._last: Tensor | None = None

    def after(self, result: Tensor | None) -> Generator[Wait, Any, None]:
        """Wait for the result of the step before, and for the page where it is time."""
        if self._last is not None and not self._last.is_disposed:
            yield self._last.data
        self._last = result
        if perf_counter() - self._since > _SECONDS:
            yield next_frame
            self._since = perf_counter()
