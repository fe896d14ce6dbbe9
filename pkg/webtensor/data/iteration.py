"""Iterating over data sets: from a task of an event loop, or from synchronous code.

The elements of a data set come from an asynchronous generator, so that each transformation is
written once. Where no part of it waits, synchronous code runs the generator without an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from webtensor.engine.jspi import can_suspend, loop_runs, suspended
from webtensor.environment import IN_BROWSER

__all__ = ["Begin", "Elements", "closing", "synchronously", "waiting_synchronously"]

Result = TypeVar("Result")

#: The elements of one iteration.
Elements: TypeAlias = AsyncGenerator[Any, None]
#: Begins an iteration; the argument says whether an event loop runs, so that tasks can be started.
Begin: TypeAlias = Callable[[bool], Elements]

#: Closes a generator at the end of a block, and with it those that it reads from.
closing = aclosing


def synchronously(elements: Elements) -> Generator[Any, None, None]:
    """Iterate over elements that nothing has to be waited for."""
    try:
        while True:
            step: Any = elements.__anext__()
            try:
                step.send(None)
                step.throw(
                    RuntimeError(
                        "an element of this data set has to be waited for, but nothing says so: "
                        "make it by an asynchronous generator function, or by map_async"
                    )
                )
            except StopIteration as result:
                element = result.value
            except StopAsyncIteration:
                return
            yield element
    finally:
        _finish(elements.aclose())


def _finish(closed: Any) -> None:
    with suppress(StopIteration):
        closed.send(None)


def waiting_synchronously(begin: Begin) -> Generator[Any, None, None]:
    """Iterate over elements, and wait for each.

    Raises:
        RuntimeError: waiting is impossible here.
    """
    with _waiter() as wait:
        elements = begin(True)
        try:
            while True:
                try:
                    element = wait(elements.__anext__())
                except StopAsyncIteration:
                    return
                yield element
        finally:
            wait(elements.aclose())


@contextmanager
def _waiter() -> Iterator[Callable[[Awaitable[Any]], Any]]:
    """Give a function that waits for an awaitable.

    Raises:
        RuntimeError: an event loop runs, and Python cannot be suspended.
    """
    if can_suspend():
        yield suspended
        return
    if IN_BROWSER or loop_runs():
        raise RuntimeError(
            "the elements of this data set have to be waited for, which is impossible in a "
            "synchronous function here; iterate with `async for`, or use the form of the method "
            "that ends in _async"
        )
    with asyncio.Runner() as runner:
        yield lambda awaitable: runner.run(_result(awaitable))


async def _result(awaitable: Awaitable[Result]) -> Result:
    return await awaitable
