"""Bad input to windows, normalization, images, losses and pixels: each gives a clear error."""

import asyncio
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import webtensor as wt

NAN, INF = math.nan, math.inf

Row = tuple[Callable[[], Any], type[Exception] | tuple[type[Exception], ...], str]

IMAGE = wt.ones((1, 6, 6, 3))
VOLUME = wt.ones((1, 4, 4, 4, 2))
MATRIX = wt.ones((3, 4))
CUBE = wt.ones((2, 2, 2, 2, 2))
CONV1D = wt.ones((3, 4, 2))
FILTER = wt.ones((2, 2, 3, 4))
TURNED = wt.ones((2, 2, 2, 3))
VOLUME_FILTER = wt.ones((2, 2, 2, 2, 3))
DEPTHWISE, POINTWISE = wt.ones((2, 2, 3, 2)), wt.ones((1, 1, 6, 4))
STRUCTURE = wt.ones((2, 2, 3))
BOXES = wt.tensor([[0.0, 0.0, 1.0, 1.0]])
FIRST = wt.tensor([0])
MOVE = wt.tensor([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
STATE = wt.ones((1, 2))
CELL = wt.ones((3, 8)), wt.ones((8,)), wt.ones((1, 1)), STATE, STATE
WORDS: Any = "many"


def _pools3d(name: str) -> dict[str, Row]:
    pool = getattr(wt, name)
    rows: dict[str, tuple[Callable[[], Any], str]] = {
        "of a matrix": (lambda: pool(MATRIX, 2), "x must have rank 4 or 5"),
        "by a pair": (lambda: pool(VOLUME, (2, 2)), "filter_size must be"),
        "with a stride of 0": (lambda: pool(VOLUME, 2, 0), "strides must be"),
        "with unknown padding": (lambda: pool(VOLUME, 2, 2, "full"), "pad must be"),
        "with unknown rounding": (
            lambda: pool(VOLUME, 2, 2, 0, "up"),
            "dim_rounding_mode must be",
        ),
        "in an unknown layout": (
            lambda: pool(VOLUME, 2, 2, 0, None, "NCDHW"),
            "data_format must be 'NDHWC', but got 'NCDHW'",
        ),
    }
    return {
        f"{name} {what}": (do, ValueError, f"{name}: {message}")
        for what, (do, message) in rows.items()
    }


#: Functions that round output lengths, by name, each as a function of the padding.
ROUNDED_WINDOWS: dict[str, Callable[[Any], Any]] = {
    "conv1d": lambda pad: wt.conv1d(MATRIX, CONV1D, 1, pad, "NWC", 1, "floor"),
    "conv2d": lambda pad: wt.conv2d(IMAGE, FILTER, 1, pad, "NHWC", 1, "floor"),
    "depthwise_conv2d": lambda pad: wt.depthwise_conv2d(IMAGE, FILTER, 1, pad, "NHWC", 1, "floor"),
    "conv2d_transpose": lambda pad: wt.conv2d_transpose(
        IMAGE, TURNED, (1, 6, 6, 2), 1, pad, "floor"
    ),
    "max_pool": lambda pad: wt.max_pool(IMAGE, 2, 1, pad, "floor"),
    "avg_pool": lambda pad: wt.avg_pool(IMAGE, 2, 1, pad, "floor"),
    "pool": lambda pad: wt.pool(IMAGE, 2, "max", pad, 1, 1, "floor"),
    "max_pool3d": lambda pad: wt.max_pool3d(VOLUME, 2, 1, pad, "floor"),
    "avg_pool3d": lambda pad: wt.avg_pool3d(VOLUME, 2, 1, pad, "floor"),
}
FUSED_WINDOWS: dict[str, Callable[[Any], Any]] = {
    "conv2d": lambda pad: wt.fused.conv2d(IMAGE, FILTER, 1, pad, dim_rounding_mode="floor"),
    "depthwise_conv2d": lambda pad: wt.fused.depthwise_conv2d(
        IMAGE, FILTER, 1, pad, dim_rounding_mode="floor"
    ),
}
HALVES = (1.5, [[0, 0], [0, 1.5], [1, 1], [0, 0]], [[0, 0], [0, 2.0], [1, 1], [0, 0]])


def _rounded_windows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for kind, windows in (("", ROUNDED_WINDOWS), ("fused ", FUSED_WINDOWS)):
        for name, call in windows.items():
            for pad in ("same", "valid"):
                rows[f"{kind}{name} with rounding beside {pad}"] = (
                    partial(call, pad),
                    ValueError,
                    rf"{name}: dim_rounding_mode 'floor' needs pad to be .*, but got '{pad}'",
                )
            for half in HALVES:
                rows[f"{kind}{name} with padding {half}"] = (
                    partial(call, half),
                    (TypeError, ValueError),
                    f"{name}: pad must be",
                )
    return rows


WINDOWS: dict[str, Row] = {
    **_rounded_windows(),
    # -- conv1d
    "conv1d of rank 1": (
        lambda: wt.conv1d([1.0], CONV1D, 1, "same"),
        ValueError,
        r"conv1d: x must have rank 2 or 3, but its shape is \(1,\)",
    ),
    "conv1d by a matrix": (
        lambda: wt.conv1d(MATRIX, MATRIX, 1, "same"),
        ValueError,
        "conv1d: filter must have rank 3",
    ),
    "conv1d with other channels": (
        lambda: wt.conv1d(wt.ones((5, 3)), CONV1D, 1, "same"),
        ValueError,
        "conv1d: filter has 4 input channels, but x has 3",
    ),
    "conv1d with a stride of 0": (
        lambda: wt.conv1d(MATRIX, CONV1D, 0, "same"),
        ValueError,
        "conv1d: stride must be a positive integer, but got 0",
    ),
    "conv1d with two strides": (
        lambda: wt.conv1d(MATRIX, CONV1D, (1, 1), "same"),
        ValueError,
        "conv1d: stride must be a positive integer",
    ),
    "conv1d with unknown padding": (
        lambda: wt.conv1d(MATRIX, CONV1D, 1, "full"),
        ValueError,
        "conv1d: pad must be 'same', 'valid'",
    ),
    "conv1d with negative padding": (
        lambda: wt.conv1d(MATRIX, CONV1D, 1, -1),
        ValueError,
        r"conv1d: pad must be 'same', 'valid', a non-negative number, or \[\[0, 0\], .* got -1",
    ),
    "conv1d in an unknown layout": (
        lambda: wt.conv1d(MATRIX, CONV1D, 1, "same", "NHWC"),
        ValueError,
        "conv1d: data_format must be 'NWC' or 'NCW', but got 'NHWC'",
    ),
    "conv1d with a dilation of 0": (
        lambda: wt.conv1d(MATRIX, CONV1D, 1, "same", "NWC", 0),
        ValueError,
        "conv1d: dilation must be a positive integer, but got 0",
    ),
    "conv1d with unknown rounding": (
        lambda: wt.conv1d(MATRIX, CONV1D, 1, 0, "NWC", 1, "up"),
        ValueError,
        "conv1d: dim_rounding_mode must be",
    ),
    # -- transposed
    "conv2d_transpose of a matrix": (
        lambda: wt.conv2d_transpose(MATRIX, TURNED, (4, 4, 2), 1, "same"),
        ValueError,
        "conv2d_transpose: x must have rank 3 or 4",
    ),
    "conv2d_transpose by a cube": (
        lambda: wt.conv2d_transpose(IMAGE, STRUCTURE, (1, 6, 6, 2), 1, "same"),
        ValueError,
        "conv2d_transpose: filter must have rank 4",
    ),
    "conv2d_transpose with other channels": (
        lambda: wt.conv2d_transpose(IMAGE, FILTER, (1, 6, 6, 3), 1, "same"),
        ValueError,
        "conv2d_transpose: filter has 4 input channels, but x has 3",
    ),
    "conv2d_transpose to other channels": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (1, 6, 6, 5), 1, "same"),
        ValueError,
        "conv2d_transpose: filter has 2 output channels, but output_shape has 5",
    ),
    "conv2d_transpose to another rank": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (6, 6, 2), 1, "same"),
        ValueError,
        "conv2d_transpose: output_shape must have the rank of x",
    ),
    "conv2d_transpose to no shape": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, WORDS, 1, "same"),
        TypeError,
        "conv2d_transpose: output_shape must be integers, but got 'many'",
    ),
    "conv2d_transpose to a shape that gives another": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (1, 6, 6, 2), 2, "same"),
        ValueError,
        r"a convolution turns output_shape \(1, 6, 6, 2\) into \(1, 3, 3, 3\), but x has shape",
    ),
    "conv2d_transpose with a stride of 0": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (1, 6, 6, 2), 0, "same"),
        ValueError,
        "conv2d_transpose: strides must be",
    ),
    "conv2d_transpose with unknown padding": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (1, 6, 6, 2), 1, "full"),
        ValueError,
        "conv2d_transpose: pad must be",
    ),
    "conv2d_transpose with unknown rounding": (
        lambda: wt.conv2d_transpose(IMAGE, TURNED, (1, 6, 6, 2), 1, 0, "up"),
        ValueError,
        "conv2d_transpose: dim_rounding_mode must be",
    ),
    # -- volumes
    "conv3d of an image": (
        lambda: wt.conv3d(MATRIX, VOLUME_FILTER, 1, "same"),
        ValueError,
        "conv3d: x must have rank 4 or 5",
    ),
    "conv3d by an image filter": (
        lambda: wt.conv3d(VOLUME, FILTER, 1, "same"),
        ValueError,
        "conv3d: filter must have rank 5",
    ),
    "conv3d with other channels": (
        lambda: wt.conv3d(wt.ones((1, 4, 4, 4, 5)), VOLUME_FILTER, 1, "same"),
        ValueError,
        "conv3d: filter has 2 input channels, but x has 5",
    ),
    "conv3d with two strides": (
        lambda: wt.conv3d(VOLUME, VOLUME_FILTER, (1, 2), "same"),
        ValueError,
        "conv3d: strides must be a positive integer or 3 of them, but got",
    ),
    "conv3d with an image's padding": (
        lambda: wt.conv3d(VOLUME, VOLUME_FILTER, 1, [[0, 0], [1, 1], [1, 1], [0, 0]]),
        ValueError,
        r"conv3d: pad must be .* \[\[0, 0\], \[front, back\]",
    ),
    "conv3d in an unknown layout": (
        lambda: wt.conv3d(VOLUME, VOLUME_FILTER, 1, "same", "NCDHW"),
        ValueError,
        "conv3d: data_format must be 'NDHWC', but got 'NCDHW'",
    ),
    "conv3d with a dilation of 0": (
        lambda: wt.conv3d(VOLUME, VOLUME_FILTER, 1, "same", "NDHWC", 0),
        ValueError,
        "conv3d: dilations must be",
    ),
    "conv3d_transpose of a matrix": (
        lambda: wt.conv3d_transpose(MATRIX, CUBE, (2, 2, 2, 2), 1, "same"),
        ValueError,
        "conv3d_transpose: x must have rank 4 or 5",
    ),
    "conv3d_transpose by an image filter": (
        lambda: wt.conv3d_transpose(VOLUME, FILTER, (1, 4, 4, 4, 2), 1, "same"),
        ValueError,
        "conv3d_transpose: filter must have rank 5",
    ),
    "conv3d_transpose to another shape": (
        lambda: wt.conv3d_transpose(VOLUME, CUBE, (1, 5, 4, 4, 2), 1, "same"),
        ValueError,
        "conv3d_transpose: a convolution turns output_shape",
    ),
    "conv3d_transpose with a stride of 0": (
        lambda: wt.conv3d_transpose(VOLUME, CUBE, (1, 4, 4, 4, 2), 0, "same"),
        ValueError,
        "conv3d_transpose: strides must be",
    ),
    "conv3d_transpose with unknown padding": (
        lambda: wt.conv3d_transpose(VOLUME, CUBE, (1, 4, 4, 4, 2), 1, "full"),
        ValueError,
        "conv3d_transpose: pad must be",
    ),
    # -- separable
    "separable_conv2d of a matrix": (
        lambda: wt.separable_conv2d(MATRIX, DEPTHWISE, POINTWISE, 1, "same"),
        ValueError,
        "separable_conv2d: x must have rank 3 or 4",
    ),
    "separable_conv2d with other channels": (
        lambda: wt.separable_conv2d(wt.ones((4, 4, 2)), DEPTHWISE, POINTWISE, 1, "same"),
        ValueError,
        "separable_conv2d: filter has 3 input channels, but x has 2",
    ),
    "separable_conv2d by a wide pointwise filter": (
        lambda: wt.separable_conv2d(IMAGE, DEPTHWISE, wt.ones((2, 1, 6, 4)), 1, "same"),
        ValueError,
        r"separable_conv2d: pointwise_filter must have shape \(1, 1, 6, out_channels\)",
    ),
    "separable_conv2d in an unknown layout": (
        lambda: wt.separable_conv2d(IMAGE, DEPTHWISE, POINTWISE, 1, "same", 1, "HWC"),
        ValueError,
        "separable_conv2d: data_format must be",
    ),
    "separable_conv2d with a stride of 0": (
        lambda: wt.separable_conv2d(IMAGE, DEPTHWISE, POINTWISE, 0, "same"),
        ValueError,
        "strides must be",
    ),
    # -- dilation
    "dilation2d of a matrix": (
        lambda: wt.dilation2d(MATRIX, STRUCTURE, 1, "same"),
        ValueError,
        "dilation2d: x must have rank 3 or 4",
    ),
    "dilation2d by an image filter": (
        lambda: wt.dilation2d(IMAGE, FILTER, 1, "same"),
        ValueError,
        "dilation2d: filter must have rank 3",
    ),
    "dilation2d with other channels": (
        lambda: wt.dilation2d(IMAGE, wt.ones((2, 2, 4)), 1, "same"),
        ValueError,
        "dilation2d: filter has 4 channels, but x has 3",
    ),
    "dilation2d by an empty filter": (
        lambda: wt.dilation2d(IMAGE, wt.ones((0, 2, 3)), 1, "same"),
        ValueError,
        "dilation2d: filter must not be empty",
    ),
    "dilation2d with a stride of 0": (
        lambda: wt.dilation2d(IMAGE, STRUCTURE, 0, "same"),
        ValueError,
        "dilation2d: strides must be",
    ),
    "dilation2d with unknown padding": (
        lambda: wt.dilation2d(IMAGE, STRUCTURE, 1, "full"),
        ValueError,
        "dilation2d: pad must be",
    ),
    "dilation2d with a dilation of 0": (
        lambda: wt.dilation2d(IMAGE, STRUCTURE, 1, "same", 0),
        ValueError,
        "dilation2d: dilations must be",
    ),
    "dilation2d in an unknown layout": (
        lambda: wt.dilation2d(IMAGE, STRUCTURE, 1, "same", 1, "NCHW"),
        ValueError,
        "dilation2d: data_format must be 'NHWC', but got 'NCHW'",
    ),
    # -- pools
    "pool of a matrix": (
        lambda: wt.pool(MATRIX, 2, "max", "same"),
        ValueError,
        "pool: x must have rank 3 or 4",
    ),
    "pool by a window of three": (
        lambda: wt.pool(IMAGE, (2, 2, 2), "max", "same"),
        ValueError,
        "pool: window_shape must be",
    ),
    "pool of an unknown type": (
        lambda: wt.pool(IMAGE, 2, "median", "same"),
        ValueError,
        "pool: pooling_type must be 'max' or 'avg', but got 'median'",
    ),
    "pool with unknown padding": (
        lambda: wt.pool(IMAGE, 2, "max", "full"),
        ValueError,
        "pool: pad must be",
    ),
    "pool with a dilation of 0": (
        lambda: wt.pool(IMAGE, 2, "max", "same", 0),
        ValueError,
        "pool: dilations must be",
    ),
    "pool with a stride of 0": (
        lambda: wt.pool(IMAGE, 2, "max", "same", 1, 0),
        ValueError,
        "pool: strides must be",
    ),
    "pool with unknown rounding": (
        lambda: wt.pool(IMAGE, 2, "max", 0, 1, 1, "up"),
        ValueError,
        "pool: dim_rounding_mode must be",
    ),
    "max_pool_with_argmax of a matrix": (
        lambda: wt.max_pool_with_argmax(MATRIX, 2, 2, "same"),
        ValueError,
        "max_pool_with_argmax: x must have rank 3 or 4",
    ),
    "max_pool_with_argmax by nothing": (
        lambda: wt.max_pool_with_argmax(IMAGE, 0, 2, "same"),
        ValueError,
        "max_pool_with_argmax: filter_size must be",
    ),
    "max_pool_with_argmax with a stride of 0": (
        lambda: wt.max_pool_with_argmax(IMAGE, 2, 0, "same"),
        ValueError,
        "max_pool_with_argmax: strides must be",
    ),
    "max_pool_with_argmax with unknown padding": (
        lambda: wt.max_pool_with_argmax(IMAGE, 2, 2, "full"),
        ValueError,
        "max_pool_with_argmax: pad must be",
    ),
    **_pools3d("max_pool3d"),
    **_pools3d("avg_pool3d"),
}

