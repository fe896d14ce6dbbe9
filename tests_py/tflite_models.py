"""Models that TensorFlow's converter makes, compared with its interpreter, LiteRT.

`make test-tensorflow` runs these tests in an environment of their own.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.tflite.cases import CASES as OUR_CASES, Case as OurCase
from tests_py.tflite.test_flows import detector
from tests_py.tflite.test_recurrent import (
    BATCH,
    BIDIRECTIONAL_VARIANTS,
    NUMBERS,
    OTHERS,
    TIME,
    UNITS,
    basic_lstm,
    bidirectional_lstm,
    bidirectional_network,
    filters,
    in_8_bits,
    sequence_of_lstm,
)
from webtensor.formats.tflite import Model, read_tflite

pytestmark = pytest.mark.filterwarnings("ignore")
Array = np.ndarray[Any, Any]
layers = tf.keras.layers


# -- models ------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A function of TensorFlow, what it is called with, and the operators that it becomes.

    The model knows the sizes of its inputs unless ``unknown`` is true.
    """

    operators: str
    function: Callable[..., Any]
    inputs: Sequence[Array]
    unknown: bool = False

    @property
    def name(self) -> str:
        shapes = "_".join("x".join(map(str, value.shape)) for value in self.inputs)
        return f"{self.operators.replace(' ', '+')}-{shapes}"


