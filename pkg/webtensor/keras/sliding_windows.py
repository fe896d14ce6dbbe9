"""Sliding windows as Keras defines them: convolutions, their transposes, and pooling.

For layers and ``keras.ops``. ``x`` is (batch, places…, channels), or with the channels first, with
one to three axes of places; a sequence is computed as an image of height 1. Options have a number
per axis, in tuples: they are part of the keys by which ops remember their plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.data_formats import channels_of, places_of, with_channels_last, with_places
from webtensor.ops import fused
from webtensor.ops.epilogue import ACTIVATIONS, activate
from webtensor.shapes import prod

__all__ = [
    "adaptive_pool",
    "conv",
    "conv_output_shape",
    "conv_transpose",
    "conv_transpose_output_shape",
    "depthwise_conv",
    "pool",
    "pool_output_shape",
    "separable_conv",
]

_FORMATS = {"channels_last": "NHWC", "channels_first": "NCHW"}
Lengths = Sequence[int]


# -- lengths -----------------------------------------------------------------------------------


def _places(name: str, shape: Sequence[Any], data_format: str, rank: int) -> tuple[Any, ...]:
    """The lengths of places, of which there are so many."""
    if len(shape) != rank + 2:
        raise ValueError(f"{name}: inputs must have rank {rank + 2}, but have shape {tuple(shape)}")
    return places_of(shape, data_format)


def _slid(
    name: str, shape: Sequence[Any], data_format: str, reaches: Lengths, strides: Lengths,
    padding: str,
) -> list[int | None]:  # fmt: skip
    """How many windows there are along each axis."""
    places = _places(name, shape, data_format, len(reaches))
    found: list[int | None] = []
    for length, reach, stride in zip(places, reaches, strides, strict=True):
        if length is None:
            found.append(None)
        elif padding == "valid":
            found.append((length - reach) // stride + 1)
        else:
            found.append((length - 1) // stride + 1)
    if any(length is not None and length <= 0 for length in found):
        raise ValueError(
            f"{name}: a window that reaches over {tuple(reaches)} does not fit inputs of shape "
            f"{tuple(shape)} (strides={tuple(strides)}, padding={padding!r})"
        )
    return found


def conv_output_shape(
    name: str,
    shape: Sequence[Any],
    channels: int,
    size: Lengths,
    strides: Lengths,
    padding: str,
    data_format: str,
    dilation_rate: Lengths,
) -> tuple[Any, ...]:
    """Return the shape of a convolution's result.

    Raises:
        ValueError: the filter does not fit.
    """
    reaches = [(one - 1) * rate + 1 for one, rate in zip(size, dilation_rate, strict=True)]
    found = _slid(name, shape, data_format, reaches, strides, padding)
    return with_places(shape, found, channels, data_format)


def pool_output_shape(
    name: str, shape: Sequence[Any], size: Lengths, strides: Lengths, padding: str, data_format: str
) -> tuple[Any, ...]:
    """Return the shape of what pooling returns.

    Raises:
        ValueError: the window does not fit.
    """
    found = _slid(name, shape, data_format, size, strides, padding)
    return with_places(shape, found, channels_of(shape, data_format), data_format)


def _transposed(
    length: Any, size: int, stride: int, dilation: int, padding: str, output_padding: int | None
) -> tuple[Any, int, int]:
    """Output length of a transposed convolution, and what it lacks of all that is reached.

    The ``length`` filters reach over ``(length - 1) * stride + reach`` places, of which some are
    left out at the beginning and at the end; at the end there may also be others, with zeros.
    """
    reach = (size - 1) * dilation + 1
    if padding == "valid":
        more = max(stride - reach, 0) if output_padding is None else output_padding
        before, after = 0, -more
    else:
        if output_padding is None:
            kept = stride + reach - 2
        else:
            kept = reach + reach % 2 - 2 + output_padding
        left = min(ceil(kept / 2), reach - 1)
        before, after = reach - 1 - left, reach - 1 - (kept - left)
    if length is None:
        return None, before, after
    return (length - 1) * stride + reach - before - after, before, after


def conv_transpose_output_shape(
    name: str,
    shape: Sequence[Any],
    channels: int,
    size: Lengths,
    strides: Lengths,
    padding: str,
    output_padding: Lengths | None,
    data_format: str,
    dilation_rate: Lengths,
) -> tuple[Any, ...]:
    """Return the shape of a transposed convolution's result.

    Raises:
        ValueError: there are more or fewer axes.
    """
    places = _places(name, shape, data_format, len(size))
    more = output_padding or (None,) * len(places)
    rows = zip(places, size, strides, dilation_rate, more, strict=True)
    found = [_transposed(*row[:4], padding, row[4])[0] for row in rows]
    return with_places(shape, found, channels, data_format)


# -- convolutions ------------------------------------------------------------------------------


def _in_two(value: tuple[int, ...]) -> tuple[int, ...]:
    """Options of a sequence as those of an image of height 1."""
    return (1, *value) if len(value) == 1 else value


def _image(x: Tensor) -> Tensor:
    """A sequence as an image of height 1."""
    batch, length, channels = x.shape
    return wt.reshape(x, (batch, 1, length, channels))


def _sequence(y: Tensor) -> Tensor:
    """Undo ``_image``."""
    batch, _, length, channels = y.shape
    return wt.reshape(y, (batch, length, channels))


def _causal(padding: str, kernel: Tensor, dilation_rate: Lengths) -> Any:
    """Padding, where "causal" is as much before a sequence as the filter reaches back."""
    if padding != "causal":
        return padding
    before = (kernel.shape[0] - 1) * dilation_rate[0]
    return ((0, 0), (0, 0), (before, 0), (0, 0))


def _finished(y: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    """Add a bias and apply one of ``wt.fused``'s activations, by separate ops."""
    if bias is not None:
        y = wt.add(y, bias)
    _, row, parameters = ACTIVATIONS[activation]
    return activate(y, row, parameters)


