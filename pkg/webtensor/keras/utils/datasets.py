"""Data sets that make batches when they are asked for them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from random import Random
from typing import Any

__all__ = [
    "Batched",
    "PyDataset",
    "Sequence",
    "checked_format",
    "pack_x_y_sample_weight",
    "unpack_x_y_sample_weight",
]


class PyDataset:
    """The base of data sets: a class of yours returns batches by their numbers.

    ``__getitem__`` returns a batch, ``(inputs, targets)`` or with weights after them; ``__len__``,
    or ``num_batches``, says how many there are. ``on_epoch_begin`` and ``on_epoch_end`` are called
    around each pass. Batches are made in the thread that trains: ``workers`` and the other
    arguments change nothing.

    Example:
        >>> from webtensor import keras
        >>> class Squares(keras.utils.PyDataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index, index**2
        >>> list(Squares())
        [(0, 0), (1, 1), (2, 4)]
    """

    def __init__(
        self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10
    ) -> None:
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method __getitem__")

    def __len__(self) -> int:
        count = self.num_batches
        if count is None:
            raise TypeError(f"{type(self).__name__} has no end")
        return count

    @property
    def num_batches(self) -> int | None:
        """How many batches there are; None for no end."""
        if type(self).__len__ is PyDataset.__len__:
            raise NotImplementedError(
                f"{type(self).__name__} must have a method __len__ or a property num_batches"
            )
        return len(self)

    def __iter__(self) -> Iterator[Any]:
        count, index = self.num_batches, 0
        while count is None or index < count:
            yield self[index]
            index += 1

    def on_epoch_begin(self) -> None:
        """Be told that a pass begins."""

    def on_epoch_end(self) -> None:
        """Be told that a pass has ended."""


class Batched(PyDataset):
    """Batches of samples that have numbers, in an order that may be another each time.

    A class returns by ``_of`` what samples are together, or one sample with ``batch_size`` None.
    """

    def __init__(self, count: int, batch_size: int | None, shuffle: Random | None = None) -> None:
        super().__init__()
        self._order = list(range(count))
        self._size, self._shuffle = batch_size, shuffle
        self.on_epoch_end()

    def _of(self, places: list[int]) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return ceil(len(self._order) / (self._size or 1))

    def __getitem__(self, index: int) -> Any:
        return self._batch(self._order, index)

    def __iter__(self) -> Iterator[Any]:
        self.on_epoch_end()
        order = list(self._order)
        for index in range(len(self)):
            yield self._batch(order, index)

    def _batch(self, order: list[int], index: int) -> Any:
        size = self._size or 1
        places = order[index * size : (index + 1) * size]
        if not places:
            raise IndexError(f"there are {len(self)} batches, but none is {index}")
        return self._of(places)

    def on_epoch_end(self) -> None:
        """Bring the samples into another order, where they are shuffled."""
        if self._shuffle is not None:
            self._shuffle.shuffle(self._order)


#: Its name in Keras 2.
Sequence = PyDataset


def checked_format(name: str, format: str) -> str:
    """Return what Keras calls the format of a data set; here all are PyDatasets.

    Raises:
        ValueError: it is neither of Keras's.
    """
    if format not in ("tf", "grain"):
        raise ValueError(f"{name}: format must be 'tf' or 'grain', but got {format!r}")
    return format


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Return a batch of its parts, as ``fit`` takes it; without targets, weights are left out."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return inputs, targets and weights of a batch; None for those that it has not.

    Raises:
        ValueError: it has more than three parts.
    """
    parts = list(data) if isinstance(data, (list, tuple)) else [data]
    if not 1 <= len(parts) <= 3:
        raise ValueError(
            f"a batch must be x, (x, y) or (x, y, sample_weight), but has {len(parts)} parts"
        )
    x, y, sample_weight = parts + [None] * (3 - len(parts))
    return x, y, sample_weight
