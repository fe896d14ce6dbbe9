"""Operations that reduce, search, sort and select, and those on images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, distinct, floats, ints
from tests_py.graph.cases.case import Case, case
from tests_py.graph.graphs import Dtype

__all__ = ["CASES"]

CUBE = floats((2, 3, 4))
ALIKE = arr([3, 1, 3, 0, 1], np.int32)
NO_AXES = np.zeros((0,), np.int32)


EMPTY = np.zeros((2, 0), "float32")


def reductions(op: str, x: Any, function: Any) -> list[Case]:
    """The cases of a reduction."""
    return [
        case(op, x, [1], expected=lambda x, _: function(x, axis=1), label=str(x.dtype)),
        case(
            op,
            x,
            [0, -1],
            expected=lambda x, _: function(x, axis=(0, -1), keepdims=True),
            label="two axes",
            keep_dims=True,
        ),
        case(op, x, -1, expected=lambda x, _: function(x, axis=-1), label="by a number"),
        case(op, x, NO_AXES, expected=lambda x, _: x, label="no axes"),
    ]


def norm(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """The square root of a sum of squares."""
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def exclusive(x: Any, first: float, function: Any) -> Any:
    """Accumulate all before each element, along the last axis."""
    return np.concatenate([np.full_like(x[..., :1], first), function(x, -1)[..., :-1]], -1)


def scans(op: str, function: Any, first: float) -> list[Case]:
    """The cases of an accumulation."""
    return [
        case(op, CUBE, 1, expected=lambda x, axis: function(x, 1)),
        case(op, CUBE, -2, expected=lambda x, axis: function(x, 1), label="from the last axis"),
        case(
            op,
            CUBE,
            2,
            expected=lambda x, axis: exclusive(x[..., ::-1], first, function)[..., ::-1],
            label="exclusive, reverse",
            exclusive=True,
            reverse=True,
        ),
    ]


def top(x: Any, k: Any) -> Any:
    """The largest elements of rows, and their indices."""
    indices = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, indices, -1), indices


def different(x: Any) -> Any:
    """The different elements in the order of their first occurrence, and where each went."""
    _, first = np.unique(x, return_index=True)
    ordered = x[np.sort(first)]
    return ordered, np.argmax(x[:, None] == ordered, 1)


def left_out(x: Any, y: Any) -> Any:
    """The elements that are not in ``y``, and their indices."""
    indices = np.flatnonzero(~np.isin(x, y))
    return x[indices], indices


BOXES = arr(
    [
        [0.0, 0.0, 1.0, 1.0],
        [0.0, 0.1, 1.0, 1.1],
        [0.0, -0.1, 1.0, 0.9],
        [0.0, 10.0, 1.0, 11.0],
        [0.0, 10.1, 1.0, 11.1],
        [0.0, 100.0, 1.0, 101.0],
    ]
)
SCORES = arr([0.9, 0.75, 0.6, 0.95, 0.5, 0.3])
IMAGES = floats((2, 4, 5, 3), 0.0, 1.0)
CROPS = arr([[0.0, 0.0, 1.0, 1.0], [0.2, 0.6, 1.3, -0.2]])
TURN = arr([[1.1, 0.2, -0.5, -0.1, 0.9, 0.3, 0.0, 0.0]])
GRAY = floats((1, 4, 5, 1), 0.0, 1.0)


def resizings(op: str) -> list[Case]:
    """The cases of resizing images."""
    return [
        case(op, IMAGES, [7, 3]),
        case(op, IMAGES, [7, 3], label="aligned corners", align_corners=True),
        case(op, IMAGES, [8, 10], label="half pixels", half_pixel_centers=True),
    ]


CASES = [
    # reductions
    *reductions("All", bools((2, 3, 4)), np.all),
    *reductions("Any", bools((2, 3, 4)), np.any),
    *reductions("EuclideanNorm", CUBE, norm)[:3],
    *reductions("Max", CUBE, np.max),
    case("Max", EMPTY, [1], expected=lambda *_: np.full(2, -np.inf), label="of no numbers"),
    case("Max", EMPTY, [0], expected=lambda x, _: x[0], label="that are none"),
    case(
        "Max",
        EMPTY.astype("int32"),
        [0, 1],
        expected=lambda *_: np.int32(-(2**31)),
        label="of no integers",
    ),
    case("Min", EMPTY, [0, 1], expected=lambda *_: np.inf, label="of no numbers"),
    case(
        "Min",
        EMPTY.astype("int32"),
        [1],
        expected=lambda *_: np.full(2, 2**31 - 1),
        label="of no integers",
    ),
    *reductions("Mean", CUBE, np.mean),
    *(
        case(
            op,
            ints((2, 3, 4)),
            [1],
            expected=lambda x, _, function=function: np.trunc(function(x, 1)).astype(np.int32),
            label="of integers",
        )
        for op, function in (("EuclideanNorm", norm), ("Mean", np.mean))
    ),
    *reductions("Min", ints((2, 3, 4)), np.min),
    *reductions("Prod", CUBE, np.prod),
    *reductions("Sum", CUBE, np.sum),
    *reductions("Sum", ints((2, 3, 4)), np.sum)[:1],
    case("ArgMax", distinct((3, 4)), 1, expected=np.argmax, output_type=Dtype("int64")),
    case("ArgMax", ALIKE, 0, expected=np.argmax, label="ties", output_type=Dtype("int32")),
    case("ArgMin", distinct((3, 4)), -2, expected=np.argmin, output_type=Dtype("int64")),
    case(
        "Bincount",
        ALIKE,
        5,
        np.zeros((0,), np.float32),
        expected=lambda x, size, _: np.bincount(x, minlength=5).astype(np.float32),
    ),
    case(
        "Bincount",
        ALIKE,
        4,
        arr([1.0, 2.0, 3.0, 4.0, 5.0]),
        expected=lambda x, size, weights: np.bincount(x, weights, 4),
        label="weighted",
    ),
    case(
        "Bincount",
        arr([[3, 1, 3], [0, 9, 1]], np.int32),
        4,
        arr([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        expected=lambda *_: np.array([4.0, 8.0, 0.0, 4.0]),
        label="of a matrix",
    ),
    case(
        "Bincount",
        2,
        4,
        np.zeros((0,), np.float32),
        expected=lambda *_: np.array([0.0, 0.0, 1.0, 0.0]),
        label="of a number",
    ),
    case(
        "DenseBincount",
        arr([[3, 1, 3], [0, 0, 1]], np.int32),
        4,
        np.zeros((0, 0), np.float32),
        expected=lambda x, *_: np.array([[0, 1, 0, 2], [2, 1, 0, 0]], np.float32),
        binary_output=False,
    ),
    case(
        "DenseBincount",
        arr([[3, 1, 3], [0, 0, 1]], np.int32),
        4,
        np.zeros((0, 0), np.float32),
        expected=lambda x, *_: np.array([[0, 1, 0, 1], [1, 1, 0, 0]], np.float32),
        label="binary",
        binary_output=True,
    ),
    case(
        "DenseBincount",
        2,
        4,
        np.zeros((0,), np.float32),
        expected=lambda *_: np.array([0.0, 0.0, 1.0, 0.0]),
        label="of a number",
        binary_output=False,
    ),
    *scans("Cumprod", np.cumprod, 1.0),
    *scans("Cumsum", np.cumsum, 0.0),
    # searching and sorting
    case("ListDiff", ALIKE, [1, 2], expected=left_out, outputs=2),
    case(
        "LowerBound",
        arr([[1, 3, 3, 5], [0, 2, 4, 6]], np.int32),
        arr([[3, 6], [-1, 5]], np.int32),
        expected=lambda rows, values: np.array([[1, 4], [0, 3]]),
    ),
    case(
        "UpperBound",
        arr([[1, 3, 3, 5], [0, 2, 4, 6]], np.int32),
        arr([[3, 6], [-1, 5]], np.int32),
        expected=lambda rows, values: np.array([[3, 4], [0, 3]]),
    ),
    case("TopKV2", distinct((3, 6)), 4, expected=top, outputs=2, sorted=True),
    case("Unique", ALIKE, expected=different, outputs=2),
    case(
        "UniqueWithCounts",
        ALIKE,
        expected=lambda x: [*different(x), np.bincount(different(x)[1])],
        outputs=3,
    ),
    case("UniqueV2", ALIKE, [0], expected=lambda x, _: different(x), outputs=2),
    case(
        "UniqueV2",
        arr([[1, 2], [3, 4], [1, 2]], np.int32),
        [0],
        expected=lambda x, _: [x[:2], [0, 1, 0]],
        label="rows",
        outputs=2,
    ),
    case("Where", bools((3, 4)), expected=np.argwhere),
    # boxes
    case("NonMaxSuppressionV2", BOXES, SCORES, 3, 0.5, expected=lambda *_: np.array([3, 0, 5])),
    case("NonMaxSuppressionV3", BOXES, SCORES, 3, 0.5, 0.4, expected=lambda *_: np.array([3, 0])),
    case(
        "NonMaxSuppressionV4",
        BOXES,
        SCORES,
        4,
        0.5,
        0.4,
        expected=lambda *_: [[3, 0, 0, 0], 2],
        outputs=2,
        pad_to_max_output_size=True,
    ),
    case(
        "NonMaxSuppressionV4",
        BOXES,
        SCORES,
        8,
        0.5,
        0.4,
        label="of fewer boxes than it returns",
        expected=lambda *_: [[3, 0, 0, 0, 0, 0, 0, 0], 2],
        outputs=2,
        pad_to_max_output_size=True,
    ),
    case("NonMaxSuppressionV5", BOXES, SCORES, 4, 0.5, 0.1, 0.0, outputs=2),
    case("NonMaxSuppressionV5", BOXES, SCORES, 4, 1.0, 0.1, 0.5, label="soft", outputs=2),
    # images
    *resizings("ResizeBilinear"),
    *resizings("ResizeNearestNeighbor"),
    case(
        "CropAndResize",
        IMAGES,
        CROPS,
        [0, 1],
        [3, 4],
        method="bilinear",
        extrapolation_value=0.5,
    ),
    case(
        "CropAndResize",
        IMAGES,
        CROPS,
        [1, 0],
        [3, 4],
        label="nearest",
        method="nearest",
        extrapolation_value=0.0,
    ),
    case(
        "ImageProjectiveTransformV2",
        IMAGES,
        arr([[1, 0, 1, 0, 1, 0, 0, 0]]),
        IMAGES.shape[1:3],
        expected=lambda x, *_: np.pad(x[:, :, 1:], [(0, 0), (0, 0), (0, 1), (0, 0)]),
        interpolation="NEAREST",
        fill_mode="CONSTANT",
    ),
    *(
        case(
            "ImageProjectiveTransformV3",
            GRAY,
            TURN,
            [5, 4],
            0.25,
            label=f"{interpolation} {mode}".lower(),
            interpolation=interpolation,
            fill_mode=mode,
        )
        for interpolation, mode in (
            ("NEAREST", "CONSTANT"),
            ("BILINEAR", "CONSTANT"),
            ("BILINEAR", "REFLECT"),
            ("BILINEAR", "WRAP"),
            ("BILINEAR", "NEAREST"),
        )
    ),
]