def conv(
    x: Tensor,
    kernel: Tensor,
    strides: tuple[int, ...],
    padding: str,
    data_format: str,
    dilation_rate: tuple[int, ...],
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Convolution, also of groups of channels, then a bias, then one of ``fused``'s activations."""
    if len(strides) == 2:
        return fused.conv2d(
            x,
            kernel,
            strides,
            padding,
            _FORMATS[data_format],
            dilation_rate,
            None,
            bias,
            activation,
        )
    compute = _conv1d if len(strides) == 1 else _conv3d
    options = (kernel, strides, padding, dilation_rate, bias, activation)
    return with_channels_last(compute, x, data_format, *options)


def _conv1d(
    x: Tensor, kernel: Tensor, strides: Any, padding: str, dilation_rate: Any,
    bias: Tensor | None, activation: str,
) -> Tensor:  # fmt: skip
    filter = wt.reshape(kernel, (1, *kernel.shape))
    pad = _causal(padding, kernel, dilation_rate)
    strides, dilation_rate = _in_two(strides), _in_two(dilation_rate)
    return _sequence(
        fused.conv2d(_image(x), filter, strides, pad, "NHWC", dilation_rate, None, bias, activation)
    )


def _conv3d(
    x: Tensor, kernel: Tensor, strides: Any, padding: str, dilation_rate: Any,
    bias: Tensor | None, activation: str,
) -> Tensor:  # fmt: skip
    groups = x.shape[-1] // kernel.shape[-2]
    parts = [
        wt.conv3d(part, filter, strides, padding, "NDHWC", dilation_rate)
        for part, filter in zip(
            wt.split(x, groups, -1) if groups > 1 else [x],
            wt.split(kernel, groups, -1) if groups > 1 else [kernel],
            strict=True,
        )
    ]
    return _finished(wt.concat(parts, -1) if groups > 1 else parts[0], bias, activation)


def depthwise_conv(
    x: Tensor,
    kernel: Tensor,
    strides: tuple[int, ...],
    padding: str,
    data_format: str,
    dilation_rate: tuple[int, ...],
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Convolution of each channel with filters of its own, then a bias, then an activation."""
    if len(strides) == 2:
        return fused.depthwise_conv2d(
            x,
            kernel,
            strides,
            padding,
            _FORMATS[data_format],
            dilation_rate,
            None,
            bias,
            activation,
        )
    options = (kernel, strides, padding, dilation_rate, bias, activation)
    return with_channels_last(_depthwise_conv1d, x, data_format, *options)


def _depthwise_conv1d(
    x: Tensor, kernel: Tensor, strides: Any, padding: str, dilation_rate: Any,
    bias: Tensor | None, activation: str,
) -> Tensor:  # fmt: skip
    filter = wt.reshape(kernel, (1, *kernel.shape))
    strides, dilation_rate = _in_two(strides), _in_two(dilation_rate)
    return _sequence(
        fused.depthwise_conv2d(
            _image(x), filter, strides, padding, "NHWC", dilation_rate, None, bias, activation
        )
    )


def separable_conv(
    x: Tensor,
    depthwise_kernel: Tensor,
    pointwise_kernel: Tensor,
    strides: tuple[int, ...],
    padding: str,
    data_format: str,
    dilation_rate: tuple[int, ...],
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """Depthwise convolution, then one that mixes its channels at each place."""

    def both(x: Tensor) -> Tensor:
        apart = depthwise_conv(
            x, depthwise_kernel, strides, padding, "channels_last", dilation_rate
        )
        ones = (1,) * len(strides)
        return conv(apart, pointwise_kernel, ones, "valid", "channels_last", ones, bias, activation)

    return with_channels_last(both, x, data_format)


def conv_transpose(
    x: Tensor,
    kernel: Tensor,
    strides: tuple[int, ...],
    padding: str,
    output_padding: Lengths | None,
    data_format: str,
    dilation_rate: tuple[int, ...],
    bias: Tensor | None = None,
    activation: str = "linear",
) -> Tensor:
    """What the gradient of a convolution does to its input, then a bias, then an activation.

    ``kernel`` is (size…, out_channels, in_channels).
    """
    options = (kernel, strides, padding, output_padding, dilation_rate)
    compute = _conv_transpose1d if len(strides) == 1 else _conv_transpose

    def finished(x: Tensor) -> Tensor:
        return _finished(compute(x, *options), bias, activation)

    return with_channels_last(finished, x, data_format)


def _conv_transpose1d(
    x: Tensor, kernel: Tensor, strides: Any, padding: str, output_padding: Any, dilation_rate: Any
) -> Tensor:
    filter = wt.reshape(kernel, (1, *kernel.shape))
    more = None if output_padding is None else (0, *output_padding)
    options = (_in_two(strides), padding, more, _in_two(dilation_rate))
    return _sequence(_conv_transpose(_image(x), filter, *options))


def _conv_transpose(
    x: Tensor, kernel: Tensor, strides: Any, padding: str, output_padding: Any, dilation_rate: Any
) -> Tensor:
    more = output_padding or (None,) * len(strides)
    rows = zip(x.shape[1:-1], kernel.shape, strides, dilation_rate, more, strict=False)
    spans = [_transposed(*row[:4], padding, row[4]) for row in rows]
    shape = (x.shape[0], *(length for length, _, _ in spans), kernel.shape[-2])
    pad = ((0, 0), *((before, max(after, 0)) for _, before, after in spans), (0, 0))
    if len(strides) == 2:
        return wt.conv2d_transpose(x, kernel, shape, strides, pad, dilations=dilation_rate)
    return wt.conv3d_transpose(x, kernel, shape, strides, pad, dilation_rate)


# -- pooling -----------------------------------------------------------------------------------

_POOLS = {
    "average": {2: wt.avg_pool, 3: wt.avg_pool3d},
    "max": {2: wt.max_pool, 3: wt.max_pool3d},
}


def pool(
    kind: str,
    x: Tensor,
    size: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    data_format: str,
) -> Tensor:
    """Mean or greatest element, which is of the same dtype, of each window.

    ``kind`` is "average" or "max".

    Raises:
        ValueError: the window does not fit.
    """
    _slid(f"{kind}_pool", x.shape, data_format, size, strides, padding)
    if len(size) == 1:
        made = with_channels_last(_pool1d, x, data_format, kind, size, strides, padding)
    else:
        made = with_channels_last(_POOLS[kind][len(size)], x, data_format, size, strides, padding)
    return made if kind == "average" else wt.astype(made, x.dtype, copy=False)


def _pool1d(x: Tensor, kind: str, size: Any, strides: Any, padding: str) -> Tensor:
    return _sequence(_POOLS[kind][2](_image(x), _in_two(size), _in_two(strides), padding))


def _parts(length: int, outputs: int) -> list[range]:
    """Where each of so many parts of a length begins and ends; they may overlap."""
    return [
        range(index * length // outputs, -(-(index + 1) * length // outputs))
        for index in range(outputs)
    ]


def adaptive_pool(kind: str, x: Tensor, output_size: Lengths, data_format: str) -> Tensor:
    """Mean or greatest element of each of so many parts of ``x`` along each axis of places."""
    places = places_of(x.shape, data_format)
    if all(length % outputs == 0 for length, outputs in zip(places, output_size, strict=True)):
        pairs = zip(places, output_size, strict=True)
        size = tuple(length // outputs for length, outputs in pairs)
        return pool(kind, x, size, size, "valid", data_format)
    start = 1 if data_format == "channels_last" else 2
    for axis, outputs in enumerate(output_size, start):
        if x.shape[axis] != outputs:
            parts = _parts(x.shape[axis], outputs)
            x = _greatest(x, axis, parts) if kind == "max" else _means(x, axis, parts)
    return x


def _means(x: Tensor, axis: int, parts: Sequence[range]) -> Tensor:
    """Means over parts of an axis: a product with a matrix of weights."""
    length, before, after = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    weights = [
        [1 / len(part) if place in part else 0.0 for place in range(length)] for part in parts
    ]
    y = wt.matmul(wt.tensor(weights), wt.reshape(x, (prod(before), length, prod(after))))
    return wt.reshape(y, (*before, len(parts), *after))


def _greatest(x: Tensor, axis: int, parts: Sequence[range]) -> Tensor:
    """Greatest elements of parts of an axis, each as long as the longest by its last repeated."""
    most = max(len(part) for part in parts)
    places = [[part[min(step, len(part) - 1)] for step in range(most)] for part in parts]
    taken = wt.take(x, wt.tensor([one for row in places for one in row]), axis=axis)
    shape = (*x.shape[:axis], len(parts), most, *x.shape[axis + 1 :])
    return wt.astype(wt.max(wt.reshape(taken, shape), axis=axis + 1), x.dtype, copy=False)
