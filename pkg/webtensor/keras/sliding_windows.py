"""Sliding windows as Keras defines them: convolutions, their transposes, and pooling.

For layers and ``keras.ops``. ``x`` is (batch, *spatial, channels), or with the channels first, and
has one to three spatial dimensions; a sequence is computed as an image of height 1. Arguments with
a number per spatial dimension are tuples: they are part of the keys under which ops cache plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple, TypeAlias

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.data_formats import (
    channels_of,
    spatial_shape_of,
    with_channels_last,
    with_spatial_shape,
)
from webtensor.keras.types import Shape
from webtensor.ops import fused
from webtensor.ops.convolution import grouped_conv3d
from webtensor.ops.epilogue import ACTIVATIONS, activate
from webtensor.shapes import check_size, prod

__all__ = [
    "SizesLike",
    "Sliding",
    "adaptive_pool",
    "check_strides_and_dilation",
    "conv",
    "conv_output_shape",
    "conv_transpose",
    "conv_transpose_output_shape",
    "depthwise_conv",
    "pool",
    "pool_output_shape",
    "separable_conv",
]

#: An integer per spatial dimension; users may pass one for all.
Sizes: TypeAlias = tuple[int, ...]
SizesLike: TypeAlias = int | Sequence[int]
#: Padding before and after each dimension, or its name.
Padding: TypeAlias = "str | tuple[tuple[int, int], ...]"


class Sliding(NamedTuple):
    """How a kernel slides over inputs; ``padding`` is "valid", "same", or "causal" in sequences."""

    strides: Sizes
    padding: str
    data_format: str
    dilation_rate: Sizes


_FORMATS = {"channels_last": "NHWC", "channels_first": "NCHW"}


# -- shapes ------------------------------------------------------------------------------------


def check_strides_and_dilation(name: str, strides: Sizes, dilation_rate: Sizes) -> None:
    """Check that not both strides and dilation rates are greater than 1.

    Raises:
        ValueError: they are.
    """
    if max(strides) > 1 and max(dilation_rate) > 1:
        raise ValueError(
            f"{name}: strides and dilation_rate cannot both be greater than 1, but got "
            f"strides={strides} and dilation_rate={dilation_rate}"
        )


def _spatial_shape(name: str, shape: Shape, data_format: str, rank: int) -> Shape:
    """Return the spatial dimensions of inputs, which must be ``rank``."""
    if len(shape) != rank + 2:
        raise ValueError(f"{name}: inputs must have rank {rank + 2}, but have shape {tuple(shape)}")
    return spatial_shape_of(shape, data_format)


def _window_counts(
    name: str, shape: Shape, data_format: str, window: Sizes, strides: Sizes, padding: str
) -> Shape:
    """Return the number of windows along each spatial dimension."""
    sizes = _spatial_shape(name, shape, data_format, len(window))
    counts: list[int | None] = []
    for size, window_size, stride in zip(sizes, window, strides, strict=True):
        if size is None:
            counts.append(None)
        elif padding == "valid":
            counts.append((size - window_size) // stride + 1)
        else:
            counts.append((size - 1) // stride + 1)
    if any(count is not None and count <= 0 for count in counts):
        raise ValueError(
            f"{name}: a window that reaches over {window} does not fit inputs of shape "
            f"{tuple(shape)} (strides={strides}, padding={padding!r})"
        )
    return tuple(counts)


def conv_output_shape(
    name: str, shape: Shape, channels: int, size: Sizes, sliding: Sliding
) -> Shape:
    """Return the shape of a convolution's result.

    Raises:
        ValueError: the filter does not fit.
    """
    strides, padding, data_format, dilation_rate = sliding
    window = tuple(_dilated(*pair) for pair in zip(size, dilation_rate, strict=True))
    counts = _window_counts(name, shape, data_format, window, strides, padding)
    return with_spatial_shape(shape, counts, channels, data_format)


def _dilated(size: int, dilation: int) -> int:
    """Return the size of a filter together with the gaps between its elements."""
    return (size - 1) * dilation + 1


def pool_output_shape(
    name: str, shape: Shape, size: Sizes, strides: Sizes, padding: str, data_format: str
) -> Shape:
    """Return the shape of what pooling returns.

    Raises:
        ValueError: the window does not fit.
    """
    counts = _window_counts(name, shape, data_format, size, strides, padding)
    return with_spatial_shape(shape, counts, channels_of(shape, data_format), data_format)


class _TransposedDimension(NamedTuple):
    """One spatial dimension of a transposed convolution's output.

    ``before`` and ``after`` elements are cropped from what the filters cover; a negative ``after``
    adds zeros.
    """

    size: int | None
    before: int
    after: int


def _transposed_dimension(
    size: int | None,
    filter_size: int,
    stride: int,
    dilation: int,
    padding: str,
    output_padding: int | None,
) -> _TransposedDimension:
    window = _dilated(filter_size, dilation)
    if padding == "valid":
        extra = max(stride - window, 0) if output_padding is None else output_padding
        before, after = 0, -extra
    else:
        if output_padding is None:
            total = stride + window - 2
        else:
            total = window + window % 2 - 2 + output_padding
        left = min(ceil(total / 2), window - 1)
        before, after = window - 1 - left, window - 1 - (total - left)
    if size is None:
        return _TransposedDimension(None, before, after)
    return _TransposedDimension((size - 1) * stride + window - before - after, before, after)


def _transposed_dimensions(
    sizes: Shape, filter_sizes: Sizes, sliding: Sliding, output_padding: Sizes | None
) -> list[_TransposedDimension]:
    strides, padding, _, dilation_rate = sliding
    paddings = output_padding or (None,) * len(sizes)
    rows = zip(sizes, filter_sizes, strides, dilation_rate, paddings, strict=True)
    return [
        _transposed_dimension(size, filter_size, stride, dilation, padding, extra)
        for size, filter_size, stride, dilation, extra in rows
    ]


def conv_transpose_output_shape(
    name: str,
    shape: Shape,
    channels: int,
    size: Sizes,
    sliding: Sliding,
    output_padding: Sizes | None,
) -> Shape:
    """Return the shape of a transposed convolution's result.

    Raises:
        ValueError: the rank of the inputs is wrong.
    """
    spatial_shape = _spatial_shape(name, shape, sliding.data_format, len(size))
    dimensions = _transposed_dimensions(spatial_shape, size, sliding, output_padding)
    sizes = [dimension.size for dimension in dimensions]
    return with_spatial_shape(shape, sizes, channels, sliding.data_format)


# -- convolutions ------------------------------------------------------------------------------


def _with_height(value: Sizes) -> Sizes:
    """Add a 1 for the height of the image that a sequence is computed as."""
    return (1, *value) if len(value) == 1 else value


def _image(x: Tensor) -> Tensor:
    """Return a sequence as an image of height 1."""
    batch, length, channels = x.shape
    return wt.reshape(x, (batch, 1, length, channels))


def _sequence(y: Tensor) -> Tensor:
    """Undo ``_image``."""
    batch, _, length, channels = y.shape
    return wt.reshape(y, (batch, length, channels))


def _explicit_padding(padding: str, size: int, dilation: int) -> Padding:
    """Padding of an image of height 1; "causal" adds as much before as the filter reaches back."""
    if padding != "causal":
        return padding
    return ((0, 0), (0, 0), ((size - 1) * dilation, 0), (0, 0))


def _with_epilogue(y: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    """Add a bias and apply one of ``wt.fused``'s activations, by separate ops."""
    if bias is not None:
        y = wt.add(y, bias)
    _, row, parameters = ACTIVATIONS[activation]
    return activate(y, row, parameters)