def normal(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def positive(*shape: int) -> Array:
    return np.abs(normal(*shape)) + np.float32(0.1)


def whole(*shape: int, low: int = -5, high: int = 6) -> Array:
    return np.random.default_rng(2).integers(low, high, shape).astype("int32")


def flags(*shape: int) -> Array:
    return normal(*shape) > 0


def image(channels: int = 3, size: int = 8) -> Array:
    return normal(2, size, size, channels)


IMAGE = image()
FILTER = normal(3, 3, 3, 4, seed=3)
DEPTHWISE = normal(3, 3, 3, 2, seed=4)
MATRIX = normal(3, 4)
BOXES = np.sort(np.abs(normal(6, 4)), axis=1)[:, [0, 1, 2, 3]]
SCORES = np.linspace(0.9, 0.2, 6, dtype="float32")
X, Y = normal(2, 3, 4), normal(2, 3, 4, seed=5)
B = normal(1, 4, seed=6)

UNARY = {
    "ABS": tf.abs,
    "CEIL": tf.math.ceil,
    "COS": tf.cos,
    "ELU": tf.nn.elu,
    "EXP": tf.exp,
    "FLOOR": tf.floor,
    "GELU": lambda x: tf.nn.gelu(x, approximate=False),
    "HARD_SWISH": lambda x: x * tf.nn.relu6(x + 3) * (1 / 6),
    "LEAKY_RELU": lambda x: tf.nn.leaky_relu(x, 0.3),
    "LOGISTIC": tf.sigmoid,
    "LOG_SOFTMAX": tf.nn.log_softmax,
    "NEG": tf.negative,
    "RELU": tf.nn.relu,
    "RELU6": tf.nn.relu6,
    "RELU_N1_TO_1": lambda x: tf.minimum(tf.maximum(x, -1.0), 1.0),
    "ROUND": tf.round,
    "SIGN": tf.sign,
    "SIN": tf.sin,
    "SOFTMAX": tf.nn.softmax,
    "SQUARE": tf.square,
    "TANH": tf.tanh,
    "L2_NORMALIZATION": lambda x: tf.nn.l2_normalize(x, -1),
}
BINARY = {
    "ADD": tf.add,
    "ATAN2": tf.atan2,
    "DIV": tf.divide,
    "EQUAL": tf.equal,
    "FLOOR_DIV": tf.math.floordiv,
    "FLOOR_MOD": tf.math.floormod,
    "GREATER": tf.greater,
    "GREATER_EQUAL": tf.greater_equal,
    "LESS": tf.less,
    "LESS_EQUAL": tf.less_equal,
    "MAXIMUM": tf.maximum,
    "MINIMUM": tf.minimum,
    "MUL": tf.multiply,
    "NOT_EQUAL": tf.not_equal,
    "SQUARED_DIFFERENCE": tf.math.squared_difference,
    "SUB": tf.subtract,
}
REDUCTIONS = {
    "MEAN": tf.reduce_mean,
    "REDUCE_MAX": tf.reduce_max,
    "REDUCE_MIN": tf.reduce_min,
    "REDUCE_PROD": tf.reduce_prod,
    "SUM": tf.reduce_sum,
}


def bounded_loop(x: Any) -> Any:
    return tf.while_loop(
        lambda i, value: i < 4, lambda i, value: (i + 1, value * 0.5 + 1.0), (0, x)
    )[1]


class Counter(tf.Module):
    """A variable that calls add to."""

    def __init__(self) -> None:
        super().__init__()
        self.total = tf.Variable(tf.zeros((4,)))

    def __call__(self, x: Any) -> Any:
        return self.total.assign_add(x) * 2.0


class Words(tf.Module):
    """A table of words."""

    def __init__(self) -> None:
        super().__init__()
        pairs = tf.lookup.KeyValueTensorInitializer(
            tf.constant([3, 5, 7], tf.int64), tf.constant(["a", "b", "c"])
        )
        self.table = tf.lookup.StaticHashTable(pairs, "?")

    def __call__(self, x: Any) -> Any:
        return self.table.lookup(x)


CASES = [
    *(Case(name, function, [X]) for name, function in UNARY.items()),
    *(Case(name, function, [positive(2, 5)]) for name, function in {
        "LOG": tf.math.log, "RSQRT": tf.math.rsqrt, "SQRT": tf.sqrt,
    }.items()),
    *(Case(name, function, [X, Y]) for name, function in BINARY.items()),
    *(Case(name, function, [X, B]) for name, function in BINARY.items() if name != "ATAN2"),
    *(Case(name, BINARY[name], [whole(2, 3), whole(3, low=1)]) for name in (
        "ADD", "FLOOR_DIV", "FLOOR_MOD", "GREATER", "MAXIMUM", "MUL", "SUB"
    )),
    Case("POW", tf.pow, [positive(2, 4), normal(4)]),
    Case("ADD RELU", lambda x, y: tf.nn.relu(x + y), [X, Y]),
    Case("MUL RELU6", lambda x, y: tf.nn.relu6(x * y), [X, Y]),
    Case("ADD_N", lambda x, y, z: tf.add_n([x, y, z]), [X, Y, X]),
    Case("LOGICAL_AND", tf.logical_and, [flags(2, 3), flags(3)]),
    Case("LOGICAL_OR", tf.logical_or, [flags(2, 3), flags(3)]),
    Case("LOGICAL_NOT", tf.logical_not, [flags(2, 3)]),
    Case("SELECT_V2", tf.where, [flags(3, 1), MATRIX, MATRIX * 2]),
    Case("CAST", lambda x: tf.cast(x, tf.int32), [X * 10]),
    Case("CAST", lambda x: tf.cast(x, tf.float32), [whole(2, 3)]),
    Case("BITWISE_XOR", tf.bitwise.bitwise_xor, [whole(3, low=0), whole(3, low=0)]),
    Case("RIGHT_SHIFT", tf.bitwise.right_shift, [whole(3, low=0, high=99), whole(3, low=0)]),
    Case("BUCKETIZE", lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0]), [X]),
    # sums of products
    Case("CONV_2D", lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME"), [IMAGE]),
    Case("CONV_2D", lambda x: tf.nn.conv2d(x, FILTER, (2, 1), "VALID"), [IMAGE]),
    Case("CONV_2D", lambda x: tf.nn.conv2d(x, FILTER, 1, "VALID", dilations=2), [IMAGE]),
    Case(
        "CONV_2D RELU6",
        lambda x: tf.nn.relu6(tf.nn.conv2d(x, FILTER, 2, "SAME") + tf.constant(B[0])),
        [IMAGE],
    ),
    Case(
        "CONV_2D TANH", lambda x: tf.tanh(tf.nn.conv2d(x, FILTER, 2, "SAME") + B[0]), [IMAGE]
    ),
    Case("CONV_2D", lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME"), [image(6)]),
    Case("PAD CONV_2D", lambda x: tf.nn.conv2d(
        tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]]), FILTER, 1, "VALID"), [IMAGE]),
    Case("CONV_2D ADD", lambda x: tf.nn.relu(
        tf.nn.conv2d(x, FILTER[..., :3], 1, "SAME") + x), [IMAGE]),
    Case(
        "DEPTHWISE_CONV_2D",
        lambda x: tf.nn.depthwise_conv2d(x, DEPTHWISE, (1, 1, 1, 1), "SAME"),
        [IMAGE],
    ),
    Case(
        "DEPTHWISE_CONV_2D",
        lambda x: tf.nn.depthwise_conv2d(x, DEPTHWISE[..., :1], (1, 2, 2, 1), "VALID") + B[0, :3],
        [IMAGE],
    ),
    Case(
        "TRANSPOSE_CONV",
        lambda x: tf.nn.conv2d_transpose(x, FILTER, (2, 16, 16, 3), 2, "SAME"),
        [image(4)],
    ),
    Case(
        "TRANSPOSE_CONV",
        lambda x: tf.nn.conv2d_transpose(x, FILTER, (2, 17, 17, 3), 2, "VALID") + B[0, :3],
        [image(4)],
    ),
    Case("FULLY_CONNECTED", lambda x: x @ tf.constant(normal(4, 5)), [MATRIX]),
    Case(
        "FULLY_CONNECTED RELU",
        lambda x: tf.nn.relu(x @ tf.constant(normal(4, 5)) + normal(5)),
        [MATRIX],
    ),
    Case("FULLY_CONNECTED", lambda x: tf.einsum("bij,jk->bik", x, normal(4, 5)), [X]),
    Case("BATCH_MATMUL", lambda x, y: tf.matmul(x, y, transpose_b=True), [X, Y]),
    Case("BATCH_MATMUL", tf.matmul, [X, normal(2, 4, 2)]),
    Case("CONV_3D", lambda x: tf.nn.conv3d(x, normal(2, 2, 2, 3, 4), (1, 1, 2, 1, 1), "SAME"), [
        normal(1, 4, 4, 4, 3)]),
    Case("CONV_3D_TRANSPOSE", lambda x: tf.nn.conv3d_transpose(
        x, normal(2, 2, 2, 4, 3), (1, 8, 8, 8, 4), 2), [normal(1, 4, 4, 4, 3)]),
    # windows and images
    Case("AVERAGE_POOL_2D", lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), [IMAGE]),
    Case("AVERAGE_POOL_2D", lambda x: tf.nn.avg_pool2d(x, (2, 3), 1, "VALID"), [IMAGE]),
    Case("MAX_POOL_2D", lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), [IMAGE]),
    *(Case("RESIZE_BILINEAR", lambda x, a=a, h=h: tf.compat.v1.image.resize_bilinear(
        x, (13, 5), align_corners=a, half_pixel_centers=h), [IMAGE])
      for a, h in ((False, False), (True, False), (False, True))),
    *(Case(
        "RESIZE_NEAREST_NEIGHBOR",
        lambda x, a=a, h=h: tf.compat.v1.image.resize_nearest_neighbor(
            x, (13, 5), align_corners=a, half_pixel_centers=h), [IMAGE])
      for a, h in ((False, False), (True, False), (False, True))),
    Case("LOCAL_RESPONSE_NORMALIZATION", lambda x: tf.nn.lrn(x, 2, 1.0, 0.5, 0.75), [image(6)]),
    # reductions, searching and sorting
    *(Case(name, lambda x, f=f: f(x, (0, 2)), [X]) for name, f in REDUCTIONS.items()),
    *(Case(name, lambda x, f=f: f(x, -1, keepdims=True), [X]) for name, f in REDUCTIONS.items()),
    Case("REDUCE_ALL", lambda x: tf.reduce_all(x, 0), [flags(2, 3)]),
    Case("REDUCE_ANY", lambda x: tf.reduce_any(x, 1), [flags(2, 3)]),
    Case("ARG_MAX", lambda x: tf.argmax(x, 1, tf.int32), [X]),
    Case("ARG_MIN", lambda x: tf.argmin(x, -1, tf.int32), [X]),
    Case("CUMSUM", lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), [X]),
    Case("TOPK_V2", lambda x: tuple(tf.math.top_k(x, 2)), [X]),
    Case("UNIQUE", lambda x: tuple(tf.unique(x)), [whole(9)]),
    Case("WHERE", tf.where, [flags(3, 4)]),
    Case("SEGMENT_SUM", lambda x: tf.math.segment_sum(x, [0, 0, 1]), [MATRIX]),
    *(Case(f"UNSORTED_SEGMENT_{name}", lambda x, f=f: f(x, tf.constant([2, 0, 2]), 3), [MATRIX])
      for name, f in {"MAX": tf.math.unsorted_segment_max, "MIN": tf.math.unsorted_segment_min,
                      "PROD": tf.math.unsorted_segment_prod,
                      "SUM": tf.math.unsorted_segment_sum}.items()),
    Case("NON_MAX_SUPPRESSION_V4", lambda b, s: tuple(tf.raw_ops.NonMaxSuppressionV4(
        boxes=b, scores=s, max_output_size=4, iou_threshold=0.5, score_threshold=0.3,
        pad_to_max_output_size=True)), [BOXES, SCORES]),
    Case("NON_MAX_SUPPRESSION_V5", lambda b, s: tuple(tf.raw_ops.NonMaxSuppressionV5(
        boxes=b, scores=s, max_output_size=4, iou_threshold=0.5, score_threshold=0.3,
        soft_nms_sigma=0.4, pad_to_max_output_size=True)), [BOXES, SCORES]),
    # shapes and new tensors
    Case("RESHAPE", lambda x: tf.reshape(x, (4, -1)), [X]),
    Case("SHAPE RESHAPE", lambda x, y: tf.reshape(x, tf.shape(y)), [X, normal(4, 3, 2)], True),
    Case("SQUEEZE", lambda x: tf.squeeze(x, 1), [normal(2, 1, 3)], True),
    Case("EXPAND_DIMS", lambda x: tf.expand_dims(x, 1), [MATRIX], True),
    Case("BROADCAST_ARGS", lambda x, y: tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y)), [
        normal(2, 1), normal(1, 3)], True),
    Case("FULLY_CONNECTED", lambda x: tf.einsum("bij,jk->bik", x, normal(4, 5)), [X], True),
    Case("BROADCAST_TO", lambda x: tf.broadcast_to(x, (2, 3, 4)), [MATRIX]),
    Case("FILL", tf.fill, [np.array([2, 3], "int32"), np.array(2.5, "float32")]),
    Case("ZEROS_LIKE", tf.zeros_like, [X], True),
    Case("RANGE", lambda n: tf.range(2, n, 3), [np.array(13, "int32")]),
    Case("ONE_HOT", lambda x: tf.one_hot(x, 4, 2.0, -1.0, axis=1), [whole(2, 3, low=0, high=4)]),
    # slices and joins
    Case("CONCATENATION", lambda x, y: tf.concat([x, y], 1), [X, Y]),
    Case("GATHER", lambda x, i: tf.gather(x, i, axis=1), [X, whole(2, 2, low=0, high=3)]),
    Case("GATHER", lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), [
        X, whole(2, 2, low=0, high=3)]),
    Case("GATHER_ND", tf.gather_nd, [X, whole(3, 2, low=0, high=2)]),
    Case("PACK", lambda x, y: tf.stack([x, y], 1), [X, Y]),
    Case("UNPACK", lambda x: tuple(tf.unstack(x, axis=1)), [X]),
    Case("SCATTER_ND", lambda i, u: tf.scatter_nd(i, u, (5, 4)), [
        np.array([[1], [4], [1]], "int32"), MATRIX]),
    Case("SLICE", lambda x, b: tf.slice(x, b, (1, 2, 2)), [X, np.array([1, 0, 1], "int32")]),
    Case("STRIDED_SLICE", lambda x: x[1, ..., ::2, tf.newaxis], [X]),
    Case("STRIDED_SLICE", lambda x: x[:, ::-1, 1:-1], [X]),
    Case("SPLIT", lambda x: tuple(tf.split(x, 2, 2)), [X]),
    Case("SPLIT_V", lambda x: tuple(tf.split(x, (1, 3), 2)), [X]),
    Case("TILE", lambda x: tf.tile(x, (2, 1, 3)), [X]),
    Case("SPARSE_TO_DENSE", lambda i, v: tf.compat.v1.sparse_to_dense(i, (5,), v, -1.0), [
        np.array([1, 3], "int32"), normal(2)]),
    # moving elements
    Case("TRANSPOSE", lambda x: tf.transpose(x, (2, 0, 1)), [X]),
    Case("PAD", lambda x: tf.pad(x, [[0, 1], [2, 0], [0, 0]]), [X]),
    Case("PADV2", lambda x: tf.pad(x, [[0, 1], [2, 0], [0, 0]], constant_values=3.0), [X]),
    Case("MIRROR_PAD", lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]], "REFLECT"), [X]),
    Case("MIRROR_PAD", lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]], "SYMMETRIC"), [X]),
    Case("REVERSE_V2", lambda x: tf.reverse(x, [1]), [X]),
    Case("REVERSE_SEQUENCE", lambda x: tf.reverse_sequence(x, [2, 3], 1, 0), [X]),
    Case("SPACE_TO_DEPTH", lambda x: tf.nn.space_to_depth(x, 2), [IMAGE]),
    Case("DEPTH_TO_SPACE", lambda x: tf.nn.depth_to_space(x, 2), [image(8)]),
    Case("SPACE_TO_BATCH_ND", lambda x: tf.space_to_batch(x, (2, 2), [[0, 0], [1, 1]]), [IMAGE]),
    Case("BATCH_TO_SPACE_ND", lambda x: tf.batch_to_space(x, (2, 1), [[0, 1], [0, 0]]), [IMAGE]),
    Case("MATRIX_DIAG", tf.linalg.diag, [MATRIX]),
    Case("MATRIX_SET_DIAG", lambda x, d: tf.raw_ops.MatrixSetDiag(input=x, diagonal=d), [
        MATRIX, normal(3, seed=8)]),
    # transforms, control flow, variables and tables
    Case("RFFT2D COMPLEX_ABS", lambda x: tf.abs(tf.signal.rfft2d(x, (8, 8))), [normal(2, 6, 8)]),
    Case("RFFT2D REAL", lambda x: tf.math.real(tf.signal.rfft(x, [16])), [normal(3, 16)]),
    Case("RFFT2D IMAG", lambda x: tf.math.imag(tf.signal.rfft(x, [16])), [normal(3, 16)]),
    Case("IF", lambda c, x: tf.cond(c, lambda: x * 2.0, lambda: tf.sin(x)), [np.array(True), X]),
    Case("IF", lambda c, x: tf.cond(c, lambda: x * 2.0, lambda: tf.sin(x)), [np.array(False), X]),
    Case("WHILE", bounded_loop, [X]),
    Case("VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE CALL_ONCE", Counter(), [normal(4)]),
    Case("HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT", Words(), [np.array([5, 3, 4], "int64")]),
]  # fmt: skip


