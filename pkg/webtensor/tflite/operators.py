"""The table of operators: what nodes a builtin or custom operator becomes, by its name.

``to("BatchMatMulV2", adj_x=option("adj_x"))`` says that it becomes one node of that operation with
the same inputs, and that an attribute is an option. ``at(1, 0)`` are other inputs, or the same in
another order; a number from an option as an input is ``number("axis")``. What becomes several nodes
names a function. Fused activations and rounding to quantized numbers are added to all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from webtensor.formats.graph_def import ElementType
from webtensor.tflite import compositions, products, recurrent_calls
from webtensor.tflite.calls import Call

__all__ = ["CUSTOM_OPERATORS", "OPERATORS", "Operator"]

Lowering: TypeAlias = Callable[[Call], list[str]]


class Operator(NamedTuple):
    """What an operator becomes.

    Attributes:
        lower: adds its nodes, and returns the references of its outputs.
        moves: whether it hands elements of its inputs on as they are.
        is_product: whether it is a sum of products with weights, whose last axis are channels.
        is_activated: whether it applies its fused activation by itself.
        is_rounded: whether it rounds to the scales of its output by itself.
    """

    lower: Lowering
    moves: bool = False
    is_product: bool = False
    is_activated: bool = False
    is_rounded: bool = False


class Option(NamedTuple):
    """An attribute that is an option."""

    name: str
    convert: Callable[[Any], Any]

    def of(self, call: Call) -> Any:
        return self.convert(call.option(self.name))


class OutputDtype(NamedTuple):
    """An attribute that is the dtype of the output; quantized ones are float32."""

    def of(self, call: Call) -> ElementType:
        output = call.output()
        return ElementType(output.dtype if output.quantization is None else "float32")


class Number(NamedTuple):
    """An input that is an option."""

    name: str

    def of(self, call: Call) -> list[str]:
        return [call.constant(call.option(self.name))]


class Inputs(NamedTuple):
    """Inputs by their indices."""

    indices: tuple[int, ...]

    def of(self, call: Call) -> list[str]:
        return [call.input(index) for index in self.indices]


class AllInputs(NamedTuple):
    """All inputs that are there."""

    def of(self, call: Call) -> list[str]:
        return call.inputs()


def option(name: str, convert: Callable[[Any], Any] = lambda value: value) -> Option:
    """Return the attribute that an option is."""
    return Option(name, convert)


def dtype(name: str) -> Option:
    """Return the dtype that an option names."""
    return Option(name, ElementType)


def number(name: str) -> Number:
    """Return the input that is a number in the options."""
    return Number(name)


def at(*indices: int) -> Inputs:
    """Return the inputs of these indices."""
    return Inputs(indices)


ALL = AllInputs()
OUTPUT_DTYPE = OutputDtype()


def to(op: str, *inputs: Inputs | Number | AllInputs, **attributes: Any) -> Operator:
    """Return the operator that becomes one node."""

    def lower(call: Call) -> list[str]:
        references = [reference for part in inputs or (ALL,) for reference in part.of(call)]
        values = {
            name: value.of(call) if isinstance(value, (Option, OutputDtype)) else value
            for name, value in attributes.items()
        }
        return call.outputs(call.node(op, *references, **values))

    return Operator(lower)


def moving(operator: Operator | Lowering) -> Operator:
    """Return an operator that hands elements on as they are."""
    lowered = operator if isinstance(operator, Operator) else Operator(operator)
    return lowered._replace(moves=True)


def product(lower: Lowering) -> Operator:
    """Return an operator that sums products."""
    return Operator(lower, is_product=True)


def activated(lower: Lowering) -> Operator:
    """Return an operator that applies its activation by itself."""
    return Operator(lower, is_activated=True)


def clipped(low: float, high: float) -> Operator:
    """Return the operator that brings elements between two bounds."""
    return Operator(lambda call: [call.clipped(call.input(0), low, high)])


def _pool(op: str) -> Operator:
    def lower(call: Call) -> list[str]:
        return [call.node(op, call.input(0), **compositions.pool_attributes(call))]

    return Operator(lower)


def _reduction(op: str) -> Operator:
    return to(op, keep_dims=option("keep_dims"))


def _cast(call: Call) -> list[str]:
    """Change the dtype of the numbers of the file."""
    return [call.node("Cast", call.integers(0), DstT=ElementType(call.output().dtype))]


def _bit_cast(call: Call) -> list[str]:
    """Read the bits of elements as another dtype."""
    dtypes = {"T": call.tensor(0).dtype, "type": call.output().dtype}
    return [call.node("Bitcast", call.input(0), **dtypes)]


def _resizing(op: str) -> Operator:
    corners = {name: option(name) for name in ("align_corners", "half_pixel_centers")}
    return to(op, **corners)


_LISTED = partial(option, convert=list)

OPERATORS: dict[str, Operator] = {
    # each element by itself
    "ABS": to("Abs"),
    "ADD": to("AddV2"),
    "ADD_N": to("AddN"),
    "ATAN2": to("Atan2"),
    "BITCAST": Operator(_bit_cast),
    "BITWISE_XOR": to("BitwiseXor"),
    "BUCKETIZE": to("Bucketize", boundaries=_LISTED("boundaries")),
    "CAST": Operator(_cast),
    "CEIL": to("Ceil"),
    "COMPLEX_ABS": to("ComplexAbs"),
    "COS": to("Cos"),
    "DEQUANTIZE": Operator(compositions.unchanged),
    "DIV": to("Div"),
    "ELU": to("Elu"),
    "EQUAL": to("Equal"),
    "EXP": to("Exp"),
    "FAKE_QUANT": to(
        "FakeQuantWithMinMaxArgs",
        min=option("min"),
        max=option("max"),
        num_bits=option("num_bits"),
        narrow_range=option("narrow_range"),
    ),
    "FLOOR": to("Floor"),
    "FLOOR_DIV": to("FloorDiv", T=OUTPUT_DTYPE),
    "FLOOR_MOD": to("FloorMod"),
    "GELU": to("Gelu", approximate=option("approximate")),
    "GREATER": to("Greater"),
    "GREATER_EQUAL": to("GreaterEqual"),
    "HARD_SWISH": Operator(compositions.hard_swish),
    "IMAG": to("Imag"),
    "LEAKY_RELU": to("LeakyRelu", alpha=option("alpha")),
    "LESS": to("Less"),
    "LESS_EQUAL": to("LessEqual"),
    "LOG": to("Log"),
    "LOGICAL_AND": to("LogicalAnd"),
    "LOGICAL_NOT": to("LogicalNot"),
    "LOGICAL_OR": to("LogicalOr"),
    "LOGISTIC": to("Sigmoid"),
    "MAXIMUM": to("Maximum"),
    "MINIMUM": to("Minimum"),
    "MUL": to("Mul"),
    "NEG": to("Neg"),
    "NOT_EQUAL": to("NotEqual"),
    "POW": to("Pow"),
    "PRELU": to("Prelu"),
    "QUANTIZE": Operator(compositions.quantized, is_rounded=True),
    "REAL": to("Real"),
    "RELU": to("Relu"),
    "RELU6": to("Relu6"),
    "RELU_0_TO_1": clipped(0.0, 1.0),
    "RELU_N1_TO_1": clipped(-1.0, 1.0),
    "RIGHT_SHIFT": to("RightShift"),
    "ROUND": to("Round"),
    "RSQRT": to("Rsqrt"),
    "SELECT": to("Select"),
    "SELECT_V2": to("SelectV2"),
    "SIGN": to("Sign"),
    "SIN": to("Sin"),
    "SQRT": to("Sqrt"),
    "SQUARE": to("Square"),
    "SQUARED_DIFFERENCE": to("SquaredDifference"),
    "SUB": to("Sub"),
    "TANH": to("Tanh"),
    "ZEROS_LIKE": to("ZerosLike"),
    # sums of products
    "BATCH_MATMUL": to("BatchMatMulV2", adj_x=option("adj_x"), adj_y=option("adj_y")),
    "CONV_2D": product(products.convolution),
    "CONV_3D": product(products.convolution_3d),
    "CONV_3D_TRANSPOSE": product(products.transposed_convolution_3d),
    "DEPTHWISE_CONV_2D": product(products.depthwise_convolution),
    "FULLY_CONNECTED": product(products.matrix_product),
    "TRANSPOSE_CONV": product(products.transposed_convolution),
    # windows and images
    "AVERAGE_POOL_2D": _pool("AvgPool"),
    "L2_POOL_2D": Operator(compositions.l2_pool),
    "MAX_POOL_2D": moving(_pool("MaxPool")),
    "RESIZE_BILINEAR": _resizing("ResizeBilinear"),
    "RESIZE_NEAREST_NEIGHBOR": moving(_resizing("ResizeNearestNeighbor")),
    # normalization
    "L2_NORMALIZATION": Operator(compositions.l2_normalization),
    "LOCAL_RESPONSE_NORMALIZATION": to(
        "LRN",
        depth_radius=option("radius"),
        bias=option("bias"),
        alpha=option("alpha"),
        beta=option("beta"),
    ),
    "LOG_SOFTMAX": to("LogSoftmax"),
    "SOFTMAX": Operator(compositions.softmax),
    # reductions, searching and sorting
    "ARG_MAX": to("ArgMax"),
    "ARG_MIN": to("ArgMin"),
    "CUMSUM": to("Cumsum", exclusive=option("exclusive"), reverse=option("reverse")),
    "MEAN": _reduction("Mean"),
    "NON_MAX_SUPPRESSION_V4": to("NonMaxSuppressionV4", pad_to_max_output_size=True),
    "NON_MAX_SUPPRESSION_V5": to("NonMaxSuppressionPadded"),
    "REDUCE_ALL": _reduction("All"),
    "REDUCE_ANY": _reduction("Any"),
    "REDUCE_MAX": _reduction("Max"),
    "REDUCE_MIN": _reduction("Min"),
    "REDUCE_PROD": _reduction("Prod"),
    "SEGMENT_SUM": to("SegmentSum"),
    "SUM": _reduction("Sum"),
    "TOPK_V2": moving(to("TopKV2")),
    "UNIQUE": moving(to("Unique")),
    "UNSORTED_SEGMENT_MAX": to("UnsortedSegmentMax"),
    "UNSORTED_SEGMENT_MIN": to("UnsortedSegmentMin"),
    "UNSORTED_SEGMENT_PROD": to("UnsortedSegmentProd"),
    "UNSORTED_SEGMENT_SUM": to("UnsortedSegmentSum"),
    "WHERE": to("Where"),
    # shapes
    "BROADCAST_ARGS": to("BroadcastArgs"),
    "BROADCAST_TO": moving(to("BroadcastTo")),
    "EXPAND_DIMS": moving(to("ExpandDims")),
    "RANK": to("Rank"),
    "RESHAPE": moving(compositions.reshape),
    "SHAPE": to("Shape"),
    "SQUEEZE": moving(to("Squeeze", squeeze_dims=_LISTED("squeeze_dims"))),
    # new tensors
    "FILL": moving(to("Fill", T=OUTPUT_DTYPE)),
    "MULTINOMIAL": to("Multinomial", seed=option("seed"), seed2=option("seed2")),
    "ONE_HOT": moving(to("OneHot", T=OUTPUT_DTYPE, axis=option("axis"))),
    "RANDOM_STANDARD_NORMAL": to(
        "RandomStandardNormal", dtype="float32", seed=option("seed"), seed2=option("seed2")
    ),
    "RANDOM_UNIFORM": to(
        "RandomUniform", dtype="float32", seed=option("seed"), seed2=option("seed2")
    ),
    "RANGE": to("Range", Tidx=OUTPUT_DTYPE),
    # slices and joins
    "CONCATENATION": moving(to("ConcatV2", ALL, number("axis"))),
    "DYNAMIC_UPDATE_SLICE": moving(to("DynamicUpdateSlice")),
    "EMBEDDING_LOOKUP": moving(to("Gather", at(1, 0))),
    "GATHER": moving(to("GatherV2", at(0, 1), number("axis"), batch_dims=option("batch_dims"))),
    "GATHER_ND": moving(to("GatherNd")),
    "PACK": moving(to("Pack", axis=option("axis"))),
    "SCATTER_ND": moving(to("ScatterNd")),
    "SLICE": moving(to("Slice")),
    "SPARSE_TO_DENSE": moving(to("SparseToDense")),
    "SPLIT": moving(to("Split", num_split=option("num_splits"))),
    "SPLIT_V": moving(to("SplitV")),
    "STRIDED_SLICE": moving(compositions.strided_slice),
    "TILE": moving(to("Tile")),
    "UNPACK": moving(to("Unpack", axis=option("axis"))),
    # moving elements
    "BATCH_TO_SPACE_ND": moving(to("BatchToSpaceND")),
    "DENSIFY": moving(compositions.unchanged),
    "DEPTH_TO_SPACE": moving(to("DepthToSpace", block_size=option("block_size"))),
    "MATRIX_DIAG": moving(to("MatrixDiag")),
    "MATRIX_SET_DIAG": moving(to("MatrixSetDiag")),
    "MIRROR_PAD": moving(to("MirrorPad", mode=option("mode"))),
    "PAD": moving(to("Pad")),
    "PADV2": moving(to("PadV2")),
    "REVERSE_SEQUENCE": moving(
        to("ReverseSequence", seq_dim=option("seq_dim"), batch_dim=option("batch_dim"))
    ),
    "REVERSE_V2": moving(to("ReverseV2")),
    "SPACE_TO_BATCH_ND": moving(to("SpaceToBatchND")),
    "SPACE_TO_DEPTH": moving(to("SpaceToDepth", block_size=option("block_size"))),
    "TRANSPOSE": moving(to("Transpose")),
    # Fourier transforms
    "RFFT2D": Operator(compositions.real_transform),
    # recurrent networks
    "BIDIRECTIONAL_SEQUENCE_LSTM": activated(recurrent_calls.bidirectional_lstm),
    "BIDIRECTIONAL_SEQUENCE_RNN": activated(recurrent_calls.bidirectional_network),
    "LSTM": activated(recurrent_calls.lstm),
    "RNN": activated(partial(recurrent_calls.network, False)),
    "SVDF": activated(recurrent_calls.filters),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": activated(recurrent_calls.sequence_lstm),
    "UNIDIRECTIONAL_SEQUENCE_RNN": activated(partial(recurrent_calls.network, True)),
    # control flow
    "CALL": moving(compositions.call_subgraph),
    "CALL_ONCE": Operator(compositions.initialization),
    "IF": moving(compositions.choice),
    "WHILE": moving(compositions.loop),
    # variables and tables
    "ASSIGN_VARIABLE": Operator(compositions.assignment),
    "HASHTABLE": Operator(compositions.table),
    "HASHTABLE_FIND": to("LookupTableFindV2"),
    "HASHTABLE_IMPORT": to("LookupTableImportV2"),
    "HASHTABLE_SIZE": to("LookupTableSizeV2"),
    "READ_VARIABLE": moving(compositions.reading),
    "VAR_HANDLE": Operator(compositions.variable),
}

#: Custom operators that many models have.
CUSTOM_OPERATORS: dict[str, Operator] = {
    "Convolution2DTransposeBias": product(products.transposed_convolution_of_mediapipe),
    "Landmarks2TransformMatrix": Operator(compositions.landmarks),
    "TFLite_Detection_PostProcess": Operator(compositions.detections),
    "TransformLandmarks": Operator(compositions.landmarks),
    "TransformTensorBilinear": Operator(compositions.landmarks),
}
