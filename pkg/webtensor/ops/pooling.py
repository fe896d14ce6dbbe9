"""Pooling over sliding windows.

Average pooling is linear, so it and its transpose are each other's gradients. Max pooling picks one
element per window, the first maximum: its gradient scatters to those elements, and the gradient of
that picks them. A three-dimensional window is pooled over its planes first, then over its depth.
"""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import float32, int32
from webtensor.engine import Primitive, Tensor, TensorLike, planned, run
from webtensor.geometry import (
    Padding,
    Window,
    WindowAxis,
    WindowOptions,
    make_volume_window,
    make_window,
    pair,
    positive_integers,
    trimmed,
)
from webtensor.ops.batch_axis import as_batch, drop_batch
from webtensor.ops.binary import add, multiply
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import full, tensor, zeros
from webtensor.ops.movement import reshape
from webtensor.ops.reduction import mean
from webtensor.ops.sequences import arange
from webtensor.ops.ternary import where

__all__ = ["avg_pool", "avg_pool3d", "max_pool", "max_pool3d", "max_pool_with_argmax", "pool"]


def _to_input(primitive: Primitive, window: Window, dy: Tensor, *operands: Tensor) -> Tensor:
    """Spread a gradient over the input; without windows it is zero, and no kernel runs."""
    shape = window.input_shape
    return run(primitive, (dy, *operands), shape, float32, window) if dy.size else zeros(shape)


_MAX_POOL: Primitive = Primitive(
    "max_pool",
    gradients=(lambda dy, y, x, window: _to_input(_MAX_POOL_SCATTER, window, dy, x),),
)
#: Adds each element of ``dy`` at the maximum of its window of ``x``.
_MAX_POOL_SCATTER: Primitive = Primitive(
    "max_pool_scatter",
    gradients=(
        lambda ddx, dx, dy, x, window: run(
            _MAX_POOL_PICK, (ddx, x), window.output_shape, float32, window
        ),
        None,
    ),
)
#: Picks from the first operand at the maximum of each window of ``x``.
_MAX_POOL_PICK: Primitive = Primitive(
    "max_pool_pick",
    gradients=(
        lambda dy, y, v, x, window: _to_input(_MAX_POOL_SCATTER, window, dy, x),
        None,
    ),
)
_AVG_POOL: Primitive = Primitive(
    "avg_pool",
    gradients=(lambda dy, y, x, window: _to_input(_AVG_POOL_GRADIENT, window, dy),),
)
_AVG_POOL_GRADIENT: Primitive = Primitive(
    "avg_pool_gradient",
    gradients=(
        lambda ddx, dx, dy, window: run(_AVG_POOL, (ddx,), window.output_shape, float32, window),
    ),
)


#: The value of an empty window: its maximum, and its mean.
_OF_NOTHING = {_MAX_POOL: float("-inf"), _AVG_POOL: float("nan")}


def _over_windows(primitive: Primitive, images: Tensor, window: Window) -> Tensor:
    if images.size == 0:
        return full(window.output_shape, _OF_NOTHING[primitive])
    window = trimmed(window)
    if primitive is _AVG_POOL and _is_whole_image(window):
        return mean(images, (1, 2), keepdims=True)
    return run(primitive, (images,), window.output_shape, float32, window)


def _is_whole_image(window: Window) -> bool:
    """Whether all pixels are in the only window; reductions add them pairwise, and in parallel."""
    return (
        (window.out_height, window.out_width, window.pad_top, window.pad_left) == (1, 1, 0, 0)
        and window.filter_height == window.in_height
        and window.filter_width == window.in_width
    )


def _pool(primitive: Primitive, x: TensorLike, filter_size: Any, options: WindowOptions) -> Tensor:
    """Pool images; the strides are the filter's size by default."""
    name = primitive.name
    images, single = as_batch(name, x, 4)
    size = pair(name, "filter_size", filter_size)
    if options.strides is None:
        options = options._replace(strides=size)
    window = make_window(name, images.shape, images.shape[3], size, options)
    y = _over_windows(primitive, images, window)
    return drop_batch(y, single)


