"""Iterating over data sets: from a task of an event loop, or from synchronous code.

The elements of a data set come from an ordinary generator, so that each transformation is written
once, and costs little. A generator that has to wait yields a ``Waiting`` in place of an element.
Each transformation passes it on, and the functions here, which read from the last one, wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import closing, contextmanager
from typing import Any, Final, TypeAlias

from webtensor.engine.jspi import can_suspend, loop_runs, suspended
from webtensor.environment import IN_BROWSER

__all__ = [
    "END",
    "Begin",
    "Elements",
    "Iteration",
    "Waiting",
    "asynchronously",
    "closing",
    "each",
    "from_async_iterable",
    "next_of",
    "synchronously",
    "waited",
    "waiting_synchronously",
]

#: What ``next_of`` returns where there is no next element.
END: Final = object()

#: Starts a task.
_Start: TypeAlias = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]
#: Waits for a coroutine.
_Wait: TypeAlias = Callable[[Coroutine[Any, Any, None]], object]


class Waiting:
    """Comes in place of an element: whoever reads it waits for ``settle``, and reads on."""

    __slots__ = ("_awaitable", "_error", "_result")

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._awaitable = awaitable
        self._error: Exception | None = None

    async def settle(self) -> None:
        """Wait for the awaitable; its error is for the generator."""
        try:
            self._result = await self._awaitable
        except Exception as error:
            self._error = error

    def result(self) -> Any:
        """Return the awaitable's result, or raise its error."""
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            self._error = None  # or the error and this frame would keep each other alive


#: The elements of one iteration, and what has to be waited for between them.
Elements: TypeAlias = Generator[Any, None, None]


class Iteration:
    """What the generators of one iteration share.

    Attributes:
        can_wait: whether it can wait, so that tasks can start.
        start: starts a task.
        unread: asynchronous generators that are read no further. They are closed before the next
            element, as ordinary generators cannot wait for that where they are closed.
    """

    def __init__(self, start: _Start | None) -> None:
        self.can_wait = start is not None
        self.start: _Start = start or asyncio.ensure_future
        self.unread: list[AsyncGenerator[Any, None]] = []

    async def close_unread(self) -> None:
        """Close the generators that are read no further."""
        while self.unread:
            await self.unread.pop().aclose()


#: Begins an iteration.
Begin: TypeAlias = Callable[[Iteration], Elements]

# -- in generators ---------------------------------------------------------------------------------


def waited(awaitable: Awaitable[Any]) -> Generator[Waiting, None, Any]:
    """Wait: ``yield from`` this returns what the awaitable gives."""
    waiting = Waiting(awaitable)
    yield waiting
    return waiting.result()


def next_of(elements: Elements, default: Any = END) -> Generator[Waiting, None, Any]:
    """Read: ``yield from`` this returns the next element, or a default at the end."""
    for element in elements:
        if not isinstance(element, Waiting):
            return element
        yield element
    return default


def each(elements: Elements, function: Callable[[Any], Any]) -> Elements:
    """Replace each element by the result of a function."""
    with closing(elements):
        for element in elements:
            yield element if isinstance(element, Waiting) else function(element)


def from_async_iterable(iterable: AsyncIterable[Any], iteration: Iteration) -> Elements:
    """Give the items of an asynchronous iterable; a generator is closed at the end."""
    iterator = iterable.__aiter__()
    try:
        while (element := (yield from waited(anext(iterator, END)))) is not END:
            yield element
    finally:
        if isinstance(iterator, AsyncGenerator):
            iteration.unread.append(iterator)


# -- reading from the last generator ---------------------------------------------------------------


def asynchronously(begin: Begin) -> AsyncGenerator[Any, None]:
    """Iterate over elements in a task."""
    iteration = Iteration(asyncio.ensure_future)
    return _read_asynchronously(begin(iteration), iteration)


async def _read_asynchronously(
    elements: Elements, iteration: Iteration
) -> AsyncGenerator[Any, None]:
    try:
        for element in elements:
            if isinstance(element, Waiting):
                await element.settle()
            else:
                yield element
            if iteration.unread:
                await iteration.close_unread()
    finally:
        elements.close()
        if iteration.unread:
            await iteration.close_unread()


def synchronously(begin: Begin) -> Generator[Any, None, None]:
    """Iterate over elements that nothing has to be waited for."""
    iteration = Iteration(None)
    return _read(begin(iteration), iteration, _at_once)


def _at_once(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that needs no event loop."""
    try:
        coroutine.send(None)
        coroutine.throw(
            RuntimeError(
                "an element of this data set has to be waited for, but nothing says so: "
                "make it by an asynchronous generator function, or by map_async"
            )
        )
    except StopIteration:
        pass


def waiting_synchronously(begin: Begin) -> Generator[Any, None, None]:
    """Iterate over elements, and wait for each.

    Raises:
        RuntimeError: waiting is impossible here.
    """
    with _waiter() as (iteration, wait):
        yield from _read(begin(iteration), iteration, wait)


def _read(elements: Elements, iteration: Iteration, wait: _Wait) -> Generator[Any, None, None]:
    try:
        for element in elements:
            if isinstance(element, Waiting):
                wait(element.settle())
            else:
                yield element
            if iteration.unread:
                wait(iteration.close_unread())
    finally:
        elements.close()
        if iteration.unread:
            wait(iteration.close_unread())


@contextmanager
def _waiter() -> Iterator[tuple[Iteration, _Wait]]:
    """Give an iteration, and a function that waits for a coroutine.

    Raises:
        RuntimeError: an event loop runs, and Python cannot be suspended.
    """
    if can_suspend():
        yield Iteration(asyncio.ensure_future), suspended
        return
    if IN_BROWSER or loop_runs():
        raise RuntimeError(
            "the elements of this data set have to be waited for, which is impossible in a "
            "synchronous function here; iterate with `async for`, or use the form of the method "
            "that ends in _async"
        )
    with asyncio.Runner() as runner:
        yield Iteration(runner.get_loop().create_task), runner.run
