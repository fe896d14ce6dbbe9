"""Data sets that make batches when they are asked for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["PyDataset", "Sequence", "pack_x_y_sample_weight", "unpack_x_y_sample_weight"]


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


#: Its name in Keras 2.
Sequence = PyDataset


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