@planned
def max_pool(
    x: TensorLike,
    filter_size: Any,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Maximum of each window of (batch, height, width, channels).

    ``filter_size`` and ``strides`` (the size by default) are a number or (height, width); ``pad``
    and ``dim_rounding_mode`` are as in ``conv2d``, and padding is never picked.

    The result is float32.

    Raises:
        ValueError: ``x`` has neither rank 3 nor 4, or the windows do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.max_pool(wt.tensor([1.0, 2.0, 3.0, 4.0], shape=(1, 2, 2, 1)), 2).tolist()
        [[[[4.0]]]]
    """
    options = WindowOptions(strides, pad, dim_rounding_mode=dim_rounding_mode)
    return _pool(_MAX_POOL, x, filter_size, options)


@planned
def avg_pool(
    x: TensorLike,
    filter_size: Any,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Mean of the elements of each window, padding not counted. See ``max_pool``.

    The result is float32.

    Raises:
        ValueError: ``x`` has neither rank 3 nor 4, or the windows do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.avg_pool(wt.tensor([1.0, 2.0, 3.0, 4.0], shape=(1, 2, 2, 1)), 2).tolist()
        [[[[2.5]]]]
    """
    options = WindowOptions(strides, pad, dim_rounding_mode=dim_rounding_mode)
    return _pool(_AVG_POOL, x, filter_size, options)


_POOLS = {"max": _MAX_POOL, "avg": _AVG_POOL}


@planned
def pool(
    input: TensorLike,
    window_shape: Any,
    pooling_type: str,
    pad: Padding,
    dilations: Any = 1,
    strides: Any = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Pooling over windows that may skip elements: ``pooling_type`` is "max" or "avg".

    ``window_shape``, ``dilations`` and ``strides`` are a number or (height, width). Padding is
    neither picked nor counted. See ``max_pool``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1.0, 5.0, 2.0, 3.0], shape=(1, 4, 1))
        >>> wt.pool(x, (1, 2), "max", "valid", dilations=2).tolist()
        [[[2.0], [5.0]]]
    """
    primitive = _POOLS.get(pooling_type)
    if primitive is None:
        raise ValueError(f"pool: pooling_type must be 'max' or 'avg', but got {pooling_type!r}")
    images, single = as_batch("pool", input, 4)
    size = pair("pool", "window_shape", window_shape)
    strides = 1 if strides is None else strides
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    window = make_window("pool", images.shape, images.shape[3], size, options)
    y = _over_windows(primitive, images, window)
    return drop_batch(y, single)


def max_pool_with_argmax(
    x: TensorLike,
    filter_size: Any,
    strides: Any,
    pad: Padding,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maximum of each window, and its index, as int32.

    The index of element (row, column, channel) is ``(row * width + column) * channels + channel``,
    with those of the batch counted on if ``include_batch_in_index``. The rest is as in
    ``max_pool``; a gradient flows through the first result.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1.0, 2.0, 4.0, 3.0], shape=(1, 2, 2, 1))
        >>> [part.tolist() for part in wt.max_pool_with_argmax(x, 2, 2, "valid")]
        [[[[[4.0]]]], [[[[2]]]]]
    """
    name = "max_pool_with_argmax"
    images, single = as_batch(name, x, 4)
    size = pair(name, "filter_size", filter_size)
    strides = size if strides is None else strides
    options = WindowOptions(strides, pad)
    window = make_window(name, images.shape, images.shape[3], size, options)
    maxima = _over_windows(_MAX_POOL, images, window)
    flat_indices = _cell_indices(images, window)
    batch, height, width, channels = images.shape
    flat_indices = add(multiply(flat_indices, channels), arange(channels))
    if include_batch_in_index:
        starts = multiply(arange(batch), height * width * channels)
        flat_indices = add(flat_indices, reshape(starts, (batch, 1, 1, 1)))
    return drop_batch(maxima, single), drop_batch(flat_indices, single)


#: Integers up to this are exact in float32.
_EXACT = 1 << 24


