"""Random calls of convolutions and pools: sizes, strides, dilations, paddings, layouts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.sliding import Windows, each
from tests_py.cases.table import EXACT, Array, Case
from tests_py.cases.volumes import POOL_SUM

__all__ = ["GENERATORS", "Sliding"]

CHANNELS = (0, 1, 1, 2, 3, 4, 5, 8)
LAYOUTS = ("NHWC",) * 4 + ("NCHW",)
BATCHES = (0, 1, 1, 1, 2, 3)


@dataclass(frozen=True)
class Sliding:
    """How a window slides: lengths it slides over, and options as arguments."""

    lengths: Shape
    size: Shape
    strides: Any
    pad: Any
    dilations: Any
    rounding: str | None

    @property
    def windows(self) -> Windows:
        """What the windows read."""
        return Windows(
            self.lengths, self.size, self.strides, self.pad, self.dilations, self.rounding
        )

    @property
    def outputs(self) -> Shape:
        """How many windows there are along each axis."""
        return self.windows.inside.shape[: len(self.size)]

    def noted(self, case: Case) -> Case:
        """Say in a case's name what is odd about its windows."""
        return replace(case, note=self.windows.oddities())


def one_or_each(draw: Draw, axes: int, choices: tuple[int, ...]) -> Any:
    """Draw a number, or one for each axis."""
    if axes == 1 or draw.chance():
        return draw.pick(choices)
    return tuple(draw.pick(choices) for _ in range(axes))


def sliding(
    draw: Draw,
    axes: int,
    most: int = 9,
    sizes: tuple[int, ...] = (1, 2, 2, 3, 3, 4),
    dilated: bool = True,
    rounded: bool = True,
    pads: str = "svne",
) -> Sliding:
    """Draw how a window slides; the lengths are such that at least one fits, or 0.

    ``pads`` are kinds of padding: same, valid, a number, or explicit for each side.
    """
    size = each(one_or_each(draw, axes, sizes), axes)
    strides, dilations = one_or_each(draw, axes, (1, 1, 2, 2, 3)), 1
    if dilated and draw.chance():
        # TensorFlow.js takes strides or dilations, not both.
        dilations = one_or_each(draw, axes, (1, 2, 3))
        strides = strides if draw.chance(4) else 1
    kind = draw.pick(pads)
    pad: Any = {"s": "same", "v": "valid"}.get(kind)
    sides = [(0, 0)] * axes
    if kind == "n":
        pad = draw.integer(0, 3)
        sides = [(pad, pad)] * axes
    elif kind == "e":
        sides = [(draw.integer(0, 3), draw.integer(0, 3)) for _ in range(axes)]
        pad = [[0, 0], *map(list, sides), [0, 0]]
    input_sizes = []
    for n, dilation, (before, after) in zip(size, each(dilations, axes), sides, strict=True):
        least = 0 if kind == "s" else max(0, (n - 1) * dilation + 1 - before - after)
        input_sizes.append(draw.integer(least, max(least, most)))
    # Only numbers as padding leave something to round.
    is_rounded = rounded and kind in "ne" and draw.chance(2 if kind == "n" else 9)
    rounding = draw.pick(("floor", "round", "ceil")) if is_rounded else None
    return Sliding(tuple(input_sizes), size, strides, pad, dilations, rounding)


def images(draw: Draw, sizes: Shape, channels: int | None = None, low: float = -2.0) -> Array:
    """Draw a batch, or now and then a single one, of float32 and rarely of int32."""
    channels = draw.pick(CHANNELS) if channels is None else channels
    shape = (*sizes, channels)
    if not draw.chance(4):
        shape = (draw.pick(BATCHES), *shape)
    return draw.ints(shape) if draw.chance(12) else draw.floats(shape, low)


def channels_first(x: Array, pad: Any) -> tuple[Array, Any]:
    """Move the channels of images and paddings before height and width."""
    if isinstance(pad, list):
        pad = [pad[0], pad[-1], *pad[1:-1]]
    return np.ascontiguousarray(np.moveaxis(x, -1, -3)), pad


# -- convolutions --------------------------------------------------------------------------------


