"""Sequences of one length, and windows of a series."""

from __future__ import annotations

from collections.abc import Sequence as Items
from random import Random
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.utils.datasets import Batched, PyDataset, checked_format
from webtensor.keras.utils.labels import as_given

__all__ = ["pad_sequences", "timeseries_dataset_from_array"]

_SIDES = ("pre", "post")


def _rows(sequence: Any, position: int) -> list[Any]:
    """The elements of a sequence."""
    held = sequence.tolist() if hasattr(sequence, "tolist") else sequence
    if isinstance(held, str) or not hasattr(held, "__iter__"):
        raise ValueError(
            f"pad_sequences: sequences must be a list of lists, but at place {position} is {held!r}"
        )
    return list(held)


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of nested lists."""
    if not isinstance(value, (list, tuple)):
        return ()
    return (len(value), *_shape(value[0])) if value else (0,)


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Return sequences as rows of one length: short ones are filled up, long ones cut.

    Raises:
        ValueError: the sequences' elements differ in shape, or a side is neither "pre" nor "post".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2).tolist()
        [[0, 1], [3, 4]]
    """
    for name, side in (("padding", padding), ("truncating", truncating)):
        if side not in _SIDES:
            raise ValueError(f"pad_sequences: {name} must be 'pre' or 'post', but got {side!r}")
    if not hasattr(sequences, "__len__"):
        raise ValueError(f"pad_sequences: sequences must be a list of lists, but is {sequences!r}")
    rows = [_rows(one, position) for position, one in enumerate(sequences)]
    length = max((len(row) for row in rows), default=0) if maxlen is None else int(maxlen)
    shape = next((_shape(row[0]) for row in rows if row), ())
    filler = value
    for count in reversed(shape):
        filler = [filler] * count
    made = []
    for position, row in enumerate(rows):
        if any(_shape(one) != shape for one in row):
            raise ValueError(
                f"pad_sequences: elements must have shape {shape}, as the first has, but some of "
                f"the sequence at place {position} have another"
            )
        start = len(row) - length if truncating == "pre" and len(row) > length else 0
        kept = row[start : start + length]
        more = [filler] * (length - len(kept))
        made.append(kept + more if padding == "post" else more + kept)
    if dtype in (object, "object", "O", str) or str(dtype).lstrip("<>=").startswith(("U", "str")):
        return _texts(made, dtype)
    kind = held_dtype(dtype)
    if isinstance(value, str):
        raise ValueError(f"pad_sequences: value {value!r} is a text, but dtype is {dtype!r}")
    cast = int if kind is int32 else float
    if not made or not length:
        return as_given(wt.zeros((len(made), length, *shape), kind), made)
    return as_given(wt.tensor(_cast(made, cast), dtype=kind), made)


def _cast(value: Any, kind: Any) -> Any:
    return [_cast(one, kind) for one in value] if isinstance(value, list) else kind(value)


def _texts(rows: list[list[Any]], dtype: Any) -> Any:
    try:
        import numpy as np
    except ImportError:
        return wt.tensor(rows)
    return np.array(rows, dtype=dtype)


class _Windows(Batched):
    """Windows of a series, and what is to be predicted from each."""

    def __init__(
        self,
        data: Tensor,
        targets: Tensor | None,
        starts: list[int],
        steps: Items[int],
        batch_size: int | None,
        shuffle: Random | None,
    ) -> None:
        super().__init__(len(starts), batch_size, shuffle)
        self._data, self._targets = data, targets
        self._starts, self._steps = starts, steps

    def _of(self, places: list[int]) -> Any:
        starts = [self._starts[place] for place in places]
        if self._size is None:
            rows: Any = [starts[0] + step for step in self._steps]
            wanted: Any = starts[0]
        else:
            rows = [[start + step for step in self._steps] for start in starts]
            wanted = starts
        windows = wt.gather(self._data, wt.tensor(rows, dtype=int32))
        if self._targets is None:
            return windows
        return windows, wt.gather(self._targets, wt.tensor(wanted, dtype=int32))


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> PyDataset:
    """Return a data set of windows of a series, each with the target at its beginning.

    A window has ``sequence_length`` elements, ``sampling_rate`` apart; the next begins
    ``sequence_stride`` later. ``format`` is "tf" or "grain", as in Keras, and changes nothing.

    Raises:
        ValueError: a number is not positive, or a limit lies outside the series.

    Example:
        >>> from webtensor import keras
        >>> windows = keras.utils.timeseries_dataset_from_array([1, 2, 3, 4], [5, 6], 3)
        >>> [[x.tolist(), y.tolist()] for x, y in windows]
        [[[[1, 2, 3], [2, 3, 4]], [5, 6]]]
    """
    name = "timeseries_dataset_from_array"
    checked_format(name, format)
    numbers = {
        "sequence_length": sequence_length,
        "sequence_stride": sequence_stride,
        "sampling_rate": sampling_rate,
        **({} if batch_size is None else {"batch_size": batch_size}),
    }
    for argument, number in numbers.items():
        if not isinstance(number, int) or number <= 0:
            raise ValueError(f"{name}: {argument} must be a positive integer, but is {number!r}")
    series = wt.asarray(data)
    length = series.shape[0]
    first = 0 if start_index is None else start_index
    last = length if end_index is None else end_index
    if not 0 <= first < length or not first < last <= length:
        raise ValueError(
            f"{name}: start_index and end_index must lie in a series of {length} elements, one "
            f"before the other, but are {start_index} and {end_index}"
        )
    count = last - first - (sequence_length - 1) * sampling_rate
    wanted = None if targets is None else wt.asarray(targets)
    if wanted is not None:
        wanted = wanted[first:]
        count = min(count, wanted.shape[0])
    if count <= 0:
        raise ValueError(
            f"{name}: from {first} to {last} there is no window of {sequence_length} elements"
        )
    return _Windows(
        series[first:last],
        wanted,
        list(range(0, count, sequence_stride)),
        range(0, sequence_length * sampling_rate, sampling_rate),
        batch_size,
        Random(seed) if shuffle else None,
    )