def converted(case: Case, **options: Any) -> bytes:
    """The bytes of the model that a function becomes."""
    specs = [
        tf.TensorSpec(
            [None] * value.ndim if case.unknown else value.shape, value.dtype, f"input{index}"
        )
        for index, value in enumerate(case.inputs)
    ]
    concrete = tf.function(case.function, input_signature=specs).get_concrete_function()
    if not isinstance(case.function, tf.Module):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
        return conversion(converter, **options)
    with TemporaryDirectory() as folder:
        tf.saved_model.save(case.function, folder, concrete)
        return conversion(tf.lite.TFLiteConverter.from_saved_model(folder), **options)


def conversion(converter: Any, **options: Any) -> bytes:
    for name, value in options.items():
        setattr(converter, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data: bytes = converter.convert()
    return data


def litert(data: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """What LiteRT computes, without XNNPACK."""
    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=plain)
    results: dict[str, Array] = interpreter.get_signature_runner()(**feeds)
    return results


def ours(data: bytes, feeds: Mapping[str, Array], outputs: Iterable[str]) -> dict[str, Array]:
    """What we compute: the second time, as the first one is another way."""
    model = wt.load_tflite(data)
    tensors = {
        name: wt.tensor(value.tolist() if value.dtype == "int64" else value)
        for name, value in feeds.items()
    }
    names = list(outputs)
    for _ in range(2):
        model.reset_states()
        results = model.execute(tensors, names)
    return {name: value.numpy() for name, value in zip(names, results, strict=True)}


def operators_of(model: Model) -> set[str]:
    return {operator.op for subgraph in model.subgraphs for operator in subgraph.operators}


def compare(data: bytes, *inputs: Array, tolerance: float = 2e-6, steps: float = 0) -> None:
    """Compare all outputs.

    Floats may differ by a part of the largest magnitude, or of the largest of 1; integers by a
    number of steps.
    """
    feeds = {f"input{index}": value for index, value in enumerate(inputs)}
    expected = litert(data, feeds)
    for name, value in ours(data, feeds, expected).items():
        their = expected[name]
        assert value.shape == their.shape
        if their.dtype.kind == "O":
            assert value.tolist() == [text.decode() for text in their]
        elif their.dtype.kind == "f":
            largest = max(float(np.abs(their).max(initial=0)), 1.0)
            np.testing.assert_allclose(value, their, rtol=0, atol=tolerance * largest)
        else:
            assert np.abs(value.astype("int64") - their).max(initial=0) <= steps


#: Words in the names of cases that are activations of other operators.
FUSED = {"RELU", "RELU6", "TANH"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operators(case: Case):
    data = converted(case)
    names = set(case.operators.split())
    assert names - operators_of(read_tflite(data, "m")) <= FUSED
    compare(data, *case.inputs)


# -- models of our tests -----------------------------------------------------------------------

#: Cases that LiteRT refuses, or of which it leaves out the activation.
NOT_IN_LITERT = {
    "ATAN2 broadcast",
    "BROADCAST_TO",
    "CONV_2D without bias",
    "DENSIFY",
    "DEQUANTIZE",
    "QUANTIZE",
    *(f"{op} TANH" for op in ("ADD", "CONV_2D", "DIV", "MUL", "SUB")),
}


def invoked(data: bytes, *inputs: Array) -> list[Array]:
    """What LiteRT computes for a model without signatures."""
    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=plain)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.mark.parametrize(
    "case",
    [case for case in OUR_CASES if case.name not in NOT_IN_LITERT],
    ids=lambda case: case.name,
)
def test_what_our_tests_expect(case: OurCase):
    results = invoked(case.file(), *case.feeds.values())
    for result, expected in zip(results, case.expectation(), strict=True):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("variant", ["plain", "coupled", "peephole", "projection"])
def test_sequences_of_lstms(variant: str):
    x = normal(BATCH, TIME, NUMBERS, seed=3)
    data = sequence_of_lstm(x, variant)
    (expected,) = invoked(data, x)
    (result,) = wt.load_tflite(data).execute([wt.tensor(x)], ["y"])
    np.testing.assert_allclose(result.numpy(), expected, atol=1e-5)


# LiteRT takes the states of wrong places where outputs are merged and the batch comes first, and
# in simple networks of 8 bits where time comes first.


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("is_time_major, merges", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("variant", BIDIRECTIONAL_VARIANTS)
def test_bidirectional_lstms(variant: str, others: str, is_time_major: bool, merges: bool):
    data, inputs, _ = bidirectional_lstm(variant, others, is_time_major, merges)
    check_directions(data, inputs)


@pytest.mark.parametrize(
    "others, is_time_major, merges",
    [
        # The backward cell of LiteRT ignores its own input where the batch comes first.
        *(("none", False, False), ("weighted", False, False)),
        *((others, True, merges) for others in OTHERS for merges in (False, True)),
    ],
)
def test_bidirectional_networks(others: str, is_time_major: bool, merges: bool):
    data, inputs, _ = bidirectional_network(others, is_time_major, merges)
    check_directions(data, inputs)


def check_directions(data: bytes, inputs: list[Array]) -> None:
    model = wt.load_tflite(data)
    results = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    for result, expected in zip(results, invoked(data, *inputs), strict=True):
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("others", OTHERS)
def test_bidirectional_lstms_with_weights_of_8_bits(others: str):
    check_weights_of_8_bits(*bidirectional_lstm("plain", others, True, True, in_8_bits))


@pytest.mark.parametrize("others", ["none", "weighted"])
def test_bidirectional_networks_with_weights_of_8_bits(others: str):
    check_weights_of_8_bits(*bidirectional_network(others, False, False, in_8_bits))


def check_weights_of_8_bits(data: bytes, inputs: list[Array], expected: list[Array]) -> None:
    """LiteRT rounds inputs to 8 bits, too: ours must be as near to the results of floats."""
    model = wt.load_tflite(data)
    results = model.execute([*map(wt.tensor, inputs)], model.output_nodes)
    for result, theirs, exact in zip(results, invoked(data, *inputs), expected, strict=True):
        ours, other = (np.abs(y - exact).max() for y in (result.numpy(), theirs))
        assert ours <= max(other, 0.02)


@pytest.mark.parametrize("are_variables", [True, False])
def test_basic_lstms(are_variables: bool):
    x = normal(BATCH, NUMBERS, seed=3)
    data, _ = basic_lstm(x, are_variables)
    zeros = np.zeros((BATCH, UNITS), np.float32)
    inputs = [x] if are_variables else [x, zeros, zeros]
    results = wt.load_tflite(data).execute([*map(wt.tensor, inputs)], ["y", "new_cell"])
    for result, expected in zip(results, invoked(data, *inputs), strict=True):
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2])
def test_filters(rank: int):
    steps = normal(5, BATCH, NUMBERS, seed=8)
    data = filters(steps[0], rank)[0]
    model = wt.load_tflite(data)
    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    for step in steps:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], step)
        interpreter.invoke()
        expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        (result,) = model.execute([wt.tensor(step)], ["y"])
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("regular", [False, True])
@pytest.mark.parametrize("background", [0, 1])
def test_detections(regular: bool, background: int):
    random = np.random.default_rng(7)
    anchors = random.uniform(0.1, 0.9, (60, 4)).astype("float32")
    encodings = random.normal(size=(1, 60, 4)).astype("float32")
    scores = random.uniform(0, 1, (1, 60, 2 + background)).astype("float32")
    options = {"use_regular_nms": regular, "max_detections": 12, "detections_per_class": 9}
    data = detector(anchors, scores.shape, options)
    expected = invoked(data, encodings, scores)
    results = wt.load_tflite(data).execute(
        [wt.tensor(encodings), wt.tensor(scores)], ["boxes", "classes", "scores", "count"]
    )
    for result, their in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), their, atol=1e-5)