def conv1d(draw: Draw) -> Case:
    window = sliding(draw, 1, most=12, pads="svn")
    x = images(draw, window.lengths)
    filter = draw.floats((*window.size, x.shape[-1], draw.pick(CHANNELS)))
    layout = "NCW" if draw.chance(5) else "NWC"
    if layout == "NCW":
        x = np.ascontiguousarray(np.moveaxis(x, -1, -2))
    return call(
        "conv1d", x, filter, window.strides, window.pad, layout, window.dilations, window.rounding
    )


def conv2d(name: str, draw: Draw) -> Case:
    window = sliding(draw, 2)
    x = images(draw, window.lengths)
    filter = draw.floats((*window.size, x.shape[-1], draw.pick(CHANNELS[:6])))
    layout, pad = draw.pick(LAYOUTS), window.pad
    if layout == "NCHW":
        x, pad = channels_first(x, pad)
    options = (window.strides, pad, layout, window.dilations, window.rounding)
    return window.noted(call(name, x, filter, *options))


ACTIVATIONS = (None, "linear", "relu", "relu6", "elu", "sigmoid", "prelu", "leakyrelu")


def beside(draw: Draw, shape: Shape, low: float = -2.0) -> Array:
    """Draw numbers for a bias or slopes: one, one for each of the last axis, or more."""
    if draw.chance(4):
        return draw.floats(draw.broadcastable(shape), low)
    return draw.floats(shape[-1:] if draw.chance(4) else (), low)


def fused_options(draw: Draw, shape: Shape, by_channel: bool = False) -> dict[str, Any]:
    """Draw a bias, an activation and its options for a result of ``shape``.

    ``by_channel`` gives a number for each channel, wherever the layout has them.
    """

    def numbers(low: float) -> Array:
        return draw.floats(shape[-1:], low) if by_channel else beside(draw, shape, low)

    options: dict[str, Any] = {"activation": draw.pick(ACTIVATIONS)}
    if not draw.chance(3):
        options["bias"] = numbers(-2.0)
    if options["activation"] == "prelu":
        options["prelu_activation_weights"] = numbers(0.0)
    if options["activation"] == "leakyrelu" and draw.chance():
        options["leakyrelu_alpha"] = draw.number(0, 1)
    return options


def fused_conv2d(name: str, draw: Draw) -> Case:
    window = sliding(draw, 2, most=7, sizes=(1, 2, 3))
    x = images(draw, window.lengths, draw.pick((1, 2, 3, 4)))
    outputs = draw.pick((1, 2, 4))
    filter = draw.floats((*window.size, x.shape[-1], outputs))
    channels = outputs * (x.shape[-1] if "depthwise" in name else 1)
    shape = (*x.shape[:-3], *window.outputs, channels)
    layout, pad = draw.pick(LAYOUTS), window.pad
    if layout == "NCHW":
        x, pad = channels_first(x, pad)
    options = fused_options(draw, shape, layout == "NCHW")
    dilations, rounding = window.dilations, window.rounding
    case = call(name, x, filter, window.strides, pad, layout, dilations, rounding, **options)
    return window.noted(case)


def separable_conv2d(draw: Draw) -> Case:
    window = sliding(draw, 2, rounded=False)
    x = images(draw, window.lengths)
    channels, multiplier = x.shape[-1], draw.integer(1, 3)
    depthwise = draw.floats((*window.size, channels, multiplier))
    pointwise = draw.floats((1, 1, channels * multiplier, draw.pick(CHANNELS)))
    layout, pad = draw.pick(LAYOUTS), window.pad
    if layout == "NCHW":
        x, pad = channels_first(x, pad)
    options = (window.strides, pad, window.dilations, layout)
    return window.noted(call("separable_conv2d", x, depthwise, pointwise, *options))


def transposed(name: str, axes: int, draw: Draw) -> Case:
    most, rounded = (9, True) if axes == 2 else (5, False)
    window = sliding(draw, axes, most, (1, 2, 3), dilated=False, rounded=rounded)
    inputs, outputs = draw.pick(CHANNELS[1:]), draw.pick(CHANNELS[:6])
    x = images(draw, window.outputs, inputs)
    filter = draw.floats((*window.size, outputs, inputs))
    shape = [*x.shape[: -axes - 1], *window.lengths, outputs]
    rounding = (window.rounding,) if rounded else ()
    return window.noted(call(name, x, filter, shape, window.strides, window.pad, *rounding))


