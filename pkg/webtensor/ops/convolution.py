"""Convolutions in one, two and three dimensions, transposed, depthwise and separable.

Two-dimensional convolution is linear in each operand, so three primitives are closed under
differentiation: the convolution and its transposes with respect to the input and the filter.
Everything else composes them. A volume is a stack of planes. Its convolution is a two-dimensional
one of planes whose channels are those of all planes that the filter covers, side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Primitive, Tensor, TensorLike, planned, run
from webtensor.geometry import (
    Padding,
    Window,
    WindowAxis,
    WindowOptions,
    axis_paddings,
    make_volume_window,
    make_window,
    positive_integers,
)
from webtensor.ops.batch_axis import as_batch, drop_batch
from webtensor.ops.casting import as_float
from webtensor.ops.creation import zeros
from webtensor.ops.epilogue import Epilogue, check_residual, fused_primitive
from webtensor.ops.movement import (
    concat,
    permute_dims,
    reshape,
    slice,
    split,
    spread,
    stepped_slice,
)
from webtensor.shapes import Shape, as_shape

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "depthwise_conv2d",
    "grouped_conv3d",
    "separable_conv2d",
]

# -- primitives ---------------------------------------------------------------------------------


class _Convolution(NamedTuple):
    """A convolution, the same with an epilogue, and its transposes."""

    forward: Primitive
    fused: Primitive
    to_input: Primitive
    to_filter: Primitive


def _apply(primitive: Primitive, a: Tensor, b: Tensor, shape: Shape, window: Window) -> Tensor:
    """Sum products of two operands; sums of nothing are zero, and no kernel's business."""
    if a.size == 0 or b.size == 0:
        return zeros(shape)
    return run(primitive, (a, b), shape, float32, window)


def _family(prefix: str) -> _Convolution:
    """Make a convolution primitive and its two transposes."""

    def convolve(x: Tensor, filter: Tensor, window: Window) -> Tensor:
        return _apply(family.forward, x, filter, window.output_shape, window)

    def to_input(dy: Tensor, filter: Tensor, window: Window) -> Tensor:
        return _apply(family.to_input, dy, filter, window.input_shape, window)

    def to_filter(x: Tensor, dy: Tensor, shape: Shape, window: Window) -> Tensor:
        return _apply(family.to_filter, x, dy, shape, window)

    forward = Primitive(
        prefix,
        gradients=(
            lambda dy, y, x, filter, window: to_input(dy, filter, window),
            lambda dy, y, x, filter, window: to_filter(x, dy, filter.shape, window),
        ),
    )
    family = _Convolution(
        forward,
        fused_primitive(forward),
        Primitive(
            f"{prefix}_input_gradient",
            gradients=(
                lambda ddx, dx, dy, filter, window: convolve(ddx, filter, window),
                lambda ddx, dx, dy, filter, window: to_filter(ddx, dy, filter.shape, window),
            ),
        ),
        Primitive(
            f"{prefix}_filter_gradient",
            gradients=(
                lambda ddw, dw, x, dy, window: to_input(dy, ddw, window),
                lambda ddw, dw, x, dy, window: convolve(x, ddw, window),
            ),
        ),
    )
    return family


_CONV2D = _family("conv2d")
_DEPTHWISE_CONV2D = _family("depthwise_conv2d")

# -- operands -----------------------------------------------------------------------------------


def _images(name: str, x: TensorLike, data_format: str) -> tuple[Tensor, bool]:
    """Return ``x`` as a float batch with channels last, and whether a batch axis was added."""
    check_choice(name, "data_format", data_format, ("NHWC", "NCHW"))
    images, single = as_batch(name, x, 4)
    return (permute_dims(images, (0, 2, 3, 1)) if data_format == "NCHW" else images), single


def _in_order(pad: Padding, data_format: str) -> Padding:
    """Reorder paddings for each axis as (batch, height, width, channels)."""
    if data_format == "NHWC" or isinstance(pad, str) or not hasattr(pad, "__iter__"):
        return pad
    first, *others = pad
    return (first, *others[1:], *others[:1])


def _as_input_layout(y: Tensor, single: bool, data_format: str) -> Tensor:
    """Undo what ``_images`` did to the layout."""
    if data_format == "NCHW":
        y = permute_dims(y, (0, 3, 1, 2))
    return drop_batch(y, single)


