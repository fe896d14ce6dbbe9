"""Sequences padded to one length, and windows of a time series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, TypeAlias

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.data import Dataset
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import check_positive
from webtensor.keras.array_results import as_array
from webtensor.keras.batch_parts import Batch
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.types import DTypeLike
from webtensor.keras.utils.sample_datasets import SampleDataset, checked_format

__all__ = ["pad_sequences", "timeseries_dataset_from_array"]

_SIDES = ("pre", "post")
#: A number, a text, or nested lists of them.
Element: TypeAlias = "float | str | list[Element]"


def _elements(sequence: TensorLike, position: int) -> list[Element]:
    values = sequence.tolist() if hasattr(sequence, "tolist") else sequence
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"pad_sequences: sequences must be a list of lists, but at position {position} is "
            f"{values!r}"
        )
    return list(values)


def _shape(value: Element) -> tuple[int, ...]:
    """Return the shape of nested lists."""
    if not isinstance(value, (list, tuple)):
        return ()
    return (len(value), *_shape(value[0])) if value else (0,)


def pad_sequences(
    sequences: Iterable[TensorLike],
    maxlen: int | None = None,
    dtype: DTypeLike | type = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: float | str = 0.0,
) -> TensorLike:
    """Return sequences as rows of one length: short ones are padded, long ones truncated.

    The length is ``maxlen``, by default that of the longest sequence. ``padding`` and
    ``truncating`` are "pre" or "post": the side where ``value`` is added or elements are removed.

    Raises:
        ValueError: elements differ in shape, ``sequences`` is not a list of lists, or a side is
            neither "pre" nor "post".

    Example:
        >>> from webtensor import keras
        >>> keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2).tolist()
        [[0, 1], [3, 4]]
    """
    for name, side in (("padding", padding), ("truncating", truncating)):
        check_choice("pad_sequences", name, side, _SIDES)
    if not hasattr(sequences, "__len__"):
        raise ValueError(f"pad_sequences: sequences must be a list of lists, but is {sequences!r}")
    rows = [_elements(sequence, position) for position, sequence in enumerate(sequences)]
    length = max((len(row) for row in rows), default=0) if maxlen is None else int(maxlen)
    shape = next((_shape(row[0]) for row in rows if row), ())
    for position, row in enumerate(rows):
        if any(_shape(element) != shape for element in row):
            raise ValueError(
                f"pad_sequences: elements must have shape {shape}, as the first has, but some of "
                f"the sequence at position {position} have another"
            )
    filler: Element = value
    for size in reversed(shape):
        filler = [filler] * size
    padded_rows = [_padded(row, length, filler, padding, truncating) for row in rows]
    if dtype in (object, "object", "O", str) or str(dtype).lstrip("<>=").startswith(("U", "str")):
        return _text_array(padded_rows, dtype)
    result_dtype = storage_dtype(dtype)
    if isinstance(value, str):
        raise ValueError(f"pad_sequences: value {value!r} is a text, but dtype is {dtype!r}")
    if not padded_rows or not length:
        return as_array(wt.zeros((len(padded_rows), length, *shape), result_dtype))
    number = int if result_dtype is int32 else float
    return as_array(wt.tensor([_converted(row, number) for row in padded_rows], dtype=result_dtype))


def _padded(
    row: list[Element], length: int, filler: Element, padding: str, truncating: str
) -> list[Element]:
    """Return a row truncated or padded to a length."""
    start = max(len(row) - length, 0) if truncating == "pre" else 0
    truncated = row[start : start + length]
    fillers = [filler] * (length - len(truncated))
    return truncated + fillers if padding == "post" else fillers + truncated


def _converted(value: Element, number: type[int] | type[float]) -> Element:
    """Convert the numbers in nested lists to a type."""
    if isinstance(value, list):
        return [_converted(element, number) for element in value]
    return number(value)


def _text_array(rows: list[list[Element]], dtype: Any) -> TensorLike:
    try:
        import numpy as np
    except ImportError:
        return wt.tensor(rows)
    return np.array(rows, dtype=dtype)


class _Windows(SampleDataset):
    """Windows of a series, and the target of each."""

    def __init__(
        self,
        data: Tensor,
        targets: Tensor | None,
        starts: list[int],
        steps: Sequence[int],
        batch_size: int | None,
        shuffle: Random | None,
    ) -> None:
        super().__init__(len(starts), batch_size, shuffle)
        self._data, self._targets = data, targets
        self._starts, self._steps = starts, steps

    def _batch_of(self, indices: list[int]) -> Batch:
        shape = () if self._batch_size is None else (len(indices),)
        starts = [self._starts[index] for index in indices]
        positions = [start + step for start in starts for step in self._steps]
        windows = wt.gather(
            self._data, wt.tensor(positions, (*shape, len(self._steps)), dtype=int32)
        )
        if self._targets is None:
            return windows
        return windows, wt.gather(self._targets, wt.tensor(starts, shape, dtype=int32))


def timeseries_dataset_from_array(
    data: TensorLike,
    targets: TensorLike | None,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> Dataset:
    """Return a data set of windows of a time series, each with the target at its begin.

    A window has ``sequence_length`` elements, ``sampling_rate`` apart; the next one begins
    ``sequence_stride`` later. ``start_index`` and ``end_index`` limit the part of the series that
    is used. ``format`` is "tf" or "grain", as in Keras, and changes nothing.

    Raises:
        ValueError: a number is not positive, a limit is outside the series, or there is no window.

    Example:
        >>> from webtensor import keras
        >>> windows = keras.utils.timeseries_dataset_from_array([1, 2, 3, 4], [5, 6], 3)
        >>> [[x.tolist(), y.tolist()] for x, y in windows]
        [[[[1, 2, 3], [2, 3, 4]], [5, 6]]]
    """
    name = "timeseries_dataset_from_array"
    checked_format(name, format)
    check_positive(
        name,
        sequence_length=sequence_length,
        sequence_stride=sequence_stride,
        sampling_rate=sampling_rate,
        batch_size=1 if batch_size is None else batch_size,
    )
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
    series_targets = None if targets is None else wt.asarray(targets)[first:]
    if series_targets is not None:
        count = min(count, series_targets.shape[0])
    if count <= 0:
        raise ValueError(
            f"{name}: from {first} to {last} there is no window of {sequence_length} elements"
        )
    return _Windows(
        series[first:last],
        series_targets,
        list(range(0, count, sequence_stride)),
        range(0, sequence_length * sampling_rate, sampling_rate),
        batch_size,
        Random(seed) if shuffle else None,
    )
