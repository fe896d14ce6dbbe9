"""Operations that TensorFlow.js does not have, or computes differently, as others that it has.

``REWRITES`` is the table: for each operation a function that adds the nodes, or returns None where
these would not be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from webtensor.convert.graphs import FrozenGraph, Scope
from webtensor.engine import Tensor
from webtensor.formats.graph_def import AttributeValue, ElementType, Shape
from webtensor.graph.default_attributes import DEFAULTS, with_defaults
from webtensor.graph.nodes import Node, Reference
from webtensor.ops import reshape, tensor

__all__ = ["REWRITES", "Rewriting"]

#: What ``tf.strings.split`` takes for white space.
_WHITE_SPACE = b" \t\n\v\f\r"
_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_FLOAT32, _INT32 = ElementType("float32"), ElementType("int32")


class Rewriting:
    """Adds the nodes that stand for one.

    Args:
        graph: the graph.
        scope: receives the nodes.
        node: the node.
        inputs: its inputs in the scope.
    """

    def __init__(
        self, graph: FrozenGraph, scope: Scope, node: Node, inputs: Sequence[Reference]
    ) -> None:
        self._graph, self._scope = graph, scope
        self.node, self.inputs = node, inputs

    def add(self, op: str, *inputs: Reference, **attributes: AttributeValue) -> Reference:
        """Add a node, and return its first output."""
        name = self._graph.name(f"{self.node.name}/{op}")
        self._scope.nodes[name] = Node(name, op, inputs, (), attributes)
        return Reference(name)

    def constant(self, name: str, value: Any, dtype: str) -> Reference:
        """Add a constant."""
        full_name = f"{self.node.name}/{name}"
        return self._graph.add_constant(self._scope, full_name, tensor(value, dtype=dtype))

    def integers(self, **values: int | list[int]) -> list[Reference]:
        """Add constants of int32."""
        return [self.constant(name, value, "int32") for name, value in values.items()]

    def with_inputs(self, *inputs: Reference) -> Rewriting:
        """Return the rewriting of the same node with other inputs."""
        return Rewriting(self._graph, self._scope, self.node, inputs)

    def size(self, shape: Reference, axis: int) -> Reference:
        """Add the size along an axis, of a shape."""
        begin, end, step = self.integers(begin=[axis], end=[axis + 1], step=[1])
        return self.add(
            "StridedSlice", shape, begin, end, step,
            end_mask=int(axis == -1), shrink_axis_mask=1, T=_INT32, Index=_INT32,
        )  # fmt: skip

    def shape(self, index: int) -> Shape:
        """Return the shape of an input, as far as the file says it."""
        return self._graph.shapes.get(self.inputs[index])

    def value(self, index: int) -> Tensor | None:
        """Return the value of an input that is constant."""
        return self._graph.constants.get(self.inputs[index].node)

    def producer(self, op: str) -> Rewriting | None:
        """Return the rewriting of the node that computes the first input, if that is an ``op``."""
        node = self._scope.nodes.get(self.inputs[0].node)
        if node is None or node.op != op:
            return None
        return Rewriting(self._graph, self._scope, node, node.inputs)


def _renamed(op: str, rewriting: Rewriting) -> list[Reference]:
    """Replace an operation by an equal one."""
    return [rewriting.add(op, *rewriting.inputs, **rewriting.node.attributes)]


def _complementary_error(rewriting: Rewriting) -> list[Reference]:
    """Replace Erfc(x) by 1 - Erf(x)."""
    one = rewriting.constant("one", 1.0, "float32")
    error = rewriting.add("Erf", *rewriting.inputs, T=_FLOAT32)
    return [rewriting.add("Sub", one, error, T=_FLOAT32)]


def _soft_sign(rewriting: Rewriting) -> list[Reference]:
    """Replace Softsign(x) by x / (|x| + 1)."""
    one = rewriting.constant("one", 1.0, "float32")
    magnitude = rewriting.add("Abs", *rewriting.inputs, T=_FLOAT32)
    divisor = rewriting.add("AddV2", magnitude, one, T=_FLOAT32)
    return [rewriting.add("RealDiv", rewriting.inputs[0], divisor, T=_FLOAT32)]


def _split_texts(rewriting: Rewriting) -> list[Reference] | None:
    """Replace StringSplitV2 at white space by StringSplit; at others, "" is a part here alone."""
    separator = rewriting.value(1)
    limit = rewriting.node.attributes.get("maxsplit", -1)
    if separator is None or limit != -1 or any(separator.bytes_sync()):
        return None
    delimiters = rewriting.constant("delimiters", _WHITE_SPACE, "string")
    parts = rewriting.add("StringSplit", rewriting.inputs[0], delimiters, skip_empty=True)
    return [Reference(parts.node, index) for index in range(3)]


def _joined_texts(rewriting: Rewriting) -> list[Reference] | None:
    """Replace a sum of strings."""
    if rewriting.node.attributes.get("T") != "string":
        return None
    return [rewriting.add("StringJoin", *rewriting.inputs, N=2, separator="")]


def _unsorted_segment_sum(rewriting: Rewriting) -> list[Reference]:
    """Replace UnsortedSegmentSum, which leaves out what is in no segment: a negative number."""
    data, segments, count = rewriting.inputs
    numbers = rewriting.value(1)
    if numbers is not None and min(_integers(numbers), default=0) >= 0:
        return _segment_sum(rewriting)
    zero, one = rewriting.integers(zero=0, one=1)
    # What is in no segment becomes one more, which is cut off.
    is_none = rewriting.add("Less", segments, zero, T=_INT32)
    all_segments = rewriting.add("SelectV2", is_none, count, segments, T=_INT32)
    more = rewriting.add("AddV2", count, one, T=_INT32)
    (sums,) = _segment_sum(rewriting.with_inputs(data, all_segments, more))
    begin, end, step = rewriting.integers(begin=[0], end=[-1], step=[1])
    dtype = rewriting.node.attributes.get("T")
    return [
        rewriting.add("StridedSlice", sums, begin, end, step, begin_mask=1, T=dtype, Index=_INT32)
    ]


def _segment_sum(rewriting: Rewriting) -> list[Reference]:
    """Replace a sum of segments by ScatterNd, which adds up what it puts in one place.

    Segments are numbers along the first axes, and not negative.
    """
    data, segments, count = rewriting.inputs
    dtype = rewriting.node.attributes.get("T")
    last, first, end, step = rewriting.integers(last_axis=-1, first_axis=0, end=[0], step=[1])
    indices = rewriting.add("ExpandDims", segments, last, T=_INT32, Tdim=_INT32)
    shape = rewriting.add("Shape", data, T=dtype, out_type=_INT32)
    sizes_of_segments = rewriting.add("Shape", segments, T=_INT32, out_type=_INT32)
    begin = rewriting.add("Shape", sizes_of_segments, T=_INT32, out_type=_INT32)
    inner = rewriting.add(
        "StridedSlice", shape, begin, end, step, end_mask=1, T=_INT32, Index=_INT32
    )
    counts = rewriting.add("Pack", count, N=1, T=_INT32, axis=0)
    sizes = rewriting.add("ConcatV2", counts, inner, first, N=2, T=_INT32, Tidx=_INT32)
    return [rewriting.add("ScatterNd", indices, data, sizes, T=dtype, Tindices=_INT32)]


def _sorted_segment_sum(rewriting: Rewriting) -> list[Reference]:
    """Replace SegmentSum, whose last segment is that of the largest number, if there is any."""
    data, segments = rewriting.inputs
    axis, one, none = rewriting.integers(axis=0, one=1, none=[-1])
    numbers = rewriting.add("ConcatV2", segments, none, axis, N=2, T=_INT32, Tidx=_INT32)
    last = rewriting.add("Max", numbers, axis, T=_INT32, Tidx=_INT32, keep_dims=False)
    count = rewriting.add("AddV2", last, one, T=_INT32)
    return _segment_sum(rewriting.with_inputs(data, segments, count))


def _buckets(rewriting: Rewriting) -> list[Reference]:
    """Replace Bucketize by the number of boundaries that are not larger, for NaN all of them."""
    boundaries: Any = rewriting.node.attributes.get("boundaries", [])
    (axis,) = rewriting.integers(axis=-1)
    bounds = rewriting.constant("boundaries", [float(bound) for bound in boundaries], "float32")
    x = rewriting.add("Cast", *rewriting.inputs, SrcT=_FLOAT32, DstT=_FLOAT32)
    columns = rewriting.add("ExpandDims", x, axis, T=_FLOAT32, Tdim=_INT32)
    below = rewriting.add("Less", columns, bounds, T=_FLOAT32)
    reached = rewriting.add("LogicalNot", below)
    numbers = rewriting.add("Cast", reached, SrcT=ElementType("bool"), DstT=_INT32)
    return [rewriting.add("Sum", numbers, axis, T=_INT32, Tidx=_INT32, keep_dims=False)]


def _space_to_depth(rewriting: Rewriting) -> list[Reference] | None:
    """Replace SpaceToDepth by moving the axes of blocks."""
    attributes = rewriting.node.attributes
    block = attributes.get("block_size")
    if not isinstance(block, int) or attributes.get("data_format", "NHWC") != "NHWC":
        return None
    (x,) = rewriting.inputs
    dtype = attributes.get("T")
    size, depth = rewriting.integers(block=block, depth=block * block)
    shape = rewriting.add("Shape", x, T=dtype, out_type=_INT32)
    sizes = rewriting.add("Unpack", shape, T=_INT32, num=4, axis=0)
    batch, height, width, channels = (Reference(sizes.node, index) for index in range(4))
    rows, columns = (rewriting.add("FloorDiv", side, size, T=_INT32) for side in (height, width))

    def reshaped(value: Reference, *parts: Reference) -> Reference:
        target = rewriting.add("Pack", *parts, N=len(parts), T=_INT32, axis=0)
        return rewriting.add("Reshape", value, target, T=dtype, Tshape=_INT32)

    blocks = reshaped(x, batch, rows, size, columns, size, channels)
    (order,) = rewriting.integers(order=[0, 1, 3, 2, 4, 5])
    moved = rewriting.add("Transpose", blocks, order, T=dtype, Tperm=_INT32)
    wide = rewriting.add("Mul", channels, depth, T=_INT32)
    return [reshaped(moved, batch, rows, columns, wide)]


def _roll(rewriting: Rewriting) -> list[Reference] | None:
    """Replace Roll by picking the slices along each axis in another order."""
    shifts, axes = rewriting.value(1), rewriting.value(2)
    if shifts is None or axes is None:
        return None
    dtype = rewriting.node.attributes.get("T")
    zero, one = rewriting.integers(zero=0, one=1)
    x = rewriting.inputs[0]
    shape = rewriting.add("Shape", x, T=dtype, out_type=_INT32)
    for shift, axis in zip(_integers(shifts), _integers(axes), strict=True):
        shift_number, axis_number = rewriting.integers(shift=shift, axis=axis)
        count = rewriting.size(shape, axis)
        numbers = rewriting.add("Range", zero, count, one, Tidx=_INT32)
        moved = rewriting.add("Sub", numbers, shift_number, T=_INT32)
        sources = rewriting.add("FloorMod", moved, count, T=_INT32)
        x = rewriting.add(
            "GatherV2", x, sources, axis_number, Tparams=dtype, Tindices=_INT32, Taxis=_INT32
        )
    return [x]


def _batch_product(rewriting: Rewriting) -> list[Reference]:
    """Replace BatchMatMulV3, whose operands may have different dtypes."""
    attributes = {**rewriting.node.attributes, "T": rewriting.node.attributes.get("Tout")}
    return [rewriting.add("BatchMatMulV2", *rewriting.inputs, **attributes)]


def _normalization(rewriting: Rewriting) -> list[Reference]:
    """Replace BatchNormWithGlobalNormalization, which may leave out its factor."""
    x, mean, variance, offset, factor = rewriting.inputs
    attributes = rewriting.node.attributes
    if not attributes.get("scale_after_normalization"):
        factor = rewriting.add("OnesLike", factor, T=_FLOAT32)
    return [
        rewriting.add(
            "FusedBatchNormV3", x, factor, offset, mean, variance,
            epsilon=attributes.get("variance_epsilon"), is_training=False, T=_FLOAT32,
        )
    ]  # fmt: skip


def _grouped_convolution(rewriting: Rewriting) -> list[Reference] | None:
    """Convolve groups of channels by themselves: TensorFlow.js convolves all of them together."""
    x, filter_input = rewriting.inputs
    filter, channels = rewriting.value(1), (rewriting.shape(0) or (None,))[-1]
    attributes: dict[str, Any] = {**with_defaults(rewriting.node, DEFAULTS).attributes}
    groups = attributes.pop("groups", 1)
    if filter is not None and filter.size and channels:
        groups = channels // filter.shape[2]
    if groups < 2 or attributes.get("data_format") == "NCHW":
        return None
    if filter is not None and filter.shape[2] == 1:
        by_channel = reshape(filter, (*filter.shape[:2], groups, -1))
        filter_input = rewriting.constant("filter", by_channel, "float32")
        return [rewriting.add("DepthwiseConv2dNative", x, filter_input, **attributes)]
    (axis,) = rewriting.integers(axis=3)
    images, filters = (
        rewriting.add("Split", axis, value, num_split=groups, T=_FLOAT32)
        for value in (x, filter_input)
    )
    parts = [
        rewriting.add(
            "Conv2D", Reference(images.node, group), Reference(filters.node, group), **attributes
        )
        for group in range(groups)
    ]
    return [rewriting.add("ConcatV2", *parts, axis, N=groups, T=_FLOAT32, Tidx=_INT32)]


def _sign_bit(rewriting: Rewriting) -> list[Reference] | None:
    """Replace the sign bit that Keras reads: it is set if a number or its reciprocal is below 0."""
    masked = rewriting.producer("BitwiseAnd")
    cast = None if masked is None else masked.producer("Bitcast")
    mask = None if masked is None else masked.value(1)
    zero = rewriting.value(1)
    if cast is None or mask is None or zero is None:
        return None
    is_sign = {*_integers(mask)} == {-(1 << 31)} and {*_integers(zero)} == {0}
    if not is_sign or cast.node.attributes.get("T") != "float32":
        return None
    (x,), bound = cast.inputs, rewriting.constant("zero", 0.0, "float32")
    inverse = rewriting.add("Reciprocal", x, T=_FLOAT32)
    below = [rewriting.add("Less", value, bound, T=_FLOAT32) for value in (x, inverse)]
    return [rewriting.add("LogicalOr", *below)]


def _band(rewriting: Rewriting) -> list[Reference] | None:
    """Keep the elements of a band by their indices: TensorFlow.js exchanges its two widths."""
    widths = rewriting.value(1), rewriting.value(2)
    if widths[0] is None or widths[1] is None:
        return None
    lower, upper = (width.item() for width in widths if width is not None)
    if lower == upper:
        return None
    x, dtype = rewriting.inputs[0], rewriting.node.attributes.get("T")
    zero, one = rewriting.integers(zero=0, one=1)
    shape = rewriting.add("Shape", x, T=dtype, out_type=_INT32)
    rows, columns = (
        rewriting.add("Range", zero, rewriting.size(shape, axis), one, Tidx=_INT32)
        for axis in (-2, -1)
    )
    rows = rewriting.add("ExpandDims", rows, one, T=_INT32, Tdim=_INT32)
    offsets = rewriting.add("Sub", columns, rows, T=_INT32)
    for op, width, offset in (("GreaterEqual", lower, -lower), ("LessEqual", upper, upper)):
        if width >= 0:
            (bound,) = rewriting.integers(bound=offset)
            is_inside = rewriting.add(op, offsets, bound, T=_INT32)
            zeros = rewriting.add("ZerosLike", x, T=dtype)
            x = rewriting.add("SelectV2", is_inside, x, zeros, T=dtype)
    return [x]


def _one_hot(rewriting: Rewriting) -> list[Reference] | None:
    """Move the axis of one-hot vectors, which is always the last in TensorFlow.js."""
    attributes = rewriting.node.attributes
    axis = attributes.get("axis", -1)
    if not isinstance(axis, int) or axis < 0:
        return None
    dtype = attributes.get("T")
    vectors = rewriting.add("OneHot", *rewriting.inputs, **{**attributes, "axis": -1})
    zero, one, new_axis = rewriting.integers(zero=0, one=1, axis=axis)
    last = rewriting.add("Rank", rewriting.inputs[0], T=attributes.get("TI"))
    before = rewriting.add("Range", zero, new_axis, one, Tidx=_INT32)
    moved = rewriting.add("Pack", last, N=1, T=_INT32, axis=0)
    after = rewriting.add("Range", new_axis, last, one, Tidx=_INT32)
    order = rewriting.add("ConcatV2", before, moved, after, zero, N=3, T=_INT32, Tidx=_INT32)
    return [rewriting.add("Transpose", vectors, order, T=dtype, Tperm=_INT32)]


def _strided_slice(rewriting: Rewriting) -> list[Reference] | None:
    """Take the elements of axes that disappear by themselves, after strides along others.

    TensorFlow.js takes wrong elements where a StridedSlice does both.
    """
    strides = rewriting.value(3)
    masks: dict[str, Any] = {**dict.fromkeys(_MASKS, 0), **rewriting.node.attributes}
    kept = masks["ellipsis_mask"] | masks["new_axis_mask"]
    shrunk = masks["shrink_axis_mask"] & ~kept
    if strides is None or not shrunk or {*_integers(strides)} == {1}:
        return None
    whole = {name: masks[name] | shrunk for name in ("begin_mask", "end_mask")}
    part = rewriting.add(
        "StridedSlice", *rewriting.inputs, **{**masks, **whole, "shrink_axis_mask": 0}
    )
    (ones,) = rewriting.integers(ones=[1] * strides.size)
    others = (1 << strides.size) - 1 & ~shrunk
    rest = {"begin_mask": others, "end_mask": others, "new_axis_mask": 0}
    _, begin, end, _ = rewriting.inputs
    return [rewriting.add("StridedSlice", part, begin, end, ones, **{**masks, **rest})]


def _shapes(rewriting: Rewriting) -> list[Reference]:
    """Replace ShapeN by shapes of int32; those of TensorFlow.js are float32."""
    dtype = rewriting.node.attributes.get("T")
    return [rewriting.add("Shape", x, T=dtype, out_type=_INT32) for x in rewriting.inputs]


def _floored_quotient(rewriting: Rewriting) -> list[Reference] | None:
    """Replace FloorDiv of floats, of which TensorFlow.js makes integers."""
    dtype = rewriting.node.attributes.get("T", _FLOAT32)
    if "int" in str(dtype):
        return None
    quotient = rewriting.add("RealDiv", *rewriting.inputs, T=dtype)
    return [rewriting.add("Floor", quotient, T=dtype)]


def _scan(rewriting: Rewriting) -> list[Reference] | None:
    """Count the axis of a scan from the first: TensorFlow.js cannot count it from the last."""
    axis = rewriting.value(1)
    if axis is None or min(_integers(axis), default=0) >= 0:
        return None
    x, last = rewriting.inputs
    attributes = rewriting.node.attributes
    rank = rewriting.add("Rank", x, T=attributes.get("T"))
    first = rewriting.add("AddV2", last, rank, T=_INT32)
    defaulted = with_defaults(rewriting.node, DEFAULTS)
    return [rewriting.add(defaulted.op, x, first, **defaulted.attributes)]


def _integers(vector: Tensor) -> list[int]:
    """Return the elements of a tensor of int32."""
    return [int(element) for element in reshape(vector, (-1,)).tolist()]


def _lookup(rewriting: Rewriting) -> list[Reference] | None:
    """Find keys of any shape one after another: TensorFlow.js returns vectors."""
    table, keys, default = rewriting.inputs
    if len(rewriting.shape(1) or ()) == 1:
        return None
    attributes = rewriting.node.attributes
    (all_keys,) = rewriting.integers(all=[-1])
    flat = rewriting.add("Reshape", keys, all_keys, T=attributes.get("Tin"), Tshape=_INT32)
    values = rewriting.add(rewriting.node.op, table, flat, default, **attributes)
    shape = rewriting.add("Shape", keys, T=attributes.get("Tin"), out_type=_INT32)
    return [rewriting.add("Reshape", values, shape, T=attributes.get("Tout"), Tshape=_INT32)]


def _updated_slice(rewriting: Rewriting) -> list[Reference]:
    """Replace XlaDynamicUpdateSlice by a choice between the tensor and the padded update.

    A start from which the update would not fit is clipped, as in XLA.
    """
    x, update, start = rewriting.inputs
    dtype = rewriting.node.attributes.get("T")
    zero, one = rewriting.integers(zero=0, one=1)
    shape, sizes = (
        rewriting.add("Shape", value, T=dtype, out_type=_INT32) for value in (x, update)
    )
    room = rewriting.add("Sub", shape, sizes, T=_INT32)
    begin = rewriting.add("Maximum", start, zero, T=_INT32)
    begin = rewriting.add("Minimum", begin, room, T=_INT32)
    end = rewriting.add("Sub", room, begin, T=_INT32)
    margins = rewriting.add("Pack", begin, end, N=2, T=_INT32, axis=1)
    ones = rewriting.add("Fill", sizes, one, T=_INT32, index_type=_INT32)
    mask = rewriting.add("Pad", ones, margins, T=_INT32, Tpaddings=_INT32)
    is_inside = rewriting.add("Cast", mask, SrcT=_INT32, DstT=ElementType("bool"))
    padded = rewriting.add("Pad", update, margins, T=dtype, Tpaddings=_INT32)
    return [rewriting.add("SelectV2", is_inside, padded, x, T=dtype)]


def _scattered(op: str, rewriting: Rewriting) -> list[Reference]:
    """Replace an update of elements by an operation on the tensor and ScatterNd."""
    x, indices, updates = rewriting.inputs
    dtype = rewriting.node.attributes.get("T")
    shape = rewriting.add("Shape", x, T=dtype, out_type=_INT32)
    sums = rewriting.add("ScatterNd", indices, updates, shape, T=dtype, Tindices=_INT32)
    return [rewriting.add(op, x, sums, T=dtype)]


REWRITES: Mapping[str, Callable[[Rewriting], list[Reference] | None]] = {
    "Add": _joined_texts,
    "BatchMatMulV3": _batch_product,
    "BatchNormWithGlobalNormalization": _normalization,
    "Bucketize": _buckets,
    "Conv2D": _grouped_convolution,
    "Cumprod": _scan,
    "Cumsum": _scan,
    "Erfc": _complementary_error,
    "FloorDiv": _floored_quotient,
    "Inv": partial(_renamed, "Reciprocal"),
    "Less": _sign_bit,
    "LookupTableFind": _lookup,
    "LookupTableFindV2": _lookup,
    "MatrixBandPart": _band,
    "OneHot": _one_hot,
    "Rint": partial(_renamed, "Round"),
    "Roll": _roll,
    "SegmentSum": _sorted_segment_sum,
    "ShapeN": _shapes,
    "Softsign": _soft_sign,
    "SpaceToDepth": _space_to_depth,
    "StridedSlice": _strided_slice,
    "StringSplitV2": _split_texts,
    "TensorScatterAdd": partial(_scattered, "AddV2"),
    "TensorScatterSub": partial(_scattered, "Sub"),
    "UnsortedSegmentSum": _unsorted_segment_sum,
    "VariableShape": partial(_renamed, "Shape"),
    "XlaDynamicUpdateSlice": _updated_slice,
}
