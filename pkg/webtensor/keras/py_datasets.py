"""The base of data sets, which make batches on demand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

__all__ = ["PyDataset", "Sequence"]


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
        num_batches = self.num_batches
        if num_batches is None:
            raise TypeError(f"{type(self).__name__} has no end")
        return num_batches

    @property
    def num_batches(self) -> int | None:
        """The number of batches; None if there is no end."""
        if type(self).__len__ is PyDataset.__len__:
            raise NotImplementedError(
                f"{type(self).__name__} must have a method __len__ or a property num_batches"
            )
        return len(self)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches, without end where their number is not given."""
        try:
            num_batches = self.num_batches
        except NotImplementedError:
            num_batches = None
        for index in count() if num_batches is None else range(num_batches):
            yield self[index]

    def on_epoch_begin(self) -> None:
        """Prepare an epoch; called before each."""

    def on_epoch_end(self) -> None:
        """Finish an epoch; called after each."""


#: The name of ``PyDataset`` in Keras 2.
Sequence = PyDataset