NORMALIZATION: dict[str, Row] = {
    "a mean of other channels": (
        lambda: wt.batch_norm(IMAGE, wt.ones((4,)), wt.ones((3,))),
        ValueError,
        r"batch_norm: mean has shape \(4,\), which does not broadcast to that of x, \(1, 6, 6, 3\)",
    ),
    "a variance of other channels": (
        lambda: wt.batch_norm(IMAGE, wt.ones((3,)), wt.ones((4,))),
        ValueError,
        "batch_norm: variance has shape",
    ),
    "an offset of other channels": (
        lambda: wt.batch_norm(IMAGE, wt.ones((3,)), wt.ones((3,)), wt.ones((2,))),
        ValueError,
        "batch_norm: offset has shape",
    ),
    "a scale of other channels": (
        lambda: wt.batch_norm(IMAGE, wt.ones((3,)), wt.ones((3,)), None, wt.ones((2,))),
        ValueError,
        "batch_norm: scale has shape",
    ),
    "a mean of greater rank": (
        lambda: wt.batch_norm([1.0], wt.ones((2, 1)), [1.0]),
        ValueError,
        "batch_norm: mean has shape",
    ),
    "a negative epsilon": (
        lambda: wt.batch_norm([1.0], [1.0], [1.0], variance_epsilon=-1),
        ValueError,
        "batch_norm: variance_epsilon must be a non-negative number, but got -1",
    ),
    "words as an epsilon": (
        lambda: wt.batch_norm([1.0], [1.0], [1.0], variance_epsilon=WORDS),
        TypeError,
        "batch_norm: variance_epsilon must be a number",
    ),
    "batch_norm2d of an image": (
        lambda: wt.batch_norm2d(IMAGE, wt.ones((3,)), wt.ones((3,))),
        ValueError,
        "batch_norm2d: x must have rank 2",
    ),
    "batch_norm3d of a matrix": (
        lambda: wt.batch_norm3d(MATRIX, wt.ones((4,)), wt.ones((4,))),
        ValueError,
        "batch_norm3d: x must have rank 3",
    ),
    "batch_norm4d by a scalar": (
        lambda: wt.batch_norm4d(IMAGE, 1.0, wt.ones((3,))),
        ValueError,
        "batch_norm4d: mean must have rank 1 or 4",
    ),
    "local_response_normalization of a matrix": (
        lambda: wt.local_response_normalization(MATRIX),
        ValueError,
        "local_response_normalization: x must have rank 3 or 4",
    ),
    "half a radius": (
        lambda: wt.local_response_normalization(IMAGE, 0.5),
        TypeError,
        "local_response_normalization: depth_radius must be an integer, but got 0.5",
    ),
    "a negative radius": (
        lambda: wt.local_response_normalization(IMAGE, -1),
        ValueError,
        "local_response_normalization: depth_radius must not be negative, but got -1",
    ),
    **{
        f"words as {argument}": (
            partial(wt.local_response_normalization, IMAGE, **{argument: WORDS}),
            TypeError,
            f"local_response_normalization: {argument} must be a number, but got 'many'",
        )
        for argument in ("bias", "alpha", "beta")
    },
    "dropout of integers": (
        lambda: wt.dropout(wt.tensor([1]), 0.5),
        TypeError,
        "dropout: x must be float32, but got int32",
    ),
    "dropout of all": (
        lambda: wt.dropout([1.0], 1),
        ValueError,
        r"dropout: rate must lie in \[0, 1\), but got 1",
    ),
    "dropout by a negative rate": (
        lambda: wt.dropout([1.0], -0.1),
        ValueError,
        "dropout: rate must lie in",
    ),
    "dropout by NaN": (lambda: wt.dropout([1.0], NAN), ValueError, "dropout: rate must lie in"),
    "a noise shape that does not fit": (
        lambda: wt.dropout(MATRIX, 0.5, (2, 4)),
        ValueError,
        r"dropout: noise_shape \(2, 4\) does not broadcast to the shape of x, \(3, 4\)",
    ),
    "None in a noise shape of another rank": (
        lambda: wt.dropout(MATRIX, 0.5, (None,)),
        TypeError,
        "dropout: noise_shape must be integers",
    ),
    "text as a seed": (
        lambda: wt.dropout(MATRIX, 0.5, seed=WORDS),
        TypeError,
        "seed must be a number or None",
    ),
    # -- cells
    "a cell's kernel of another shape": (
        lambda: wt.basic_lstm_cell(1.0, wt.ones((3, 4)), *CELL[1:]),
        ValueError,
        r"basic_lstm_cell: lstm_kernel must have shape \(3, 8\) and lstm_bias \(8,\)",
    ),
    "a cell's bias of another shape": (
        lambda: wt.basic_lstm_cell(1.0, CELL[0], wt.ones((4,)), *CELL[2:]),
        ValueError,
        "basic_lstm_cell: lstm_kernel must have shape",
    ),
    "a cell's data of rank 1": (
        lambda: wt.basic_lstm_cell(1.0, *CELL[:2], wt.ones((1,)), STATE, STATE),
        ValueError,
        "basic_lstm_cell: data must have rank 2",
    ),
    "a cell's states of unlike shapes": (
        lambda: wt.basic_lstm_cell(1.0, *CELL[:3], STATE, wt.ones((1, 3))),
        ValueError,
        "basic_lstm_cell: c and h must be",
    ),
    "a cell's batches of unlike lengths": (
        lambda: wt.basic_lstm_cell(1.0, *CELL[:2], wt.ones((2, 1)), STATE, STATE),
        ValueError,
        "basic_lstm_cell: c and h must be",
    ),
    "fewer states than cells": (
        lambda: wt.multi_rnn_cell([lambda d, c, h: (c, h)], [[1.0]], [], [STATE]),
        ValueError,
        "multi_rnn_cell: c and h must hold one state for each of 1 cells, but they hold 0 and 1",
    ),
    # -- fused
    "an unknown activation": (
        lambda: wt.fused.conv2d(IMAGE, FILTER, 1, "same", activation="swish"),
        ValueError,
        "fused.conv2d: activation must be one of 'linear', 'elu', .*, but got 'swish'",
    ),
    "prelu without slopes": (
        lambda: wt.fused.depthwise_conv2d(IMAGE, DEPTHWISE, 1, "same", activation="prelu"),
        ValueError,
        "fused.depthwise_conv2d: activation 'prelu' needs prelu_activation_weights",
    ),
    "slopes of other channels": (
        lambda: wt.fused.conv2d(
            IMAGE, FILTER, 1, "same", activation="prelu", prelu_activation_weights=wt.ones((3,))
        ),
        ValueError,
        "fused.conv2d: prelu_activation_weights has shape",
    ),
    "a bias of other channels": (
        lambda: wt.fused.conv2d(IMAGE, FILTER, 1, "same", bias=wt.ones((3,))),
        ValueError,
        r"fused.conv2d: bias has shape \(3,\), which does not broadcast to that of the result",
    ),
    "a bias of other columns": (
        lambda: wt.fused.mat_mul(MATRIX, wt.ones((4, 2)), bias=wt.ones((3,))),
        ValueError,
        "fused.mat_mul: bias has shape",
    ),
    "words as a slope": (
        lambda: wt.fused.mat_mul(
            MATRIX, wt.ones((4, 2)), activation="leakyrelu", leakyrelu_alpha=WORDS
        ),
        TypeError,
        "fused.mat_mul: leakyrelu_alpha must be a number",
    ),
    "fused matrices that do not fit": (
        lambda: wt.fused.mat_mul(MATRIX, MATRIX),
        ValueError,
        "mat_mul: a has 4 columns, but b has 3 rows",
    ),
}


