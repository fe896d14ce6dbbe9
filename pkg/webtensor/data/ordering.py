"""Transformations that choose, order and prefetch elements without looking at them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from random import Random
from typing import Any

from webtensor.data.iteration import (
    Begin,
    Elements,
    Iteration,
    Waiting,
    asynchronously,
    closing,
    waited,
)

__all__ = [
    "Cache",
    "concatenated",
    "grouped",
    "prefetched",
    "repeated",
    "shard_of",
    "shuffled",
    "skipped",
    "taken",
]


def skipped(elements: Elements, count: int) -> Elements:
    """Leave out the first elements, or all if the count is negative."""
    if count < 0:
        return
    number = 0
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting) or number == count:
                yield element
            else:
                number += 1


def taken(elements: Elements, count: int) -> Elements:
    """End after some elements, or never if the count is negative."""
    if not count:
        return
    remaining = count
    with closing(elements):
        for element in elements:
            yield element
            remaining -= not isinstance(element, Waiting)
            if not remaining:
                return


def repeated(begin: Begin, iteration: Iteration, count: int) -> Elements:
    """Begin again after the last element, or for ever if the count is negative.

    An iteration without elements ends it.
    """
    number = 0
    is_empty = False
    while number != count and not is_empty:
        number += 1
        is_empty = True
        with closing(begin(iteration)) as elements:
            for element in elements:
                is_empty = is_empty and isinstance(element, Waiting)
                yield element


def concatenated(first: Begin, second: Begin, iteration: Iteration) -> Elements:
    """Continue with the elements of another data set."""
    yield from first(iteration)
    yield from second(iteration)


def shard_of(elements: Elements, count: int, index: int) -> Elements:
    """Choose the elements at ``index``, ``index + count``, …"""
    number = 0
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            if number % count == index:
                yield element
            number += 1


def shuffled(elements: Elements, buffer_size: int, random: Random) -> Elements:
    """Draw each element from a buffer of the next ones."""
    buffer: list[Any] = []
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            if len(buffer) < buffer_size:
                buffer.append(element)
                continue
            index = random.randrange(buffer_size)
            drawn, buffer[index] = buffer[index], element
            yield drawn
    random.shuffle(buffer)
    yield from buffer


def grouped(elements: Elements, size: int, drop_remainder: bool) -> Elements:
    """Collect elements in lists of equal lengths; the last may be shorter."""
    group: list[Any] = []
    with closing(elements):
        for element in elements:
            if isinstance(element, Waiting):
                yield element
                continue
            group.append(element)
            if len(group) == size:
                yield group
                group = []
    if group and not drop_remainder:
        yield group


def prefetched(begin: Begin, iteration: Iteration, count: int) -> Elements:
    """Have a task compute up to ``count`` elements ahead; an error comes at its element."""
    results: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    room = asyncio.Semaphore(count)

    async def compute() -> None:
        try:
            async with aclosing(asynchronously(begin)) as elements:
                while True:
                    await room.acquire()
                    results.put_nowait(("element", await anext(elements)))
        except StopAsyncIteration:
            results.put_nowait(("end", None))
        except Exception as error:
            results.put_nowait(("error", error))

    task = iteration.start(compute())
    try:
        while True:
            kind, value = yield from waited(results.get())
            if kind == "end":
                return
            if kind == "error":
                raise value
            room.release()
            yield value
    finally:
        task.cancel()


class Cache:
    """Keeps the elements of the first whole iteration for the following ones."""

    def __init__(self) -> None:
        self._elements: list[Any] | None = None

    def elements(self, begin: Begin, iteration: Iteration) -> Elements:
        """Give the elements, and keep them at the end."""
        if self._elements is None:
            elements = []
            with closing(begin(iteration)) as source:
                for element in source:
                    if not isinstance(element, Waiting):
                        elements.append(element)
                    yield element
            self._elements = elements
            return
        yield from self._elements
