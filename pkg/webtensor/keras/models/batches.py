"""Batches: arrays, generators and data sets as a sequence of what steps of models take.

NumPy arrays are sliced on the host, and tensors on their device, one batch at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import count as count_from, islice
from random import shuffle as shuffle_in_place
from typing import Any, Protocol, TypeAlias, runtime_checkable

from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.engine.jspi import loop_runs
from webtensor.environment import IN_BROWSER
from webtensor.keras.arguments import check_positive, is_number
from webtensor.keras.batch_parts import Batch, pack_x_y_sample_weight, unpack_x_y_sample_weight
from webtensor.keras.types import Tensors
from webtensor.nest import flatten, is_nested, map_structure
from webtensor.ops import argmax, astype, minimum, reshape, take, tensor

__all__ = [
    "Array",
    "AsyncBatches",
    "Batch",
    "Batches",
    "ClassWeight",
    "DataLike",
    "batches_of",
    "split_off",
]

#: The weights of classes, by their indices.
ClassWeight: TypeAlias = Mapping[int, float]

_DEFAULT_BATCH_SIZE = 32
_NAMES = ("x", "y", "sample_weight")


class Array(Protocol):
    """A tensor or a NumPy array with an axis of samples."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""

    def __getitem__(self, key: Any) -> Any:
        """Return some of the samples."""


class IndexedBatches(Protocol):
    """A data set that makes batches by index, such as a PyDataset."""

    def __getitem__(self, index: int) -> Any:
        """Return a batch."""

    def __len__(self) -> int:
        """Return the number of batches."""


#: Samples: arrays, tensors or structures of them, or objects that make batches.
DataLike: TypeAlias = "TensorLike | IndexedBatches | Iterable[Any] | AsyncBatches"
#: An array, or a list, tuple or dictionary of arrays.
ArrayStructure: TypeAlias = (
    "Array | list[ArrayStructure] | tuple[ArrayStructure, ...] | dict[str, ArrayStructure] | None"
)


@runtime_checkable
class AsyncBatches(Protocol):
    """An asynchronous iterator over batches."""

    def __anext__(self) -> Awaitable[Any]:
        """Return the next batch."""


