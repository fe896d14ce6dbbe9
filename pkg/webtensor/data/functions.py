"""Transformations that call a function of the user's for each element."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from itertools import count
from typing import Any

from webtensor.data.iteration import (
    END,
    Begin,
    Elements,
    Iteration,
    Waiting,
    closing,
    each,
    next_of,
    waited,
)

__all__ = [
    "accumulated",
    "filtered",
    "flattened",
    "interleaved",
    "mapped",
    "mapped_async",
    "numbered",
    "of_elements",
    "taken_while",
    "unique",
]

#: A function of an element; that of a tuple gets its items.
ElementFunction = Callable[..., Any]


def of_elements(name: str, function: ElementFunction) -> Callable[[Any], Any]:
    """Return a function to call with each element; errors get a note that says which one it was.

    The items of a tuple become separate arguments.
    """
    number = -1

    def call(element: Any) -> Any:
        nonlocal number
        number += 1
        try:
            return function(*element) if type(element) is tuple else function(element)
        except Exception as error:
            _add_note(error, name, number)
            raise

    return call


async def _awaited(function: ElementFunction, number: int, element: Any) -> Any:
    """Call a function that returns an awaitable, and wait for its result."""
    try:
        result = function(*element) if type(element) is tuple else function(element)
        if isinstance(result, Awaitable):
            return await result
    except Exception as error:
        _add_note(error, "map_async", number)
        raise
    raise TypeError(f"map_async: the function must return an awaitable, but it returned {result!r}")


def _add_note(error: Exception, name: str, number: int) -> None:
    error.add_note(f"This happened in `{name}` of a data set, at element {number} (from 0 on).")


def mapped(elements: Elements, function: ElementFunction) -> Elements:
    """Replace each element by the function's result."""
    return each(elements, of_elements("map", function))


def mapped_async(
    elements: Elements, function: ElementFunction, parallel: int, iteration: Iteration
) -> Elements:
    """Replace each element by an awaited result; some calls run at the same time.

    Results come in the order of the elements.
    """
    running: deque[asyncio.Future[Any]] = deque()
    number = 0
    try:
        with closing(elements):
            for element in elements:
                if isinstance(element, Waiting):
                    yield element
                    continue
                running.append(iteration.start(_awaited(function, number, element)))
                number += 1
                if len(running) == parallel:
                    yield (yield from waited(running.popleft()))
        while running:
            yield (yield from waited(running.popleft()))
    finally:
        for task in running:
            task.cancel()


def filtered(elements: Elements, predicate: ElementFunction) -> Elements:
    """Leave out the elements for which the function is false."""
    call = of_elements("filter", predicate)
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting) or call(element):
                yield element


def taken_while(elements: Elements, predicate: ElementFunction) -> Elements:
    """End before the first element for which the function is false."""
    call = of_elements("take_while", predicate)
    with closing(elements):
        for element in elements:
            if not isinstance(element, Waiting) and not call(element):
                return
            yield element


def accumulated(elements: Elements, state: Any, function: ElementFunction) -> Elements:
    """Replace each element by the output of a function, which also returns the next state."""
    call = of_elements("scan", function)
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            state, output = call((state, element))
            yield output


def unique(elements: Elements, key: Callable[[Any], Any]) -> Elements:
    """Leave out elements whose key was there before."""
    keys = set()
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            element_key = key(element)
            if element_key not in keys:
                keys.add(element_key)
                yield element


def flattened(
    elements: Elements, begin_of: Callable[[Any], Begin], iteration: Iteration
) -> Elements:
    """Give the elements of one data set for each element."""
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
            else:
                yield from begin_of(element)(iteration)


def interleaved(
    elements: Elements,
    begin_of: Callable[[Any], Begin],
    iteration: Iteration,
    cycle_length: int,
    block_length: int,
) -> Elements:
    """Give blocks of several data sets in turns, one data set for each element."""
    cycle: list[Elements | None] = [None] * cycle_length
    has_more = True
    position = 0
    try:
        with closing(elements):
            while has_more or any(cycle):
                inner = cycle[position]
                if inner is None and has_more:
                    element = yield from next_of(elements)
                    has_more = element is not END
                    inner = begin_of(element)(iteration) if has_more else None
                    cycle[position] = inner
                if inner is not None and not (yield from _block(inner, block_length)):
                    cycle[position] = None
                position = (position + 1) % cycle_length
    finally:
        for inner in filter(None, cycle):
            inner.close()


def _block(elements: Elements, length: int) -> Generator[Any, None, bool]:
    """Yield at most ``length`` elements, and return whether there were as many."""
    for _ in range(length):
        element = yield from next_of(elements)
        if element is END:
            return False
        yield element
    return True


def numbered(elements: Elements, first: int) -> Elements:
    """Pair each element with its number."""
    numbers = count(first)
    with closing(elements):
        for element in elements:
            yield element if isinstance(element, Waiting) else (next(numbers), element)