# -- quantized operators -----------------------------------------------------------------------

OPTIMIZED = {"optimizations": [tf.lite.Optimize.DEFAULT]}
#: Operators of which there are quantized ones, and which the converter quantizes.
QUANTIZED = frozenset(
    re.findall(
        r"\w+",
        """
        ABS ADD ARG_MAX AVERAGE_POOL_2D BATCH_MATMUL BATCH_TO_SPACE_ND CONCATENATION CONV_2D
        DEPTHWISE_CONV_2D DEPTH_TO_SPACE EQUAL FULLY_CONNECTED GATHER GATHER_ND GREATER HARD_SWISH
        L2_NORMALIZATION LEAKY_RELU LESS LOGISTIC LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MINIMUM
        MIRROR_PAD MUL NEG PACK PAD PADV2 REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_N1_TO_1 RESHAPE
        RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SLICE SOFTMAX SPACE_TO_BATCH_ND SPACE_TO_DEPTH
        SPLIT SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TOPK_V2 TRANSPOSE TRANSPOSE_CONV UNPACK
        """,
    )
)
INTEGERS = {"int8": tf.int8, "uint8": tf.uint8}


def quantized(case: Case, dtype: Any = tf.float32) -> bytes:
    """The bytes of a model of 8-bit integers, whose inputs and outputs have a dtype."""

    def samples() -> Iterator[dict[str, Array]]:
        yield {f"input{index}": value for index, value in enumerate(case.inputs)}

    integers = tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8])
    return converted(
        case,
        **OPTIMIZED,
        representative_dataset=samples,
        target_spec=integers,
        inference_input_type=dtype,
        inference_output_type=dtype,
    )