def _as_filter(name: str, x: Tensor, filter: TensorLike, transposed: bool = False) -> Tensor:
    """Return a filter that fits the channels of ``x``."""
    filters = as_float(name, "filter", filter)
    rank = len(x.shape)
    if len(filters.shape) != rank:
        raise ValueError(f"{name}: filter must have rank {rank}, but its shape is {filters.shape}")
    axis = -1 if transposed else -2
    if filters.shape[axis] != x.shape[-1]:
        raise ValueError(
            f"{name}: filter has {filters.shape[axis]} input channels, but x has {x.shape[-1]} "
            f"(x.shape={x.shape}, filter.shape={filters.shape})"
        )
    return filters


def _only(name: str, data_format: str, required: str) -> None:
    if data_format != required:
        raise ValueError(f"{name}: data_format must be {required!r}, but got {data_format!r}")


# -- two dimensions -----------------------------------------------------------------------------


def _convolve(
    family: _Convolution,
    x: Tensor,
    filter: Tensor,
    channels: int,
    options: WindowOptions,
    epilogue: Epilogue | None = None,
) -> Tensor:
    name = family.forward.name
    window = make_window(name, x.shape, channels, filter.shape[:2], options)
    shape = window.output_shape
    if epilogue is None:
        return _apply(family.forward, x, filter, shape, window)
    if x.size == 0 or filter.size == 0:
        return epilogue.apply(zeros(shape))
    if epilogue.residual is not None:
        check_residual(f"fused.{name}", epilogue.residual, shape)
    operands = (x, filter, *epilogue.operands)
    return run(family.fused, operands, shape, float32, window, epilogue.row, *epilogue.parameters)


def _groups(images: Shape, filter: Shape) -> int:
    """Return the number of groups of channels, each with its own filters."""
    if len(filter) != 4 or not filter[2]:
        return 1
    groups, rest = divmod(images[3], filter[2])
    return groups if not rest and groups and not filter[3] % groups else 1


