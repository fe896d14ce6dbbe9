"""Batches: arrays, generators and data sets as a sequence of ``(x, y, sample_weight)``.

Arrays of NumPy are cut on the host and tensors where they are, one batch at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count as number_from, islice
from random import shuffle as shuffled
from typing import Any

from webtensor.engine import Tensor, Variable
from webtensor.keras.nest import flatten, is_nested, map_structure
from webtensor.keras.utils.datasets import pack_x_y_sample_weight, unpack_x_y_sample_weight
from webtensor.ops import argmax, astype, minimum, reshape, take, tensor

__all__ = ["Batch", "Batches", "batches_of", "split_off"]

Batch = tuple[Any, Any, Any]

_DEFAULT_SIZE = 32


class Batches:
    """The batches of an epoch; ``steps`` is their number, None where that is unknown.

    Where an epoch takes fewer than there are, the next goes on from there.
    """

    def __init__(
        self,
        make: Callable[[], Iterable[Any]],
        steps: int | None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        self._make, self.steps, self._finish = make, steps, finish
        self._going: Iterator[Any] | None = None

    def epoch(self, most: int | None) -> Iterator[Any]:
        """Iterate over one epoch, of ``most`` batches where that is given."""
        made: Any = self._make()
        if hasattr(made, "__anext__"):
            return _some_awaited(made, most)  # type: ignore[no-any-return]
        if most is None:
            return iter(made)
        return self._some(most, made)

    def _some(self, most: int, made: Any) -> Iterator[Any]:
        count = 0
        if self._going is not None:
            for one in islice(self._going, most):
                count += 1
                yield one
        if not count:  # the epoch before took the last
            self._going = iter(made)
            for one in islice(self._going, most):
                count += 1
                yield one
        if count < most:
            self._going = None

    def end_epoch(self) -> None:
        """Tell a data set that an epoch is over."""
        self._finish()


async def _some_awaited(source: Any, most: int | None) -> Any:
    count = 0
    while most is None or count < most:
        try:
            batch = await source.__anext__()
        except StopAsyncIteration:
            return
        yield _tensors(batch)
        count += 1


# -- arrays ------------------------------------------------------------------------------------


def _source(name: str, value: Any) -> Any:
    """An array or a tensor of what was given."""
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array__") or hasattr(value, "to_numpy"):
        return value.to_numpy() if hasattr(value, "to_numpy") else value.__array__()
    try:
        return tensor(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _sources(name: str, structure: Any) -> Any:
    """Arrays of a structure; a list of numbers is one array."""
    if isinstance(structure, list) and structure:
        leaves = flatten(structure)
        if not any(one is None or hasattr(one, "shape") for one in leaves):
            return _source(name, structure)
    return map_structure(lambda one: None if one is None else _source(name, one), structure)


def _rows(source: Any, start: int, stop: int, order: Any) -> Any:
    if order is None:
        return source[start:stop]
    if isinstance(source, Tensor):
        return take(source, tensor(order[start:stop], dtype="int32"), axis=0)
    return source[order[start:stop]]


def _as_tensor(value: Any) -> Any:
    return value if value is None or isinstance(value, Tensor) else tensor(value)


def _length(parts: Mapping[str, Any]) -> int:
    lengths: dict[int, str] = {}
    for name, structure in parts.items():
        for one in flatten(structure):
            if one is None:
                continue
            if not one.shape:
                raise ValueError(f"{name} must have an axis of samples, but is a scalar")
            lengths.setdefault(int(one.shape[0]), name)
    if len(lengths) > 1:
        told = ", ".join(f"{name} has {length}" for length, name in lengths.items())
        raise ValueError(f"x, y and sample_weight must have as many samples, but {told}")
    return next(iter(lengths))


def _array_batches(x: Any, y: Any, weights: Any, size: int, shuffle: bool) -> Batches:
    parts = {"x": x, "y": y, "sample_weight": weights}
    length = _length(parts)
    if not length:
        raise ValueError("x has no samples")

    def make() -> Iterator[Batch]:
        order: Any = None
        if shuffle:
            order = list(range(length))
            shuffled(order)
        for start in range(0, length, size):
            stop = min(start + size, length)

            def cut(one: Any, start: int = start, stop: int = stop) -> Any:
                return None if one is None else _as_tensor(_rows(one, start, stop, order))

            yield pack_x_y_sample_weight(*(map_structure(cut, part) for part in parts.values()))

    return Batches(make, -(-length // size))


def split_off(
    share: float, x: Any, y: Any, sample_weight: Any
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Return samples for training, and the last ones for validation."""
    if not 0 < share < 1:
        raise ValueError(f"validation_split must lie between 0 and 1, but is {share}")
    if not _is_arrays(x):
        raise ValueError(f"validation_split needs arrays, but x is a {type(x).__name__}")
    parts = [
        None if part is None else _sources(name, part)
        for name, part in (("x", x), ("y", y), ("sample_weight", sample_weight))
    ]
    length = _length(dict(zip(("x", "y", "sample_weight"), parts, strict=True)))
    border = int(length * (1 - share))
    if border in (0, length):
        raise ValueError(
            f"validation_split {share} of {length} samples leaves none for training or validation"
        )

    def cut(start: int, stop: int) -> Any:
        return tuple(
            map_structure(lambda one: None if one is None else one[start:stop], part)
            for part in parts
        )

    return cut(0, border), cut(border, length)


