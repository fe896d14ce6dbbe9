"""Geometry that kernels share: what each output of a window or an image reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any, NamedTuple

from webtensor.shapes import single_integer

__all__ = [
    "Padding",
    "Resize",
    "Sampling",
    "Window",
    "WindowAxis",
    "WindowOptions",
    "axis_paddings",
    "make_resize",
    "make_volume_window",
    "make_window",
    "pair",
    "positive_integers",
]

#: "same", "valid", a number, or ((0, 0), (top, bottom), (left, right), (0, 0)).
Padding = str | int | Sequence[Sequence[int]]


class WindowOptions(NamedTuple):
    """How a window slides, as users say it: numbers for all axes or one per axis; see ``Padding``.

    ``dim_rounding_mode`` ("floor", which is the default, "round" or "ceil") says what becomes of
    an output size that is not whole.
    """

    strides: Any
    padding: Padding
    dilations: Any = None
    dim_rounding_mode: str | None = None


class WindowAxis(NamedTuple):
    """A window along one axis; ``padding`` is a word or (before, after), as it was declared."""

    length: int
    outputs: int
    size: int
    stride: int
    dilation: int
    before: int
    padding: str | tuple[int, int]

    @property
    def reach(self) -> int:
        """From the first element that a filter reads to the last."""
        return (self.size - 1) * self.dilation + 1

    @property
    def extent(self) -> int:
        """From the first padding to the end of the input or, if beyond, of the last filter."""
        return max((self.outputs - 1) * self.stride + self.reach, self.before + self.length)


class Window(NamedTuple):
    """A two-dimensional sliding window over ``(batch, height, width, channels)``.

    Output row ``i`` reads input rows ``i * stride_height - pad_top + k * dilation_height`` for
    ``k`` in ``range(filter_height)``, skipping those outside; columns likewise.

    ``padding`` is "same", "same_lower" or ((top, bottom), (left, right)) as it was declared, even
    if this input does not need all of it. The other fields follow from it; kernels do not read it.
    """

    batch: int
    in_height: int
    in_width: int
    in_channels: int
    out_height: int
    out_width: int
    out_channels: int
    filter_height: int
    filter_width: int
    stride_height: int
    stride_width: int
    dilation_height: int
    dilation_width: int
    pad_top: int
    pad_left: int
    padding: str | tuple[tuple[int, int], tuple[int, int]]

    @property
    def numbers(self) -> tuple[int, ...]:
        """All fields but the padding, in order, as kernels take them."""
        return self[:-1]

    @property
    def axes(self) -> tuple[WindowAxis, WindowAxis]:
        """The window along the height and along the width."""
        padding = self.padding
        vertical, horizontal = (padding, padding) if isinstance(padding, str) else padding
        return (
            WindowAxis(
                self.in_height,
                self.out_height,
                self.filter_height,
                self.stride_height,
                self.dilation_height,
                self.pad_top,
                vertical,
            ),
            WindowAxis(
                self.in_width,
                self.out_width,
                self.filter_width,
                self.stride_width,
                self.dilation_width,
                self.pad_left,
                horizontal,
            ),
        )

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """The shape of the images."""
        return self.batch, self.in_height, self.in_width, self.in_channels

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """The shape of the result."""
        return self.batch, self.out_height, self.out_width, self.out_channels

    @property
    def extent(self) -> tuple[int, int]:
        """The height and width of the images, padded as far as filters reach."""
        vertical, horizontal = self.axes
        return vertical.extent, horizontal.extent

    def groups(self, depth: int) -> int:
        """Return how many groups the channels form, of which each filter sees ``depth``."""
        return self.in_channels // depth

    @property
    def only_mixes_channels(self) -> bool:
        """Whether each output pixel is computed from the input pixel at its place alone."""
        return (
            self.filter_height == self.filter_width == 1
            and self.stride_height == self.stride_width == 1
            and self.pad_top == self.pad_left == 0
            and (self.in_height, self.in_width) == (self.out_height, self.out_width)
        )


def trimmed(window: Window) -> Window:
    """Return the window without the rows and columns of its filter that read only padding.

    A pool gives the same result, and a filter of a million rows costs no more than one as high as
    the input.
    """
    (height, vertical), (width, horizontal) = map(_trimmed_axis, window.axes)
    if (height, width) == (window.filter_height, window.filter_width):
        return window
    return window._replace(
        filter_height=height,
        filter_width=width,
        pad_top=vertical[0],
        pad_left=horizontal[0],
        padding=(vertical, horizontal),
    )


def _trimmed_axis(axis: WindowAxis) -> tuple[int, tuple[int, int]]:
    """Return (filter size, padding) along one axis; see ``trimmed``."""
    length, outputs, size, stride, dilation, before, padding = axis
    after = max(0, (outputs - 1) * stride + axis.reach - length - before)
    if not isinstance(padding, str):
        after = padding[1]
    first = max(0, -(((outputs - 1) * stride - before) // dilation))
    last = min(size, (length - 1 + before) // dilation + 1)
    if first >= last:  # all is padding
        return 1, (before, after - (size - 1) * dilation)
    return last - first, (before - first * dilation, after - (size - last) * dilation)


def positive_integers(name: str, argument: str, value: Any, count: int) -> tuple[int, ...]:
    """Return a positive integer for each of ``count`` axes, of one for all or one for each."""
    number = single_integer(value)
    parts = value if number is None and hasattr(value, "__iter__") else (number,)
    integers = tuple(single_integer(part) or 0 for part in parts)
    if len(integers) == 1:
        integers *= count
    if len(integers) != count or min(integers) <= 0:
        kind = "a positive integer" if count == 1 else f"a positive integer or {count} of them"
        raise ValueError(f"{name}: {argument} must be {kind}, but got {value!r}")
    return integers


def pair(name: str, argument: str, value: Any) -> tuple[int, int]:
    """Validate a positive number, or a pair of them, for (height, width)."""
    height, width = positive_integers(name, argument, value, 2)
    return height, width


#: The padding behind an axis that makes floor division by a stride round in another way.
_ROUNDING: dict[str, Callable[[int], int]] = {
    "floor": lambda stride: 0,
    "round": lambda stride: stride // 2,
    "ceil": lambda stride: stride - 1,
}


#: Paddings that depend on the size; ONNX's operators have the second one, with more before than
#: behind if it is odd.
_SAME = ("same", "same_lower")

#: Indices along an axis, and sums of two of them, are int32 in kernels.
_LONGEST = 1 << 30


def _sized(name: str, label: str, axis: WindowAxis, rounding: Callable[[int], int]) -> WindowAxis:
    """Return an axis with its outputs and its padding; 0 outputs where the filter does not fit."""
    length, stride, padding = axis.length, axis.stride, axis.padding
    before, after = (0, 0) if isinstance(padding, str) else padding
    if max(stride, axis.reach, length + before + after) > _LONGEST:
        raise ValueError(
            f"{name}: strides of {stride}, a filter reaching over {axis.reach} and {label} "
            f"{length} padded by ({before}, {after}) must not exceed 2**30"
        )
    if padding in _SAME:
        outputs = -(-length // stride)
        total = max(0, (outputs - 1) * stride + axis.reach - length)
        before = total // 2 if padding == "same" else total - total // 2
        return axis._replace(outputs=outputs, before=before)
    after += rounding(stride)
    outputs = max((length + before + after - axis.reach) // stride + 1, 0)
    return axis._replace(outputs=outputs, before=before, padding=(before, after))


_EXPLICIT_PADDING = {
    1: "[[0, 0], [left, right], [0, 0]]",
    2: "[[0, 0], [top, bottom], [left, right], [0, 0]]",
    3: "[[0, 0], [front, back], [top, bottom], [left, right], [0, 0]]",
}


def axis_paddings(name: str, padding: Padding, axes: int = 2) -> list[Any]:
    """Return the padding of each spatial axis: a word, or (before, after)."""
    number = single_integer(padding)
    if isinstance(padding, str):
        word = padding.lower()
        if word in (*_SAME, "valid"):
            return [word] * axes
    elif number is not None:
        if number >= 0:
            return [(number, number)] * axes
    elif hasattr(padding, "__iter__"):
        pairs = [
            tuple(map(single_integer, pair)) if hasattr(pair, "__iter__") else ()
            for pair in padding
        ]
        if (
            len(pairs) == axes + 2
            and all(len(pair) == 2 for pair in pairs)
            and all(n is not None and n >= 0 for pair in pairs for n in pair)
            and pairs[0] == pairs[-1] == (0, 0)
        ):
            return pairs[1:-1]
    raise ValueError(
        f"{name}: pad must be 'same', 'valid', a non-negative number, or "
        f"{_EXPLICIT_PADDING[axes]}, but got {padding!r}"
    )


def _rounding(name: str, dim_rounding_mode: str | None, padding: Padding) -> Callable[[int], int]:
    """Return how output sizes are rounded; "same" and "valid" leave nothing to round."""
    if dim_rounding_mode is None:
        return _ROUNDING["floor"]
    rounding = _ROUNDING.get(dim_rounding_mode) if isinstance(dim_rounding_mode, str) else None
    if rounding is None:
        raise ValueError(
            f"{name}: dim_rounding_mode must be 'floor', 'round' or 'ceil', "
            f"but got {dim_rounding_mode!r}"
        )
    if isinstance(padding, str):
        raise ValueError(
            f"{name}: dim_rounding_mode {dim_rounding_mode!r} needs pad to be a number or pairs of "
            f"numbers, but got {padding!r}"
        )
    return rounding


def _window_axes(
    name: str, sizes: Sequence[int], filter_size: tuple[int, ...], options: WindowOptions
) -> list[WindowAxis]:
    """Return the window along each spatial axis, of which there are two or three."""
    count = len(sizes)
    strides = positive_integers(name, "strides", options.strides, count)
    dilations = 1 if options.dilations is None else options.dilations
    dilations = positive_integers(name, "dilations", dilations, count)
    paddings = axis_paddings(name, options.padding, count)
    rounding = _rounding(name, options.dim_rounding_mode, options.padding)
    labels = ("depth", "height", "width")[-count:]
    axes = [
        WindowAxis(length, 0, size, stride, dilation, 0, padding)
        for length, size, stride, dilation, padding in zip(
            sizes, filter_size, strides, dilations, paddings, strict=True
        )
    ]
    return [_sized(name, label, axis, rounding) for label, axis in zip(labels, axes, strict=True)]


def _window(
    batch: int, in_channels: int, out_channels: int, vertical: WindowAxis, horizontal: WindowAxis
) -> Window:
    """Return the window that slides along two axes."""
    padding: Any = vertical.padding
    if not isinstance(padding, str):
        padding = (padding, horizontal.padding)
    return Window(
        batch,
        vertical.length,
        horizontal.length,
        in_channels,
        vertical.outputs,
        horizontal.outputs,
        out_channels,
        vertical.size,
        horizontal.size,
        vertical.stride,
        horizontal.stride,
        vertical.dilation,
        horizontal.dilation,
        vertical.before,
        horizontal.before,
        padding,
    )


def make_window(
    name: str,
    x_shape: Sequence[int],
    out_channels: int,
    filter_size: tuple[int, ...],
    options: WindowOptions,
) -> Window:
    """Compute the geometry for an input of shape (batch, height, width, channels).

    ``filter_size`` is (height, width). If the filter does not fit, the output size is 0.

    Raises:
        ValueError: an option is malformed.
    """
    batch, *sizes, in_channels = x_shape
    vertical, horizontal = _window_axes(name, sizes, filter_size, options)
    return _window(batch, in_channels, out_channels, vertical, horizontal)


def make_volume_window(
    name: str,
    x_shape: Sequence[int],
    out_channels: int,
    filter_size: tuple[int, ...],
    options: WindowOptions,
) -> tuple[WindowAxis, Window]:
    """Compute the geometry for an input of shape (batch, depth, height, width, channels).

    A volume is a stack of planes: the window slides over ``batch * out_depth`` of them.

    Raises:
        ValueError: an option is malformed.
    """
    batch, *sizes, in_channels = x_shape
    depth, vertical, horizontal = _window_axes(name, sizes, filter_size, options)
    planes = batch * depth.outputs
    return depth, _window(planes, in_channels, out_channels, vertical, horizontal)


class Resize(NamedTuple):
    """The input pixels that each pixel of a resized image reads; (batch, height, width, channels).

    Output row ``i`` is at row ``(i * row_step + row_offset) / row_divisor`` of the input; columns
    likewise. Integers make every backend choose the same pixels.
    """

    batch: int
    in_height: int
    in_width: int
    channels: int
    out_height: int
    out_width: int
    row_step: int
    row_offset: int
    row_divisor: int
    column_step: int
    column_offset: int
    column_divisor: int


def _ratio(
    length: int, outputs: int, nearest: bool, align_corners: bool, half_pixel_centers: bool
) -> tuple[int, int, int]:
    """Return (step, offset, divisor) along one axis; rounded down, they give nearest pixels."""
    if align_corners and outputs > 1:
        step, offset, divisor = length - 1, 0, outputs - 1
        if nearest:
            step, offset, divisor = 2 * step, divisor, 2 * divisor
    elif half_pixel_centers:
        step, offset, divisor = 2 * length, length - (0 if nearest else outputs), 2 * outputs
    else:
        step, offset, divisor = length, 0, outputs
    common = gcd(step, offset, divisor)
    return step // common, offset // common, divisor // common


def make_resize(
    x_shape: Sequence[int],
    size: tuple[int, int],
    nearest: bool,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Resize:
    """Compute the geometry for an input of shape (batch, height, width, channels)."""
    batch, in_height, in_width, channels = x_shape
    height, width = size
    options = (nearest, align_corners, half_pixel_centers)
    rows, columns = _ratio(in_height, height, *options), _ratio(in_width, width, *options)
    return Resize(batch, in_height, in_width, channels, height, width, *rows, *columns)


class Sampling(NamedTuple):
    """Images of (batch, height, width, channels), and ``samples`` projective views of them.

    ``bilinear`` is 1, or 0 for the nearest pixel. ``fill_mode`` selects what is outside an image:
    0 a constant, 1 its reflection, 2 its repetition, 3 its nearest pixel; 4 is a constant for every
    place outside, even by less than a pixel.
    """

    batch: int
    in_height: int
    in_width: int
    channels: int
    samples: int
    out_height: int
    out_width: int
    bilinear: int
    fill_mode: int