def _resizing(name: str) -> dict[str, Row]:
    resize = getattr(wt.image, name)
    return {
        f"{name} of a matrix": (
            lambda: resize(MATRIX, (2, 2)),
            ValueError,
            f"{name}: images must have rank 3 or 4",
        ),
        f"{name} of nothing": (
            lambda: resize(wt.zeros((0, 3, 1)), (2, 2)),
            ValueError,
            f"{name}: images must not be empty",
        ),
        f"{name} to a number": (
            lambda: resize(IMAGE, 4),
            ValueError,
            rf"{name}: size must be two positive integers, \(height, width\), but got 4",
        ),
        f"{name} to nothing": (
            lambda: resize(IMAGE, (0, 4)),
            ValueError,
            f"{name}: size must be two positive integers",
        ),
        f"{name} to halves": (
            lambda: resize(IMAGE, (1.5, 4)),
            ValueError,
            f"{name}: size must be two positive integers",
        ),
        f"{name} by both rules": (
            lambda: resize(IMAGE, (2, 2), True, True),
            ValueError,
            f"{name}: align_corners and half_pixel_centers exclude each other",
        ),
    }


def _suppressing(name: str) -> dict[str, Row]:
    choose = getattr(wt.image, name)

    def call(*args: Any) -> Callable[[], Any]:
        if name.endswith("_async"):
            return lambda: asyncio.run(choose(*args))
        return lambda: choose(*args)

    return {
        f"{name} of corners": (
            call(wt.ones((2, 2)), [1.0, 1.0], 1),
            ValueError,
            rf"{name}: boxes must have shape \(count, 4\), but got \(2, 2\)",
        ),
        f"{name} by too many scores": (
            call(BOXES, [1.0, 1.0], 1),
            ValueError,
            rf"{name}: scores must have shape \(1,\), one for each box, but got \(2,\)",
        ),
        f"{name} to half a box": (
            call(BOXES, [1.0], 0.5),
            TypeError,
            f"{name}: max_output_size must be an integer, but got 0.5",
        ),
        f"{name} to less than none": (
            call(BOXES, [1.0], -1),
            ValueError,
            f"{name}: max_output_size must not be negative",
        ),
        f"{name} above an overlap of 1": (
            call(BOXES, [1.0], 1, 1.5),
            ValueError,
            rf"{name}: iou_threshold must lie in \[0, 1\], but got 1.5",
        ),
        f"{name} above words": (
            call(BOXES, [1.0], 1, 0.5, WORDS),
            TypeError,
            f"{name}: score_threshold must be a number",
        ),
    }