class Batches:
    """The batches of an epoch. ``steps`` is their number, or None if that is unknown.

    Where an epoch takes only some of the batches, the next epoch continues with the others.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        steps: int | None,
        dataset: object = None,
    ) -> None:
        self.make, self.steps, self._dataset = make, steps, dataset
        self._unfinished: Iterator[Batch] | None = None

    def epoch(self, maximum: int | None) -> Iterator[Batch] | AsyncBatches:
        """Iterate over the batches of an epoch, at most ``maximum`` unless it is None."""
        self._notify("on_epoch_begin")
        batches = self.make()
        if isinstance(batches, AsyncBatches):
            return _islice_async(batches, maximum)
        return iter(batches) if maximum is None else self._some(maximum, batches)

    def _some(self, maximum: int, batches: Iterable[Batch]) -> Iterator[Batch]:
        count = 0
        if self._unfinished is not None:
            for batch in islice(self._unfinished, maximum):
                count += 1
                yield batch
        if not count:  # there were no batches left
            self._unfinished = iter(batches)
            for batch in islice(self._unfinished, maximum):
                count += 1
                yield batch
        if count < maximum:
            self._unfinished = None

    def restart(self) -> None:
        """Let the next epoch begin with the first batch."""
        self._unfinished = None

    def end_epoch(self) -> None:
        """Let the data set finish the epoch."""
        self._notify("on_epoch_end")

    def _notify(self, hook: str) -> None:
        getattr(self._dataset, hook, lambda: None)()


async def _islice_async(batches: AsyncBatches, maximum: int | None) -> AsyncIterator[Batch]:
    count = 0
    while maximum is None or count < maximum:
        try:
            batch = await batches.__anext__()
        except StopAsyncIteration:
            return
        yield _as_batch(batch)
        count += 1


# -- arrays ------------------------------------------------------------------------------------


def _as_array(name: str, value: TensorLike) -> Array:
    """Return a value as a NumPy array if it is or can become one, or else as a tensor."""
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "to_numpy") or hasattr(value, "__array__"):
        array: Array = value.to_numpy() if hasattr(value, "to_numpy") else value.__array__()
        return array
    try:
        return tensor(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _as_arrays(name: str, structure: DataLike | None) -> ArrayStructure:
    """Return the leaves of a structure as arrays; a list of numbers is one array."""
    if structure is None:
        return None
    if isinstance(structure, list) and structure:
        leaves = flatten(structure)
        if not any(leaf is None or hasattr(leaf, "shape") for leaf in leaves):
            return _as_array(name, structure)
    arrays: ArrayStructure = map_structure(
        lambda leaf: None if leaf is None else _as_array(name, leaf), structure
    )
    return arrays


def _samples(array: Array, start: int, stop: int, order: list[int] | None) -> Any:
    """Return the samples of an array from an index to another, or those in an order."""
    if order is None:
        return array[start:stop]
    if isinstance(array, Tensor):
        return take(array, tensor(order[start:stop], dtype="int32"), axis=0)
    return array[order[start:stop]]


def _as_tensor(value: TensorLike | None) -> Tensor | None:
    return value if value is None or isinstance(value, Tensor) else tensor(value)


def _count_samples(parts: Iterable[ArrayStructure]) -> int:
    """Return the number of samples in x, y and sample_weight.

    Raises:
        ValueError: the numbers of samples differ.
    """
    counts: dict[int, str] = {}
    for name, structure in zip(_NAMES, parts, strict=True):
        for array in flatten(structure):
            if array is None:
                continue
            if not array.shape:
                raise ValueError(f"{name} must have an axis of samples, but is a scalar")
            counts.setdefault(int(array.shape[0]), name)
    if len(counts) > 1:
        differing = ", ".join(f"{name} has {count}" for count, name in counts.items())
        raise ValueError(f"x, y and sample_weight must have as many samples, but {differing}")
    return next(iter(counts), 0)


def _array_batches(
    parts: Iterable[ArrayStructure], batch_size: int | None, steps: int | None, shuffle: bool
) -> Batches:
    parts = list(parts)
    sample_count = _count_samples(parts)
    if not sample_count:
        raise ValueError("x must have at least one sample, but has none")
    size = batch_size or (-(-sample_count // steps) if steps else _DEFAULT_BATCH_SIZE)

    def make() -> Iterator[Batch]:
        order: list[int] | None = None
        if shuffle:
            order = list(range(sample_count))
            shuffle_in_place(order)
        for start in range(0, sample_count, size):
            stop = min(start + size, sample_count)

            def batch_part(
                array: Array | None, start: int = start, stop: int = stop
            ) -> Tensor | None:
                return None if array is None else _as_tensor(_samples(array, start, stop, order))

            yield pack_x_y_sample_weight(*(map_structure(batch_part, part) for part in parts))

    return Batches(make, -(-sample_count // size))


def split_off(
    fraction: float, x: DataLike, y: DataLike | None, sample_weight: DataLike | None
) -> tuple[tuple[ArrayStructure, ...], tuple[ArrayStructure, ...]]:
    """Split samples into those for training and the last ones, for validation.

    Raises:
        ValueError: ``fraction`` is not between 0 and 1, a part is empty, or x has no arrays.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"validation_split must lie between 0 and 1, but is {fraction}")
    if not _has_arrays(x):
        raise ValueError(f"validation_split needs arrays, but x is a {type(x).__name__}")
    parts = [
        _as_arrays(name, part) for name, part in zip(_NAMES, (x, y, sample_weight), strict=True)
    ]
    sample_count = _count_samples(parts)
    border = int(sample_count * (1 - fraction))
    if border in (0, sample_count):
        raise ValueError(
            f"validation_split {fraction} of {sample_count} samples leaves none for training or "
            "validation"
        )

    def sliced(start: int, stop: int) -> tuple[ArrayStructure, ...]:
        return tuple(
            map_structure(lambda array: None if array is None else array[start:stop], part)
            for part in parts
        )

    return sliced(0, border), sliced(border, sample_count)


# -- all kinds of data -------------------------------------------------------------------------


