"""Pools: maxima, means and norms of windows.

A function whose name ends in ``_last`` takes images with channels last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce, wraps
from itertools import product
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers
from webtensor.onnx.operations.windows import (
    Windows,
    channels_first,
    channels_last,
    windows_of,
)

__all__ = [
    "ROWS",
    "global_maximum_last",
    "global_mean_last",
    "maxima_last",
    "means_last",
]


# -- windows of any kind -----------------------------------------------------------------------


def _elements(x: Tensor, windows: Windows, fill: float) -> Iterator[Tensor]:
    """Yield, for each element of a window, what it is in all windows; channels are last."""
    values = ops.pad(x, windows.pairs(), fill)
    for offsets in product(*map(range, windows.shape)):
        parts = [slice(None)]
        for axis, offset in enumerate(offsets):
            start = offset * windows.dilations[axis]
            stop = start + (windows.counts[axis] - 1) * windows.strides[axis] + 1
            parts.append(slice(start, stop, windows.strides[axis]))
        yield values[tuple(parts)]


def _as_images(x: Tensor, windows: Windows, pool: Callable[[Tensor, Windows], Tensor]) -> Tensor:
    """Pool signals as images of height 1."""
    if len(windows.shape) != 1:
        return pool(x, windows)
    single, none = (1,), (0,)
    shape, strides, dilations, begins, ends, ceil_padding, counts, name = windows
    wide = Windows(
        single + shape,
        single + strides,
        single + dilations,
        none + begins,
        none + ends,
        none + ceil_padding,
        single + counts,
        name,
    )
    return ops.squeeze(pool(ops.expand_dims(x, 1), wide), 1)


# -- maxima ------------------------------------------------------------------------------------

_LOWEST = {"float32": float("-inf"), "int32": -(1 << 31)}


def _maxima(x: Tensor, windows: Windows) -> Tensor:
    rank = len(windows.shape)
    if str(x.dtype) == "float32" and max(windows.dilations) == 1 and rank in (2, 3):
        pool: Any = ops.max_pool if rank == 2 else ops.max_pool3d
        if _is_inside(windows):
            result: Tensor = pool(x, windows.shape, windows.strides, windows.padding())
            return result
    values = _elements(x, windows, _LOWEST[str(x.dtype)])
    return reduce(ops.maximum, values)


def _is_inside(windows: Windows) -> bool:
    """Whether no window lies in the padding altogether, which kernels refuse."""
    return all(
        max(begin, end + ceil_padding) < size
        for size, begin, end, ceil_padding in zip(
            windows.shape, windows.begins, windows.ends, windows.ceil_padding, strict=True
        )
    )


def maxima_last(
    x: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Return the maxima of windows."""
    windows = windows_of(x.shape[1:-1], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return _as_images(x, windows, _maxima)


def maxima(
    x: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    num_outputs: int = 1,
    pads: list[int] | None = None,
    storage_order: int = 0,
    strides: list[int] | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the maxima of windows and, for two outputs, their indices in the flat tensor."""
    last = channels_last(x)
    windows = windows_of(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    if num_outputs == 1:
        return channels_first(_as_images(last, windows, _maxima))
    values = _elements(last, windows, _LOWEST[str(x.dtype)])
    flat_indices = channels_last(_flat_indices(x.shape, bool(storage_order)))
    indices = _elements(flat_indices, windows, -1)
    maximum, maximum_index = next(values), next(indices)
    for value, index in zip(values, indices, strict=True):
        is_greater = ops.greater(value, maximum)
        maximum = ops.where(is_greater, value, maximum)
        maximum_index = ops.where(is_greater, index, maximum_index)
    return channels_first(maximum), channels_first(maximum_index)


def _flat_indices(shape: Sequence[int], is_column_major: bool) -> Tensor:
    """Return the indices of elements in the flat tensor, whose images may be column-major.

    Args:
        shape: (batch, channels, …), the shape of the tensor and of the result.
        is_column_major: whether the first axis of an image, not the last, has the stride 1.
    """
    images, sizes = shape[:2], shape[2:]
    rank = len(sizes)
    strides, stride = [0] * rank, 1
    for axis in range(rank) if is_column_major else reversed(range(rank)):
        strides[axis] = stride
        stride *= sizes[axis]
    indices: Any = ops.reshape(ops.arange(prod(images)) * stride, (*images, *[1] * rank))
    for axis, size in enumerate(sizes):
        row = [size if other == axis else 1 for other in range(rank)]
        indices = indices + ops.reshape(ops.arange(size) * strides[axis], row)
    result: Tensor = indices
    return result


def unpooled(
    x: Tensor,
    indices: Tensor,
    output_shape: list[int] | None = None,
    *,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Put maxima back where they were, among zeros."""
    rank = len(x.shape) - 2
    strides, pads = strides or [1] * rank, pads or [0] * 2 * rank
    inner = [
        (x.shape[2 + axis] - 1) * strides[axis]
        + kernel_shape[axis]
        - pads[axis]
        - pads[axis + rank]
        for axis in range(rank)
    ]
    shape = [*x.shape[:2], *inner]
    rows = ops.reshape(indices, (-1, 1))
    result = ops.scatter_nd(rows, ops.reshape(x, (-1,)), (prod(shape),))
    result = ops.reshape(result, shape)
    if output_shape is None or output_shape == shape:
        return result
    return ops.pad(
        result, [[0, new_size - size] for new_size, size in zip(output_shape, shape, strict=True)]
    )


# -- means and norms ---------------------------------------------------------------------------


def _sums(x: Tensor, windows: Windows) -> Tensor:
    return reduce(ops.add, _elements(x, windows, 0))


def _means(count_include_pad: int, x: Tensor, windows: Windows) -> Tensor:
    if count_include_pad:
        inner = zip(windows.begins, windows.ends, strict=True)
        x = ops.pad(x, [[0, 0], *([begin, end] for begin, end in inner), [0, 0]])
        zeros = (0,) * len(windows.shape)
        windows = windows._replace(begins=zeros, ends=zeros, name="")
    rank = len(windows.shape)
    if max(windows.dilations) == 1 and rank in (2, 3) and _is_inside(windows):
        pool: Any = ops.avg_pool if rank == 2 else ops.avg_pool3d
        result: Tensor = pool(x, windows.shape, windows.strides, windows.padding())
        return result
    ones = ops.ones((1, *x.shape[1:-1], 1))
    return _sums(x, windows) / _sums(ones, windows)


def means_last(
    x: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Return the means of windows."""
    windows = windows_of(x.shape[1:-1], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return _as_images(x, windows, partial(_means, count_include_pad))


@wraps(means_last)
def means(x: Tensor, **attributes: Any) -> Tensor:
    """Return the means of windows of images whose channels come before height and width."""
    return channels_first(means_last(channels_last(x), **attributes))


def norms(
    x: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    p: int = 2,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Return the p-norms of windows."""
    windows = windows_of(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    powers = ops.pow(ops.abs(channels_last(x)), float(p))
    return channels_first(ops.pow(_sums(powers, windows), 1 / p))


# -- whole images ------------------------------------------------------------------------------


def _inner(x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, len(x.shape)))


def _inner_last(x: Tensor) -> tuple[int, ...]:
    return tuple(range(1, len(x.shape) - 1))


def global_mean(x: Tensor) -> Tensor:
    """Return the mean of each channel."""
    return ops.mean(x, _inner(x), True)


def global_mean_last(x: Tensor) -> Tensor:
    """Return the mean of each channel, which are last."""
    return ops.mean(x, _inner_last(x), True)


def global_maximum(x: Tensor) -> Tensor:
    """Return the maximum of each channel."""
    return ops.max(x, _inner(x), True)


def global_maximum_last(x: Tensor) -> Tensor:
    """Return the maximum of each channel, which are last."""
    return ops.max(x, _inner_last(x), True)


def global_norm(x: Tensor, *, p: int = 2) -> Tensor:
    """Return the p-norm of each channel."""
    return ops.pow(ops.sum(ops.pow(ops.abs(x), float(p)), _inner(x), True), 1 / p)


ROWS: dict[str, Row] = {
    "AveragePool-1": Operator(means),
    "GlobalAveragePool-1": Operator(global_mean),
    "GlobalLpPool-1": Operator(global_norm),
    "GlobalMaxPool-1": Operator(global_maximum),
    "LpPool-1": Operator(norms),
    "MaxPool-1": Operator(maxima),
    "MaxUnpool-1": Operator(unpooled, output_shape=integers),
}
