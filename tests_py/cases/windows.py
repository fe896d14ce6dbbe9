"""Cases of convolutions and pooling: strides, dilations, paddings, channels, even filters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, distinct, floats, ints
from tests_py.cases.sliding import Windows, each
from tests_py.cases.table import (
    EXACT,
    Array,
    Case,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["CONV2D", "CONV_GRADIENTS", "DEPTHWISE", "POOLING", "POOL_GRADIENTS"]

NAN, INF = math.nan, math.inf

Pair = int | tuple[int, int]

STRIDES: tuple[Pair, ...] = (1, 2, 3, (1, 2), (3, 1))
DILATIONS: tuple[Pair, ...] = (1, 2, 3, (2, 1))
EXPLICIT = [[0, 0], [1, 2], [3, 0], [0, 0]]
PADDINGS: tuple[Any, ...] = ("same", "valid", 1, EXPLICIT)
CHANNELS = (1, 2, 3, 4, 5, 8)
FILTERS = ((1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (4, 4), (5, 5), (3, 7))


# -- oracles ------------------------------------------------------------------------------------


def _patches(
    x: Array,
    size: Sequence[int],
    strides: Any,
    pad: Any,
    dilations: Any,
    rounding: str | None,
    fill: float = 0.0,
) -> Array:
    """(batch, out_height, out_width, filter_height, filter_width, channels)."""
    return Windows(x.shape[1:3], size, strides, pad, dilations, rounding).read(x, fill)


def _as_batch(x: Array) -> Array:
    return (x[None] if x.ndim == 3 else x) * 1.0


def _conv2d(
    x: Array,
    filter: Array,
    strides: Pair = 1,
    pad: Any = "valid",
    data_format: str = "NHWC",
    dilations: Pair = 1,
    rounding: str | None = None,
) -> Array:
    images = _as_batch(x)
    if data_format == "NCHW":
        images = images.transpose(0, 2, 3, 1)
        pad = pad if isinstance(pad, (str, int)) else [pad[0], *pad[2:], pad[1]]
    taps = _patches(images, filter.shape[:2], strides, pad, dilations, rounding)
    depth = filter.shape[2]
    groups = taps.shape[-1] // depth if depth else 1
    parts = zip(
        [taps[..., n * depth : (n + 1) * depth] for n in range(groups)],
        np.split(filter, groups, axis=3),
        strict=True,
    )
    y = np.concatenate([np.einsum("bijhwc,hwco->bijo", *part) for part in parts], 3)
    if data_format == "NCHW":
        y = y.transpose(0, 3, 1, 2)
    return y[0] if x.ndim == 3 else y


def _depthwise(
    x: Array,
    filter: Array,
    strides: Pair = 1,
    pad: Any = "valid",
    data_format: str = "NHWC",
    dilations: Pair | None = 1,
    rounding: str | None = None,
) -> Array:
    images = _as_batch(x)
    if data_format == "NCHW":
        images = images.transpose(0, 2, 3, 1)
        pad = pad if isinstance(pad, (str, int)) else [pad[0], *pad[2:], pad[1]]
    taps = _patches(images, filter.shape[:2], strides, pad, dilations or 1, rounding)
    y = np.einsum("bijhwc,hwcm->bijcm", taps, filter)
    y = y.reshape(*y.shape[:3], filter.shape[2] * filter.shape[3])
    if data_format == "NCHW":
        y = y.transpose(0, 3, 1, 2)
    return y[0] if x.ndim == 3 else y


def _cells(
    x: Array, filter_size: Pair, strides: Pair | None, pad: Any, rounding: str | None
) -> Array:
    """The elements of each window along axis 3; padding is minus infinity."""
    size = each(filter_size, 2)
    steps = size if strides is None else strides
    taps = _patches(_as_batch(x), size, steps, pad, 1, rounding, -INF)
    return taps.reshape(*taps.shape[:3], size[0] * size[1], taps.shape[-1])


def _max_pool(
    x: Array,
    filter_size: Pair,
    strides: Pair | None = None,
    pad: Any = "valid",
    rounding: str | None = None,
) -> Array:
    y: Array = _cells(x, filter_size, strides, pad, rounding).max(axis=3)
    return y[0] if x.ndim == 3 else y


def _avg_pool(
    x: Array,
    filter_size: Pair,
    strides: Pair | None = None,
    pad: Any = "valid",
    rounding: str | None = None,
) -> Array:
    present = _cells(np.ones_like(_as_batch(x)), filter_size, strides, pad, rounding) == 1
    cells = np.where(present, _cells(x, filter_size, strides, pad, rounding), 0)
    y = cells.sum(axis=3) / present.sum(axis=3)
    return y[0] if x.ndim == 3 else y


# -- rows ---------------------------------------------------------------------------------------

CONV_SUM = summed(
    lambda x, filter, *options: _conv2d(np.abs(x), np.abs(filter), *options),
    lambda x, filter, *_: int(np.prod(filter.shape[:3])),
)
DEPTHWISE_SUM = summed(
    lambda x, filter, *options: _depthwise(np.abs(x), np.abs(filter), *options),
    lambda x, filter, *_: int(np.prod(filter.shape[:2])),
)
POOL_SUM = summed(
    lambda x, *options: _avg_pool(np.abs(x), *options),
    lambda x, size, *_: int(np.prod(each(size, 2))) + 2,
)

Options = tuple[Any, ...]


def _conv(
    shape: tuple[int, ...],
    filter: tuple[int, ...],
    *options: Any,
    depthwise: bool = False,
    **fields: Any,
) -> Case:
    oracle: Callable[..., Any] = _depthwise if depthwise else _conv2d
    x, weights = floats(shape, seed=1), floats(filter, seed=2)
    name = "depthwise_conv2d" if depthwise else "conv2d"
    tolerance = DEPTHWISE_SUM if depthwise else CONV_SUM
    return Case(name, (x, weights, *options), oracle, tolerance, **fields)


def _geometries(depthwise: bool) -> list[Case]:
    """Every stride with every dilation and padding; every channel count; every filter size."""
    outputs = (3, 2) if depthwise else (3, 5)
    cases = [
        _conv((2, 8, 9, 3), (3, 2, *outputs), strides, pad, "NHWC", dilations, depthwise=depthwise,
              sample=strides == 2 and dilations == 1)
        for strides, dilations, pad in product(STRIDES, DILATIONS, PADDINGS)
    ]  # fmt: skip
    for channels, out in product(CHANNELS, (1, 2, 3) if depthwise else CHANNELS):
        cases.append(
            _conv((1, 5, 6, channels), (3, 3, channels, out), 1, "same", depthwise=depthwise)
        )
    for size, strides, pad in product(FILTERS, (1, 2), ("same", "valid", EXPLICIT)):
        cases.append(_conv((1, 7, 8, 4), (*size, 4, 2), strides, pad, depthwise=depthwise))
    cases += [
        _conv((3, 9, 4), (3, 3, 4, 2), 1, "same", depthwise=depthwise),
        _conv((2, 3, 7, 8), (3, 2, 3, 2), 2, "same", "NCHW", depthwise=depthwise),
        _conv((3, 7, 8), (3, 2, 3, 2), 1, "valid", "NCHW", depthwise=depthwise),
        _conv((5, 1, 1, 3), (1, 1, 3, 4), depthwise=depthwise),
        _conv((1, 3, 3, 2), (3, 3, 2, 3), depthwise=depthwise),
        _conv((1, 1, 9, 2), (1, 4, 2, 3), 1, "same", depthwise=depthwise),
        _conv((1, 2, 2, 2), (5, 5, 2, 3), 1, "same", depthwise=depthwise),
        _conv((1, 28, 28, 1), (5, 5, 1, 8), depthwise=depthwise, sample=True),
        _conv((1, 33, 17, 16), (3, 3, 16, 2), 2, "same", depthwise=depthwise),
        _conv((1, 2, 5, 6), (3, 2, 2, 3), 1, [[0, 0], [0, 0], [2, 1], [0, 3]], "NCHW",
              depthwise=depthwise),
        _conv((0, 5, 5, 2), (3, 3, 2, 3), 1, "same", depthwise=depthwise),
        _conv((1, 0, 5, 2), (3, 3, 2, 3), 1, "same", depthwise=depthwise),
        _conv((1, 0, 5, 2), (2, 2, 2, 3), 1, 1, depthwise=depthwise),
        _conv((1, 5, 5, 2), (3, 3, 2, 0), 1, "same", depthwise=depthwise),
        _conv((2, 3, 4, 2), (5, 2, 2, 3), depthwise=depthwise, note="by a filter too large"),
        _conv((3, 3, 2), (2, 2, 2, 3), 2, 0, "NHWC", 3, depthwise=depthwise,
              note="by a filter too large"),
    ]  # fmt: skip
    x, weights = ints((1, 5, 5, 2)), floats((3, 3, 2, 2))
    name, oracle = ("depthwise_conv2d", _depthwise) if depthwise else ("conv2d", _conv2d)
    tolerance = DEPTHWISE_SUM if depthwise else CONV_SUM
    cases.append(Case(name, (x, weights), oracle, tolerance))
    return cases


def _conv_cases() -> list[Case]:
    large = [
        _conv((1, 14, 14, 32), (3, 3, 32, 64), 1, "same", sample=True),
        _conv((1, 14, 14, 65), (1, 1, 65, 33)),
        _conv((4, 10, 10, 8), (3, 3, 8, 16)),
    ]
    in_groups = [
        _conv(shape, filter, *options, note="in groups")
        for shape, filter, *options in (
            ((2, 7, 8, 6), (3, 2, 3, 4), 1, "same"),
            ((1, 9, 8, 8), (3, 3, 2, 12), 2, "valid"),
            ((1, 9, 8, 4), (3, 3, 1, 8), (2, 1), "same", "NHWC", 1),
            ((1, 9, 8, 4), (3, 3, 1, 4), 1, "valid", "NHWC", 2),
            ((2, 6, 7, 8), (3, 3, 3, 4), 1, 1, "NCHW"),
            ((5, 6, 4), (1, 1, 2, 6)),
            ((2, 5, 6, 24), (1, 1, 8, 36)),
            ((1, 1, 1, 8), (1, 1, 4, 10)),
            ((1, 6, 5, 12), (3, 3, 4, 24), 1, "same"),
            ((1, 7, 6, 12), (2, 3, 6, 8), (1, 2), "same"),
            ((2, 9, 9, 32), (3, 3, 16, 40), 1, "same"),
        )
    ]
    empty = Case("conv2d", (floats((1, 5, 5, 0)), floats((3, 3, 0, 2))), _conv2d)
    return [*_geometries(depthwise=False), *large, *in_groups, empty]


def _depthwise_cases() -> list[Case]:
    return [
        *_geometries(depthwise=True),
        _conv((1, 14, 14, 33), (3, 3, 33, 1), 1, "same", depthwise=True, sample=True),
        _conv((2, 15, 14, 16), (5, 5, 16, 3), 2, "same", depthwise=True),
        _conv((1, 3, 4, 2), (2, 2, 2, 3), 1, "same", "NHWC", None, depthwise=True),
    ]


def _pool_cases() -> list[Case]:
    cases = []
    sizes: tuple[Pair, ...] = (1, 2, 3, (2, 3), (5, 1))
    for name, oracle, tolerance in (
        ("max_pool", _max_pool, EXACT),
        ("avg_pool", _avg_pool, POOL_SUM),
    ):

        def case(x: Any, *options: Any, **fields: Any) -> Case:
            return Case(name, (x, *options), oracle, tolerance, **fields)  # noqa: B023

        for size, strides, pad in product(sizes, (None, *STRIDES), ("same", "valid")):
            sample = size == 3 and strides == 2
            cases.append(case(floats((2, 7, 8, 3)), size, strides, pad, sample=sample))
        paddings: tuple[Any, ...] = (
            1,
            [[0, 0], [1, 0], [0, 1], [0, 0]],
            [[0, 0], [2, 1], [0, 2], [0, 0]],
        )
        for pad in paddings:
            for strides in (1, 2):
                cases.append(case(floats((1, 6, 7, 4)), 3, strides, pad))
                cases.append(
                    case(-floats((1, 6, 7, 4), 1, 2), 3, strides, pad, note="of negative numbers")
                )
        cases += [case(floats((1, 5, 6, channels)), 2, 1, "same") for channels in CHANNELS]
        cases += [
            case(floats((5, 6, 3)), 2),
            case(floats((1, 28, 28, 8)), 2),
            case(floats((3, 1, 1, 17)), 1),
            case(floats((1, 33, 17, 5)), 3, 2, "same"),
            case(floats((1, 16, 16, 1)), 16),
            case(floats((0, 4, 4, 2)), 2),
            case(floats((1, 0, 4, 2)), 2, 1, 1, note="with windows of nothing"),
            case(floats((1, 3, 4, 2)), 2, 1, 3, note="with some windows of nothing"),
            case(ints((1, 4, 4, 2)), 2),
            case(floats((2, 3, 4, 2)), 5, 1, note="by a filter too large"),
            case(floats((2, 3, 4, 2)), (1, 6), 2, note="by a filter too large"),
        ]
    special = arr([-INF, -INF, 1, INF, -INF, -INF, 2, 3, NAN, 1, 0, 5, 1, 1, 1, 1]).reshape(
        1, 4, 4, 1
    )
    cases.append(Case("max_pool", (special, 2), _max_pool, note="of special values"))
    cases.append(Case("avg_pool", (special, 2), _avg_pool, POOL_SUM, note="of special values"))
    return cases


def _conv_gradients() -> list[Case]:
    cases = []
    for depthwise in (False, True):
        for strides, dilations, pad in product((1, 2, (1, 3)), (1, 2), PADDINGS):
            case = _conv(
                (1, 5, 6, 2), (3, 2, 2, 3), strides, pad, "NHWC", dilations, depthwise=depthwise
            )
            if pad == "valid" and dilations == 2:
                case = _conv(
                    (1, 5, 6, 2), (2, 3, 2, 3), strides, pad, "NHWC", dilations, depthwise=depthwise
                )
            cases.append(gradient_of(case))
        for channels, out in ((1, 1), (3, 4), (4, 1), (5, 2), (8, 3)):
            cases.append(
                gradient_of(
                    _conv(
                        (2, 3, 4, channels), (2, 2, channels, out), 1, "same", depthwise=depthwise
                    )
                )
            )
        for pad, strides in product(("same", "valid"), (1, 2)):
            small = _conv((1, 3, 4, 2), (2, 2, 2, 2), strides, pad, depthwise=depthwise)
            cases.append(second_derivative_of(small))
        cases += [
            gradient_of(_conv((1, 2, 5, 4), (2, 3, 2, 2), 1, "same", "NCHW", depthwise=depthwise)),
            gradient_of(_conv((3, 4, 2), (2, 2, 2, 3), depthwise=depthwise)),
            gradient_of(_conv((2, 6, 6, 2), (4, 4, 2, 2), 3, "same", depthwise=depthwise)),
            gradient_of(_conv((1, 3, 3, 2), (1, 1, 2, 3), 2, depthwise=depthwise)),
            gradient_of(_conv((0, 4, 4, 2), (2, 2, 2, 3), depthwise=depthwise)),
            gradient_of(_conv((1, 0, 4, 2), (2, 2, 2, 3), 1, 1, depthwise=depthwise)),
            gradient_of(_conv((1, 3, 4, 2), (5, 2, 2, 3), depthwise=depthwise)),
        ]
    cases += [
        gradient_of(_conv(shape, filter, *options, note="in groups"))
        for shape, filter, *options in (
            ((1, 4, 4, 4), (2, 2, 2, 4), 1, "same"),
            ((1, 4, 4, 2), (2, 2, 1, 4), 1, "same"),
            ((1, 4, 3, 8), (1, 1, 4, 8)),
            ((2, 3, 4, 8), (2, 2, 4, 8), 2, "same"),
            ((1, 5, 4, 6), (3, 2, 2, 12), 1, "valid", "NHWC", 2),
            ((1, 4, 4, 6), (2, 2, 3, 8), 1, "same"),
        )
    ]
    cases.append(
        second_derivative_of(_conv((1, 3, 3, 4), (2, 2, 2, 4), 1, "same", note="in groups"))
    )
    return cases


def _pool_gradients() -> list[Case]:
    cases = []
    for name, oracle in (("max_pool", _max_pool), ("avg_pool", _avg_pool)):
        for size, strides, pad in product((2, 3, (1, 2)), (1, 2, None), ("same", "valid", 1)):
            if pad == 1 and size == (1, 2):
                continue
            case = Case(name, (distinct((1, 4, 5, 2)), size, strides, pad), oracle)
            cases.append(gradient_of(case))
        cases += [
            gradient_of(Case(name, (distinct((2, 3, 4, 3)), 2, 1, "same"), oracle)),
            gradient_of(Case(name, (distinct((4, 5, 2)), 2), oracle)),
            gradient_of(Case(name, (-distinct((1, 4, 4, 1), 1, 2), 3, 2, EXPLICIT), oracle)),
            gradient_of(Case(name, (distinct((1, 3, 4, 2)), 5, 1), oracle)),
        ]
        for options in ((2, 1, "same"), (2, 2, "valid"), (3, 2, 1)):
            x = distinct((1, 4, 4, 2), 0.5, 2)
            case = Case("pooled_squares", (x, name, *options), _pooled_squares)
            cases += [gradient_of(case), second_derivative_of(case)]
    return cases


def _pooled_squares(x: Array, pool: str, *options: Any) -> Array:
    oracle = _max_pool if pool == "max_pool" else _avg_pool
    y: Array = oracle(x**2, *options) ** 2
    return y


CONV2D = _conv_cases()
DEPTHWISE = _depthwise_cases()
POOLING = _pool_cases()
CONV_GRADIENTS = _conv_gradients()
POOL_GRADIENTS = _pool_gradients()