# -- anything ----------------------------------------------------------------------------------


def batches_of(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    steps: int | None = None,
    shuffle: bool = False,
    class_weight: Mapping[int, float] | None = None,
) -> Batches:
    """Return the batches of arrays, of a data set with ``__getitem__``, or of an iterable.

    Raises:
        ValueError: numbers of samples differ, or arguments do not go together.
    """
    if x is None:
        raise ValueError("x is missing")
    if batch_size is not None and (not isinstance(batch_size, int) or batch_size <= 0):
        raise ValueError(f"batch_size must be a positive integer, but is {batch_size!r}")
    if _is_arrays(x):
        found = _array_batches(
            _sources("x", x),
            None if y is None else _sources("y", y),
            None if sample_weight is None else _sources("sample_weight", sample_weight),
            batch_size or _DEFAULT_SIZE,
            bool(shuffle),
        )
    else:
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(f"{name} must be left out where x makes batches: {type(x)}")
        found = _made_batches(x, bool(shuffle))
    if not class_weight:
        return found
    if sample_weight is not None:
        raise ValueError("class_weight and sample_weight cannot both be given")
    inner = found._make
    weights = _weights_of_classes(class_weight)
    found._make = lambda: (_weighted(unpack_x_y_sample_weight(batch), weights) for batch in inner())
    return found


def _is_arrays(x: Any) -> bool:
    if isinstance(x, (Tensor, Variable)) or hasattr(x, "__array__") or hasattr(x, "to_numpy"):
        return True
    return is_nested(x)


def _made_batches(x: Any, shuffle: bool) -> Batches:
    if hasattr(x, "__getitem__") and hasattr(x, "__len__"):
        length = x.num_batches if hasattr(x, "num_batches") else len(x)

        def make() -> Iterator[Any]:
            order: Iterable[int] = number_from(0)
            if length is not None:
                order = list(range(length))
                if shuffle:
                    shuffled(order)
            for index in order:
                yield _tensors(x[index])

        return Batches(make, length, getattr(x, "on_epoch_end", lambda: None))
    if hasattr(x, "__aiter__"):
        return Batches(x.__aiter__, None)
    if hasattr(x, "__next__"):
        return Batches(lambda: map(_tensors, x), None)
    if hasattr(x, "__iter__"):
        return Batches(lambda: map(_tensors, iter(x)), None)
    raise TypeError(f"x must be arrays or make batches, but is a {type(x).__name__}")


def _tensors(data: Any) -> Any:
    return tuple(
        None if part is None else map_structure(_as_tensor, part)
        for part in unpack_x_y_sample_weight(data)
    )


def _weights_of_classes(weights: Mapping[int, float]) -> Tensor:
    if not all(isinstance(key, int) and key >= 0 for key in weights):
        raise ValueError(f"class_weight must have classes 0, 1, … as keys, but has {[*weights]}")
    # The last is for all classes that have none.
    return tensor([*(float(weights.get(key, 1.0)) for key in range(max(weights) + 1)), 1.0])


def _weighted(batch: Batch, weights: Tensor) -> Batch:
    x, y, sample_weight = batch
    if y is None or is_nested(y):
        raise ValueError("class_weight needs one y")
    if sample_weight is not None:
        raise ValueError("class_weight and sample_weight cannot both be given")
    classes = argmax(y, -1) if len(y.shape) > 1 and y.shape[-1] > 1 else reshape(y, (-1,))
    found = minimum(astype(classes, "int32"), weights.shape[0] - 1)
    return x, y, take(weights, found, axis=0)
