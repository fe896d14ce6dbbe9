"""Elements that come from Python's objects and functions, or from several data sets."""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from webtensor.data.collation import row_of
from webtensor.data.iteration import (
    END,
    Begin,
    Elements,
    Iteration,
    Waiting,
    closing,
    from_async_iterable,
    next_of,
    waited,
)
from webtensor.nest import pack

__all__ = ["calls", "chosen", "from_iterable", "iterated", "sampled", "slices", "zipped"]


def from_iterable(iterable: Iterable[Any]) -> Elements:
    """Give the items of an iterable; a generator is closed at the end."""
    iterator = iter(iterable)
    try:
        yield from iterator
    finally:
        if isinstance(iterator, Generator):
            iterator.close()


def iterated(name: str, make: Callable[[], Any], iteration: Iteration) -> Elements:
    """Give the items of an iterator, also an asynchronous one, that a function makes."""
    iterable = make()
    if isinstance(iterable, Awaitable):
        iterable = yield from waited(iterable)
    if isinstance(iterable, AsyncIterable):
        yield from from_async_iterable(iterable, iteration)
    elif isinstance(iterable, Iterable):
        yield from from_iterable(iterable)
    else:
        raise TypeError(
            f"{name}: the function must return an iterable, but it returned {iterable!r}"
        )


def calls(function: Callable[[], Any]) -> Elements:
    """Give a function's results, awaited if necessary, until it raises Stop(Async)Iteration."""
    while True:
        try:
            element = function()
            if isinstance(element, Awaitable):
                element = yield from waited(element)
        except (StopIteration, StopAsyncIteration):
            return
        yield element


def slices(arrays: Any, indices: Elements) -> Elements:
    """Give the elements of arrays at indices along the first axis, which are never waited for."""
    with closing(indices):
        for index in indices:
            yield row_of(arrays, index)


def zipped(structure: Any, begins: Sequence[Begin], iteration: Iteration) -> Elements:
    """Give structures of elements, one of each data set, until one of them ends."""
    with _begun(begins, iteration) as sources:
        while True:
            elements = []
            for source in sources:
                element = yield from next_of(source)
                if element is END:
                    return
                elements.append(element)
            yield pack(structure, elements)


def sampled(
    begins: Sequence[Begin],
    weights: Sequence[float] | None,
    random: Random,
    stop_on_empty: bool,
    iteration: Iteration,
) -> Elements:
    """Give the next element of a data set that is drawn for each element."""
    with _begun(begins, iteration) as sources:
        shares = list(weights or [1.0] * len(sources))
        while any(shares):
            index = random.choices(range(len(sources)), shares)[0]
            element = yield from next_of(sources[index])
            if element is not END:
                yield element
            elif stop_on_empty:
                return
            else:
                shares[index] = 0.0


def chosen(
    begins: Sequence[Begin], choices: Elements, stop_on_empty: bool, iteration: Iteration
) -> Elements:
    """Give the next element of the data set whose index is the next choice."""
    with _begun(begins, iteration) as sources, closing(choices):
        ended: set[int] = set()
        for choice in choices:
            if isinstance(choice, Waiting):
                yield choice
                continue
            index = int(choice)
            if not 0 <= index < len(sources):
                raise ValueError(
                    f"choose_from_datasets: choice_dataset has {index}, but there are "
                    f"{len(sources)} data sets"
                )
            if index in ended:
                continue
            element = yield from next_of(sources[index])
            if element is not END:
                yield element
            elif stop_on_empty:
                return
            else:
                ended.add(index)


@contextmanager
def _begun(begins: Sequence[Begin], iteration: Iteration) -> Iterator[list[Elements]]:
    """Begin to read several data sets, all of which are closed at the end."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(begin(iteration))) for begin in begins]