def is_quantized(case: Case) -> bool:
    names = set(case.operators.split())
    are_floats = all(value.dtype == "float32" for value in case.inputs)
    return are_floats and not case.unknown and names <= QUANTIZED | FUSED


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("case", [*filter(is_quantized, CASES)], ids=lambda case: case.name)
def test_quantized_operators(case: Case, dtype: str):
    data = quantized(case, INTEGERS[dtype])
    random = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    inputs = [
        random.integers(limits.min, limits.max + 1, value.shape).astype(dtype)
        for value in case.inputs
    ]
    compare(data, *inputs, steps=1)


# -- models ------------------------------------------------------------------------------------


def mobilenet_v1() -> Any:
    return tf.keras.applications.MobileNet((96, 96, 3), 0.25, weights=None, classes=10)


def mobilenet_v2() -> Any:
    return tf.keras.applications.MobileNetV2((96, 96, 3), 0.35, weights=None, classes=10)


def upscaling() -> Any:
    x = tf.keras.Input((16, 16, 3))
    y = layers.Conv2D(8, 3, 2, "same")(x)
    y = layers.PReLU(shared_axes=(1, 2))(y)
    skip = layers.Conv2D(8, 1, 1, "same", activation="relu")(y)
    y = layers.Add()([layers.SeparableConv2D(8, 3, padding="same")(y), skip])
    y = layers.Activation("hard_swish")(layers.UpSampling2D(interpolation="bilinear")(y))
    y = layers.Conv2DTranspose(4, 3, 2, "same")(layers.Concatenate()([y, x]))
    return tf.keras.Model(x, [layers.Activation("tanh")(y), layers.GlobalMaxPooling2D()(y)])