def fused_convolution(
    name: str,
    x: TensorLike,
    filter: TensorLike,
    options: WindowOptions,
    data_format: str,
    epilogue: Epilogue | None,
) -> Tensor:
    """``conv2d`` or ``depthwise_conv2d``, with an epilogue in the same kernel."""
    images, single = _images(name, x, data_format)
    options = options._replace(padding=_in_order(options.padding, data_format))
    filter = as_float(name, "filter", filter)
    groups = _groups(images.shape, filter.shape) if name == "conv2d" else 1
    filter = filter if groups > 1 else _as_filter(name, images, filter)
    family, channels = _CONV2D, filter.shape[3]
    if name == "depthwise_conv2d":
        family, channels = _DEPTHWISE_CONV2D, filter.shape[2] * filter.shape[3]
    elif groups > 1 and filter.shape[2] == 1:  # the filters of one channel lie side by side
        family = _DEPTHWISE_CONV2D
        filter = reshape(filter, (*filter.shape[:2], groups, channels // groups))
    y = _convolve(family, images, filter, channels, options, epilogue)
    return _as_input_layout(y, single, data_format)


@planned
def conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any = 1,
    pad: Padding = "valid",
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Two-dimensional convolution (cross-correlation, as in every deep-learning library).

    ``x`` is (batch, height, width, in_channels), or without batch; ``filter`` is (height, width,
    in_channels, out_channels). ``strides`` and ``dilations`` are a number or (height, width).
    ``pad`` is "same", "valid", a number, or [[0, 0], [top, bottom], [left, right], [0, 0]]. With
    the ``data_format`` "NCHW", channels come before height and width in ``x``, in the result and in
    the pairs of ``pad``.
    ``dim_rounding_mode`` ("floor", which is the default, "round" or "ceil") says what becomes of an
    output size that is not whole. The filter may have ``g`` times fewer input channels than ``x``
    if ``g`` divides its output channels: the channels then form ``g`` groups, each with its share
    of the filters (as in TensorFlow and Keras).

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.conv2d(wt.ones((1, 2, 2, 1)), wt.ones((2, 2, 1, 1))).tolist()
        [[[[4.0]]]]
    """
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    return fused_convolution("conv2d", x, filter, options, data_format, None)


@planned
def depthwise_conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any = 1,
    pad: Padding = "valid",
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Convolution of each channel with filters of its own.

    ``filter`` is (height, width, in_channels, multiplier); the result has in_channels × multiplier
    channels, those of one input channel side by side. The rest is as in ``conv2d``.

    Raises:
        ValueError: ranks or shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.depthwise_conv2d(wt.ones((1, 2, 2, 2)), wt.ones((2, 2, 2, 1))).tolist()
        [[[[4.0, 4.0]]]]
    """
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    return fused_convolution("depthwise_conv2d", x, filter, options, data_format, None)


@planned
def separable_conv2d(
    x: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Any,
    pad: Padding,
    dilation: Any = 1,
    data_format: str = "NHWC",
) -> Tensor:
    """Depthwise convolution, then a 1×1 convolution that mixes its channels (Chollet, 2017).

    ``depthwise_filter`` is (height, width, in_channels, multiplier) and ``pointwise_filter``
    (1, 1, in_channels × multiplier, out_channels). The rest is as in ``conv2d``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> depthwise, pointwise = wt.ones((2, 2, 2, 1)), wt.ones((1, 1, 2, 1))
        >>> wt.separable_conv2d(wt.ones((2, 2, 2)), depthwise, pointwise, 1, "valid").tolist()
        [[[8.0]]]
    """
    name = "separable_conv2d"
    images, single = _images(name, x, data_format)
    depthwise = _as_filter(name, images, depthwise_filter)
    pointwise = as_float(name, "pointwise_filter", pointwise_filter)
    channels = depthwise.shape[2] * depthwise.shape[3]
    if len(pointwise.shape) != 4 or pointwise.shape[:3] != (1, 1, channels):
        raise ValueError(
            f"{name}: pointwise_filter must have shape (1, 1, {channels}, out_channels) for "
            f"depthwise_filter.shape={depthwise.shape}, but its shape is {pointwise.shape}"
        )
    pad = _in_order(pad, data_format)
    y = depthwise_conv2d(images, depthwise, strides, pad, "NHWC", dilation)
    return _as_input_layout(conv2d(y, pointwise, 1, "same"), single, data_format)


@planned
def conv2d_transpose(
    x: TensorLike,
    filter: TensorLike,
    output_shape: Sequence[int],
    strides: Any,
    pad: Padding,
    dim_rounding_mode: str | None = None,
    dilations: Any = 1,
) -> Tensor:
    """Transpose of a convolution: what its gradient does to its input (Zeiler et al., 2010).

    ``x`` is (batch, height, width, in_channels), or without batch; ``filter`` is (height, width,
    out_channels, in_channels). ``output_shape`` is the shape, of the rank of ``x``, that ``conv2d``
    with the same filter and options would turn into that of ``x``; ``dilations`` are among them.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x, filter = wt.ones((1, 1, 1)), wt.ones((2, 2, 1, 1))
        >>> wt.conv2d_transpose(x, filter, (2, 2, 1), 2, "valid").tolist()
        [[[1.0], [1.0]], [[1.0], [1.0]]]
    """
    name = "conv2d_transpose"
    images, single = as_batch(name, x, 4)
    filters = _as_filter(name, images, filter, transposed=True)
    shape = _transposed_shape(name, output_shape, images, filters, single)
    options = WindowOptions(strides, pad, dilations, dim_rounding_mode)
    window = make_window(name, shape, images.shape[3], filters.shape[:2], options)
    _check_transposed(name, images, shape, window.output_shape)
    return drop_batch(_apply(_CONV2D.to_input, images, filters, shape, window), single)


def _transposed_shape(
    name: str, output_shape: Sequence[int], x: Tensor, filter: Tensor, single: bool
) -> Shape:
    """Return the output shape with its batch, having checked all of it that needs no window."""
    shape = as_shape(name, output_shape, "output_shape")
    if single:
        shape = (1, *shape)
    if len(shape) != len(x.shape):
        raise ValueError(
            f"{name}: output_shape must have the rank of x, but got {tuple(output_shape)} for "
            f"x.shape={x.shape[1:] if single else x.shape}"
        )
    if shape[-1] != filter.shape[-2]:
        raise ValueError(
            f"{name}: filter has {filter.shape[-2]} output channels, but output_shape has "
            f"{shape[-1]} (output_shape={tuple(output_shape)}, filter.shape={filter.shape})"
        )
    return shape


def _check_transposed(name: str, x: Tensor, shape: Shape, convolved: Shape) -> None:
    if x.shape != convolved:
        raise ValueError(
            f"{name}: a convolution turns output_shape {shape} into {convolved}, but x has shape "
            f"{x.shape}"
        )


# -- one dimension ------------------------------------------------------------------------------


@planned
def conv1d(
    x: TensorLike,
    filter: TensorLike,
    stride: int,
    pad: Padding,
    data_format: str = "NWC",
    dilation: int = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """One-dimensional convolution.

    ``x`` is (batch, width, in_channels), or without batch; ``filter`` is (width, in_channels,
    out_channels). ``pad`` is "same", "valid", a number, or [[0, 0], [left, right], [0, 0]] in the
    order of ``x``'s axes; or four pairs as for ``conv2d``, for an image of height 1.
    ``data_format`` may also be "NCW". The rest is as in ``conv2d``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.conv1d([[1.0], [2.0], [3.0]], [[[1.0]], [[1.0]]], 1, "valid").tolist()
        [[3.0], [5.0]]
    """
    name = "conv1d"
    check_choice(name, "data_format", data_format, ("NWC", "NCW"))
    rows, single = as_batch(name, x, 3)
    if data_format == "NCW":
        rows = permute_dims(rows, (0, 2, 1))
    filters = _as_filter(name, rows, filter)
    padding = _row_padding(name, pad, data_format)
    # A row is an image of height 1.
    images = reshape(rows, (rows.shape[0], 1, *rows.shape[1:]))
    weights = reshape(filters, (1, *filters.shape))
    strides = (1, *positive_integers(name, "stride", stride, 1))
    dilations = (1, *positive_integers(name, "dilation", dilation, 1))
    options = WindowOptions(strides, padding, dilations, dim_rounding_mode)
    window = make_window(name, images.shape, filters.shape[2], weights.shape[:2], options)
    shape = window.output_shape
    y = _apply(_CONV2D.forward, images, weights, shape, window)
    y = reshape(y, (shape[0], *shape[2:]))
    if data_format == "NCW":
        y = permute_dims(y, (0, 2, 1))
    return drop_batch(y, single)


def _row_padding(name: str, pad: Padding, data_format: str) -> Padding:
    """The padding of a row as that of an image of height 1."""
    if hasattr(pad, "__len__") and len(pad) == 4 and not isinstance(pad, str):
        return pad
    pad = _in_order(pad, "NHWC" if data_format == "NWC" else data_format)
    (row,) = axis_paddings(name, pad, 1)
    return row if isinstance(row, str) else ((0, 0), (0, 0), row, (0, 0))


# -- three dimensions ---------------------------------------------------------------------------


def _planes(x: Tensor, depth: WindowAxis, window: Window) -> Tensor:
    """Stack the planes that the filter reads, their channels side by side.

    ``x`` is (batch, depth, height, width, channels); the result is (batch × out_depth, height,
    width, filter_depth × channels).
    """
    batch, _, *plane = x.shape
    if depth.extent != depth.length:
        low = (0, depth.before, 0, 0, 0)
        x = spread(x, (batch, depth.extent, *plane), low, (1,) * 5, 0.0)
    taps = [
        stepped_slice(
            x,
            (0, tap * depth.dilation, 0, 0, 0),
            (batch, depth.outputs, *plane),
            (1, depth.stride, 1, 1, 1),
        )
        for tap in range(depth.size)
    ]
    return reshape(concat(taps, -1), (window.batch, *plane[:2], depth.size * plane[2]))


def _flat_filter(filter: Tensor) -> Tensor:
    """Move a filter's depth to its input channels, as ``_planes`` does with the volume's."""
    depth, height, width, channels, outputs = filter.shape
    return reshape(
        permute_dims(filter, (1, 2, 0, 3, 4)), (height, width, depth * channels, outputs)
    )


@planned
def conv3d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any,
    pad: Padding,
    data_format: str = "NDHWC",
    dilations: Any = 1,
) -> Tensor:
    """Three-dimensional convolution.

    ``x`` is (batch, depth, height, width, in_channels), or without batch; ``filter`` is (depth,
    height, width, in_channels, out_channels). ``strides`` and ``dilations`` are a number or (depth,
    height, width). ``pad`` is "same", "valid", a number, or a pair for each of the five axes.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.conv3d(wt.ones((2, 2, 2, 1)), wt.ones((2, 2, 2, 1, 1)), 1, "valid").tolist()
        [[[[8.0]]]]
    """
    name = "conv3d"
    _only(name, data_format, "NDHWC")
    volumes, single = as_batch(name, x, 5)
    filters = _as_filter(name, volumes, filter)
    options = WindowOptions(strides, pad, dilations)
    depth, window = make_volume_window(
        name, volumes.shape, filters.shape[4], filters.shape[:3], options
    )
    shape = (volumes.shape[0], depth.outputs, *window.output_shape[1:])
    if filters.size == 0 or volumes.size == 0:
        return drop_batch(zeros(shape), single)
    window = window._replace(in_channels=depth.size * window.in_channels)
    planes = _planes(volumes, depth, window)
    y = run(_CONV2D.forward, (planes, _flat_filter(filters)), window.output_shape, float32, window)
    return drop_batch(reshape(y, shape), single)


def grouped_conv3d(
    x: Tensor, filter: Tensor, strides: Any, pad: Padding, dilations: Any = 1
) -> Tensor:
    """Convolve volumes as ``conv3d`` does; a filter of fewer channels is for groups of them."""
    groups, rest = divmod(x.shape[-1], max(filter.shape[-2], 1))
    if groups < 2 or rest:
        return conv3d(x, filter, strides, pad, "NDHWC", dilations)
    pairs = zip(split(x, groups, -1), split(filter, groups, -1), strict=True)
    results = [conv3d(part, own, strides, pad, "NDHWC", dilations) for part, own in pairs]
    return concat(results, -1)


@planned
def conv3d_transpose(
    x: TensorLike,
    filter: TensorLike,
    output_shape: Sequence[int],
    strides: Any,
    pad: Padding,
    dilations: Any = 1,
) -> Tensor:
    """Transpose of a three-dimensional convolution.

    ``filter`` is (depth, height, width, out_channels, in_channels); ``output_shape`` is the shape
    that ``conv3d`` would turn into that of ``x``. See ``conv2d_transpose``.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> x, filter = wt.ones((1, 1, 1, 1)), wt.ones((2, 1, 1, 1, 1))
        >>> wt.conv3d_transpose(x, filter, (2, 1, 1, 1), 1, "valid").tolist()
        [[[[1.0]]], [[[1.0]]]]
    """
    name = "conv3d_transpose"
    volumes, single = as_batch(name, x, 5)
    filters = _as_filter(name, volumes, filter, transposed=True)
    shape = _transposed_shape(name, output_shape, volumes, filters, single)
    options = WindowOptions(strides, pad, dilations)
    depth, window = make_volume_window(name, shape, volumes.shape[4], filters.shape[:3], options)
    convolved = (shape[0], depth.outputs, *window.output_shape[1:])
    _check_transposed(name, volumes, shape, convolved)
    if filters.size == 0 or volumes.size == 0:
        return drop_batch(zeros(shape), single)
    window = window._replace(in_channels=depth.size * window.in_channels)
    planes = reshape(volumes, window.output_shape)
    taps = run(
        _CONV2D.to_input, (planes, _flat_filter(filters)), window.input_shape, float32, window
    )
    return drop_batch(_volume(taps, shape, depth), single)


def _volume(taps: Tensor, shape: Shape, depth: WindowAxis) -> Tensor:
    """Add the channels of planes up where they came from: the transpose of ``_planes``."""
    batch, _, *plane = shape
    channels = plane[-1]
    split = (batch, depth.outputs, *plane[:2], depth.size * channels)
    taps = reshape(taps, split)
    total: Any = None
    for tap in range(depth.size):
        part = slice(taps, (0, 0, 0, 0, tap * channels), (*split[:4], channels))
        low, step = (0, tap * depth.dilation, 0, 0, 0), (1, depth.stride, 1, 1, 1)
        part = spread(part, (batch, depth.extent, *plane), low, step, 0.0)
        total = part if total is None else total + part
    return slice(total, (0, depth.before, 0, 0, 0), shape)