def _cell_indices(images: Tensor, window: Window) -> Tensor:
    """Index of the maximum of each window, ``row * width + column``, as int32."""
    if images.size == 0:
        return full(window.output_shape, 0, int32)
    window = trimmed(window)
    _, height, width, _ = images.shape
    row = reshape(arange(height, dtype=float32), (1, height, 1, 1))
    column = reshape(arange(width, dtype=float32), (1, 1, width, 1))

    def picked(values: Tensor) -> Tensor:
        spread = broadcast_to(values, images.shape)
        elements = run(_MAX_POOL_PICK, (spread, images), window.output_shape, float32, window)
        return cast_to(elements, int32)

    if height * width <= _EXACT:
        return picked(add(multiply(row, width), column))
    return add(multiply(picked(row), width), picked(column))


def _pool3d(
    primitive: Primitive, x: TensorLike, filter_size: Any, options: WindowOptions, data_format: str
) -> Tensor:
    """Pool volumes; the strides are the filter's size by default."""
    name = f"{primitive.name}3d"
    if data_format != "NDHWC":
        raise ValueError(f"{name}: data_format must be 'NDHWC', but got {data_format!r}")
    volumes, single = as_batch(name, x, 5)
    size = positive_integers(name, "filter_size", filter_size, 3)
    if options.strides is None:
        options = options._replace(strides=size)
    batch, length, *_, channels = volumes.shape
    depth, plane = make_volume_window(name, volumes.shape, channels, size, options)
    plane = plane._replace(batch=batch * length)
    y = reshape(volumes, plane.input_shape)
    y = _over_windows(primitive, y, plane)
    shape = (batch, depth.outputs, plane.out_height, plane.out_width, channels)
    if depth[:-1] != (length, length, 1, 1, 1, 0):
        # Along the depth, the pixels of a plane are the width of an image.
        pixels = plane.out_height * plane.out_width
        along = Window(
            batch, length, pixels, channels,
            depth.outputs, pixels, channels,
            depth.size, 1, depth.stride, 1, 1, 1, depth.before, 0,
            depth.padding if isinstance(depth.padding, str) else (depth.padding, (0, 0)),
        )  # fmt: skip
        y = _over_windows(primitive, reshape(y, along.input_shape), along)
    y = reshape(y, shape)
    if primitive is _AVG_POOL:
        y = _zero_where_empty(y, depth, plane)
    return drop_batch(y, single)


def _zero_where_empty(y: Tensor, depth: WindowAxis, plane: Window) -> Tensor:
    """Make the mean of windows 0 where they hold padding alone, as in TensorFlow.js."""
    for axis, along in enumerate((depth, *plane.axes), start=1):
        starts = [output * along.stride - along.before for output in range(along.outputs)]
        is_empty = [min(start + along.size, along.length) <= max(start, 0) for start in starts]
        if any(is_empty):
            shape = [along.outputs if n == axis else 1 for n in range(5)]
            y = where(tensor(is_empty, shape=shape), 0.0, y)
    return y


@planned
def max_pool3d(
    x: TensorLike,
    filter_size: Any = 1,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
    data_format: str = "NDHWC",
) -> Tensor:
    """Maximum of each window of (batch, depth, height, width, channels).

    ``filter_size`` and ``strides`` (the size by default) are a number or (depth, height, width).
    ``pad`` is as in ``conv3d``; the rest is as in ``max_pool``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(8.0), (2, 2, 2, 1))
        >>> wt.max_pool3d(x, 2).tolist()
        [[[[7.0]]]]
    """
    options = WindowOptions(strides, pad, dim_rounding_mode=dim_rounding_mode)
    return _pool3d(_MAX_POOL, x, filter_size, options, data_format)


@planned
def avg_pool3d(
    x: TensorLike,
    filter_size: Any,
    strides: Any = None,
    pad: Padding = "valid",
    dim_rounding_mode: str | None = None,
    data_format: str = "NDHWC",
) -> Tensor:
    """Mean of the elements of each window, padding not counted. See ``max_pool3d``.

    The mean of a window of padding alone is 0; that of ``avg_pool`` is NaN.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(8.0), (2, 2, 2, 1))
        >>> wt.avg_pool3d(x, 2).tolist()
        [[[[3.5]]]]
    """
    options = WindowOptions(strides, pad, dim_rounding_mode=dim_rounding_mode)
    return _pool3d(_AVG_POOL, x, filter_size, options, data_format)
