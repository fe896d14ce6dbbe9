"""Operations that make arrays, and that move elements: slices, joins, shapes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import ceil

from webtensor import ops
from webtensor.dtypes import as_dtype, int32
from webtensor.engine import Tensor
from webtensor.formats.graph_def import Shape, fits
from webtensor.graph.operations.arguments import (
    attribute,
    axis,
    dtype,
    dtype_name,
    flags,
    integer,
    integers,
    layout,
    number,
    pairs,
    seed,
    text,
)
from webtensor.graph.operations.rows import Row, Tensors
from webtensor.io.stored_tensors import tensor_on
from webtensor.ops.rearrangement import space_to_depth

__all__ = ["ONLY_HERE", "ROWS"]

# -- functions of shapes -----------------------------------------------------------------------


def shape_of(x: Tensor) -> Tensor:
    """Return the shape as a tensor of rank 1."""
    return ops.tensor(list(x.shape), shape=(len(x.shape),), dtype="int32")


def shapes_of(values: Sequence[Tensor]) -> list[Tensor]:
    """Return the shapes of several tensors."""
    return [shape_of(value) for value in values]


def size_of(x: Tensor) -> Tensor:
    """Return the number of elements."""
    return ops.tensor(x.size, dtype="int32")


def rank_of(x: Tensor) -> Tensor:
    """Return the number of axes."""
    return ops.tensor(len(x.shape), dtype="int32")


def ensured(x: Tensor, shape: Shape) -> Tensor:
    """Return a tensor whose shape must be what the graph says, as far as it says it."""
    if not fits(x.shape, shape):
        raise ValueError(f"EnsureShape: a tensor must have shape {shape}, but has {x.shape}")
    return x


# -- others ------------------------------------------------------------------------------------


def sequence(start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    """Return evenly spaced numbers, as many as TensorFlow's float32 arithmetic gives."""
    first, last, difference = (operand.item() for operand in (start, stop, step))
    if start.dtype is int32 or not difference:
        return ops.arange(first, last, difference, start.dtype)
    (length,) = array("f", [last - first])
    (ratio,) = array("f", [length / difference])
    return ops.arange(max(ceil(ratio), 0)) * step + start


def one_hot(indices: Tensor, on_value: Tensor, off_value: Tensor, depth: int, axis: int) -> Tensor:
    """Return vectors of ``off_value`` with one ``on_value`` each, along an axis."""
    rows = ops.one_hot(indices, depth, dtype="bool")
    if axis not in (-1, len(indices.shape)):
        rows = ops.moveaxis(rows, -1, axis)
    return ops.where(rows, on_value, off_value)


