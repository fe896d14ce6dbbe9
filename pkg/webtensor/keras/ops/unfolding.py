"""``unfold`` and ``fold``: the windows of images as columns, and images from such columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtensor import ops as wt
from webtensor.arguments import as_integers
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike

__all__ = ["fold", "unfold"]


class _WindowAxis(NamedTuple):
    """The positions of windows along one axis of images."""

    size: int
    window_size: int
    dilation: int
    padding: int
    stride: int

    @property
    def padded_size(self) -> int:
        """The size of the axis with the padding before and after it."""
        return self.size + 2 * self.padding

    @property
    def window_count(self) -> int:
        """The number of windows along the axis."""
        span = self.dilation * (self.window_size - 1) + 1
        return max(0, (self.padded_size - span) // self.stride + 1)

    def element_indices(self) -> list[list[int]]:
        """Return the indices, in the padded axis, of the elements of each window."""
        return [
            [number * self.stride + offset * self.dilation for offset in range(self.window_size)]
            for number in range(self.window_count)
        ]


class _Windows(NamedTuple):
    """The positions of windows in images."""

    vertical: _WindowAxis
    horizontal: _WindowAxis

    @property
    def window_size(self) -> int:
        """The number of elements of a window in one channel."""
        return self.vertical.window_size * self.horizontal.window_size

    @property
    def window_count(self) -> int:
        """The number of windows in an image."""
        return self.vertical.window_count * self.horizontal.window_count

    def element_indices(self) -> Tensor:
        """Return the indices in flattened, padded images: (window size, number of windows)."""
        width = self.horizontal.padded_size
        rows, columns = self.vertical.element_indices(), self.horizontal.element_indices()
        indices = [
            [row[i] * width + column[j] for row in rows for column in columns]
            for i in range(self.vertical.window_size)
            for j in range(self.horizontal.window_size)
        ]
        return wt.tensor(indices, dtype=int32)


def _windows(name: str, sizes: Sequence[int], **options: int | Sequence[int]) -> _Windows:
    """Return the windows in images of these sizes; options are those of ``unfold``."""
    pairs = [_pair(name, argument, value) for argument, value in options.items()]
    vertical, horizontal = zip(sizes, *pairs, strict=True)
    windows = _Windows(_WindowAxis(*vertical), _WindowAxis(*horizontal))
    if not windows.window_count:
        raise ValueError(
            f"{name}: no window of kernel_size={options['kernel_size']} and "
            f"dilation={options['dilation']} fits into images of {tuple(sizes)} pixels with "
            f"padding={options['padding']}"
        )
    return windows


def _pair(name: str, argument: str, value: int | Sequence[int]) -> tuple[int, int]:
    """Return an integer for each of two axes, of one for both or a pair."""
    numbers = as_integers(name, argument, value)
    minimum = 0 if argument == "padding" else 1
    if len(numbers) > 2 or min(numbers, default=-1) < minimum:
        raise ValueError(
            f"{name}: {argument} must be an integer of at least {minimum}, or two, but got "
            f"{value!r}"
        )
    return numbers[0], numbers[-1]


def unfold(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Return the windows of images as columns.

    ``x`` has shape (batch, channels, height, width) and the result (batch, channels * window size,
    number of windows). ``kernel_size``, ``dilation``, ``padding`` and ``stride`` are integers or
    pairs.

    Raises:
        ValueError: an argument is neither, or no window fits into the images.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.unfold(keras.ops.ones((1, 3, 4, 4)), 2).shape
        (1, 12, 9)
    """
    x = wt.asarray(x)
    batch, channels = x.shape[:2]
    windows = _windows(
        "unfold",
        x.shape[2:4],
        kernel_size=kernel_size,
        dilation=dilation,
        padding=padding,
        stride=stride,
    )
    paddings = [[axis.padding] * 2 for axis in windows]
    flat = wt.reshape(wt.pad(x, [[0, 0], [0, 0], *paddings]), (batch, channels, -1))
    elements = wt.gather(flat, windows.element_indices(), 2)
    return wt.reshape(elements, (batch, channels * windows.window_size, windows.window_count))


def fold(
    x: TensorLike,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Return the images that have the given windows; overlapping elements are added up.

    ``x`` has shape (batch, channels * window size, number of windows) and the result (batch,
    channels, *output_size). ``kernel_size``, ``dilation``, ``padding`` and ``stride`` are integers
    or pairs.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> from webtensor import keras
        >>> x = keras.ops.unfold(keras.ops.ones((1, 1, 3, 3)), 2)
        >>> keras.ops.fold(x, (3, 3), 2).tolist()
        [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    x = wt.asarray(x)
    windows = _windows(
        "fold",
        _pair("fold", "output_size", output_size),
        kernel_size=kernel_size,
        dilation=dilation,
        padding=padding,
        stride=stride,
    )
    window_size, count = windows.window_size, windows.window_count
    if len(x.shape) != 3 or x.shape[1] % window_size or x.shape[2] != count:
        raise ValueError(
            f"fold: x must be (batch, channels * {window_size}, {count}), but has shape {x.shape}"
        )
    batch, channels = x.shape[0], x.shape[1] // window_size
    height, width = (axis.padded_size for axis in windows)
    sums = wt.unsorted_segment_sum(
        wt.matrix_transpose(wt.reshape(x, (batch * channels, -1))),
        windows.element_indices().flatten(),
        height * width,
    )
    images = wt.reshape(wt.matrix_transpose(sums), (batch, channels, height, width))
    top, left = (axis.padding for axis in windows)
    return images[:, :, top : height - top, left : width - left]
