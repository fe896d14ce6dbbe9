"""Transformations that choose, order and prefetch elements without looking at them."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from webtensor.data.iteration import Begin, Elements, closing

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


async def skipped(elements: Elements, count: int) -> Elements:
    """Leave out the first elements, or all if the count is negative."""
    if count < 0:
        return
    number = 0
    async with closing(elements):
        async for element in elements:
            number += 1
            if number > count:
                yield element


async def taken(elements: Elements, count: int) -> Elements:
    """End after some elements, or never if the count is negative."""
    if not count:
        return
    remaining = count
    async with closing(elements):
        async for element in elements:
            yield element
            remaining -= 1
            if not remaining:
                return


async def repeated(begin: Begin, tasks: bool, count: int) -> Elements:
    """Begin again after the last element, or for ever if the count is negative.

    An iteration without elements ends it.
    """
    number = 0
    is_empty = False
    while number != count and not is_empty:
        number += 1
        is_empty = True
        async with closing(begin(tasks)) as elements:
            async for element in elements:
                is_empty = False
                yield element


async def concatenated(first: Begin, second: Begin, tasks: bool) -> Elements:
    """Continue with the elements of another data set."""
    for begin in (first, second):
        async with closing(begin(tasks)) as elements:
            async for element in elements:
                yield element


async def shard_of(elements: Elements, count: int, index: int) -> Elements:
    """Choose the elements at ``index``, ``index + count``, …"""
    number = 0
    async with closing(elements):
        async for element in elements:
            if number % count == index:
                yield element
            number += 1


async def shuffled(elements: Elements, buffer_size: int, random: Random) -> Elements:
    """Draw each element from a buffer of the next ones."""
    buffer: list[Any] = []
    async with closing(elements):
        async for element in elements:
            if len(buffer) < buffer_size:
                buffer.append(element)
                continue
            index = random.randrange(buffer_size)
            drawn, buffer[index] = buffer[index], element
            yield drawn
    random.shuffle(buffer)
    for element in buffer:
        yield element


async def grouped(elements: Elements, size: int, drop_remainder: bool) -> Elements:
    """Collect elements in lists of equal lengths; the last may be shorter."""
    group: list[Any] = []
    async with closing(elements):
        async for element in elements:
            group.append(element)
            if len(group) == size:
                yield group
                group = []
    if group and not drop_remainder:
        yield group


async def prefetched(elements: Elements, count: int) -> Elements:
    """Have a task compute up to ``count`` elements ahead; an error comes at its element."""
    results: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    room = asyncio.Semaphore(count)

    async def compute() -> None:
        try:
            async with closing(elements):
                while True:
                    await room.acquire()
                    results.put_nowait(("element", await anext(elements)))
        except StopAsyncIteration:
            results.put_nowait(("end", None))
        except Exception as error:
            results.put_nowait(("error", error))

    task = asyncio.ensure_future(compute())
    try:
        while True:
            kind, value = await results.get()
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

    async def elements(self, begin: Begin, tasks: bool) -> Elements:
        """Give the elements, and keep them at the end."""
        if self._elements is None:
            elements = []
            async with closing(begin(tasks)) as source:
                async for element in source:
                    elements.append(element)
                    yield element
            self._elements = elements
            return
        for element in self._elements:
            yield element
