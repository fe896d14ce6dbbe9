"""Operations of backward passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, distinct, floats
from tests_py.graph.cases.case import Case, case
from tests_py.graph.graphs import Array

__all__ = ["CASES"]

X, Y, DY = floats((3, 4)), floats((3, 4), 0.1, 2.0, seed=1), floats((3, 4), seed=2)
IMAGES, FILTER = floats((2, 4, 6, 3)), floats((1, 1, 3, 2))
POINTS = floats((2, 4, 6, 2), seed=3)
ONES: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID", "data_format": "NHWC"}
POOL: dict[str, Any] = {**ONES, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
HALVES = floats((2, 2, 3, 3), seed=4)
WHOLE_SHAPES: dict[str, Any] = {
    "begin_mask": 0,
    "end_mask": 0,
    "ellipsis_mask": 0,
    "new_axis_mask": 0,
}


def softmax(x: Array) -> Array:
    """The softmax of each row."""
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def spread(x: Array) -> Array:
    """Repeat each pixel twice along both axes."""
    return x.repeat(2, 1).repeat(2, 2)


def where_largest(x: Array, _: Array, dy: Array) -> Array:
    """The gradient at the maximum of each window."""
    largest = x.reshape(2, 2, 2, 3, 2, 3).max((2, 4))
    return np.where(x == spread(largest), spread(dy), 0).astype("float32")


def entropy(x: Array, labels: Array) -> list[Array]:
    """The cross entropy of rows, and its gradient."""
    return [-(labels * np.log(softmax(x))).sum(-1), softmax(x) - labels]


def normalization(dy: Array, x: Array, scale: Array, mean: Array, variance: Array) -> list[Array]:
    """The gradients of a normalization by statistics that were given."""
    deviation = np.sqrt(variance + np.float32(0.01))
    centered = (x - mean) / deviation
    zeros = np.zeros_like(scale)
    gradients = [(dy * scale / deviation), (dy * centered).sum((0, 1, 2)), dy.sum((0, 1, 2))]
    return [*gradients, zeros, zeros]


CASES: list[Case] = [
    # elements
    case("EluGrad", DY, X, expected=lambda dy, y: np.where(y < 0, dy * (y + 1), dy)),
    *(case(op, Y, DY, expected=lambda y, dy: -dy * y * y) for op in ("InvGrad", "ReciprocalGrad")),
    case("LeakyReluGrad", DY, X, expected=lambda dy, x: np.where(x > 0, dy, dy * 0.3), alpha=0.3),
    case(
        "Relu6Grad", DY, 4 * X, expected=lambda dy, x: dy * (x > 0) * (x < 6), label="of both ends"
    ),
    case("ReluGrad", DY, X, expected=lambda dy, x: dy * (x > 0)),
    case("RsqrtGrad", Y, DY, expected=lambda y, dy: -0.5 * dy * y**3),
    case(
        "SeluGrad",
        DY,
        X,
        expected=lambda dy, y: dy * np.where(y < 0, y + 1.7580993, 1.0507010).astype("float32"),
    ),
    case("SigmoidGrad", Y, DY, expected=lambda y, dy: dy * y * (1 - y)),
    case("SoftplusGrad", DY, X, expected=lambda dy, x: dy / (1 + np.exp(-x))),
    case("SoftsignGrad", DY, X, expected=lambda dy, x: dy / (1 + np.abs(x)) ** 2),
    case("SqrtGrad", Y, DY, expected=lambda y, dy: dy / (2 * y)),
    *(
        case(op, arr([y]), arr([0]), expected=lambda _, dy: dy, label="of zero")
        for op, y in (("InvGrad", np.inf), ("RsqrtGrad", np.inf), ("SqrtGrad", 0))
    ),
    case("TanhGrad", Y, DY, expected=lambda y, dy: dy * (1 - y * y)),
    case("BiasAddGrad", IMAGES, expected=lambda dy: dy.sum((0, 1, 2))),
    case(
        "BiasAddGrad",
        IMAGES,
        expected=lambda dy: dy.sum((0, 2, 3)),
        label="channels first",
        data_format="NCHW",
    ),
    # windows, filters and images
    case("AvgPoolGrad", [2, 4, 6, 3], HALVES, expected=lambda _, dy: spread(dy) / 4, **POOL),
    case("MaxPoolGrad", distinct((2, 4, 6, 3)), HALVES, HALVES, expected=where_largest, **POOL),
    case(
        "Conv2DBackpropFilter",
        IMAGES,
        [1, 1, 3, 2],
        POINTS,
        expected=lambda x, _, dy: np.einsum("bhwc,bhwd->cd", x, dy)[None, None],
        **ONES,
    ),
    case(
        "DepthwiseConv2dNativeBackpropFilter",
        IMAGES,
        [1, 1, 3, 1],
        IMAGES,
        expected=lambda x, _, dy: (x * dy).sum((0, 1, 2))[None, None, :, None],
        **ONES,
    ),
    case(
        "DepthwiseConv2dNativeBackpropInput",
        [2, 4, 6, 3],
        FILTER[..., :1],
        IMAGES,
        expected=lambda _, filter, dy: dy * filter[0, 0, :, 0],
        **ONES,
    ),
    case(
        "MirrorPadGrad",
        floats((5,)),
        [[1, 1]],
        expected=lambda dy, _: dy[1:4] + arr([0, dy[0] + dy[4], 0]),
        mode="REFLECT",
    ),
    case(
        "ResizeNearestNeighborGrad",
        spread(HALVES),
        [2, 3],
        expected=lambda dy, _: dy.reshape(2, 2, 2, 3, 2, 3).sum((2, 4)),
        align_corners=False,
        half_pixel_centers=False,
    ),
    case(
        "ResizeBilinearGrad",
        HALVES,
        HALVES,
        expected=lambda dy, _: dy,
        align_corners=False,
        half_pixel_centers=True,
    ),
    # normalization and losses
    case(
        "FusedBatchNormGradV3",
        POINTS,
        floats((2, 4, 6, 2)),
        arr([0.5, 2]),
        arr([0.1, 0.2]),
        arr([1.5, 0.5]),
        expected=normalization,
        outputs=5,
        epsilon=0.01,
        data_format="NHWC",
        is_training=False,
    ),
    case("SoftmaxCrossEntropyWithLogits", X, softmax(Y), expected=entropy, outputs=2),
    case(
        "SparseSoftmaxCrossEntropyWithLogits",
        X,
        [2, 0, 3],
        expected=lambda x, labels: entropy(x, np.eye(4, dtype="float32")[labels]),
        outputs=2,
    ),
    # shapes
    case(
        "BroadcastGradientArgs",
        [2, 1, 3],
        [4, 3],
        expected=lambda *_: [arr([1], np.int32), arr([0], np.int32)],
        outputs=2,
    ),
    case(
        "ConcatOffset",
        1,
        [2, 3],
        [2, 5],
        expected=lambda *_: [arr([0, 0], np.int32), arr([0, 3], np.int32)],
        outputs=2,
    ),
    case("InvertPermutation", [2, 0, 1], expected=lambda _: arr([1, 2, 0], np.int32)),
    case(
        "StridedSliceGrad",
        [5],
        [1],
        [5],
        [2],
        floats((2,)),
        expected=lambda *inputs: arr([0, inputs[4][0], 0, inputs[4][1], 0]),
        shrink_axis_mask=0,
        **WHOLE_SHAPES,
    ),
]