def sequence() -> Any:
    cells = [layers.LSTM(6, return_sequences=True), layers.GRU(5, return_sequences=True)]
    x = tf.keras.Input((7, 4), 1)
    y = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(cells[1](cells[0](x)))
    return tf.keras.Model(x, layers.Dense(2)(y))


def attention() -> Any:
    x = tf.keras.Input((6, 8), 1)
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    return tf.keras.Model(x, layers.Dense(8, activation="gelu")(y))


def normalized(model: Any) -> Any:
    """The model with random statistics in its normalizations, as training leaves them."""
    random = np.random.default_rng(4)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights(
                [random.uniform(0.5, 1.5, value.shape) for value in layer.get_weights()]
            )
    return model


@cache
def keras_model(make: Callable[[], Any]) -> Any:
    tf.keras.utils.set_random_seed(2)
    return normalized(make())


MODELS = (mobilenet_v1, mobilenet_v2, upscaling, sequence, attention)
VISION = (mobilenet_v1, mobilenet_v2, upscaling)


def lite(make: Callable[[], Any], **options: Any) -> bytes:
    """The bytes of a Keras model as the converter writes it."""
    return conversion(tf.lite.TFLiteConverter.from_keras_model(keras_model(make)), **options)


def input_of(make: Callable[[], Any], seed: int = 1) -> Array:
    return normal(1, *keras_model(make).input_shape[1:], seed=seed)


