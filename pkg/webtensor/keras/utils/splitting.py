"""Splitting data in two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from random import Random
from typing import Any, TypeAlias

from webtensor.data import Dataset, array
from webtensor.engine import TensorLike
from webtensor.nest import flatten, map_structure

__all__ = ["split_dataset"]

#: Arrays, a nested structure of arrays of one length, or an iterable of samples.
Splittable: TypeAlias = "TensorLike | Mapping[str, TensorLike] | Iterable[object]"


def split_dataset(
    dataset: Splittable,
    left_size: float | None = None,
    right_size: float | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    preferred_backend: str | None = None,
) -> tuple[Dataset, Dataset]:
    """Split data in two: the first samples, and the last ones.

    The data are an array, a list, a tuple or a dict of arrays of one length, or an iterable of
    samples. Sizes are numbers of samples, or, as floats, fractions of them; if only one is given,
    the other part has the rest. ``preferred_backend`` changes nothing.

    Raises:
        TypeError: the data are nothing of this, or a size is no number.
        ValueError: a size is out of range, or arrays differ in length.

    Example:
        >>> from webtensor import keras
        >>> left, right = keras.utils.split_dataset(list(range(10)), left_size=0.8)
        >>> list(right)
        [8, 9]
    """
    samples = _samples(dataset)
    count = len(samples)
    left, right = _size("left_size", left_size, count), _size("right_size", right_size, count)
    if left is None and right is None:
        raise ValueError("split_dataset: give left_size, right_size or both")
    left = count - (right or 0) if left is None else left
    right = count - left if right is None else right
    if left + right > count or not left or not right:
        raise ValueError(
            f"split_dataset: {count} samples cannot be parted into {left} and {right} "
            f"(left_size={left_size}, right_size={right_size})"
        )
    if shuffle:
        Random(seed).shuffle(samples)
    return array(samples[:left]), array(samples[count - right :])


def _size(name: str, size: float | None, count: int) -> int | None:
    """Return a size as a number of samples."""
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, (int, float)):
        raise TypeError(f"split_dataset: {name} must be an integer or a float, but is {size!r}")
    if not 0 < size < (1 if isinstance(size, float) else count):
        raise ValueError(
            f"split_dataset: {name} must be from 1 to {count - 1} samples, or a fraction between "
            f"0.0 and 1.0, but is {size!r}"
        )
    return round(size * count) if isinstance(size, float) else size


def _samples(dataset: Splittable) -> list[Any]:
    if isinstance(dataset, (str, bytes)) or not hasattr(dataset, "__iter__"):
        if isinstance(dataset, Sized) and hasattr(dataset, "__getitem__"):
            return [dataset[index] for index in range(len(dataset))]
        raise TypeError(
            f"split_dataset: dataset must be arrays or an iterable of samples, but is {dataset!r}"
        )
    if isinstance(dataset, list):
        dataset = tuple(dataset)
    arrays = _arrays_in(dataset)
    if arrays is None:
        return list(dataset)
    lengths = {array.shape[0] for array in arrays}
    if len(lengths) != 1:
        raise ValueError(f"split_dataset: arrays must have one length, but have {sorted(lengths)}")
    return [
        map_structure(lambda array, index=index: array[index], dataset)
        for index in range(lengths.pop())
    ]


def _arrays_in(dataset: Splittable) -> list[TensorLike] | None:
    """Return the arrays of a nested structure, or None if anything else is in it."""
    if not isinstance(dataset, (list, tuple, Mapping)) and not hasattr(dataset, "shape"):
        return None
    arrays = flatten(dataset)
    return arrays if arrays and all(getattr(array, "shape", None) for array in arrays) else None