IMAGES: dict[str, Row] = {
    **_resizing("resize_bilinear"),
    **_resizing("resize_nearest_neighbor"),
    "resize_nearest_neighbor of bools": (
        lambda: wt.image.resize_nearest_neighbor(wt.full((2, 2, 1), True), (4, 4)),
        TypeError,
        "resize_nearest_neighbor: images must be float32 or int32, but got bool",
    ),
    # -- cropping
    "crops of a matrix": (
        lambda: wt.image.crop_and_resize(MATRIX, BOXES, FIRST, (2, 2)),
        ValueError,
        "crop_and_resize: image must have rank 4",
    ),
    "crops of no pixels": (
        lambda: wt.image.crop_and_resize(wt.zeros((1, 0, 2, 1)), BOXES, FIRST, (2, 2)),
        ValueError,
        "crop_and_resize: image must not be empty",
    ),
    "crops of no images": (
        lambda: wt.image.crop_and_resize(wt.zeros((0, 2, 2, 1)), BOXES, FIRST, (2, 2)),
        IndexError,
        "crop_and_resize",
    ),
    "boxes of two numbers": (
        lambda: wt.image.crop_and_resize(IMAGE, [[0.0, 1.0]], FIRST, (2, 2)),
        ValueError,
        r"crop_and_resize: boxes must have shape \(count, 4\)",
    ),
    "numbers for other boxes": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, [0, 0], (2, 2)),
        ValueError,
        r"crop_and_resize: box_ind must have shape \(1,\)",
    ),
    "fractions for boxes": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, [0.0], (2, 2)),
        TypeError,
        "crop_and_resize: box_ind must be int32, but got float32",
    ),
    "a box in an image that is not there": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, [1], (2, 2)),
        IndexError,
        r"crop_and_resize: box_ind must lie in \[0, 1\)",
    ),
    "crops of three lengths": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, FIRST, (2, 2, 3)),
        ValueError,
        "crop_and_resize: crop_size must be two positive integers",
    ),
    "crops by an unknown method": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, FIRST, (2, 2), "cubic"),
        ValueError,
        "crop_and_resize: method must be 'bilinear' or 'nearest', but got 'cubic'",
    ),
    "words beyond a crop": (
        lambda: wt.image.crop_and_resize(IMAGE, BOXES, FIRST, (2, 2), "nearest", WORDS),
        TypeError,
        "crop_and_resize: extrapolation_value must be a number",
    ),
    # -- warping
    "a transform of a matrix": (
        lambda: wt.image.transform(MATRIX, MOVE),
        ValueError,
        "transform: image must have rank 4",
    ),
    "a transform of six numbers": (
        lambda: wt.image.transform(IMAGE, wt.ones((1, 6))),
        ValueError,
        r"transform: transforms must have shape \(1, 8\) or \(1, 8\)",
    ),
    "a transform by an unknown method": (
        lambda: wt.image.transform(IMAGE, MOVE, "cubic"),
        ValueError,
        "transform: interpolation must be 'bilinear' or 'nearest'",
    ),
    "a transform with an unknown filling": (
        lambda: wt.image.transform(IMAGE, MOVE, "nearest", "mirror"),
        ValueError,
        "transform: fill_mode must be one of 'constant', 'reflect', 'wrap', 'nearest', but got 'mi",
    ),
    "a transform filled with words": (
        lambda: wt.image.transform(IMAGE, MOVE, "nearest", "constant", WORDS),
        TypeError,
        "transform: fill_value must be a number",
    ),
    "a transform to nothing": (
        lambda: wt.image.transform(IMAGE, MOVE, output_shape=(0, 1)),
        ValueError,
        "transform: output_shape must be two positive integers",
    ),
    "a rotation of a matrix": (
        lambda: wt.image.rotate_with_offset(MATRIX, 1.0),
        ValueError,
        "rotate_with_offset: image must have rank 4",
    ),
    "a rotation by words": (
        lambda: wt.image.rotate_with_offset(IMAGE, WORDS),
        TypeError,
        "rotate_with_offset: radians must be a number",
    ),
    "a rotation filled with two channels": (
        lambda: wt.image.rotate_with_offset(IMAGE, 1.0, (1, 2)),
        ValueError,
        "rotate_with_offset: fill_value must be a number, or one for each of 3 channels",
    ),
    "a rotation filled with words": (
        lambda: wt.image.rotate_with_offset(IMAGE, 1.0, ["a", "b", "c"]),
        TypeError,
        "rotate_with_offset: fill_value must be a number",
    ),
    "a rotation about three numbers": (
        lambda: wt.image.rotate_with_offset(IMAGE, 1.0, 0, (0, 0, 0)),
        ValueError,
        r"rotate_with_offset: center must be a number or \(x, y\)",
    ),
    "a rotation about words": (
        lambda: wt.image.rotate_with_offset(IMAGE, 1.0, 0, ("a", "b")),
        TypeError,
        "rotate_with_offset: center must be a number",
    ),
    # -- colours
    "a mirrored matrix": (
        lambda: wt.image.flip_left_right(MATRIX),
        ValueError,
        "flip_left_right: image must have rank 4",
    ),
    "a grey of two channels": (
        lambda: wt.image.grayscale_to_rgb(wt.ones((2, 2))),
        ValueError,
        "grayscale_to_rgb: image must have rank 2 or more, and 1 channel as its last axis",
    ),
    "a grey of rank 1": (
        lambda: wt.image.grayscale_to_rgb([1.0]),
        ValueError,
        "grayscale_to_rgb: image must have rank 2 or more",
    ),
    "a colour of two channels": (
        lambda: wt.image.rgb_to_grayscale(wt.ones((2, 2))),
        ValueError,
        "rgb_to_grayscale: image must have rank 2 or more, and 3 channels as its last axis",
    ),
    "a threshold of images": (
        lambda: wt.image.threshold(IMAGE),
        ValueError,
        r"threshold: image must have shape \(height, width, 1 or 3\)",
    ),
    "a threshold of two channels": (
        lambda: wt.image.threshold(wt.ones((2, 2, 2))),
        ValueError,
        "threshold: image must have shape",
    ),
    "a threshold of bools": (
        lambda: wt.image.threshold(wt.full((2, 2, 1), True)),
        TypeError,
        "threshold: image must be float32 or int32, but got bool",
    ),
    "a threshold by an unknown method": (
        lambda: wt.image.threshold(wt.ones((2, 2, 1)), "mean"),
        ValueError,
        "threshold: method must be 'binary' or 'otsu', but got 'mean'",
    ),
    "a threshold of words": (
        lambda: wt.image.threshold(wt.ones((2, 2, 1)), thresh_value=WORDS),
        TypeError,
        "threshold: thresh_value must be a number",
    ),
    # -- boxes that overlap
    **_suppressing("non_max_suppression"),
    **_suppressing("non_max_suppression_padded"),
    **_suppressing("non_max_suppression_with_score"),
    **_suppressing("non_max_suppression_async"),
    **_suppressing("non_max_suppression_padded_async"),
    **_suppressing("non_max_suppression_with_score_async"),
    "a negative sigma": (
        lambda: wt.image.non_max_suppression_with_score(BOXES, [1.0], 1, 0.5, 0.0, -1),
        ValueError,
        r"non_max_suppression_with_score: soft_nms_sigma must lie in \[0, 1\], but got -1",
    ),
}