def results(data: bytes, x: Array) -> list[tuple[Array, Array]]:
    """What we and LiteRT compute for a model with one input."""
    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=plain)
    (name,) = interpreter.get_signature_list()["serving_default"]["inputs"]
    expected = litert(data, {name: x})
    return [(value, expected[key]) for key, value in ours(data, {name: x}, expected).items()]


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_models(make: Callable[[], Any]):
    for value, expected in results(lite(make), input_of(make)):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", VISION, ids=lambda make: make.__name__)
def test_models_of_float16_weights(make: Callable[[], Any]):
    target = tf.lite.TargetSpec(supported_types=[tf.float16])
    data = lite(make, **OPTIMIZED, target_spec=target)
    for value, expected in results(data, input_of(make)):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_models_of_quantized_weights(make: Callable[[], Any]):
    """LiteRT rounds activations to 8 bits, too; we are no further from Keras than it is."""
    data, x = lite(make, **OPTIMIZED), input_of(make)
    keras = keras_model(make)(x)
    exact = [value.numpy() for value in (keras if isinstance(keras, list) else [keras])]
    by_shape = {value.shape: value for value in exact}
    for value, expected in results(data, x):
        original = by_shape[value.shape]
        largest = np.abs(original).max()
        theirs = np.abs(expected - original).max() / largest
        assert np.abs(value - original).max() / largest < max(theirs, 0.02)


#: A step in the middle of a model becomes several where its scale is larger than that of the end.
STEPS = {upscaling: 3}


