"""Windows to test with, and an oracle for what they read: plain indexing, one tap of the filter
at a time.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests_py.wasm.kernels import Array
from webtensor.geometry import Padding, Window, WindowOptions, make_window

#: Rows and columns of pixels, as NumPy's index of two axes.
Pixels = tuple[Any, ...]


def reads(outputs: int, stride: int, start: int, size: int) -> tuple[Array, Array]:
    """Along one axis, the outputs that read inside the input at a filter position, and where."""
    output = np.arange(outputs)
    position = start + stride * output
    inside = (position >= 0) & (position < size)
    return output[inside], position[inside]


def taps(window: Window) -> Iterator[tuple[int, int, Pixels, Pixels]]:
    """Yield (h, w, outputs, inputs): at filter position (h, w) output pixels read input pixels."""
    for h in range(window.filter_height):
        top = h * window.dilation_height - window.pad_top
        i, y = reads(window.out_height, window.stride_height, top, window.in_height)
        for w in range(window.filter_width):
            left = w * window.dilation_width - window.pad_left
            j, x = reads(window.out_width, window.stride_width, left, window.in_width)
            yield h, w, np.ix_(i, j), np.ix_(y, x)


def patches(
    images: Array, window: Window, outside: float = 0
) -> tuple[Array, Callable[[Array], Array]]:
    """What each window reads, as (batch, out_height, out_width, filter_height, filter_width,
    channels), and the function that adds such an array up where it was read.
    """
    positions = list(taps(window))
    channels = images.shape[3]
    cells = np.full((window.batch, *window[4:6], *window[7:9], channels), outside, np.float64)
    for h, w, outputs, inputs in positions:
        cells[:, *outputs, h, w] = images[:, *inputs]

    def added_up(parts: Array) -> Array:
        total = np.zeros(images.shape, np.float64)
        for h, w, outputs, inputs in positions:
            total[:, *inputs] += parts[:, *outputs, h, w]
        return total

    return cells, added_up


def shapes(window: Window) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The shapes of a convolution's input, filter and result."""
    return (
        (window.batch, window.in_height, window.in_width, window.in_channels),
        (*window[7:9], window.in_channels, window.out_channels),
        (window.batch, window.out_height, window.out_width, window.out_channels),
    )


def make(
    x_shape: tuple[int, int, int, int],
    out_channels: int,
    size: tuple[int, int],
    strides: tuple[int, int] | int = 1,
    padding: Padding = "same",
    dilations: tuple[int, int] | int = 1,
) -> Window:
    options = WindowOptions(strides, padding, dilations)
    return make_window("test", x_shape, out_channels, size, options)


WINDOWS = [
    make((1, 1, 1, 1), 1, (1, 1)),
    make((2, 5, 5, 1), 3, (3, 3)),
    make((1, 6, 7, 3), 5, (3, 3), 2),
    make((2, 7, 6, 4), 8, (3, 3), (2, 1), "valid"),
    make((1, 8, 8, 8), 9, (2, 2), 2, "valid"),
    make((2, 10, 12, 4), 6, (3, 3), 2),
    make((1, 9, 13, 12), 3, (3, 3), (1, 2)),
    make((1, 9, 9, 5), 7, (3, 3), 1, "same", 2),
    make((1, 10, 9, 6), 4, (3, 2), (2, 3), "same", (1, 2)),
    make((1, 7, 7, 13), 17, (1, 1)),
    make((2, 6, 6, 7), 6, (1, 1), 2),
    make((1, 5, 5, 2), 2, (5, 5)),
    make((1, 4, 4, 3), 3, (4, 3), 1, [(0, 0), (3, 1), (2, 4), (0, 0)]),
    make((1, 3, 3, 2), 10, (3, 3), 3, 2),
    make((1, 12, 5, 40), 20, (3, 3)),
    make((1, 6, 6, 100), 11, (3, 3)),
    make((1, 5, 4, 2), 2, (2, 2), 3, "valid"),
]
