"""Operators by themselves, and what NumPy computes for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import erf
from typing import Any, NamedTuple

import numpy as np

from tests_py.tflite.files import Array, Operator, Tensor, file, subgraph

__all__ = ["CASES", "Case"]


class Case(NamedTuple):
    """An operator by itself.

    Attributes:
        op: its name.
        inputs: its inputs; None is a missing one.
        expected: computes the outputs by NumPy.
        options: the table of its options and their values.
        constants: the indices of inputs that must be constant.
        label: what sets this case apart from others of the operator.
    """

    op: str
    inputs: Sequence[Array | None]
    expected: Callable[..., Any]
    options: tuple[str, Mapping[str, Any]] | None = None
    constants: Sequence[int] = ()
    label: str = ""

    @property
    def name(self) -> str:
        return f"{self.op} {self.label}".strip()

    @property
    def feeds(self) -> dict[str, Array]:
        """The inputs that are not constant, by their names."""
        return {
            f"input{index}": value
            for index, value in enumerate(self.inputs)
            if value is not None and index not in self.constants
        }

    def expectation(self) -> list[Array]:
        """What NumPy computes."""
        with np.errstate(all="ignore"):
            results = self.expected(*[value for value in self.inputs if value is not None])
        several = results if isinstance(results, (tuple, list)) else [results]
        return [np.asarray(result) for result in several]

    def file(self, constants: Sequence[int] = ()) -> bytes:
        """The model, in which the inputs of these indices are constant, too."""
        are_constant = {*constants, *self.constants}
        results = self.expectation()
        tensors = [
            Tensor.constant(f"input{index}", value)
            if index in are_constant
            else Tensor(f"input{index}", value.shape, str(value.dtype))
            for index, value in enumerate(self.inputs)
            if value is not None
        ]
        outputs = [f"output{index}" for index in range(len(results))]
        tensors += [
            Tensor(name, result.shape, _stored(result))
            for name, result in zip(outputs, results, strict=True)
        ]
        names = [
            "" if value is None else f"input{index}" for index, value in enumerate(self.inputs)
        ]
        feeds = [name for index, name in enumerate(names) if name and index not in are_constant]
        operator = Operator(self.op, names, outputs, self.options)
        return file(subgraph(tensors, [operator], feeds, outputs))


def _stored(array: Array) -> str:
    names = {"float64": "float32", "int64": "int32", "complex128": "complex64"}
    return names.get(str(array.dtype), str(array.dtype))


def normal(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def ints(*values: Any) -> Array:
    return np.array(values[0] if len(values) == 1 else values, "int32")


X, Y = normal(2, 3, 4), normal(2, 3, 4, seed=2)
ROW = normal(4, seed=3)
MATRIX = normal(3, 4, seed=4)
IMAGE = normal(1, 6, 5, 3, seed=5)
CONDITION = X > 0


# -- formulas ----------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def windows(
    x: Array, size: tuple[int, int], stride: tuple[int, int], same: bool, fill: float = 0
) -> Array:
    """The windows of images, as (batch, rows, columns, height, width, channels)."""
    pads = [(0, 0)] * 4
    if same:
        for axis in (1, 2):
            count = -(-x.shape[axis] // stride[axis - 1])
            total = max((count - 1) * stride[axis - 1] + size[axis - 1] - x.shape[axis], 0)
            pads[axis] = (total // 2, total - total // 2)
    padded = np.pad(x, pads, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, size, (1, 2))
    return view[:, :: stride[0], :: stride[1]].transpose(0, 1, 2, 4, 5, 3)


def convolved(x: Array, filter: Array, stride: tuple[int, int], same: bool) -> Array:
    parts = windows(x, filter.shape[1:3], stride, same)
    return np.einsum("brchwi,ohwi->brco", parts, filter)


def convolved_in_groups(groups: int, x: Array, filter: Array, bias: Array) -> Array:
    pairs = zip(np.split(x, groups, -1), np.split(filter, groups), strict=True)
    return np.concatenate([convolved(*pair, (2, 1), False) for pair in pairs], -1) + bias


def depthwise(x: Array, filter: Array, stride: tuple[int, int], same: bool) -> Array:
    """Filters are (1, height, width, channels · multiplier)."""
    parts = windows(x, filter.shape[1:3], stride, same)
    by_channel = filter.reshape(*filter.shape[1:3], x.shape[-1], -1)
    result = np.einsum("brchwi,hwim->brcim", parts, by_channel)
    return result.reshape(*result.shape[:3], -1)


def convolved_backwards(x: Array, filter: Array, stride: int) -> Array:
    """Filters are (channels out, height, width, channels in); nothing is cut off."""
    batch, rows, columns, _ = x.shape
    channels, height, width, _ = filter.shape
    result = np.zeros(
        (batch, (rows - 1) * stride + height, (columns - 1) * stride + width, channels)
    )
    for row in range(rows):
        for column in range(columns):
            part = np.einsum("bi,ohwi->bhwo", x[:, row, column], filter)
            top, left = row * stride, column * stride
            result[:, top : top + height, left : left + width] += part
    return result


def average(x: Array, size: tuple[int, int], stride: tuple[int, int], same: bool) -> Array:
    """Averages of the elements that are there."""
    total = windows(x, size, stride, same).sum((3, 4))
    return total / windows(np.ones_like(x), size, stride, same).sum((3, 4))


def spaces(x: Array, block: int) -> Array:
    batch, height, width, channels = x.shape
    blocks = x.reshape(batch, height // block, block, width // block, block, channels)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5)
    return moved.reshape(batch, height // block, width // block, -1)


def depths(x: Array, block: int) -> Array:
    batch, height, width, channels = x.shape
    blocks = x.reshape(batch, height, width, block, block, channels // block**2)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5)
    return moved.reshape(batch, height * block, width * block, -1)


def scattered(indices: Array, updates: Array, shape: Array) -> Array:
    result = np.zeros(shape, updates.dtype)
    np.add.at(result, tuple(indices.T), updates)
    return result


def local_response(x: Array, radius: int, bias: float, alpha: float, beta: float) -> Array:
    channels = x.shape[-1]
    sums = np.stack(
        [
            np.square(x[..., max(channel - radius, 0) : channel + radius + 1]).sum(-1)
            for channel in range(channels)
        ],
        -1,
    )
    return x / (bias + alpha * sums) ** beta


def reversed_beginnings(x: Array, lengths: Array) -> Array:
    result = x.copy()
    for row, length in enumerate(lengths):
        result[row, :length] = x[row, :length][::-1]
    return result


def segment_sums(x: Array, ids: Array, count: int, reduce: Any = np.add, empty: float = 0) -> Array:
    result = np.full((count, *x.shape[1:]), empty, x.dtype)
    reduce.at(result, ids, x)
    return result


def nearest(x: Array, size: Array) -> Array:
    rows, columns = (
        (np.arange(count) * x.shape[axis] // count) for axis, count in enumerate(size, 1)
    )
    return x[:, rows][:, :, columns]


# -- options -----------------------------------------------------------------------------------


def pool(**options: Any) -> tuple[str, dict[str, Any]]:
    values = {"stride_w": 1, "stride_h": 2, "filter_width": 2, "filter_height": 3}
    return "Pool2DOptions", {**values, **options}


def convolution(**options: Any) -> tuple[str, dict[str, Any]]:
    return "Conv2DOptions", {"stride_w": 1, "stride_h": 2, **options}


def reducer(keeps: bool = False) -> tuple[str, dict[str, Any]]:
    return "ReducerOptions", {"keep_dims": keeps}


def masks(**options: int) -> tuple[str, dict[str, Any]]:
    return "StridedSliceOptions", {"offset": False, **options}


def seeds() -> tuple[str, dict[str, Any]]:
    return "RandomOptions", {"seed": 3, "seed2": 5}


def largest() -> tuple[str, dict[str, Any]]:
    return "ArgMaxOptions", {"output_type": "int32"}


def smallest() -> tuple[str, dict[str, Any]]:
    return "ArgMinOptions", {"output_type": "int32"}


_UNARY: dict[str, Callable[[Array], Array]] = {
    "ABS": np.abs,
    "CEIL": np.ceil,
    "COS": np.cos,
    "ELU": lambda x: np.where(x > 0, x, np.expm1(x)),
    "EXP": np.exp,
    "FLOOR": np.floor,
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "LOGISTIC": sigmoid,
    "LOG_SOFTMAX": lambda x: np.log(softmax(x)),
    "NEG": np.negative,
    "RELU": lambda x: np.maximum(x, 0),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "RELU_0_TO_1": lambda x: np.clip(x, 0, 1),
    "RELU_N1_TO_1": lambda x: np.clip(x, -1, 1),
    "ROUND": np.round,
    "SIGN": np.sign,
    "SIN": np.sin,
    "SQUARE": np.square,
    "TANH": np.tanh,
    "ZEROS_LIKE": np.zeros_like,
    "L2_NORMALIZATION": lambda x: x / np.sqrt(np.square(x).sum(-1, keepdims=True)),
    "DEQUANTIZE": lambda x: x,
    "QUANTIZE": lambda x: x,
    "RANK": lambda x: np.array(x.ndim, "int32"),
}
_OF_POSITIVE: dict[str, Callable[[Array], Array]] = {
    "LOG": np.log,
    "RSQRT": lambda x: 1 / np.sqrt(x),
    "SQRT": np.sqrt,
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "ATAN2": np.arctan2,
    "DIV": np.divide,
    "EQUAL": np.equal,
    "FLOOR_DIV": np.floor_divide,
    "FLOOR_MOD": np.mod,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "NOT_EQUAL": np.not_equal,
    "SQUARED_DIFFERENCE": lambda x, y: np.square(x - y),
    "SUB": np.subtract,
}
_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "MEAN": np.mean,
    "REDUCE_MAX": np.max,
    "REDUCE_MIN": np.min,
    "REDUCE_PROD": np.prod,
    "SUM": np.sum,
}
_FUSED = ("ADD", "DIV", "MUL", "SUB")
_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "RELU": _UNARY["RELU"],
    "RELU_N1_TO_1": _UNARY["RELU_N1_TO_1"],
    "RELU6": _UNARY["RELU6"],
    "TANH": np.tanh,
}
_CHANNELS = normal(2, 5, 4, 4, seed=5)
_FILTER, _DEPTHWISE = normal(4, 3, 2, 3, seed=6), normal(1, 3, 2, 6, seed=7)
_BACKWARDS = normal(2, 3, 3, 3, seed=8)
_VOLUME, _VOLUME_FILTER = normal(1, 3, 3, 3, 2, seed=9), normal(1, 1, 1, 2, 3, seed=10)
_WEIGHTS = normal(5, 4, seed=11)
_IDS = ints(2, 0, 2)
_ONE_BY_ONE = {"stride_d": 1, "stride_h": 1, "stride_w": 1}

CASES = [
    # each element by itself
    *(Case(op, [X * 3], expected) for op, expected in _UNARY.items()),
    *(Case(op, [np.abs(X) + np.float32(0.1)], expected) for op, expected in _OF_POSITIVE.items()),
    *(Case(op, [X, Y], expected) for op, expected in _BINARY.items()),
    *(Case(op, [X, ROW], expected, label="broadcast") for op, expected in _BINARY.items()),
    *(
        Case(
            op,
            [X * 4, Y],
            lambda x, y, op=op, name=name: _ACTIVATIONS[name](_BINARY[op](x, y)),
            (f"{op.title()}Options", {"fused_activation_function": name}),
            label=name,
        )
        for op in _FUSED
        for name in _ACTIVATIONS
    ),
    Case("ADD_N", [X, Y, X], lambda *values: sum(values)),
    Case("BITCAST", [X], lambda x: x),
    Case("BITWISE_XOR", [ints(5, 3, 9), ints(6, 3, 1)], np.bitwise_xor),
    Case(
        "BUCKETIZE",
        [X],
        lambda x: np.searchsorted([-1.0, 0.0, 1.0], x, "right").astype("int32"),
        ("BucketizeOptions", {"boundaries": [-1.0, 0.0, 1.0]}),
    ),
    Case("CAST", [X * 9], lambda x: x.astype("int32"), ("CastOptions", {})),
    Case("CAST", [CONDITION], lambda x: x.astype("float32"), ("CastOptions", {}), label="bool"),
    Case("COMPLEX_ABS", [(X + 1j * Y).astype("complex64")], np.abs),
    Case("REAL", [(X + 1j * Y).astype("complex64")], np.real),
    Case("IMAG", [(X + 1j * Y).astype("complex64")], np.imag),
    Case("DIV", [ints(7, -7, 8), ints(2, 2, -3)], lambda x, y: ints(3, -3, -2), label="int32"),
    Case("FLOOR_DIV", [ints(7, -7, 8), ints(2, 2, -3)], np.floor_divide, label="int32"),
    Case(
        "FAKE_QUANT",
        [np.array([-9, -0.2, 0.24, 9], "float32")],
        lambda x: np.clip(np.round(x * 10), -128, 127) / 10,
        ("FakeQuantOptions", {"min": -12.8, "max": 12.7, "num_bits": 8, "narrow_range": False}),
    ),
    Case("GELU", [X], gelu, ("GeluOptions", {"approximate": False})),
    Case(
        "GELU",
        [X],
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        ("GeluOptions", {"approximate": True}),
        label="approximate",
    ),
    Case(
        "LEAKY_RELU",
        [X],
        lambda x: np.where(x > 0, x, x * np.float32(0.3)),
        ("LeakyReluOptions", {"alpha": 0.3}),
    ),
    Case("LOGICAL_AND", [CONDITION, Y > 0], np.logical_and),
    Case("LOGICAL_NOT", [CONDITION], np.logical_not),
    Case("LOGICAL_OR", [CONDITION, Y > 0], np.logical_or),
    Case("POW", [np.abs(X), ROW], np.power),
    Case("PRELU", [X, ROW], lambda x, slope: np.where(x > 0, x, x * slope)),
    Case("RIGHT_SHIFT", [ints(64, 33, 9), ints(3, 1, 0)], np.right_shift),
    Case("SELECT", [ints(1, 0) > 0, X, Y], lambda c, x, y: np.where(c[:, None, None], x, y)),
    Case("SELECT_V2", [CONDITION, X, ROW], np.where),
    # sums of products
    Case(
        "BATCH_MATMUL",
        [X, Y],
        lambda x, y: x @ y.swapaxes(1, 2),
        ("BatchMatMulOptions", {"adj_x": False, "adj_y": True}),
    ),
    Case(
        "CONV_2D",
        [IMAGE, _FILTER, ROW],
        lambda x, filter, bias: convolved(x, filter, (2, 1), True) + bias,
        convolution(padding="SAME"),
        [1, 2],
    ),
    Case(
        "CONV_2D",
        [IMAGE, _FILTER, None],
        lambda x, filter: convolved(x, filter, (2, 1), False),
        convolution(padding="VALID"),
        label="without bias",
    ),
    *(
        Case(
            "CONV_2D",
            [_CHANNELS, filter, normal(8)],
            partial(convolved_in_groups, groups),
            convolution(padding="VALID"),
            [1, 2],
            label=f"{groups} groups",
        )
        for groups, filter in ((2, normal(8, 3, 2, 2, seed=8)), (4, normal(8, 3, 2, 1, seed=9)))
    ),
    *(
        Case(
            "CONV_2D",
            [IMAGE, _FILTER, ROW],
            lambda x, filter, bias, name=name: _ACTIVATIONS[name](
                convolved(x, filter, (2, 1), False) + bias
            ),
            convolution(padding="VALID", fused_activation_function=name),
            [1, 2],
            label=name,
        )
        for name in _ACTIVATIONS
    ),
    Case(
        "CONV_3D",
        [_VOLUME, _VOLUME_FILTER, normal(3)],
        lambda x, filter, bias: x @ filter[0, 0, 0] + bias,
        ("Conv3DOptions", {**_ONE_BY_ONE, "padding": "VALID"}),
    ),
    Case(
        "CONV_3D_TRANSPOSE",
        [ints(1, 3, 3, 3, 3), _VOLUME_FILTER.swapaxes(3, 4), _VOLUME, normal(3)],
        lambda shape, filter, x, bias: x @ filter[0, 0, 0].T + bias,
        ("Conv3DOptions", {**_ONE_BY_ONE, "padding": "VALID"}),
    ),
    Case(
        "DEPTHWISE_CONV_2D",
        [IMAGE, _DEPTHWISE, normal(6)],
        lambda x, filter, bias: np.maximum(depthwise(x, filter, (2, 2), True) + bias, 0),
        (
            "DepthwiseConv2DOptions",
            {
                "padding": "SAME",
                "stride_h": 2,
                "stride_w": 2,
                "depth_multiplier": 2,
                "fused_activation_function": "RELU",
            },
        ),
    ),
    Case(
        "FULLY_CONNECTED",
        [MATRIX, _WEIGHTS, normal(5)],
        lambda x, weights, bias: np.maximum(x @ weights.T + bias, 0),
        ("FullyConnectedOptions", {"fused_activation_function": "RELU"}),
    ),
    Case(
        "FULLY_CONNECTED",
        [X, _WEIGHTS, None],
        lambda x, weights: x @ weights.T,
        ("FullyConnectedOptions", {"keep_num_dims": True}),
        label="of rank 3",
    ),
    Case(
        "FULLY_CONNECTED",
        [X, _WEIGHTS],
        lambda x, weights: (x @ weights.T).reshape(6, 5),
        ("FullyConnectedOptions", {}),
        label="flat",
    ),
    Case(
        "TRANSPOSE_CONV",
        [ints(1, 13, 11, 2), _BACKWARDS, IMAGE, normal(2)],
        lambda shape, filter, x, bias: convolved_backwards(x, filter, 2) + bias,
        ("TransposeConvOptions", {"padding": "VALID", "stride_h": 2, "stride_w": 2}),
    ),
    # windows and images
    Case(
        "AVERAGE_POOL_2D",
        [IMAGE],
        lambda x: average(x, (3, 2), (2, 1), True),
        pool(padding="SAME"),
    ),
    Case(
        "L2_POOL_2D",
        [IMAGE],
        lambda x: np.sqrt(average(x**2, (3, 2), (2, 1), False)),
        pool(padding="VALID"),
    ),
    Case(
        "MAX_POOL_2D",
        [IMAGE],
        lambda x: np.maximum(windows(x, (3, 2), (2, 1), True, -np.inf).max((3, 4)), 0),
        pool(padding="SAME", fused_activation_function="RELU"),
    ),
    Case(
        "RESIZE_BILINEAR",
        [IMAGE[:, :2], ints(3, 5)],
        lambda x, size: np.stack([x[:, 0], x[:, :2].mean(1), x[:, 1]], 1),
        ("ResizeBilinearOptions", {"align_corners": True}),
    ),
    Case(
        "RESIZE_NEAREST_NEIGHBOR",
        [IMAGE, ints(9, 4)],
        nearest,
        ("ResizeNearestNeighborOptions", {}),
    ),
    # normalization
    Case(
        "LOCAL_RESPONSE_NORMALIZATION",
        [IMAGE],
        lambda x: local_response(x, 1, 2.0, 0.5, 0.75),
        (
            "LocalResponseNormalizationOptions",
            {"radius": 1, "bias": 2.0, "alpha": 0.5, "beta": 0.75},
        ),
    ),
    Case("SOFTMAX", [X], softmax, ("SoftmaxOptions", {"beta": 1.0})),
    Case("SOFTMAX", [X], lambda x: softmax(2 * x), ("SoftmaxOptions", {"beta": 2.0}), label="beta"),
    # reductions, searching and sorting
    *(
        Case(op, [X, ints(0, 2)], lambda x, axes, f=f: f(x, tuple(axes)), reducer(), [1])
        for op, f in _REDUCTIONS.items()
    ),
    *(
        Case(
            op,
            [X, ints([-1])],
            lambda x, axes, f=f: f(x, -1, keepdims=True),
            reducer(True),
            [1],
            "keeping axes",
        )
        for op, f in _REDUCTIONS.items()
    ),
    Case("REDUCE_ALL", [CONDITION, ints([1])], lambda x, axes: x.all(1), reducer(), [1]),
    Case("REDUCE_ANY", [CONDITION, ints([1])], lambda x, axes: x.any(1), reducer(), [1]),
    Case("ARG_MAX", [X, ints(1)], lambda x, axis: x.argmax(1), largest(), [1]),
    Case("ARG_MIN", [X, ints(-1)], lambda x, axis: x.argmin(-1), smallest(), [1]),
    Case(
        "CUMSUM",
        [X, ints(1)],
        lambda x, axis: np.cumsum(x, 1)[:, ::-1][:, ::-1] - x,
        ("CumsumOptions", {"exclusive": True, "reverse": False}),
        [1],
    ),
    Case("SEGMENT_SUM", [MATRIX, ints(0, 0, 1)], lambda x, ids: segment_sums(x, ids, 2)),
    *(
        Case(
            f"UNSORTED_SEGMENT_{name}",
            [MATRIX, _IDS, ints(3)],
            lambda x, ids, count, r=reduce, e=empty: segment_sums(x, ids, count, r, e),
            constants=[2],
        )
        for name, reduce, empty in (
            ("MAX", np.maximum, -np.float32(3.4028234e38)),
            ("MIN", np.minimum, np.float32(3.4028234e38)),
            ("PROD", np.multiply, 1),
            ("SUM", np.add, 0),
        )
    ),
    Case(
        "TOPK_V2",
        [X, ints(2)],
        lambda x, k: (-np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2]),
        constants=[1],
    ),
    Case(
        "UNIQUE",
        [ints(4, 2, 4, 7)],
        lambda x: (ints(4, 2, 7), ints(0, 1, 0, 2)),
        ("UniqueOptions", {}),
    ),
    Case("WHERE", [CONDITION], np.argwhere),
    Case(
        "NON_MAX_SUPPRESSION_V4",
        [
            np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]], "float32"),
            np.array([0.5, 0.9, 0.7], "float32"),
            ints(3),
            np.array(0.5, "float32"),
            np.array(0.1, "float32"),
        ],
        lambda *_: (ints(1, 2, 0), np.array(2, "int32")),
    ),
    Case(
        "NON_MAX_SUPPRESSION_V5",
        [
            np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]], "float32"),
            np.array([0.5, 0.9, 0.7], "float32"),
            ints(3),
            np.array(0.5, "float32"),
            np.array(0.1, "float32"),
            np.array(0.0, "float32"),
        ],
        lambda *_: (
            ints(1, 2, 0),
            np.array([0.9, 0.7, 0], "float32"),
            np.array(2, "int32"),
        ),
    ),
    # shapes and new tensors
    Case(
        "SHAPE",
        [X],
        lambda x: np.array(x.shape, "int32"),
        ("ShapeOptions", {"out_type": "int32"}),
    ),
    Case("BROADCAST_ARGS", [ints(2, 1), ints([3])], lambda x, y: ints(2, 3)),
    Case("BROADCAST_TO", [ROW, ints(2, 3, 4)], np.broadcast_to, constants=[1]),
    Case("EXPAND_DIMS", [X, ints(1)], lambda x, axis: x[:, None], constants=[1]),
    Case("FILL", [ints(2, 3), np.array(2.5, "float32")], np.full),
    Case("FILL", [ints(2, 3), np.array(7, "int32")], np.full, label="int32"),
    Case(
        "ONE_HOT",
        [ints([1, 0, 3]), ints(4), np.array(2, "float32"), np.array(-1, "float32")],
        lambda i, depth, on, off: np.where(np.eye(4)[i].T > 0, on, off),
        ("OneHotOptions", {"axis": 0}),
        [1],
    ),
    Case("RANGE", [ints(2), ints(11), ints(3)], lambda *_: ints(2, 5, 8)),
    Case(
        "RANGE",
        [np.array(value, "float32") for value in (0.5, 2, 0.25)],
        np.arange,
        label="float32",
    ),
    Case("RESHAPE", [X, ints(4, -1)], lambda x, _: x.reshape(4, 6), constants=[1]),
    Case(
        "RESHAPE",
        [np.ones((1, 1), "float32"), np.array([], "int32")],
        lambda x, _: x.reshape(()),
        constants=[1],
        label="to a scalar",
    ),
    Case(
        "RESHAPE",
        [X],
        lambda x: x.reshape(6, 4),
        ("ReshapeOptions", {"new_shape": [-1, 4]}),
        label="by options",
    ),
    Case(
        "SQUEEZE",
        [X[:1, :, :1]],
        lambda x: x[0],
        ("SqueezeOptions", {"squeeze_dims": [0]}),
    ),
    # slices and joins
    Case(
        "CONCATENATION",
        [X, Y],
        lambda x, y: np.concatenate([x, y], 1),
        ("ConcatenationOptions", {"axis": 1}),
    ),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        [MATRIX, normal(2, 2), ints(2, 1)],
        lambda x, u, _: np.block([[x[:1]], [x[1:, :1], u, x[1:, 3:]]]),
    ),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        [MATRIX, normal(2, 2), ints(-3, 9)],
        lambda x, u, _: np.block([[x[:2, :-2], u], [x[2:]]]),
        label="moved to fit",
    ),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        [X[0, 0, 0], MATRIX[0, 0], ints()],
        lambda _, u, __: u,
        label="scalar",
    ),
    Case("EMBEDDING_LOOKUP", [ints(2, 0), MATRIX], lambda i, x: x[i]),
    Case(
        "GATHER",
        [X, ints([[2, 0], [1, 1]])],
        lambda x, i: x[:, i],
        ("GatherOptions", {"axis": 1, "batch_dims": 0}),
    ),
    Case(
        "GATHER",
        [X, ints([[2, 0], [1, 1]])],
        lambda x, i: np.stack([x[0, i[0]], x[1, i[1]]]),
        ("GatherOptions", {"axis": 1, "batch_dims": 1}),
        label="in batches",
    ),
    Case("GATHER_ND", [X, ints([[1, 2], [0, 0]])], lambda x, i: x[tuple(i.T)]),
    Case(
        "PACK",
        [X, Y],
        lambda x, y: np.stack([x, y], 1),
        ("PackOptions", {"axis": 1, "values_count": 2}),
    ),
    Case("SCATTER_ND", [ints([[1], [4], [1]]), MATRIX, ints(5, 4)], scattered, constants=[2]),
    Case("SLICE", [X, ints(1, 0, 1), ints(1, -1, 2)], lambda x, *_: x[1:, :, 1:3]),
    Case(
        "SPARSE_TO_DENSE",
        [ints(1, 3), ints([5]), ints(7, 8), ints(-1)],
        lambda *_: ints(-1, 7, -1, 8, -1),
        constants=[1, 3],
    ),
    Case(
        "SPLIT",
        [ints(2), X],
        lambda axis, x: np.split(x, 2, 2),
        ("SplitOptions", {"num_splits": 2}),
        [0],
    ),
    Case(
        "SPLIT_V",
        [X, ints(1, 3), ints(2)],
        lambda x, *_: np.split(x, [1], 2),
        ("SplitVOptions", {"num_splits": 2}),
        [1, 2],
    ),
    Case(
        "STRIDED_SLICE",
        [X, ints(1, 0, 0), ints(2, 3, 4), ints(1, 1, 2)],
        lambda x, *_: x[1, :, ::2],
        masks(shrink_axis_mask=1),
        [1, 2, 3],
    ),
    Case(
        "STRIDED_SLICE",
        [X, ints(1, 1, 1), ints(1, 2, 2), ints(1, 1, 1)],
        lambda x, *_: x[1:2, 1:3, 1:3],
        masks(offset=True),
        [1, 2, 3],
        "by offsets",
    ),
    Case("TILE", [X, ints(2, 1, 3)], np.tile, constants=[1]),
    Case("UNPACK", [X], lambda x: [*x.swapaxes(0, 1)], ("UnpackOptions", {"num": 3, "axis": 1})),
    # moving elements
    Case(
        "BATCH_TO_SPACE_ND",
        [X[:, :, :, None], ints(2, 1), ints([[0, 1], [0, 0]])],
        lambda x, *_: x.transpose(1, 0, 2, 3).reshape(1, 6, 4, 1)[:, :5],
        constants=[1, 2],
    ),
    Case("DENSIFY", [X], lambda x: x),
    Case(
        "DEPTH_TO_SPACE",
        [normal(1, 2, 3, 8)],
        lambda x: depths(x, 2),
        ("DepthToSpaceOptions", {"block_size": 2}),
    ),
    Case("MATRIX_DIAG", [MATRIX], lambda x: np.stack([np.diag(row) for row in x])),
    Case(
        "MATRIX_SET_DIAG",
        [MATRIX, ROW[:3]],
        lambda x, d: np.where(np.eye(3, 4) > 0, d[:, None], x),
    ),
    Case(
        "MIRROR_PAD",
        [X, ints([[0, 1], [2, 0], [0, 0]])],
        lambda x, pads: np.pad(x, pads, "reflect"),
        ("MirrorPadOptions", {"mode": "REFLECT"}),
        [1],
    ),
    Case("PAD", [X, ints([[0, 1], [2, 0], [0, 0]])], np.pad, constants=[1]),
    Case(
        "PADV2",
        [X, ints([[0, 1], [2, 0], [0, 0]]), np.array(3, "float32")],
        lambda x, pads, value: np.pad(x, pads, constant_values=value),
        constants=[1, 2],
    ),
    Case(
        "REVERSE_SEQUENCE",
        [MATRIX, ints(2, 0, 4)],
        reversed_beginnings,
        ("ReverseSequenceOptions", {"seq_dim": 1, "batch_dim": 0}),
    ),
    Case("REVERSE_V2", [X, ints([1])], lambda x, _: x[:, ::-1], constants=[1]),
    Case(
        "SPACE_TO_BATCH_ND",
        [X[:1, :, :, None], ints(2, 1), ints([[0, 1], [0, 0]])],
        lambda x, *_: np.stack(
            [x[0, ::2], np.concatenate([x[0, 1::2], np.zeros((1, 4, 1), "float32")])]
        ),
        constants=[1, 2],
    ),
    Case(
        "SPACE_TO_DEPTH",
        [normal(1, 4, 6, 2)],
        lambda x: spaces(x, 2),
        ("SpaceToDepthOptions", {"block_size": 2}),
    ),
    Case("TRANSPOSE", [X, ints(2, 0, 1)], np.transpose, constants=[1]),
    Case(
        "RFFT2D",
        [X, ints(4, 4)],
        lambda x, size: np.fft.rfft2(x, size).astype("complex64"),
        constants=[1],
    ),
    Case(
        "RFFT2D",
        [normal(3, 1, 8), ints(1, 8)],
        lambda x, size: np.fft.rfft2(x, size).astype("complex64"),
        constants=[1],
        label="of rows",
    ),
]
