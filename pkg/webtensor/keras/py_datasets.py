"""The base of data sets, which make batches on demand."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from random import Random
from typing import Any

from webtensor.keras.batch_parts import Batch

__all__ = [
    "PyDataset",
    "SampleDataset",
    "Sequence",
    "checked_format",
]


class PyDataset:
    """The base of data sets: a subclass returns batches by their indices.

    ``__getitem__`` returns a batch: ``(inputs, targets)`` or ``(inputs, targets, sample_weight)``.
    ``__len__``, or ``num_batches``, returns the number of batches. ``on_epoch_begin`` and
    ``on_epoch_end`` are called before and after each epoch. Batches are made in the thread that
    trains, so that the arguments, which are Keras's, change nothing.

    Args:
        workers: an integer, in Keras the number of threads or processes.
        use_multiprocessing: a boolean, in Keras whether the workers are processes.
        max_queue_size: an integer, in Keras the maximum number of batches in the queue.

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
        """The number of batches; None if there is no end."""
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
        """Prepare an epoch; called before each."""

    def on_epoch_end(self) -> None:
        """Finish an epoch; called after each."""


class SampleDataset(PyDataset):
    """Batches of samples, which are shuffled before each epoch where there is a ``Random``.

    A subclass defines ``_batch_of``, which returns the batch of samples with given indices, or
    one sample without a batch dimension where ``batch_size`` is None.
    """

    def __init__(self, count: int, batch_size: int | None, shuffle: Random | None = None) -> None:
        super().__init__()
        self._order = list(range(count))
        self._batch_size, self._shuffle = batch_size, shuffle
        self.on_epoch_end()

    def _batch_of(self, indices: list[int]) -> Batch:
        raise NotImplementedError

    def __len__(self) -> int:
        return ceil(len(self._order) / (self._batch_size or 1))

    def __getitem__(self, index: int) -> Batch:
        return self._batch_at(self._order, index)

    def __iter__(self) -> Iterator[Batch]:
        self.on_epoch_end()
        order = list(self._order)
        for index in range(len(self)):
            yield self._batch_at(order, index)

    def _batch_at(self, order: list[int], index: int) -> Batch:
        size = self._batch_size or 1
        indices = order[index * size : (index + 1) * size]
        if not indices:
            raise IndexError(f"index {index} is out of range for {len(self)} batches")
        return self._batch_of(indices)

    def on_epoch_end(self) -> None:
        """Shuffle the samples, if they are to be shuffled."""
        if self._shuffle is not None:
            self._shuffle.shuffle(self._order)


#: The name of ``PyDataset`` in Keras 2.
Sequence = PyDataset


def checked_format(name: str, format: str) -> str:
    """Validate Keras's argument ``format`` of data sets; here all of them are PyDatasets.

    Raises:
        ValueError: it is neither "tf" nor "grain".
    """
    if format not in ("tf", "grain"):
        raise ValueError(f"{name}: format must be 'tf' or 'grain', but got {format!r}")
    return format
