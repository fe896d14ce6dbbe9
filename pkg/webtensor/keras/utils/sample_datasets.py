"""Data sets of batches whose samples are computed by their indices."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from random import Random

from webtensor.arguments import check_choice
from webtensor.data import Dataset
from webtensor.data.iteration import Elements, Iteration
from webtensor.keras.batch_parts import Batch

__all__ = ["SampleDataset", "checked_format"]


class SampleDataset(Dataset):
    """Batches of samples, which are shuffled before each epoch where there is a ``Random``.

    A subclass defines ``_batch_of``, which returns the batch of samples with given indices, or
    one sample without a batch dimension where ``batch_size`` is None.
    """

    def __init__(self, count: int, batch_size: int | None, shuffle: Random | None = None) -> None:
        order = list(range(count))
        size = batch_size or 1

        def batches(_: Iteration) -> Elements:
            if shuffle is not None:
                shuffle.shuffle(order)
            for indices in [order[start : start + size] for start in range(0, count, size)]:
                yield self._batch_of(indices)

        super().__init__(batches, ceil(count / size))
        self._batch_size = batch_size

    @abstractmethod
    def _batch_of(self, indices: list[int]) -> Batch:
        """Return the batch of some samples."""


def checked_format(name: str, format: str) -> str:
    """Validate Keras's argument ``format`` of data sets.

    Raises:
        ValueError: it is neither "tf" nor "grain".
    """
    check_choice(name, "format", format, ("tf", "grain"))
    return format