def _loss(name: str, *rest: Any) -> dict[str, Row]:
    loss = getattr(wt.losses, name)
    return {
        f"{name} of unlike shapes": (
            lambda: loss(MATRIX, wt.ones((3, 3)), *rest),
            ValueError,
            rf"{name}: .*labels has shape \(3, 4\), but (predictions|logits) has shape \(3, 3\)",
        ),
        f"{name} with weights that do not fit": (
            lambda: loss(MATRIX, MATRIX, *rest, weights=wt.ones((7,))),
            ValueError,
            rf"{name}: weights have shape \(7,\), which does not broadcast with that",
        ),
        f"{name} with an unknown reduction": (
            lambda: loss(MATRIX, MATRIX, *rest, reduction=9),
            ValueError,
            f"{name}: reduction must be one of Reduction.NONE, .*, but got 9",
        ),
    }


LOSSES: dict[str, Row] = {
    **_loss("absolute_difference"),
    **_loss("cosine_distance", 0),
    **_loss("hinge_loss"),
    **_loss("huber_loss"),
    **_loss("log_loss"),
    **_loss("mean_squared_error"),
    **_loss("sigmoid_cross_entropy"),
    **_loss("softmax_cross_entropy"),
    "weights that do not fit": (
        lambda: wt.losses.compute_weighted_loss([1.0, 2.0], wt.ones((1, 3))),
        ValueError,
        "compute_weighted_loss: weights have shape",
    ),
    "a loss reduced by words": (
        lambda: wt.losses.compute_weighted_loss([1.0], reduction=WORDS),
        ValueError,
        "compute_weighted_loss: reduction must be one of",
    ),
    "vectors along an axis that is not there": (
        lambda: wt.losses.cosine_distance(MATRIX, MATRIX, 2),
        ValueError,
        "cosine_distance: axis 2 is out of range",
    ),
    "a negative delta": (
        lambda: wt.losses.huber_loss(MATRIX, MATRIX, None, -1),
        ValueError,
        "huber_loss: delta must be a non-negative number, but got -1",
    ),
    "a negative epsilon in a logarithm": (
        lambda: wt.losses.log_loss(MATRIX, MATRIX, None, -1),
        ValueError,
        "log_loss: epsilon must be a non-negative number, but got -1",
    ),
    "labels smoothed too much": (
        lambda: wt.losses.sigmoid_cross_entropy(MATRIX, MATRIX, None, 1.5),
        ValueError,
        r"sigmoid_cross_entropy: label_smoothing must lie in \[0, 1\], but got 1.5",
    ),
    "labels smoothed by words": (
        lambda: wt.losses.softmax_cross_entropy(MATRIX, MATRIX, None, WORDS),
        TypeError,
        "softmax_cross_entropy: label_smoothing must be a number",
    ),
    "no classes": (
        lambda: wt.losses.softmax_cross_entropy(1.0, 1.0),
        ValueError,
        "softmax_cross_entropy: logits must have classes",
    ),
}


