"""Elements that come from Python's objects and functions, or from several data sets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any

from webtensor.data.collation import row_of
from webtensor.data.iteration import Begin, Elements, closing
from webtensor.nest import pack

__all__ = ["calls", "chosen", "from_iterable", "iterated", "sampled", "slices", "zipped"]


async def from_iterable(iterable: Iterable[Any]) -> Elements:
    """Give the items of an iterable; a generator is closed at the end."""
    iterator = iter(iterable)
    try:
        for element in iterator:
            yield element
    finally:
        if isinstance(iterator, Generator):
            iterator.close()


async def iterated(name: str, make: Callable[[], Any]) -> Elements:
    """Give the items of an iterator, also an asynchronous one, that a function makes."""
    iterable = make()
    if isinstance(iterable, AsyncGenerator):
        async with closing(iterable):
            async for element in iterable:
                yield element
        return
    if isinstance(iterable, AsyncIterable):
        async for element in iterable:
            yield element
        return
    if not isinstance(iterable, Iterable):
        raise TypeError(
            f"{name}: the function must return an iterable, but it returned {iterable!r}"
        )
    async with closing(from_iterable(iterable)) as elements:
        async for element in elements:
            yield element


async def calls(function: Callable[[], Any]) -> Elements:
    """Give the results of a function until it raises StopIteration."""
    while True:
        try:
            element = function()
        except StopIteration:
            return
        yield element


async def slices(arrays: Any, indices: Elements) -> Elements:
    """Give the elements of arrays at indices along the first axis."""
    async with closing(indices):
        async for index in indices:
            yield row_of(arrays, index)


async def zipped(structure: Any, begins: Sequence[Begin], tasks: bool) -> Elements:
    """Give structures of elements, one of each data set, until one of them ends."""
    async with AsyncExitStack() as stack:
        sources = [await stack.enter_async_context(closing(begin(tasks))) for begin in begins]
        while True:
            try:
                elements = [await anext(source) for source in sources]
            except StopAsyncIteration:
                return
            yield pack(structure, elements)


async def sampled(
    begins: Sequence[Begin],
    weights: Sequence[float] | None,
    random: Random,
    stop_on_empty: bool,
    tasks: bool,
) -> Elements:
    """Give the next element of a data set that is drawn for each element."""
    async with AsyncExitStack() as stack:
        sources = [await stack.enter_async_context(closing(begin(tasks))) for begin in begins]
        shares = list(weights or [1.0] * len(sources))
        while any(shares):
            index = random.choices(range(len(sources)), shares)[0]
            try:
                element = await anext(sources[index])
            except StopAsyncIteration:
                if stop_on_empty:
                    return
                shares[index] = 0.0
                continue
            yield element


async def chosen(
    begins: Sequence[Begin], choices: Elements, stop_on_empty: bool, tasks: bool
) -> Elements:
    """Give the next element of the data set whose index is the next choice."""
    async with AsyncExitStack() as stack:
        sources = [await stack.enter_async_context(closing(begin(tasks))) for begin in begins]
        await stack.enter_async_context(closing(choices))
        ended: set[int] = set()
        async for choice in choices:
            index = int(choice)
            if not 0 <= index < len(sources):
                raise ValueError(
                    f"choose_from_datasets: choice_dataset has {index}, but there are "
                    f"{len(sources)} data sets"
                )
            if index in ended:
                continue
            try:
                element = await anext(sources[index])
            except StopAsyncIteration:
                if stop_on_empty:
                    return
                ended.add(index)
                continue
            yield element