def conv3d(draw: Draw) -> Case:
    window = sliding(draw, 3, 5, (1, 2, 3), rounded=False)
    x = images(draw, window.lengths, draw.pick((0, 1, 2, 3)))
    filter = draw.floats((*window.size, x.shape[-1], draw.pick((0, 1, 2, 3))))
    options = (window.strides, window.pad, "NDHWC", window.dilations)
    return window.noted(call("conv3d", x, filter, *options))


def dilation2d(draw: Draw) -> Case:
    window = sliding(draw, 2, rounded=False)
    x = images(draw, window.lengths)
    filter = draw.floats((*window.size, x.shape[-1]))
    options = (window.strides, window.pad, window.dilations)
    return window.noted(call("dilation2d", x, filter, *options))


# -- pools ---------------------------------------------------------------------------------------


def with_odd_values(draw: Draw, x: Array) -> tuple[Array, bool]:
    """Now and then replace some numbers by NaN and infinities; say whether that was done."""
    if x.dtype.kind != "f" or not x.size or not draw.chance(6):
        return x, False
    x = x.copy()
    for _ in range(draw.integer(1, 4)):
        x.flat[draw.integer(0, x.size - 1)] = draw.pick((math.nan, math.inf, -math.inf))
    return x, True


def max_or_avg(name: str, axes: int, draw: Draw) -> Case:
    most, sizes = (9, (1, 2, 2, 3, 4)) if axes == 2 else (5, (1, 2, 3))
    window = sliding(draw, axes, most, sizes, dilated=False)
    x, odd = with_odd_values(draw, images(draw, window.lengths, low=draw.pick((-2.0, -9.0))))
    strides = window.strides
    if draw.chance(4):
        strides, window = None, replace(window, strides=window.size)
    case = window.noted(call(name, x, window.size, strides, window.pad, window.rounding))
    return replace(case, note=f"{case.note} of special values".strip()) if odd else case


def pool(draw: Draw) -> Case:
    window = sliding(draw, 2)
    x = images(draw, window.lengths)
    kind = draw.pick(("max", "avg"))
    options = (window.pad, window.dilations, window.strides, window.rounding)
    tolerance = EXACT if kind == "max" else POOL_SUM
    return window.noted(call("pool", x, window.size, kind, *options, tolerance=tolerance))


def max_pool_with_argmax(draw: Draw) -> Case:
    while (window := sliding(draw, 2, dilated=False, rounded=False)).windows.has_empty_ones():
        continue
    x = images(draw, window.lengths)
    x = draw.ints(x.shape, -2, 3) if draw.chance(4) else x
    options = (window.size, window.strides, window.pad, draw.chance())
    return window.noted(call("max_pool_with_argmax", x, *options))


GENERATORS: dict[str, Generator] = {
    "conv1d": conv1d,
    "conv2d": partial(conv2d, "conv2d"),
    "depthwise_conv2d": partial(conv2d, "depthwise_conv2d"),
    "fused.conv2d": partial(fused_conv2d, "fused.conv2d"),
    "fused.depthwise_conv2d": partial(fused_conv2d, "fused.depthwise_conv2d"),
    "separable_conv2d": separable_conv2d,
    "conv2d_transpose": partial(transposed, "conv2d_transpose", 2),
    "conv3d": conv3d,
    "conv3d_transpose": partial(transposed, "conv3d_transpose", 3),
    "dilation2d": dilation2d,
    "max_pool": partial(max_or_avg, "max_pool", 2),
    "avg_pool": partial(max_or_avg, "avg_pool", 2),
    "max_pool3d": partial(max_or_avg, "max_pool3d", 3),
    "avg_pool3d": partial(max_or_avg, "avg_pool3d", 3),
    "pool": pool,
    "max_pool_with_argmax": max_pool_with_argmax,
}