def _to_pixels(*args: Any) -> Callable[[], Any]:
    return lambda: asyncio.run(wt.browser.to_pixels(*args))


ONE = {"data": bytes(4), "width": 1, "height": 1}

PIXELS: dict[str, Row] = {
    "five channels": (
        lambda: wt.browser.from_pixels(ONE, 5),
        ValueError,
        "from_pixels: num_channels must lie between 1 and 4, but got 5",
    ),
    "half a channel": (
        lambda: wt.browser.from_pixels(ONE, 0.5),
        TypeError,
        "from_pixels: num_channels must be an integer",
    ),
    "five channels, awaited": (
        lambda: asyncio.run(wt.browser.from_pixels_async(ONE, 5)),
        ValueError,
        "from_pixels_async: num_channels must lie between 1 and 4",
    ),
    "no pixels": (
        lambda: wt.browser.from_pixels(None),
        TypeError,
        "from_pixels: pixels must be an ImageData, a canvas, .*, but got None",
    ),
    "pixels without a height": (
        lambda: wt.browser.from_pixels({"data": bytes(4), "width": 1}),
        ValueError,
        "from_pixels: pixels lacks height",
    ),
    "too few bytes": (
        lambda: wt.browser.from_pixels({**ONE, "width": 2}),
        ValueError,
        "from_pixels: data must hold 8 bytes, four for each of 2 × 1 pixels, but it holds 4",
    ),
    "a negative width": (
        lambda: wt.browser.from_pixels({**ONE, "width": -1}),
        ValueError,
        "from_pixels: width and height must be non-negative integers",
    ),
    "a number as bytes": (
        lambda: wt.browser.from_pixels({**ONE, "data": 4}),
        TypeError,
        "from_pixels: data must be bytes, but got 4",
    ),
    "words as bytes": (
        lambda: wt.browser.from_pixels({**ONE, "data": "abcd"}),
        TypeError,
        "from_pixels: data must be bytes",
    ),
    "an array of greys": (
        lambda: wt.browser.from_pixels(np.zeros((2, 2), np.uint8)),
        ValueError,
        "from_pixels: an array of pixels must be",
    ),
    "an array of two channels": (
        lambda: wt.browser.from_pixels(np.zeros((2, 2, 2), np.uint8)),
        ValueError,
        r"from_pixels: an array of pixels must be \(height, width, 3 or more channels\)",
    ),
    "an array of fractions": (
        lambda: wt.browser.from_pixels(np.zeros((2, 2, 3), np.float32)),
        TypeError,
        "from_pixels: an array of pixels must hold integers, but holds float32",
    ),
    "a row of pixels": (
        _to_pixels(wt.ones((3,))),
        ValueError,
        "to_pixels: the image must be",
    ),
    "pixels of two channels": (
        _to_pixels(wt.ones((2, 2, 2))),
        ValueError,
        r"to_pixels: the image must be \(height, width\), or \(height, width, 1, 3 or 4 channels\)",
    ),
    "pixels of bools": (
        _to_pixels(wt.full((2, 2), True)),
        TypeError,
        "to_pixels: the image must be float32 or int32, but it is bool",
    ),
    "fractions above 1": (
        _to_pixels(wt.full((2, 2), 1.5)),
        ValueError,
        r"to_pixels: values of float32 images must lie in \[0, 1\], but they range from 1.5 to 1.5",
    ),
    "numbers below 0": (
        _to_pixels(wt.full((2, 2), -1)),
        ValueError,
        r"to_pixels: values of int32 images must lie in \[0, 255\]",
    ),
    "numbers above 255": (_to_pixels(wt.full((2, 2), 256)), ValueError, "to_pixels: values"),
    "NaN as a color": (_to_pixels(wt.full((2, 2), NAN)), ValueError, "to_pixels: values"),
    "a canvas where there is none": (
        _to_pixels(wt.ones((2, 2)), "canvas"),
        RuntimeError,
        "to_pixels: a canvas needs a browser",
    ),
    "drawing where there is no canvas": (
        lambda: wt.browser.draw(wt.ones((2, 2)), None),
        RuntimeError,
        "draw: a canvas needs a browser",
    ),
    "drawing a row": (lambda: wt.browser.draw([1.0], None), ValueError, "draw: the image must be"),
    "drawing numbers above 255": (
        lambda: wt.browser.draw(wt.full((2, 2), 256), None),
        ValueError,
        "draw: values of int32 images",
    ),
    "drawing too opaque": (
        lambda: wt.browser.draw(wt.ones((2, 2)), None, {"image_options": {"alpha": 2}}),
        ValueError,
        r"draw: alpha must lie in \[0, 1\], but got 2",
    ),
    "drawing with an unknown option": (
        lambda: wt.browser.draw(wt.ones((2, 2)), None, {"alpha": 1}),
        ValueError,
        "draw: options may hold image_options and context_options, but not 'alpha'",
    ),
    "drawing with an unknown image option": (
        lambda: wt.browser.draw(wt.ones((2, 2)), None, {"image_options": {"beta": 1}}),
        ValueError,
        "draw: image_options may hold alpha, not 'beta'",
    ),
    "drawing on another context": (
        lambda: wt.browser.draw(
            wt.ones((2, 2)), None, {"context_options": {"context_type": "webgl"}}
        ),
        ValueError,
        "draw: context_type must be '2d', but got 'webgl'",
    ),
}

