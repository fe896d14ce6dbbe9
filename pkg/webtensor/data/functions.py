"""Transformations that call a function of the user's for each element."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from webtensor.data.iteration import Begin, Elements, closing

__all__ = [
    "accumulated",
    "called",
    "called_async",
    "filtered",
    "flattened",
    "interleaved",
    "items_of",
    "mapped",
    "mapped_async",
    "numbered",
    "taken_while",
    "unique",
]

#: A function of an element; that of a tuple gets its items.
ElementFunction = Callable[..., Any]


def items_of(element: Any) -> tuple[Any, ...]:
    """Return the arguments of functions that get the items of a tuple."""
    return element if type(element) is tuple else (element,)


def called(name: str, function: ElementFunction, number: int, *arguments: Any) -> Any:
    """Call a function; errors get a note that says which element it was called for."""
    try:
        return function(*arguments)
    except Exception as error:
        _add_note(error, name, number)
        raise


async def called_async(name: str, function: ElementFunction, number: int, element: Any) -> Any:
    """Call a function that returns an awaitable, and wait for its result."""
    result = called(name, function, number, *items_of(element))
    if not isinstance(result, Awaitable):
        raise TypeError(
            f"{name}: the function must return an awaitable, but it returned {result!r}"
        )
    try:
        return await result
    except Exception as error:
        _add_note(error, name, number)
        raise


def _add_note(error: Exception, name: str, number: int) -> None:
    error.add_note(f"This happened in `{name}` of a data set, at element {number} (from 0 on).")


async def mapped(elements: Elements, function: ElementFunction) -> Elements:
    """Replace each element by the function's result."""
    number = 0
    async with closing(elements):
        async for element in elements:
            yield called("map", function, number, *items_of(element))
            number += 1


async def mapped_async(elements: Elements, function: ElementFunction, parallel: int) -> Elements:
    """Replace each element by an awaited result; some calls run at the same time.

    Results come in the order of the elements.
    """
    running: deque[asyncio.Task[Any]] = deque()
    number = 0
    try:
        async with closing(elements):
            async for element in elements:
                call = called_async("map_async", function, number, element)
                running.append(asyncio.ensure_future(call))
                number += 1
                if len(running) == parallel:
                    yield await running.popleft()
        while running:
            yield await running.popleft()
    finally:
        for task in running:
            task.cancel()


async def filtered(elements: Elements, predicate: ElementFunction) -> Elements:
    """Keep the elements for which the function is true."""
    number = 0
    async with closing(elements):
        async for element in elements:
            if called("filter", predicate, number, *items_of(element)):
                yield element
            number += 1


async def taken_while(elements: Elements, predicate: ElementFunction) -> Elements:
    """End before the first element for which the function is false."""
    number = 0
    async with closing(elements):
        async for element in elements:
            if not called("take_while", predicate, number, *items_of(element)):
                return
            yield element
            number += 1


async def accumulated(elements: Elements, state: Any, function: ElementFunction) -> Elements:
    """Replace each element by the output of a function, which also returns the next state."""
    number = 0
    async with closing(elements):
        async for element in elements:
            state, output = called("scan", function, number, state, element)
            yield output
            number += 1


async def unique(elements: Elements, key: Callable[[Any], Any]) -> Elements:
    """Leave out elements whose key was there before."""
    keys = set()
    async with closing(elements):
        async for element in elements:
            own = key(element)
            if own not in keys:
                keys.add(own)
                yield element


async def flattened(
    elements: Elements, begin_of: Callable[[int, Any], Begin], tasks: bool
) -> Elements:
    """Give the elements of one data set for each element."""
    number = 0
    async with closing(elements):
        async for element in elements:
            async with closing(begin_of(number, element)(tasks)) as inner:
                async for item in inner:
                    yield item
            number += 1


async def interleaved(
    elements: Elements,
    begin_of: Callable[[int, Any], Begin],
    tasks: bool,
    cycle_length: int,
    block_length: int,
) -> Elements:
    """Give blocks of several data sets in turns, one data set for each element."""
    cycle: list[Elements | None] = [None] * cycle_length
    number = 0
    has_more = True
    position = 0
    try:
        async with closing(elements):
            while True:
                inner = cycle[position]
                if inner is None and has_more:
                    try:
                        element = await anext(elements)
                    except StopAsyncIteration:
                        has_more = False
                    else:
                        inner = cycle[position] = begin_of(number, element)(tasks)
                        number += 1
                if inner is not None:
                    for _ in range(block_length):
                        try:
                            item = await anext(inner)
                        except StopAsyncIteration:
                            cycle[position] = None
                            break
                        yield item
                if not has_more and all(each is None for each in cycle):
                    return
                position = (position + 1) % cycle_length
    finally:
        for each in cycle:
            if each is not None:
                await each.aclose()


async def numbered(elements: Elements, first: int) -> Elements:
    """Pair each element with its number."""
    number = first
    async with closing(elements):
        async for element in elements:
            yield number, element
            number += 1
