"""Iterating over data sets: from a task of an event loop, or from synchronous code.

The elements of a data set come from an ordinary generator, so that each transformation is written
once, and costs little. A generator that has to wait yields a ``Waiting`` in place of an element.
Each transformation passes it on, and the functions here, which read from the last one, wait.
"""

from __future__ import annotations

import asyncio
from asyncio import Task
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
from typing import Any, Final, TypeAlias, TypeVar

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
    "from_async_iterable",
    "next_of",
    "synchronously",
    "waited",
    "waiting_synchronously",
]

Result = TypeVar("Result")

#: Starts a task for a coroutine.
Start: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Task[Any]]
#: Waits for an awaitable, and returns its result.
Wait: TypeAlias = Callable[[Awaitable[Any]], Any]

#: What ``next_of`` returns where there is no next element.
END: Final = object()


class Waiting:
    """Comes in place of an element that has to be waited for before.

    Whoever reads it calls ``settle`` or ``settle_asynchronously``; the generator that it comes from
    then goes on with ``result``.
    """

    __slots__ = ("_awaitable", "_error", "_result")

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._awaitable = awaitable
        self._result: Any = None
        self._error: BaseException | None = None

    def settle(self, wait: Wait) -> None:
        """Wait by calling a function."""
        try:
            self._result = wait(self._awaitable)
        except BaseException as error:
            self._error = error

    async def settle_asynchronously(self) -> None:
        """Wait in a task."""
        try:
            self._result = await self._awaitable
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        """Return what was waited for, or raise its error."""
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
        can_wait: whether something waits for what has to be waited for, so that tasks can start.
        start: starts a task for a coroutine.
        unread: asynchronous generators that will not be read any further. They are closed before
            the next element, as ordinary generators cannot wait for that where they are closed.
    """

    def __init__(self, start: Start | None) -> None:
        self.can_wait = start is not None
        self.start: Start = start or asyncio.ensure_future
        self.unread: list[AsyncGenerator[Any, None]] = []


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
                await element.settle_asynchronously()
            else:
                yield element
            while iteration.unread:
                await iteration.unread.pop().aclose()
    finally:
        elements.close()
        while iteration.unread:
            await iteration.unread.pop().aclose()


def synchronously(begin: Begin) -> Generator[Any, None, None]:
    """Iterate over elements that nothing has to be waited for."""
    iteration = Iteration(None)
    return _read(begin(iteration), iteration, _at_once)


def _at_once(awaitable: Any) -> Any:
    """Return the result of an awaitable that needs no event loop."""
    step = awaitable.__await__()
    try:
        step.send(None)
        step.throw(
            RuntimeError(
                "an element of this data set has to be waited for, but nothing says so: "
                "make it by an asynchronous generator function, or by map_async"
            )
        )
    except StopIteration as result:
        return result.value


def waiting_synchronously(begin: Begin) -> Generator[Any, None, None]:
    """Iterate over elements, and wait for each.

    Raises:
        RuntimeError: waiting is impossible here.
    """
    with _waiter() as (iteration, wait):
        yield from _read(begin(iteration), iteration, wait)


def _read(elements: Elements, iteration: Iteration, wait: Wait) -> Generator[Any, None, None]:
    try:
        for element in elements:
            if isinstance(element, Waiting):
                element.settle(wait)
            else:
                yield element
            while iteration.unread:
                wait(iteration.unread.pop().aclose())
    finally:
        elements.close()
        while iteration.unread:
            wait(iteration.unread.pop().aclose())


@contextmanager
def _waiter() -> Iterator[tuple[Iteration, Wait]]:
    """Give an iteration, and a function that waits for an awaitable.

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
        start = runner.get_loop().create_task
        yield Iteration(start), lambda awaitable: runner.run(_result(awaitable))


async def _result(awaitable: Awaitable[Result]) -> Result:
    return await awaitable