OPTIMIZERS: dict[str, Row] = {
    f"a negative learning rate of {name}": (
        partial(getattr(wt.optimizers, name), -1),
        ValueError,
        f"{name}: learning_rate must be a non-negative number, but got -1",
    )
    for name in ("Adadelta", "Adagrad", "Adamax", "RMSprop")
}

Z = wt.complex(IMAGE, IMAGE)
Z1, Z5 = wt.complex([1.0], [1.0]), wt.complex(VOLUME, VOLUME)

COMPLEX: dict[str, Row] = {
    f"complex numbers in {name}": (
        do,
        TypeError,
        rf"{name}: .* must hold real numbers, but it is complex64",
    )
    for name, do in {
        "conv1d": lambda: wt.conv1d(Z[0], CONV1D, 1, "same"),
        "conv2d": lambda: wt.conv2d(Z, FILTER),
        "conv2d_transpose": lambda: wt.conv2d_transpose(Z, TURNED, (1, 6, 6, 2), 1, "same"),
        "conv3d": lambda: wt.conv3d(Z5, VOLUME_FILTER, 1, "same"),
        "separable_conv2d": lambda: wt.separable_conv2d(Z, DEPTHWISE, POINTWISE, 1, "same"),
        "dilation2d": lambda: wt.dilation2d(Z, STRUCTURE, 1, "same"),
        "pool": lambda: wt.pool(Z, 2, "max", "same"),
        "max_pool3d": lambda: wt.max_pool3d(Z5, 2),
        "batch_norm": lambda: wt.batch_norm(Z1, [1.0], [1.0]),
        "local_response_normalization": lambda: wt.local_response_normalization(Z),
        "fused.mat_mul": lambda: wt.fused.mat_mul(Z[0, 0], wt.ones((3, 1)), bias=1.0),
        "resize_bilinear": lambda: wt.image.resize_bilinear(Z, (2, 2)),
        "crop_and_resize": lambda: wt.image.crop_and_resize(Z, BOXES, FIRST, (2, 2)),
        "transform": lambda: wt.image.transform(Z, MOVE),
        "non_max_suppression": lambda: wt.image.non_max_suppression(BOXES, Z1, 1),
        "huber_loss": lambda: wt.losses.huber_loss(Z1, [1.0]),
        "compute_weighted_loss": lambda: wt.losses.compute_weighted_loss([1.0], Z1),
        "basic_lstm_cell": lambda: wt.basic_lstm_cell(Z1, *CELL),
    }.items()
}

ERRORS = {**COMPLEX, **WINDOWS, **NORMALIZATION, **IMAGES, **LOSSES, **PIXELS, **OPTIMIZERS}


@pytest.mark.parametrize("what", ERRORS)
def test_bad_input(what: str, backend: str, no_leak: None) -> None:
    do, kind, message = ERRORS[what]
    with pytest.raises(kind, match=message):
        do()
