"""Geometry of contractions: matrix sizes, and what a sliding window reads for each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

__all__ = ["MatmulSizes", "Padding", "Window", "make_window", "pair"]

#: "same", "valid", a number, or ((0, 0), (top, bottom), (left, right), (0, 0)).
Padding = str | int | Sequence[Sequence[int]]


class MatmulSizes(NamedTuple):
    """Sizes of ``batch`` products of (m, k) by (k, n) matrices.

    A transposed operand lies in memory as (k, m) or (n, k). An operand that is not batched is one
    matrix, used in every product.
    """

    batch: int
    m: int
    k: int
    n: int
    transpose_a: bool
    transpose_b: bool
    a_batched: bool
    b_batched: bool


class Window(NamedTuple):
    """A two-dimensional sliding window over ``(batch, height, width, channels)``.

    Output row ``i`` reads input rows ``i * stride_height - pad_top + k * dilation_height`` for
    ``k`` in ``range(filter_height)``, skipping those outside; columns likewise.
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


def pair(name: str, argument: str, value: Any) -> tuple[int, int]:
    """Validate a positive number, or a pair of them, for (height, width)."""
    both = tuple(value) if hasattr(value, "__iter__") else (value, value)
    if len(both) == 1:
        both *= 2
    if len(both) != 2 or not all(isinstance(one, int) and one > 0 for one in both):
        raise ValueError(
            f"{name}: {argument} must be a positive integer or a pair of them, but got {value!r}"
        )
    return both


_ROUNDING: dict[str, Callable[[float], int]] = {
    "floor": floor,
    "round": lambda length: floor(length + 0.5),
    "ceil": ceil,
}


def _span(
    name: str,
    axis: str,
    length: int,
    size: int,
    stride: int,
    dilation: int,
    padding: Any,
    rounded: Callable[[float], int],
) -> tuple[int, int]:
    """Return (output length, padding before) along one axis."""
    reach = (size - 1) * dilation + 1
    if padding == "same":
        out = -(-length // stride)
        return out, max(0, (out - 1) * stride + reach - length) // 2
    before, after = (0, 0) if padding == "valid" else padding
    out = rounded((length + before + after - reach) / stride) + 1
    if out <= 0:
        raise ValueError(
            f"{name}: a filter reaching over {reach} does not fit {axis} {length} "
            f"padded by ({before}, {after})"
        )
    return out, before


def _axis_paddings(name: str, padding: Padding) -> tuple[Any, Any]:
    """Return the padding of the height and of the width: a word, or (before, after)."""
    if isinstance(padding, str):
        word = padding.lower()
        if word in ("same", "valid"):
            return word, word
    elif isinstance(padding, int):
        if padding >= 0:
            return (padding, padding), (padding, padding)
    elif hasattr(padding, "__iter__"):
        pairs = [tuple(one) if hasattr(one, "__iter__") else () for one in padding]
        if (
            len(pairs) == 4
            and all(len(one) == 2 and min(one) >= 0 for one in pairs)
            and pairs[0] == pairs[3] == (0, 0)
        ):
            return pairs[1], pairs[2]
    raise ValueError(
        f"{name}: pad must be 'same', 'valid', a non-negative number, or "
        f"[[0, 0], [top, bottom], [left, right], [0, 0]], but got {padding!r}"
    )


def make_window(
    name: str,
    x_shape: Sequence[int],
    out_channels: int,
    filter_size: tuple[int, int],
    strides: Any,
    padding: Padding,
    dilations: Any,
    dim_rounding_mode: str | None = None,
) -> Window:
    """Work out the geometry for an input of shape (batch, height, width, channels).

    ``dim_rounding_mode`` ("floor", which is the default, "round" or "ceil") says what becomes of
    an output length that is not whole.

    Raises:
        ValueError: an option is malformed, or the filter does not fit.
    """
    rounded = _ROUNDING.get(dim_rounding_mode or "floor")
    if rounded is None:
        raise ValueError(
            f"{name}: dim_rounding_mode must be 'floor', 'round' or 'ceil', "
            f"but got {dim_rounding_mode!r}"
        )
    batch, in_height, in_width, in_channels = x_shape
    stride_height, stride_width = pair(name, "strides", strides)
    dilation_height, dilation_width = pair(name, "dilations", dilations)
    filter_height, filter_width = filter_size
    vertical, horizontal = _axis_paddings(name, padding)
    out_height, top = _span(
        name, "height", in_height, filter_height, stride_height, dilation_height, vertical, rounded
    )
    out_width, left = _span(
        name, "width", in_width, filter_width, stride_width, dilation_width, horizontal, rounded
    )
    return Window(
        batch,
        in_height,
        in_width,
        in_channels,
        out_height,
        out_width,
        out_channels,
        filter_height,
        filter_width,
        stride_height,
        stride_width,
        dilation_height,
        dilation_width,
        top,
        left,
    )