@cache
def integer_model(make: Callable[[], Any]) -> bytes:
    """The bytes of a model of 8-bit integers, whose inputs and outputs are such, too."""

    def samples() -> Iterator[list[Array]]:
        for seed in range(5):
            yield [input_of(make, seed)]

    return lite(
        make,
        **OPTIMIZED,
        representative_dataset=samples,
        target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8]),
        inference_input_type=tf.int8,
        inference_output_type=tf.int8,
    )


@pytest.mark.parametrize("make", VISION, ids=lambda make: make.__name__)
def test_models_of_integers(make: Callable[[], Any]):
    data = integer_model(make)
    shape = input_of(make).shape
    for seed in range(3):
        x = np.random.default_rng(seed).integers(-128, 128, shape).astype("int8")
        for value, expected in results(data, x):
            difference = np.abs(value.astype(int) - expected)
            assert difference.max() <= STEPS.get(make, 1)


@pytest.mark.parametrize("make", VISION, ids=lambda make: make.__name__)
def test_models_of_integers_become_graphs(make: Callable[[], Any], tmp_path: Path):
    (tmp_path / "model.tflite").write_bytes(integer_model(make))
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    graph: Any = wt.load_graph_model(tmp_path / "web")
    (name,) = (value.name.removesuffix(":0") for value in graph.inputs)
    x = np.random.default_rng(1).integers(-128, 128, input_of(make).shape).astype("int8")
    expected = litert(integer_model(make), {name: x})
    integers = x.astype("int32")
    predicted = graph.execute({name: integers}, [*expected])
    with NodeProcess() as node:
        theirs = node.run(tmp_path / "web", {name: integers})
    by_shape = {value.shape: value for value in theirs}
    for value, expected_array in zip(predicted, expected.values(), strict=True):
        for actual in (value.numpy(), by_shape[expected_array.shape]):
            assert np.abs(actual - expected_array.astype(int)).max() <= STEPS.get(make, 1)
    graph.dispose()


@pytest.mark.parametrize("bound", [6, 40])
def test_quantized_models_that_pad_up_to_a_size_become_graphs(bound: int, tmp_path: Path):
    @tf.function(input_signature=[tf.TensorSpec([1, None, 4], name="x")])
    def padded(x: Any) -> Any:
        missing = tf.maximum(0, bound - tf.shape(x)[1])
        return {"y": tf.matmul(tf.pad(x, [[0, 0], [0, missing], [0, 0]]), normal(4, 5))}

    def samples() -> Iterator[list[Array]]:
        yield [normal(1, 10, 4)]

    concrete = padded.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
    data = conversion(converter, **OPTIMIZED, representative_dataset=samples)
    (tmp_path / "model.tflite").write_bytes(data)
    wt.convert_model(tmp_path / "model.tflite", tmp_path / "web")
    graph: Any = wt.load_graph_model(tmp_path / "web")
    for length in (2, 7, 50):
        x = normal(1, length, 4)
        (expected,) = litert(data, {"x": x}).values()
        # One step of the integers.
        np.testing.assert_allclose(graph.predict(x).numpy(), expected, rtol=0, atol=0.03)
    graph.dispose()


@pytest.mark.parametrize("make", [mobilenet_v1, mobilenet_v2], ids=lambda make: make.__name__)
def test_models_of_integers_of_16_bits(make: Callable[[], Any]):
    def samples() -> Iterator[list[Array]]:
        yield [input_of(make)]

    kinds = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    target = tf.lite.TargetSpec(supported_ops=[kinds])
    data = lite(make, **OPTIMIZED, representative_dataset=samples, target_spec=target)
    for value, expected in results(data, input_of(make)):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1.01 * 2**-15)


def test_audio():
    """The logarithms of a mel spectrogram, and convolutions over it."""
    mel = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000)
    filters = normal(3, 3, 1, 4)

    def classify(samples: Any) -> Any:
        frames = tf.signal.stft(samples, 256, 128, 256)
        spectrogram = tf.math.log(tf.matmul(tf.abs(frames), mel) + 1e-3)
        maps = tf.nn.relu(tf.nn.conv2d(spectrogram[..., None], filters, 2, "SAME"))
        return tf.nn.softmax(tf.reduce_mean(maps, (1, 2)))

    case = Case("RFFT2D COMPLEX_ABS CONV_2D", classify, [normal(1, 2048)])
    data = converted(case)
    assert set(case.operators.split()) <= operators_of(read_tflite(data, "m"))
    compare(data, *case.inputs, tolerance=1e-5)


def test_states_are_kept_until_they_are_reset():
    x = normal(1, 7, 4)
    data = lite(sequence)
    model = wt.load_tflite(data)

    def predicted() -> Array:
        (result,) = model.execute([wt.tensor(x)], model.output_nodes)
        array: Array = result.numpy()
        return array

    first, second = predicted(), predicted()
    model.reset_states()
    np.testing.assert_array_equal(predicted(), first)
    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    for expected in (first, second):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        theirs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(expected, theirs, atol=1e-5)
