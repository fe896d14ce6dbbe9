"""Cases of windows beyond `windows`: in other dimensions, transposed, separable, with argmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, distinct, floats, ints
from tests_py.cases.sliding import Windows, batched, each
from tests_py.cases.table import (
    EXACT,
    ROUNDED,
    Array,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["CONVOLUTIONS", "CONVOLUTION_GRADIENTS", "DILATION", "POOLS", "POOL_GRADIENTS"]

INF, NAN = math.inf, math.nan

# -- oracles ------------------------------------------------------------------------------------


def _convolve(
    x: Array, filter: Array, strides: Any, pad: Any, dilations: Any, rounding: str | None = None
) -> Array:
    axes = filter.ndim - 2
    batch, single = batched(x, axes + 2)
    windows = Windows(batch.shape[1:-1], filter.shape[:axes], strides, pad, dilations, rounding)
    y = np.tensordot(windows.read(batch), filter, axes + 1)
    return y[0] if single else y


def _transposed(
    x: Array,
    filter: Array,
    output_shape: Sequence[int],
    strides: Any,
    pad: Any,
    rounding: str | None = None,
    dilations: Any = 1,
) -> Array:
    axes = filter.ndim - 2
    batch, single = batched(x, axes + 2)
    shape = (1, *output_shape) if single else tuple(output_shape)
    windows = Windows(shape[1:-1], filter.shape[:axes], strides, pad, dilations, rounding)
    parts = np.tensordot(batch, filter, ((axes + 1,), (axes + 1,)))
    y = windows.add_up(parts, shape)
    return y[0] if single else y


def _conv1d(
    x: Array,
    filter: Array,
    stride: int,
    pad: Any,
    data_format: str = "NWC",
    dilation: int = 1,
    rounding: str | None = None,
) -> Array:
    swapped = data_format == "NCW"
    padding = [(0, 0), (pad, pad), (0, 0)] if isinstance(pad, int) else pad
    if not isinstance(pad, str | int):
        if len(pad) == 4:  # as for an image of height 1
            padding = [pad[0], *pad[2:]]
        elif swapped:
            padding = [pad[0], pad[2], pad[1]]
    rows = np.swapaxes(x, -1, -2) if swapped else x
    y = _convolve(rows, filter, stride, padding, dilation, rounding)
    return np.swapaxes(y, -1, -2) if swapped else y


def _conv3d(
    x: Array, filter: Array, strides: Any, pad: Any, data_format: str = "NDHWC", dilations: Any = 1
) -> Array:
    return _convolve(x, filter, strides, pad, dilations)


def _separable(
    x: Array,
    depthwise: Array,
    pointwise: Array,
    strides: Any,
    pad: Any,
    dilation: Any = 1,
    data_format: str = "NHWC",
) -> Array:
    batch, single = batched(x, 4)
    if data_format == "NCHW":
        batch = batch.transpose(0, 2, 3, 1)
        pad = pad if isinstance(pad, (str, int)) else [pad[0], *pad[2:], pad[1]]
    windows = Windows(batch.shape[1:-1], depthwise.shape[:2], strides, pad, dilation)
    y = np.einsum("bijhwc,hwcm->bijcm", windows.read(batch), depthwise)
    y = y.reshape(*y.shape[:3], pointwise.shape[2]) @ pointwise[0, 0]
    if data_format == "NCHW":
        y = y.transpose(0, 3, 1, 2)
    return y[0] if single else y


def _dilation(
    x: Array,
    filter: Array,
    strides: Any,
    pad: Any,
    dilations: Any = 1,
    data_format: str = "NHWC",
) -> Array:
    batch, single = batched(x, 4)
    windows = Windows(batch.shape[1:-1], filter.shape[:2], strides, pad, dilations)
    y = (windows.read(batch, -INF) + filter).max(axis=(3, 4))
    return y[0] if single else y


def _pooled(
    kind: str,
    x: Array,
    size: Any,
    strides: Any,
    pad: Any,
    dilations: Any = 1,
    rounding: str | None = None,
    axes: int = 2,
) -> Array:
    batch, single = batched(x, axes + 2)
    sizes = each(size, axes)
    windows = Windows(batch.shape[1:-1], sizes, strides, pad, dilations, rounding)
    taps = tuple(range(axes + 1, 2 * axes + 1))
    if kind == "max":
        y = windows.read(batch, -INF).max(axis=taps)
    else:
        counts = windows.read(np.ones_like(batch)).sum(axis=taps)
        y = windows.read(batch).sum(axis=taps) / (counts if axes == 2 else np.maximum(counts, 1))
    return y[0] if single else y


def _pool(
    x: Array,
    window_shape: Any,
    pooling_type: str,
    pad: Any,
    dilations: Any = 1,
    strides: Any = 1,
    rounding: str | None = None,
) -> Array:
    dilations = 1 if dilations is None else dilations
    strides = 1 if strides is None else strides
    return _pooled(pooling_type, x, window_shape, strides, pad, dilations, rounding)


def _pool3d(kind: str) -> Any:
    def oracle(
        x: Array,
        filter_size: Any,
        strides: Any = None,
        pad: Any = "valid",
        dim_rounding_mode: str | None = None,
    ) -> Array:
        strides = filter_size if strides is None else strides
        return _pooled(kind, x, filter_size, strides, pad, 1, dim_rounding_mode, 3)

    return oracle


_max_pool3d, _avg_pool3d = _pool3d("max"), _pool3d("avg")


def _with_argmax(
    x: Array, filter_size: Any, strides: Any, pad: Any, include_batch_in_index: bool = False
) -> tuple[Array, Array]:
    batch, single = batched(x, 4)
    size = each(filter_size, 2)
    windows = Windows(batch.shape[1:-1], size, strides, pad, 1)
    taps = windows.read(batch, -INF)
    taps = taps.reshape(*taps.shape[:3], size[0] * size[1], taps.shape[5])
    numbers = np.arange(batch.size).reshape(batch.shape)
    if not include_batch_in_index:
        numbers = numbers % max(1, int(np.prod(batch.shape[1:])))
    flat_indices = windows.read(numbers, -1).astype(np.int32).reshape(taps.shape)
    first = np.expand_dims(taps.argmax(axis=3), 3)
    maxima = np.take_along_axis(taps, first, 3)[:, :, :, 0]
    argmax = np.take_along_axis(flat_indices, first, 3)[:, :, :, 0]
    return (maxima[0], argmax[0]) if single else (maxima, argmax)


# -- rows: convolutions --------------------------------------------------------------------------


def _sum_of(oracle: Any, tensors: int, length: Any) -> Tolerance:
    """Tolerance of a function that sums products of its first tensors."""

    def terms(*args: Any, **kwargs: Any) -> Array:
        sizes = [np.abs(array) for array in args[:tensors]]
        result: Array = oracle(*sizes, *args[tensors:], **kwargs)
        return result

    return summed(terms, length)


CONV1D_SUM = _sum_of(_conv1d, 2, lambda x, filter, *_: int(np.prod(filter.shape[:2])))
CONV3D_SUM = _sum_of(_conv3d, 2, lambda x, filter, *_: int(np.prod(filter.shape[:4])))
TRANSPOSED_SUM = _sum_of(
    _transposed, 2, lambda x, filter, *_, **__: int(np.prod((*filter.shape[:-2], filter.shape[-1])))
)
SEPARABLE_SUM = _sum_of(
    _separable, 3, lambda x, depthwise, *_, **__: int(np.prod(depthwise.shape)) + 2
)

PADS_1D: tuple[Any, ...] = ("same", "valid", 0, 2)
EXPLICIT_2D = [[0, 0], [1, 2], [3, 0], [0, 0]]
EXPLICIT_3D = [[0, 0], [1, 0], [0, 2], [1, 1], [0, 0]]
#: Windows of size 2, 1 and 3 at the edges contain only padding.
EMPTY_3D = [[0, 0], [3, 2], [1, 0], [0, 4], [0, 0]]


def _conv1d_case(shape: Sequence[int], filter: Sequence[int], *options: Any) -> Case:
    return Case(
        "conv1d", (floats(shape, seed=1), floats(filter, seed=2), *options), _conv1d, CONV1D_SUM
    )


def _conv1d_cases() -> list[Case]:
    cases = [
        _conv1d_case((2, 11, 3), (size, 3, 4), stride, pad, "NWC", dilation)
        for size, stride, dilation, pad in product((1, 2, 3, 5), (1, 2, 3), (1, 2), PADS_1D)
    ]
    cases += [_conv1d_case((1, 7, n), (3, n, m), 1, "same") for n, m in ((1, 1), (4, 8), (5, 3))]
    cases += [
        _conv1d_case((9, 2), (4, 2, 3), 1, "same"),
        _conv1d_case((2, 3, 9), (3, 3, 2), 2, "same", "NCW"),
        _conv1d_case((3, 9), (2, 3, 2), 1, "valid", "NCW"),
        _conv1d_case((0, 9, 2), (3, 2, 3), 1, "valid"),
        _conv1d_case((2, 0, 2), (3, 2, 3), 1, 2, "NWC"),
        _conv1d_case((1, 5, 2), (3, 2, 0), 1, "valid"),
        _conv1d_case((2, 5, 3), (3, 3, 2), 1, [(0, 0), (2, 1), (0, 0)]),
        _conv1d_case((2, 3, 5), (3, 3, 2), 2, [(0, 0), (0, 0), (0, 3)], "NCW"),
        _conv1d_case((2, 5, 3), (3, 3, 2), 1, [(0, 0), (0, 0), (1, 0), (0, 0)]),
        _conv1d_case((1, 5, 0), (3, 0, 2), 1, "valid"),
        _conv1d_case((2, 3, 2), (5, 2, 3), 2, "valid"),
        _conv1d_case((3, 2), (2, 2, 3), 1, 0, "NWC", 4),
        *(
            _conv1d_case((1, 8, 2), (3, 2, 3), 2, pad, "NWC", 1, mode)
            for pad, mode in product((0, 1), ("floor", "round", "ceil"))
        ),
    ]
    return cases


def _transposed_cases() -> list[Case]:
    cases = []

    def case(
        name: str,
        shape: Sequence[int],
        filter: Sequence[int],
        strides: Any,
        pad: Any,
        *rounding: Any,
        single: bool = False,
        **dilated: Any,
    ) -> Case:
        """The transpose of a convolution of ``shape`` by ``filter``."""
        axes = len(filter) - 2
        dilations = dilated.get("dilations", 1)
        windows = Windows(shape[1:-1], filter[:axes], strides, pad, dilations, *rounding)
        outputs = windows.inside.shape[:axes]
        x = floats((shape[0], *outputs, filter[-1]), seed=3)
        output_shape = list(shape)
        if single:
            x, output_shape = x[0], output_shape[1:]
        args = (x, floats(filter, seed=4), output_shape, strides, pad, *rounding)
        return Case(name, args, _transposed, TRANSPOSED_SUM, dilated, windows.oddities())

    two = "conv2d_transpose"
    for size, strides, pad in product(
        ((1, 1), (2, 2), (3, 2), (4, 4)), (1, 2, 3, (2, 1)), ("same", "valid", 1, EXPLICIT_2D)
    ):
        cases.append(case(two, (2, 7, 8, 3), (*size, 3, 4), strides, pad))
    cases += [case(two, (1, 6, 5, n), (3, 3, n, m), 2, "same") for n, m in ((1, 1), (4, 8), (8, 5))]
    cases += [
        case(two, (1, 9, 6, 2), (3, 3, 2, 4), 2, "same", single=True),
        case(two, (0, 6, 6, 2), (3, 3, 2, 4), 2, "same"),
        case(two, (1, 6, 6, 2), (3, 3, 2, 0), 2, "same"),
        case(two, (1, 6, 6, 0), (3, 3, 0, 2), 2, "same"),
        *(case(two, (1, 8, 8, 2), (3, 3, 2, 4), 2, 1, mode) for mode in ("floor", "round", "ceil")),
    ]
    three = "conv3d_transpose"
    cases += [
        case(three, (2, 4, 5, 6, 2), (*size, 2, 3), strides, pad)
        for size, strides, pad in product(
            ((1, 1, 1), (2, 2, 2), (3, 2, 1)), (1, 2, (2, 1, 3)), ("same", "valid", 1, EXPLICIT_3D)
        )
    ]
    cases += [
        case(three, (1, 5, 4, 3, 2), (3, 2, 2, 2, 4), 2, "same", single=True),
        case(three, (0, 5, 4, 3, 2), (3, 2, 2, 2, 4), 2, "same"),
        case(three, (1, 7, 3, 3, 1), (2, 1, 1, 1, 1), 3, "same"),
    ]
    for rate, pad in product((2, (1, 3)), ("same", "valid", EXPLICIT_2D)):
        dilated = case(two, (2, 7, 8, 2), (3, 2, 2, 3), 1, pad, dilations=rate)
        cases += [dilated, gradient_of(dilated)]
    for rate, pad in product((2, (3, 1, 2)), ("same", "valid", EXPLICIT_3D)):
        dilated = case(three, (1, 7, 5, 5, 2), (2, 3, 2, 2, 2), 1, pad, dilations=rate)
        cases += [dilated, gradient_of(dilated)]
    return cases


def _conv3d_case(shape: Sequence[int], filter: Sequence[int], *options: Any) -> Case:
    args = (floats(shape, seed=5), floats(filter, seed=6), *options)
    defaults: list[Any] = [1, "valid", "NDHWC", 1]
    strides, pad, _, dilations = [*options, *defaults[len(options) :]]
    note = Windows(shape[-4:-1], filter[:3], strides, pad, dilations).oddities()
    return Case("conv3d", args, _conv3d, CONV3D_SUM, note=note)


def _conv3d_cases() -> list[Case]:
    cases = [
        _conv3d_case((2, 5, 6, 7, 2), (*size, 2, 3), strides, pad, "NDHWC", dilations)
        for size, strides, pad, dilations in product(
            ((1, 1, 1), (2, 3, 2), (3, 1, 2)),
            (1, 2, (2, 1, 3)),
            ("same", "valid", 1, EXPLICIT_3D),
            (1, (2, 1, 1)),
        )
    ]
    return [
        *cases,
        *(_conv3d_case((1, 4, 4, 4, n), (2, 2, 2, n, m), 1, "same") for n, m in ((1, 1), (4, 4))),
        _conv3d_case((4, 5, 6, 2), (2, 2, 2, 2, 3), 1, "same"),
        _conv3d_case((1, 3, 3, 3, 2), (3, 3, 3, 2, 4), 1, "valid"),
        _conv3d_case((1, 9, 2, 2, 1), (1, 1, 1, 1, 1), 4, "same"),
        _conv3d_case((0, 4, 4, 4, 2), (2, 2, 2, 2, 3), 1, "valid"),
        _conv3d_case((1, 4, 0, 4, 2), (2, 2, 2, 2, 3), 1, 1),
        _conv3d_case((1, 4, 4, 4, 2), (2, 2, 2, 2, 0), 1, "valid"),
        _conv3d_case((1, 4, 4, 4, 0), (2, 2, 2, 0, 3), 1, "valid"),
        _conv3d_case((1, 2, 3, 4, 2), (3, 1, 1, 2, 3), 1, "valid"),
        _conv3d_case((2, 3, 4, 2), (1, 2, 2, 2, 3), 1, 0, "NDHWC", (1, 3, 1)),
    ]


def _separable_case(shape: Sequence[int], multiplier: int, outputs: int, *options: Any) -> Case:
    channels = shape[-3] if "NCHW" in options else shape[-1]
    args = (
        floats(shape, seed=7),
        floats((3, 2, channels, multiplier), seed=8),
        floats((1, 1, channels * multiplier, outputs), seed=9),
        *options,
    )
    return Case("separable_conv2d", args, _separable, SEPARABLE_SUM)


def _separable_cases() -> list[Case]:
    cases = [
        _separable_case((2, 6, 7, 3), multiplier, 4, strides, pad, dilation)
        for multiplier, strides, pad, dilation in product(
            (1, 2), (1, 2, (2, 1)), ("same", "valid", 1), (1, 2)
        )
    ]
    return [
        *cases,
        _separable_case((6, 5, 4), 1, 8, 1, "same"),
        _separable_case((1, 3, 6, 7), 2, 4, 1, "same", 1, "NCHW"),
        _separable_case((0, 6, 5, 4), 1, 8, 1, "same"),
        _separable_case((1, 0, 5, 4), 1, 8, 1, "same"),
        _separable_case((2, 2, 5, 4), 1, 8, 1, "valid"),
        _separable_case((1, 2, 5, 6), 1, 3, 1, [[0, 0], [0, 0], [2, 1], [0, 3]], 1, "NCHW"),
    ]


def _dilation_case(shape: Sequence[int], filter: Sequence[int], *options: Any) -> Case:
    x, weights = distinct(shape, -3, 3, seed=1), distinct(filter, -1, 1, seed=2)
    strides, pad, dilations = (*options, 1)[:3]
    note = Windows(shape[-3:-1], filter[:2], strides, pad, dilations).oddities()
    return Case("dilation2d", (x, weights, *options), _dilation, ROUNDED, note=note)


def _dilation_cases() -> list[Case]:
    cases = [
        _dilation_case((2, 7, 8, 3), (*size, 3), strides, pad, dilations)
        for size, strides, pad, dilations in product(
            ((1, 1), (2, 2), (3, 2)), (1, 2, (1, 3)), ("same", "valid", 1, EXPLICIT_2D), (1, (2, 1))
        )
    ]
    special = arr([INF, 1, -INF, 2, NAN, 0, 1, 1, 3], np.float32).reshape(1, 3, 3, 1)
    zeros = np.zeros((2, 2, 1), np.float32)
    return [
        *cases,
        *(_dilation_case((1, 5, 6, n), (2, 3, n), 1, "same") for n in (1, 4, 5, 8)),
        _dilation_case((5, 6, 3), (2, 2, 3), 1, "same"),
        _dilation_case((0, 5, 6, 3), (2, 2, 3), 1, "same"),
        _dilation_case((1, 0, 6, 3), (2, 2, 3), 1, 1),
        _dilation_case((1, 5, 6, 0), (2, 2, 0), 1, "same"),
        _dilation_case((1, 2, 6, 3), (3, 2, 3), 1, "valid"),
        Case("dilation2d", (special, zeros, 1, "same"), _dilation, note="of special values"),
        Case("dilation2d", (ints((1, 4, 4, 2)), ints((2, 2, 2)), 1, "valid"), _dilation, ROUNDED),
    ]


# -- rows: pools ---------------------------------------------------------------------------------

POOL_SUM = summed(
    lambda x, size, kind, *options: _pool(np.abs(x), size, kind, *options),
    lambda x, size, *_: int(np.prod(each(size, 2))) + 2,
)
POOL3D_SUM = summed(
    lambda x, *options: _avg_pool3d(np.abs(x), *options),
    lambda x, size, *_: int(np.prod(each(size, 3))) + 4,
)


def _pool_cases() -> list[Case]:
    cases = []
    for kind, tolerance in (("max", EXACT), ("avg", POOL_SUM)):

        def case(x: Array, *options: Any) -> Case:
            size, *rest = options
            return Case("pool", (x, size, kind, *rest), _pool, tolerance)  # noqa: B023

        x = floats((2, 7, 8, 3), -3, -1)
        for size, strides, dilations, pad in product(
            (2, (1, 3), (3, 2)), (1, 2), (1, 2, (2, 1)), ("same", "valid", 0, 1, EXPLICIT_2D)
        ):
            cases.append(case(x, size, pad, dilations, strides))
        cases += [case(x, 2, "valid"), case(x, 2, "valid", None, None), case(x[0], 3, "same", 2)]
        cases += [
            case(x, 3, pad, 1, 2, mode) for pad, mode in product((0, 1), ("floor", "round", "ceil"))
        ]
        cases += [case(floats((0, 5, 5, 2)), 2, "same"), case(floats((1, 6, 6, 4)), 3, "same", 2)]
        cases.append(case(floats((1, 3, 6, 4)), 2, "valid", 3))
        cases.append(case(floats((1, 8, 9, 2)), 4, 1, (3, 2)))
        around = [[0, 0], [2, 2], [2, 2], [0, 0]]
        args = (floats((1, 4, 4, 2)), (1, 1), kind, around, 1, 2)
        cases.append(Case("pool", args, _pool, tolerance, note="with empty windows"))
    return cases


def _argmax_cases() -> list[Case]:
    def case(x: Array, *options: Any, **kwargs: Any) -> Case:
        return Case("max_pool_with_argmax", (x, *options), _with_argmax, **kwargs)

    cases = [
        case(floats((2, 7, 6, 3)), size, strides, pad, batch)
        for size, strides, pad, batch in product(
            (1, 2, (3, 2)), (1, 2, (1, 3)), ("same", "valid", 1), (False, True)
        )
        if not (pad == 1 and size == 1)
    ]
    ties = ints((2, 6, 6, 4), 0, 3)
    return [
        *cases,
        *(case(ties.astype(np.float32), 3, 2, "same", batch) for batch in (False, True)),
        case(ties, 2, 2, "valid"),
        case(-floats((1, 6, 7, 5), 1, 2), 3, 2, [[0, 0], [1, 2], [2, 0], [0, 0]]),
        case(floats((5, 6, 2)), 2, 2, "valid", True),
        case(floats((0, 5, 6, 2)), 2, 2, "valid"),
        case(floats((1, 40, 50, 4)), 2, 2, "valid"),
        case(floats((1, 2, 3, 4)), 3, 1, "valid"),
    ]


def _pool3d_case(
    name: str, oracle: Any, x: Array, size: Any, *options: Any, tolerance: Tolerance = EXACT
) -> Case:
    defaults: list[Any] = [None, "valid", None]
    strides, pad, rounding = [*options, *defaults[len(options) :]]
    steps = size if strides is None else strides
    note = Windows(x.shape[-4:-1], each(size, 3), steps, pad, 1, rounding).oddities()
    return Case(name, (x, size, *options), oracle, tolerance, note=note)


def _pool3d_cases() -> list[Case]:
    cases = []
    for name, oracle, tolerance in (
        ("max_pool3d", _max_pool3d, EXACT),
        ("avg_pool3d", _avg_pool3d, POOL3D_SUM),
    ):

        def case(x: Array, *options: Any) -> Case:
            return _pool3d_case(name, oracle, x, *options, tolerance=tolerance)  # noqa: B023

        x = floats((2, 5, 6, 7, 3), -3, -1)
        for size, strides, pad in product(
            (1, 2, (3, 1, 2)), (1, 2, (2, 3, 1)), ("same", "valid", EXPLICIT_3D)
        ):
            if not (pad is EXPLICIT_3D and size == 1):
                cases.append(case(x, size, strides, pad))
        cases += [
            case(x, 2),
            case(x[0], 3, 1, 1),
            case(floats((1, 4, 4, 4, 4)), 2, 2, "same"),
            case(floats((0, 4, 4, 4, 2)), 2),
            case(floats((1, 0, 4, 4, 2)), 2, 1, 1),
            *(case(x, 2, 2, pad, mode) for pad, mode in product((0, 1), ("floor", "ceil"))),
            case(floats((1, 1, 1, 1, 1)), 2, 1, 2),
            case(floats((2, 3, 2, 4, 2)), (2, 1, 3), (2, 2, 1), EMPTY_3D),
            case(floats((2, 3, 4, 3, 2)), (5, 1, 1), 1),
            case(floats((2, 3, 4, 3, 2)), (1, 1, 5), 2, 0),
            case(floats((3, 4, 3, 2)), 6),
        ]
    return cases


# -- rows: gradients -----------------------------------------------------------------------------


def _convolution_gradients() -> list[Case]:
    cases = []
    for stride, pad, dilation in product((1, 2), ("same", "valid", 1), (1, 2)):
        case = _conv1d_case((2, 6, 2), (3, 2, 2), stride, pad, "NWC", dilation)
        cases.append(gradient_of(case))
    small = _conv1d_case((1, 4, 2), (2, 2, 2), 1, "same")
    cases += [
        second_derivative_of(small),
        gradient_of(_conv1d_case((2, 5), (3, 2, 2), 1, "same", "NCW")),
    ]
    cases.append(gradient_of(_conv1d_case((0, 5, 2), (3, 2, 2), 1, "same")))

    def transposed(
        name: str, shape: Sequence[int], filter: Sequence[int], strides: Any, pad: Any
    ) -> Case:
        axes = len(filter) - 2
        windows = Windows(shape[1:-1], filter[:axes], strides, pad, 1)
        x = floats((shape[0], *windows.inside.shape[:axes], filter[-1]), seed=3)
        args = (x, floats(filter, seed=4), list(shape), strides, pad)
        return Case(name, args, _transposed, TRANSPOSED_SUM, note=windows.oddities())

    for strides, pad in product((1, 2), ("same", "valid")):
        case = transposed("conv2d_transpose", (1, 4, 5, 2), (3, 2, 2, 2), strides, pad)
        cases.append(gradient_of(case))
        case = transposed("conv3d_transpose", (1, 3, 2, 3, 2), (2, 2, 2, 2, 1), strides, pad)
        cases.append(gradient_of(case))
        case = _conv3d_case((1, 3, 4, 3, 2), (2, 2, 2, 2, 2), strides, pad)
        cases.append(gradient_of(case))
        cases.append(gradient_of(_separable_case((1, 4, 4, 2), 2, 2, strides, pad)))
    second = transposed("conv2d_transpose", (1, 3, 3, 1), (2, 2, 1, 2), 2, "same")
    cases.append(second_derivative_of(second))
    cases.append(
        second_derivative_of(
            transposed("conv3d_transpose", (1, 3, 2, 2, 1), (2, 2, 1, 1, 1), 1, "same")
        )
    )
    cases.append(second_derivative_of(_conv3d_case((1, 3, 2, 2, 1), (2, 2, 2, 1, 1), 1, "same")))
    cases.append(second_derivative_of(_separable_case((1, 3, 3, 1), 1, 2, 1, "same")))
    dilated = _conv3d_case((1, 5, 4, 3, 1), (2, 2, 1, 1, 2), 1, "valid", "NDHWC", (2, 2, 1))
    cases += [
        gradient_of(dilated),
        gradient_of(_conv3d_case((0, 3, 3, 3, 1), (2, 2, 2, 1, 2), 1, "same")),
    ]
    for strides, pad, dilations in product((1, 2), ("same", "valid", EXPLICIT_2D), (1, 2)):
        case = _dilation_case((1, 5, 6, 2), (2, 2, 2), strides, pad, dilations)
        cases.append(gradient_of(case))
    cases += [
        gradient_of(_dilation_case((3, 4, 1), (3, 2, 1), 1, "same")),
        gradient_of(_dilation_case((0, 3, 4, 1), (3, 2, 1), 1, "same")),
        gradient_of(_dilation_case((1, 2, 4, 1), (3, 2, 1), 1, "valid")),
        gradient_of(_conv1d_case((1, 3, 2), (5, 2, 2), 1, "valid")),
        gradient_of(_conv3d_case((1, 2, 3, 3, 1), (3, 2, 2, 1, 2), 1, "valid")),
    ]
    return cases


def _pool_gradients() -> list[Case]:
    cases = []
    for kind, dilations, pad in product(("max", "avg"), (1, 2), ("same", "valid", 1)):
        x = distinct((1, 5, 6, 2))
        cases.append(gradient_of(Case("pool", (x, (2, 3), kind, pad, dilations), _pool)))
    x = distinct((1, 8, 9, 2))
    cases += [gradient_of(Case("pool", (x, 4, kind, 1, (3, 2)), _pool)) for kind in ("max", "avg")]
    for name, oracle in (("max_pool3d", _max_pool3d), ("avg_pool3d", _avg_pool3d)):
        for size, strides, pad in product((2, (1, 2, 3)), (1, 2), ("same", "valid")):
            x = distinct((1, 4, 3, 4, 2))
            cases.append(gradient_of(_pool3d_case(name, oracle, x, size, strides, pad)))
        for x, *options in (
            (distinct((3, 3, 3, 1)), 2, 1),
            (distinct((2, 3, 2, 4, 2)), (2, 1, 3), (2, 2, 1), EMPTY_3D),
            (distinct((1, 2, 3, 3, 1)), 3, 1),
        ):
            cases.append(gradient_of(_pool3d_case(name, oracle, x, *options)))

    def first(x: Array, name: str, *options: Any) -> Array:
        return _with_argmax(x, *options)[0]

    for strides, pad in product((1, 2), ("same", "valid")):
        args = (distinct((1, 4, 5, 2)), "max_pool_with_argmax", 2, strides, pad)
        cases.append(gradient_of(Case("first_output", args, first)))
    return cases


CONVOLUTIONS = [
    *_conv1d_cases(),
    *_transposed_cases(),
    *_conv3d_cases(),
    *_separable_cases(),
]
CONVOLUTION_GRADIENTS = _convolution_gradients()
DILATION = _dilation_cases()
POOLS = [*_pool_cases(), *_argmax_cases(), *_pool3d_cases()]
POOL_GRADIENTS = _pool_gradients()