def gathered(x: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor:
    """Return the slices of these indices; axes count from the end where they are negative."""
    rank = len(x.shape)
    return ops.gather(x, indices, axis % rank if rank else axis, batch_dims)


def squeezed(x: Tensor, squeeze_dims: list[int] | None, axis: list[int] | None) -> Tensor:
    """Remove axes of size 1, all of them where none are named; both names have been in use."""
    axes = axis if squeeze_dims is None else squeeze_dims
    return ops.squeeze(x, None if axes == [] else axes)


def random_integers(
    shape: list[int],
    low: int | None,
    high: int | None,
    minval: int | None,
    maxval: int | None,
    seed: int | None,
) -> Tensor:
    """Return random integers between inputs or, where TensorFlow.js has them, attributes."""
    first = minval if low is None else low
    last = maxval if high is None else high
    if first is None or last is None:
        raise ValueError("RandomUniformInt: minval or maxval is missing")
    return ops.random_uniform_int(shape, first, last, seed)


def blocks_as_channels(x: Tensor, block_size: int, data_format: str = "NHWC") -> Tensor:
    """Move blocks of pixels into channels."""
    if data_format == "NHWC":
        return space_to_depth(x, block_size)
    images = space_to_depth(ops.permute_dims(x, (0, 2, 3, 1)), block_size)
    return ops.permute_dims(images, (0, 3, 1, 2))


def reversed_sequences(x: Tensor, lengths: Tensor, time_axis: int, batch_axis: int) -> Tensor:
    """Reverse the first steps of each sequence of a batch, as many as its length says."""
    rank = len(x.shape)
    if not (0 <= time_axis < rank and 0 <= batch_axis < rank and time_axis != batch_axis):
        raise ValueError(
            f"ReverseSequence: no axes {time_axis} and {batch_axis} of shape {x.shape}"
        )
    steps = ops.arange(x.shape[time_axis], dtype="int32")
    ends = ops.expand_dims(ops.astype(lengths, "int32"), 1)
    sources = ops.where(ops.less(steps, ends), ends - 1 - steps, steps)
    moved = ops.moveaxis(x, (batch_axis, time_axis), (0, 1))
    return ops.moveaxis(ops.gather(moved, sources, 1, 1), (0, 1), (batch_axis, time_axis))


def bits_as(x: Tensor, source: str, dtype: str) -> Tensor:
    """Return the numbers of another dtype that have the same bits."""
    if source == dtype:
        return x
    if not {source, dtype} <= {"float32", "int32", "uint32"}:
        raise ValueError(f"Bitcast: from {source} to {dtype} is not supported")
    return tensor_on(x.bytes_sync(), x.shape, as_dtype(dtype_name(dtype)))


_STRIDED_SLICE_MASKS = {
    name: attribute(name, 0)
    for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
}

ROWS = {
    # shapes
    "BroadcastArgs": Row("broadcast_args", 0, 1).dynamic().reading(0, 1),
    "BroadcastTo": Row("broadcast_to", 0, shape=integers(1)),
    "EnsureShape": Row(ensured, 0, shape=attribute("shape")),
    "ExpandDims": Row("expand_dims", 0, axis=axis(1)),
    "Rank": Row(rank_of, 0).of_shapes(),
    "Reshape": Row("reshape", 0, shape=integers(1)),
    "Shape": Row(shape_of, 0).of_shapes(),
    "ShapeN": Row(shapes_of, Tensors()).of_shapes(),
    "Size": Row(size_of, 0).of_shapes(),
    "Squeeze": Row(
        squeezed, 0, squeeze_dims=attribute("squeeze_dims", None), axis=attribute("axis", None)
    ),
    # creation
    "Fill": Row("broadcast_to", 1, shape=integers(0)),
    "LinSpace": Row("linspace", number(0), number(1), integer(2)),
    "Multinomial": Row("multinomial", 0, num_samples=integer(1), seed=seed()).impure(),
    "OneHot": Row(one_hot, 0, 2, 3, depth=integer(1), axis=attribute("axis", -1)),
    "Ones": Row("ones", integers(0), dtype=dtype("T")),
    "OnesLike": Row("ones_like", 0),
    "RandomStandardNormal": Row(
        "random_standard_normal", integers(0), dtype=dtype(), seed=seed()
    ).impure(),
    "RandomUniform": Row(
        "random_uniform",
        integers(0),
        minval=attribute("minval", 0.0),
        maxval=attribute("maxval", 1.0),
        dtype=dtype(),
        seed=seed(),
    ).impure(),
    "RandomUniformInt": Row(
        random_integers,
        integers(0),
        integer(1, None),
        integer(2, None),
        minval=attribute("minval", None),
        maxval=attribute("maxval", None),
        seed=seed(),
    ).impure(),
    "Range": Row(sequence, 0, 1, 2).dynamic().reading(0, 1, 2),
    "TruncatedNormal": Row(
        "truncated_normal",
        integers(0),
        mean=attribute("means", 0.0),
        stddev=attribute("stddev", 1.0),
        dtype=dtype(),
        seed=seed(),
    ).impure(),
    "Zeros": Row("zeros", integers(0), dtype=dtype("T")),
    "ZerosLike": Row("zeros_like", 0),
    # slices and joins
    "Concat": Row("concat", Tensors(1), axis=axis(0)),
    "ConcatV2": Row("concat", Tensors(0, -1), axis=axis(-1)),
    "Gather": Row(gathered, 0, 1, axis=attribute("axis", 0), batch_dims=attribute("batch_dims", 0)),
    "GatherNd": Row("gather_nd", 0, 1),
    "GatherV2": Row(gathered, 0, 1, axis=axis(2), batch_dims=attribute("batch_dims", 0)),
    "Pack": Row("stack", Tensors(), axis=attribute("axis", 0)),
    "ScatterNd": Row("scatter_nd", 0, 1, shape=integers(2)),
    "Slice": Row("slice", 0, begin=integers(1), size=integers(2)),
    "SparseToDense": Row(
        "sparse_to_dense", 0, 2, output_shape=integers(1), default_value=number(3, 0)
    ),
    "Split": Row("split", 1, num_or_size_splits=attribute("num_split", 1), axis=axis(0)),
    "SplitV": Row("split", 0, num_or_size_splits=integers(1), axis=axis(2)),
    "StridedSlice": Row(
        "strided_slice",
        0,
        begin=integers(1),
        end=integers(2),
        strides=integers(3),
        **_STRIDED_SLICE_MASKS,
    ),
    "TensorScatterUpdate": Row("tensor_scatter_update", 0, 1, 2),
    "Tile": Row("tile", 0, repetitions=integers(1)),
    "Unpack": Row("unstack", 0, axis=attribute("axis", 0)),
    # movement
    "BatchToSpaceND": Row("batch_to_space_nd", 0, block_shape=integers(1), crops=pairs(2)),
    "DepthToSpace": Row(
        "depth_to_space",
        0,
        block_size=attribute("block_size"),
        data_format=layout("NHWC"),
    ),
    "MirrorPad": Row(
        "mirror_pad",
        0,
        paddings=pairs(1),
        mode=attribute("mode", convert=str.lower),
    ),
    "Pad": Row("pad", 0, paddings=pairs(1), constant_value=attribute("constant_value", 0)),
    "PadV2": Row("pad", 0, paddings=pairs(1), constant_value=number(2)),
    "Reverse": Row("flip", 0, axis=flags(1)),
    "ReverseV2": Row("flip", 0, axis=integers(1)),
    "SpaceToBatchND": Row("space_to_batch_nd", 0, block_shape=integers(1), paddings=pairs(2)),
    "Transpose": Row("transpose", 0, perm=integers(1)),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "Roll": Row("roll", 0, shift=integers(1), axis=integers(2)),
    "Bitcast": Row(bits_as, 0, source=text("T"), dtype=text("type")).reading(0),
    "ReverseSequence": Row(
        reversed_sequences,
        0,
        1,
        time_axis=attribute("seq_dim"),
        batch_axis=attribute("batch_dim", 0),
    ),
    "SpaceToDepth": Row(
        blocks_as_channels, 0, block_size=attribute("block_size"), data_format=layout("NHWC")
    ),
}
