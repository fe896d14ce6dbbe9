"""Data sets of Python's values: TensorFlow.js's ``array``, ``generator``, ``func`` and ``zip``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import iscoroutinefunction
from typing import Any

from webtensor.arguments import check_callable
from webtensor.data import sources
from webtensor.data.constructors import generator_of
from webtensor.data.dataset import Dataset
from webtensor.engine import Tensor

__all__ = ["array", "func", "generator", "zip"]


def array(items: Iterable[Any]) -> Dataset:
    """Return a data set of the items of a list, as they are.

    Slices of tensors and NumPy arrays come from ``Dataset.from_tensor_slices``.

    Raises:
        TypeError: ``items`` cannot be iterated over, or is text.

    Example:
        >>> import webtensor as wt
        >>> wt.data.array([1, 2, 3]).map(lambda x: x + 1).to_list()
        [2, 3, 4]
    """
    if isinstance(items, (Tensor, str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"array: items must be a list, but got {items!r}")
    elements = items if isinstance(items, Sequence) else list(items)
    return Dataset(lambda _: sources.from_iterable(elements), len(elements))


def generator(generator: Callable[[], Any]) -> Dataset:
    """Return a data set of what an iterator gives, which a function makes for each iteration.

    Args:
        generator: a generator function or a function that returns an iterable, also asynchronous
            ones. Its ``finally`` blocks run when an iteration ends early.

    Raises:
        TypeError: ``generator`` is not callable, or returns something else.

    Example:
        >>> import webtensor as wt
        >>> def powers():
        ...     yield from (2**n for n in range(4))
        >>> wt.data.generator(powers).to_list()
        [1, 2, 4, 8]
    """
    begin, is_async = generator_of("generator", generator)
    return Dataset(begin, None, is_async)


def func(f: Callable[[], Any]) -> Dataset:
    """Return a data set of the results of a function, until it raises StopIteration.

    A coroutine function is awaited, and raises StopAsyncIteration.

    Raises:
        TypeError: ``f`` is not callable.

    Example:
        >>> import webtensor as wt
        >>> wt.data.func(lambda: 7).take(2).to_list()
        [7, 7]
    """
    check_callable("func", "f", f)
    return Dataset(lambda _: sources.calls(f), None, iscoroutinefunction(f))


def zip(*datasets: Any) -> Dataset:
    """Return a data set of tuples, or of the structure in which the data sets are given.

    See ``Dataset.zip``.

    Example:
        >>> import webtensor as wt
        >>> wt.data.zip({"x": wt.data.array([1, 2]), "y": wt.data.array([3, 4])}).to_list()
        [{'x': 1, 'y': 3}, {'x': 2, 'y': 4}]
    """
    return Dataset.zip(*datasets)