def conv(
    x: Tensor,
    kernel: Tensor,
    sliding: Sliding,
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Convolution, also of groups of channels, then a bias, then one of ``fused``'s activations."""
    if len(sliding.strides) == 3:
        return with_channels_last(
            _conv3d, x, sliding.data_format, kernel, sliding, bias, activation
        )
    return _conv1d_or_2d(fused.conv2d, x, kernel, sliding, bias, activation)


def depthwise_conv(
    x: Tensor,
    kernel: Tensor,
    sliding: Sliding,
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Convolution of each channel with filters of its own, then a bias, then an activation."""
    return _conv1d_or_2d(fused.depthwise_conv2d, x, kernel, sliding, bias, activation)


def _conv1d_or_2d(
    conv2d: Callable[..., Tensor],
    x: Tensor,
    kernel: Tensor,
    sliding: Sliding,
    bias: Tensor | None,
    activation: str,
) -> Tensor:
    strides, padding, data_format, dilation_rate = sliding
    if len(strides) == 2:
        format = _FORMATS[data_format]
        return conv2d(x, kernel, strides, padding, format, dilation_rate, None, bias, activation)
    filter = wt.reshape(kernel, (1, *kernel.shape))
    pads = _explicit_padding(padding, kernel.shape[0], dilation_rate[0])
    steps, dilations = _with_height(strides), _with_height(dilation_rate)

    def conv1d(x: Tensor) -> Tensor:
        image = _image(x)
        return _sequence(
            conv2d(image, filter, steps, pads, "NHWC", dilations, None, bias, activation)
        )

    return with_channels_last(conv1d, x, data_format)


def _conv3d(
    x: Tensor, kernel: Tensor, sliding: Sliding, bias: Tensor | None, activation: str
) -> Tensor:
    y = grouped_conv3d(x, kernel, sliding.strides, sliding.padding, sliding.dilation_rate)
    return _with_epilogue(y, bias, activation)


def separable_conv(
    x: Tensor,
    depthwise_kernel: Tensor,
    pointwise_kernel: Tensor,
    sliding: Sliding,
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Depthwise convolution, then one that mixes the channels of each element."""
    ones = (1,) * len(sliding.strides)
    depthwise = sliding._replace(data_format="channels_last")
    pointwise = Sliding(ones, "valid", "channels_last", ones)

    def compute(x: Tensor) -> Tensor:
        y = depthwise_conv(x, depthwise_kernel, depthwise)
        return conv(y, pointwise_kernel, pointwise, bias, activation)

    return with_channels_last(compute, x, sliding.data_format)


def conv_transpose(
    x: Tensor,
    kernel: Tensor,
    sliding: Sliding,
    output_padding: Sizes | None,
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """The gradient of a convolution with respect to its input, then a bias, then an activation.

    ``kernel`` is (*size, out_channels, in_channels).
    """
    is_sequence = len(sliding.strides) == 1
    if is_sequence:
        kernel = wt.reshape(kernel, (1, *kernel.shape))
        sliding = sliding._replace(
            strides=_with_height(sliding.strides),
            dilation_rate=_with_height(sliding.dilation_rate),
        )
        output_padding = None if output_padding is None else (0, *output_padding)

    def compute(x: Tensor) -> Tensor:
        image = _image(x) if is_sequence else x
        y = _conv_transpose(image, kernel, sliding, output_padding)
        return _with_epilogue(_sequence(y) if is_sequence else y, bias, activation)

    return with_channels_last(compute, x, sliding.data_format)


def _conv_transpose(
    x: Tensor, kernel: Tensor, sliding: Sliding, output_padding: Sizes | None
) -> Tensor:
    *filter_sizes, out_channels, _ = kernel.shape
    dimensions = _transposed_dimensions(x.shape[1:-1], tuple(filter_sizes), sliding, output_padding)
    sizes = [dimension.size or 0 for dimension in dimensions]
    shape = (x.shape[0], *sizes, out_channels)
    crops = [(dimension.before, max(dimension.after, 0)) for dimension in dimensions]
    pads = ((0, 0), *crops, (0, 0))
    strides, dilations = sliding.strides, sliding.dilation_rate
    if len(strides) == 2:
        return wt.conv2d_transpose(x, kernel, shape, strides, pads, dilations=dilations)
    return wt.conv3d_transpose(x, kernel, shape, strides, pads, dilations)


# -- pooling -----------------------------------------------------------------------------------

_POOLS: dict[str, dict[int, Callable[..., Tensor]]] = {
    "average": {2: wt.avg_pool, 3: wt.avg_pool3d},
    "max": {2: wt.max_pool, 3: wt.max_pool3d},
}


def pool(
    kind: str, x: Tensor, size: Sizes, strides: Sizes, padding: str, data_format: str
) -> Tensor:
    """Mean or maximum of each window; the maximum has the dtype of ``x``.

    ``kind`` is "average" or "max".

    Raises:
        ValueError: the window does not fit.
    """
    _window_counts(f"{kind}_pool", x.shape, data_format, size, strides, padding)
    is_sequence = len(size) == 1
    pool_images = _POOLS[kind][2 if is_sequence else len(size)]
    size, strides = _with_height(size), _with_height(strides)

    def compute(x: Tensor) -> Tensor:
        y = pool_images(_image(x) if is_sequence else x, size, strides, padding)
        return _sequence(y) if is_sequence else y

    y = with_channels_last(compute, x, data_format)
    return y if kind == "average" else wt.astype(y, x.dtype, copy=False)


def _sections(size: int, count: int) -> list[range]:
    """Return the indices of each of ``count`` sections of a dimension; sections may overlap."""
    return [range(index * size // count, -(-(index + 1) * size // count)) for index in range(count)]


def adaptive_pool(kind: str, x: Tensor, output_size: Sizes, data_format: str) -> Tensor:
    """Mean or maximum of each of ``output_size`` sections of the spatial dimensions."""
    check_size("adaptive_pool", "output_size", output_size, prod(output_size))
    spatial_shape = spatial_shape_of(x.shape, data_format)
    if all(size % count == 0 for size, count in zip(spatial_shape, output_size, strict=True)):
        pairs = zip(spatial_shape, output_size, strict=True)
        window = tuple(size // count for size, count in pairs)
        return pool(kind, x, window, window, "valid", data_format)
    start = 1 if data_format == "channels_last" else 2
    for axis, count in enumerate(output_size, start):
        if x.shape[axis] != count:
            sections = _sections(x.shape[axis], count)
            x = _maxima(x, axis, sections) if kind == "max" else _means(x, axis, sections)
    return x


def _means(x: Tensor, axis: int, sections: Sequence[range]) -> Tensor:
    """Means over sections of an axis: a product with a matrix of weights."""
    size, before, after = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    weights = [
        [1 / len(section) if index in section else 0.0 for index in range(size)]
        for section in sections
    ]
    y = wt.matmul(wt.tensor(weights), wt.reshape(x, (prod(before), size, prod(after))))
    return wt.reshape(y, (*before, len(sections), *after))


def _maxima(x: Tensor, axis: int, sections: Sequence[range]) -> Tensor:
    """Maxima over sections of an axis; shorter sections repeat their last index."""
    longest = max(len(section) for section in sections)
    indices = [
        section[min(step, len(section) - 1)] for section in sections for step in range(longest)
    ]
    elements = wt.take(x, wt.tensor(indices), axis=axis)
    shape = (*x.shape[:axis], len(sections), longest, *x.shape[axis + 1 :])
    return wt.astype(wt.max(wt.reshape(elements, shape), axis=axis + 1), x.dtype, copy=False)
