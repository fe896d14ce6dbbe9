"""Operations that make arrays, and that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, floats, ints, texts
from tests_py.graph.cases.case import case
from tests_py.graph.graphs import Dtype, Shape

__all__ = ["CASES"]

FLOAT, INT = Dtype("float32"), Dtype("int32")
X = floats((3, 4))
CUBE = floats((2, 3, 4))
IMAGES = floats((2, 4, 6, 3))
VECTOR = floats((7,))
EMPTY = np.zeros((0,), np.int32)


def one_hot(indices: Any, depth: Any, on: Any, off: Any) -> Any:
    """Vectors of ``off`` with one ``on`` each."""
    return np.where(indices[..., None] == np.arange(depth), on, off)


def scattered(indices: Any, updates: Any, shape: Any) -> Any:
    """Add updates to zeros."""
    result = np.zeros(shape, updates.dtype)
    np.add.at(result, tuple(np.moveaxis(indices, -1, 0)), updates)
    return result


def updated(x: Any, indices: Any, updates: Any) -> Any:
    """Replace elements."""
    result = x.copy()
    result[tuple(np.moveaxis(indices, -1, 0))] = updates
    return result


def depth_to_space(x: Any, size: int) -> Any:
    """Spread channels over blocks of pixels."""
    batch, height, width, channels = x.shape
    blocks = x.reshape(batch, height, width, size, size, channels // size**2)
    return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height * size, width * size, -1)


def strided(label: str, x: Any, begin: Any, end: Any, strides: Any, part: Any, **masks: int) -> Any:
    """A case of a slice; ``part`` is what NumPy selects."""
    return case(
        "StridedSlice",
        x,
        arr(begin, np.int32),
        arr(end, np.int32),
        arr(strides, np.int32),
        expected=lambda x, *_: x[part],
        label=label,
        **masks,
    )


CASES = [
    # shapes
    case("BroadcastArgs", [3, 1, 4], [2, 1], expected=lambda x, y: np.array([3, 2, 4])),
    case("BroadcastTo", VECTOR, [2, 7], expected=np.broadcast_to),
    case("EnsureShape", X, expected=lambda x: x, shape=Shape((3, -1))),
    case("ExpandDims", X, 1, expected=np.expand_dims),
    case("ExpandDims", X, -1, expected=np.expand_dims, label="at the end"),
    case("ExpandDims", X, [0], expected=lambda x, _: x[None], label="by a vector"),
    case("Rank", CUBE, expected=lambda x: np.int32(3)),
    case("Reshape", CUBE, [4, -1], expected=np.reshape),
    case("Reshape", arr([[5.0]]), EMPTY, expected=lambda x, _: x.reshape(()), label="to a number"),
    case("Shape", CUBE, expected=lambda x: np.int32(x.shape)),
    case("Shape", arr(1.0), expected=lambda x: EMPTY, label="of a number"),
    case(
        "ShapeN",
        X,
        CUBE,
        expected=lambda x, y: [np.int32(x.shape), np.int32(y.shape)],
        outputs=2,
        N=2,
    ),
    case("Size", CUBE, expected=lambda x: np.int32(x.size)),
    case("Squeeze", floats((1, 3, 1, 2)), expected=np.squeeze),
    case(
        "Squeeze",
        floats((1, 3, 1, 2)),
        expected=lambda x: x[:, :, 0],
        label="one axis",
        squeeze_dims=[2],
    ),
    case("Squeeze", floats((1, 3, 1)), expected=lambda x: x[..., 0], label="by axis", axis=[-1]),
    # creation
    case("Fill", [2, 3], 1.5, expected=np.full, T=FLOAT),
    case("Fill", [2, 3], 7, expected=np.full, label="int32", T=INT),
    case("LinSpace", -1.0, 2.0, 7, expected=np.linspace),
    case(
        "OneHot",
        arr([0, 2, -1, 3], np.int32),
        4,
        2.0,
        -1.0,
        expected=one_hot,
        T=FLOAT,
        axis=-1,
    ),
    case(
        "OneHot",
        ints((2, 3), 0, 4),
        4,
        1.0,
        0.0,
        expected=lambda *given: np.moveaxis(one_hot(*given), -1, 1),
        label="in the middle",
        T=FLOAT,
        axis=1,
    ),
    case(
        "OneHot",
        ints((2, 3), 0, 4),
        4,
        1.0,
        0.0,
        expected=lambda *given: np.moveaxis(one_hot(*given), -1, 0),
        label="first",
        T=FLOAT,
        axis=0,
    ),
    case("OneHot", ints((3,), 0, 4), 4, 5, 2, expected=one_hot, label="int32", T=INT, axis=-1),
    case("Ones", [2, 3], expected=lambda shape: np.ones(shape, np.float32), T=FLOAT),
    case("OnesLike", X, expected=np.ones_like),
    case("Range", 1, 10, 3, expected=np.arange, Tidx=INT),
    case("Range", 5, 0, -2, expected=np.arange, label="backwards", Tidx=INT),
    case("Range", 0.0, 1.0, 0.25, expected=np.arange, label="float32", Tidx=FLOAT),
    # In float32, 2.2 / 0.2 is 11; as doubles, the same numbers give a little more.
    case(
        "Range",
        arr(0.2),
        arr(2.4),
        arr(0.2),
        expected=lambda start, stop, step: start + np.arange(11) * step,
        label="of rounded numbers",
        Tidx=FLOAT,
    ),
    case("Zeros", [2, 3], expected=lambda shape: np.zeros(shape, np.float32), T=FLOAT),
    case("ZerosLike", ints((2, 3)), expected=np.zeros_like),
    # slices and joins
    case("Concat", 1, X, X + 1, expected=lambda axis, *xs: np.concatenate(xs, axis), T=FLOAT, N=2),
    case("ConcatV2", X, X + 1, X, 0, expected=lambda *xs: np.concatenate(xs[:-1]), N=3),
    case(
        "ConcatV2", X, X + 1, -1, expected=lambda *xs: np.concatenate(xs[:-1], -1), label="-1", N=2
    ),
    case("Gather", X, [2, 0], expected=lambda x, indices: x[indices]),
    case(
        "GatherV2",
        CUBE,
        arr([[3, 1], [0, 0]], np.int32),
        -1,
        expected=np.take,
        batch_dims=0,
    ),
    case(
        "GatherV2",
        CUBE,
        arr([[2], [0]], np.int32),
        1,
        expected=lambda x, indices, axis: np.stack([x[0][indices[0]], x[1][indices[1]]]),
        label="in batches",
        batch_dims=1,
    ),
    case(
        "GatherV2",
        X,
        arr([[1, 0], [3, 2], [0, 0]], np.int32),
        1,
        expected=lambda x, indices, _: np.take_along_axis(x, indices, 1),
        label="in batches counted from the end",
        batch_dims=-1,
    ),
    case("GatherV2", texts(["a", "b"]), [1, 0], 0, expected=lambda x, i, _: x[i], label="texts"),
    case(
        "GatherNd",
        CUBE,
        arr([[0, 2], [1, 1]], np.int32),
        expected=lambda x, indices: x[tuple(indices.T)],
    ),
    case("Pack", X, X + 1, expected=lambda *xs: np.stack(xs, 1), axis=1, N=2),
    case("Pack", 3, 4, expected=lambda *xs: np.array(xs), label="numbers", axis=0, N=2),
    case(
        "ScatterNd",
        arr([[1], [3], [1]], np.int32),
        floats((3, 2)),
        [4, 2],
        expected=scattered,
        T=FLOAT,
    ),
    case(
        "Slice",
        CUBE,
        [0, 1, 2],
        [2, 1, -1],
        expected=lambda x, begin, size: x[:, 1:2, 2:],
    ),
    case(
        "SparseToDense",
        arr([[0, 1], [2, 0]], np.int32),
        [3, 2],
        arr([5.0, 6.0]),
        -1.0,
        expected=lambda *_: np.array([[-1, 5], [-1, -1], [6, -1]], np.float32),
        T=FLOAT,
        validate_indices=True,
    ),
    case("Split", 1, X, expected=lambda axis, x: np.split(x, 2, axis), outputs=2, num_split=2),
    case(
        "SplitV",
        X,
        [1, 3],
        -1,
        expected=lambda x, sizes, axis: np.split(x, [1], axis),
        outputs=2,
        num_split=2,
    ),
    case(
        "SplitV",
        X,
        [1, -1],
        1,
        expected=lambda x, sizes, axis: np.split(x, [1], axis),
        label="with the rest",
        outputs=2,
        num_split=2,
    ),
    strided("of a matrix", X, [0, 1], [3, 4], [2, 2], np.s_[0:3:2, 1:4:2]),
    strided("backwards", X, [2, -1], [-4, -5], [-1, -2], np.s_[::-1, ::-2]),
    strided("a row", X, [1], [2], [1], np.s_[1], shrink_axis_mask=1),
    strided(
        "a column",
        X,
        [0, -1],
        [0, 0],
        [1, 1],
        np.s_[:, -1],
        begin_mask=1,
        end_mask=1,
        shrink_axis_mask=2,
    ),
    strided("an ellipsis", CUBE, [0, 1], [0, 3], [1, 1], np.s_[..., 1:3], ellipsis_mask=1),
    strided(
        "a new axis",
        X,
        [0, 0, 1],
        [0, 0, 3],
        [1, 1, 1],
        np.s_[:, None, 1:3],
        begin_mask=1,
        end_mask=1,
        new_axis_mask=2,
    ),
    strided("a row in steps", X, [1, 0], [2, 4], [1, 2], np.s_[1, 0:4:2], shrink_axis_mask=1),
    strided(
        "a column backwards",
        CUBE,
        [0, 0, 0, 1],
        [0, 0, 0, 2],
        [1, 1, -1, 1],
        np.s_[..., None, ::-1, 1],
        begin_mask=4,
        end_mask=4,
        ellipsis_mask=1,
        new_axis_mask=2,
        shrink_axis_mask=8,
    ),
    strided("out of range", VECTOR, [-100], [100], [3], np.s_[::3]),
    case(
        "TensorScatterUpdate",
        X,
        arr([[0, 1], [2, 3]], np.int32),
        arr([9.0, 8.0]),
        expected=updated,
    ),
    case("Tile", X, [2, 3], expected=np.tile),
    case("Unpack", CUBE, expected=lambda x: list(np.moveaxis(x, 1, 0)), outputs=3, axis=1, num=3),
    # movement
    case(
        "BatchToSpaceND",
        floats((4, 1, 2, 1)),
        [2, 2],
        arr([[0, 0], [1, 0]], np.int32),
        expected=lambda x, *_: (
            x.reshape(2, 2, 1, 1, 2, 1).transpose(2, 3, 0, 4, 1, 5).reshape(1, 2, 4, 1)[:, :, 1:]
        ),
    ),
    case(
        "SpaceToBatchND",
        floats((1, 2, 3, 1)),
        [2, 2],
        arr([[0, 0], [1, 0]], np.int32),
        expected=lambda x, *_: (
            np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0)))
            .reshape(1, 1, 2, 2, 2, 1)
            .transpose(2, 4, 0, 1, 3, 5)
            .reshape(4, 1, 2, 1)
        ),
    ),
    case(
        "DepthToSpace",
        floats((1, 2, 2, 8)),
        expected=lambda x: depth_to_space(x, 2),
        block_size=2,
        data_format="NHWC",
    ),
    case(
        "DepthToSpace",
        floats((1, 8, 2, 2)),
        expected=lambda x: depth_to_space(x.transpose(0, 2, 3, 1), 2).transpose(0, 3, 1, 2),
        label="channels first",
        block_size=2,
        data_format="NCHW",
    ),
    case(
        "MirrorPad",
        X,
        arr([[1, 2], [0, 3]], np.int32),
        expected=lambda x, pads: np.pad(x, pads, "reflect"),
        mode="REFLECT",
    ),
    case(
        "MirrorPad",
        X,
        arr([[1, 2], [0, 3]], np.int32),
        expected=lambda x, pads: np.pad(x, pads, "symmetric"),
        label="symmetric",
        mode="SYMMETRIC",
    ),
    case("Pad", X, arr([[1, 2], [0, 3]], np.int32), expected=np.pad),
    case(
        "PadV2",
        X,
        arr([[1, 2], [0, 3]], np.int32),
        -1.5,
        expected=lambda x, pads, value: np.pad(x, pads, constant_values=value),
    ),
    case(
        "Pad",
        IMAGES,
        arr([[0, 0], [1, 1], [2, 0], [0, 0]], np.int32),
        expected=np.pad,
        label="images",
    ),
    case("Reverse", X, arr([False, True], bool), expected=lambda x, _: x[:, ::-1]),
    case("ReverseV2", X, [0], expected=lambda x, _: x[::-1]),
    case("ReverseV2", CUBE, [-1, 0], expected=lambda x, _: x[::-1, :, ::-1], label="two axes"),
    case("Transpose", CUBE, [2, 0, 1], expected=np.transpose),
    case("Transpose", bools((2, 3)), [1, 0], expected=np.transpose, label="bool"),
]
