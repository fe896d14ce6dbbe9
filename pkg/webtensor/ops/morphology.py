"""Greyscale morphology: dilation, a convolution with sums for products and maxima for sums."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import Primitive, Tensor, TensorLike, run
from webtensor.geometry import Padding, Window, WindowOptions, make_window
from webtensor.ops.batch_axis import as_batch, drop_batch
from webtensor.ops.binary import add, equal, logical_and, logical_or
from webtensor.ops.casting import as_float
from webtensor.ops.creation import full
from webtensor.ops.movement import reshape, slice, spread, stack, stepped_slice
from webtensor.ops.reduction import sum as _sum
from webtensor.ops.ternary import where
from webtensor.ops.unary import logical_not

__all__ = ["dilation2d"]


class _Taps:
    """The cells of the filter, and views of the padded images that they add to the windows."""

    def __init__(self, x: Tensor, window: Window) -> None:
        self.window = window
        self.shape = (window.batch, *window.extent, window.in_channels)
        self.low = (0, window.pad_top, window.pad_left, 0)
        self.step = (1, window.stride_height, window.stride_width, 1)
        self.x = spread(x, self.shape, self.low, (1,) * 4, float("-inf"))

    def offsets_of_cells(self) -> list[tuple[int, int]]:
        """Rows and columns of the filter's cells, in row-major order."""
        rows, columns = range(self.window.filter_height), range(self.window.filter_width)
        return [(row, column) for row in rows for column in columns]

    def _begin(self, row: int, column: int) -> tuple[int, int, int, int]:
        return 0, row * self.window.dilation_height, column * self.window.dilation_width, 0

    def read(self, row: int, column: int) -> Tensor:
        """Return the element of every window at one cell of the filter."""
        begin = self._begin(row, column)
        return stepped_slice(self.x, begin, self.window.output_shape, self.step)

    def spread(self, part: Tensor, row: int, column: int) -> Tensor:
        """Add a value for every window to the element at one cell of the filter."""
        return spread(part, self.shape, self._begin(row, column), self.step, 0.0)


def _shares(
    dy: Tensor, y: Tensor, x: Tensor, filter: Tensor, window: Window
) -> tuple[_Taps, list[Tensor]]:
    """For each cell of the filter, the gradient of the windows whose first maximum it is."""
    taps = _Taps(x, window)
    assigned = full(y.shape, False)
    shares = []
    for row, column in taps.offsets_of_cells():
        hit = equal(add(taps.read(row, column), filter[row, column]), y)
        hit = logical_and(hit, logical_not(assigned))
        assigned = logical_or(assigned, hit)
        shares.append(where(hit, dy, 0.0))
    return taps, shares


def _input_gradient(dy: Tensor, y: Tensor, x: Tensor, filter: Tensor, window: Window) -> Tensor:
    taps, shares = _shares(dy, y, x, filter, window)
    total: Any = 0.0
    for offsets, share in zip(taps.offsets_of_cells(), shares, strict=True):
        total = add(total, taps.spread(share, *offsets))
    return slice(total, taps.low, x.shape)


def _filter_gradient(dy: Tensor, y: Tensor, x: Tensor, filter: Tensor, window: Window) -> Tensor:
    _, shares = _shares(dy, y, x, filter, window)
    return reshape(stack([_sum(share, (0, 1, 2)) for share in shares]), filter.shape)


_DILATION2D = Primitive("dilation2d", gradients=(_input_gradient, _filter_gradient))


def dilation2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any,
    pad: Padding,
    dilations: Any = 1,
    data_format: str = "NHWC",
) -> Tensor:
    """Greatest sum of each window and the filter, for each channel (greyscale dilation).

    ``x`` is (batch, height, width, channels), or without batch; ``filter`` is (height, width,
    channels). Options are as in ``conv2d``; padding is never picked. The gradient of each result
    goes to the first maximal sum of its window.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1.0, 4.0, 2.0], shape=(1, 3, 1))
        >>> wt.dilation2d(x, wt.tensor([0.0, 3.0], shape=(1, 2, 1)), 1, "valid").tolist()
        [[[7.0], [5.0]]]
    """
    name = "dilation2d"
    if data_format != "NHWC":
        raise ValueError(f"{name}: data_format must be 'NHWC', but got {data_format!r}")
    images, single = as_batch(name, x, 4)
    filters = as_float(name, "filter", filter)
    if len(filters.shape) != 3:
        raise ValueError(f"{name}: filter must have rank 3, but its shape is {filters.shape}")
    channels = images.shape[3]
    if filters.shape[2] != channels:
        raise ValueError(
            f"{name}: filter has {filters.shape[2]} channels, but x has {channels} "
            f"(x.shape={images.shape}, filter.shape={filters.shape})"
        )
    size = (filters.shape[0], filters.shape[1])
    if 0 in size:
        raise ValueError(f"{name}: filter must not be empty, but its shape is {filters.shape}")
    options = WindowOptions(strides, pad, dilations)
    window = make_window(name, images.shape, channels, size, options)
    shape = window.output_shape
    if images.size == 0:
        return full(shape[1:] if single else shape, float("-inf"))
    y = run(_DILATION2D, (images, filters), shape, float32, window)
    return drop_batch(y, single)