def batches_of(
    x: DataLike | None,
    y: DataLike | None = None,
    sample_weight: DataLike | None = None,
    batch_size: int | None = None,
    shuffle: bool = False,
    class_weight: ClassWeight | None = None,
    steps: int | None = None,
    whole: bool = False,
) -> Batches:
    """Return the batches of arrays, of a data set with ``__getitem__``, or of an iterable.

    Arrays without a batch size make ``steps`` batches, or batches of 32 samples. If ``whole`` is
    True they are one batch, and may differ in size, such as the nodes and edges of a graph.

    Raises:
        ValueError: the numbers of samples differ, ``batch_size`` or ``steps`` is not a positive
            integer, or an argument excludes another.
    """
    if x is None:
        raise ValueError("x is missing")
    for name, count in (("batch_size", batch_size), ("steps", steps)):
        if count is not None:
            check_positive("Model", **{name: count})
    if _has_arrays(x):
        parts = [
            _as_arrays(name, part) for name, part in zip(_NAMES, (x, y, sample_weight), strict=True)
        ]
        if whole:
            batch = pack_x_y_sample_weight(*(map_structure(_as_tensor, part) for part in parts))
            batches = Batches(lambda: iter((batch,)), 1)
        else:
            batches = _array_batches(parts, batch_size, steps, bool(shuffle))
    else:
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(f"{name} must be left out where x makes batches: {type(x)}")
        batches = _dataset_batches(x, bool(shuffle))
    if not class_weight:
        return batches
    if sample_weight is not None:
        raise ValueError("class_weight and sample_weight cannot both be given")
    make = batches.make
    weights = _weights_of_classes(class_weight)
    batches.make = lambda: (
        _with_class_weights(unpack_x_y_sample_weight(batch), weights) for batch in make()
    )
    return batches


def _has_arrays(x: DataLike) -> bool:
    if isinstance(x, (Tensor, Variable)) or hasattr(x, "__array__") or hasattr(x, "to_numpy"):
        return True
    return is_nested(x)


def _dataset_batches(x: Any, shuffle: bool) -> Batches:
    """Return the batches of an object that makes batches."""
    if hasattr(x, "__getitem__") and hasattr(x, "__len__"):
        length = x.num_batches if hasattr(x, "num_batches") else len(x)

        def make() -> Iterator[Batch]:
            order: Iterable[int] = count_from(0)
            if length is not None:
                order = list(range(length))
                if shuffle:
                    shuffle_in_place(order)
            for index in order:
                batch = x[index]
                yield _as_batch(batch if is_nested(batch) else (batch,))

        return Batches(make, length, x)
    if _is_awaited(x):
        return Batches(x.__aiter__, _length(x))
    if hasattr(x, "__next__"):
        return Batches(lambda: map(_as_batch, x), None)
    if hasattr(x, "__iter__"):
        return Batches(lambda: map(_as_batch, iter(x)), _length(x))
    raise TypeError(f"x must be arrays or make batches, but is a {type(x).__name__}")


def _is_awaited(x: Any) -> bool:
    """Whether an asynchronous iteration is the only possible one, or the better one.

    Those data sets of ``webtensor.data`` that have to be waited for do so by themselves where no
    event loop runs.
    """
    if not hasattr(x, "__aiter__") or not getattr(x, "is_async", True):
        return False
    return IN_BROWSER or not hasattr(x, "__iter__") or loop_runs()


def _length(x: Any) -> int | None:
    try:
        return len(x)
    except TypeError:  # it is unknown
        return None


def _as_batch(data: object) -> Batch:
    """Return what a data set yields, as tensors; steps of models say which parts it has."""
    return map_structure(_as_tensor, data)


def _weights_of_classes(weights: ClassWeight) -> Tensor:
    if not isinstance(weights, Mapping) or not all(
        is_number(key) and key >= 0 and key % 1 == 0 for key in weights
    ):
        raise ValueError(f"class_weight must have classes 0, 1, … as keys, but is {weights!r}")
    # The last weight is that of all classes above those in ``weights``.
    return tensor([*(float(weights.get(key, 1.0)) for key in range(int(max(weights)) + 1)), 1.0])


def _with_class_weights(batch: tuple[Tensors, Tensors, Tensors], weights: Tensor) -> Batch:
    x, y, sample_weight = batch
    if not isinstance(y, Tensor):
        raise ValueError(f"class_weight needs y to be one tensor of labels, but y is {y!r:.200}")
    if sample_weight is not None:
        raise ValueError("class_weight and sample_weight cannot both be given")
    classes = argmax(y, -1) if len(y.shape) > 1 and y.shape[-1] > 1 else reshape(y, (-1,))
    indices = minimum(astype(classes, "int32"), weights.shape[0] - 1)
    return x, y, take(weights, indices, axis=0)
