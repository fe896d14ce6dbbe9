"""Operations that compute each element by itself."""

from __future__ import annotations

from math import erf
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, away_from_ties, bools, complexes, distinct, floats, ints
from tests_py.graph.cases.case import case
from tests_py.graph.graphs import Dtype

__all__ = ["CASES"]

SHAPE = (3, 4)
X = floats(SHAPE)
POSITIVE = floats(SHAPE, 0.1, 3.0)
SMALL = floats(SHAPE, -0.9, 0.9)
SPECIAL = arr([[np.nan, np.inf, -np.inf, 0.0], [1.0, -0.0, 1e30, -2.5]])
SELU = (1.0507009873554805, 1.6732632423543772)


def elu(x: Any) -> Any:
    """The exponential linear unit."""
    return np.where(x > 0, x, np.expm1(x))


def selu(x: Any) -> Any:
    """The scaled exponential linear unit."""
    scale, alpha = SELU
    return scale * np.where(x > 0, x, alpha * np.expm1(x))


def softmax(x: Any) -> Any:
    """Shares of exponentials along the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def truncated(x: Any, y: Any) -> Any:
    """Divide, rounding towards zero."""
    return np.trunc(x / y).astype(x.dtype)


def guarded(function: Any, x: Any, y: Any) -> Any:
    """Apply a function, and return zeros where ``x`` is zero."""
    return np.where(x == 0, 0, function(np.where(x == 0, 1, x), np.where(x == 0, 1, y)))


UNARY: dict[str, tuple[Any, Any]] = {
    "Abs": (X, np.abs),
    "Acos": (SMALL, np.arccos),
    "Acosh": (POSITIVE + 1, np.arccosh),
    "Asin": (SMALL, np.arcsin),
    "Asinh": (X, np.arcsinh),
    "Atan": (X, np.arctan),
    "Atanh": (SMALL, np.arctanh),
    "Ceil": (away_from_ties(SHAPE, [0.0, 1.0, -1.0]), np.ceil),
    "ComplexAbs": (complexes(SHAPE), np.abs),
    "Conj": (complexes(SHAPE), np.conj),
    "Cos": (X, np.cos),
    "Cosh": (X, np.cosh),
    "Elu": (X, elu),
    "Erf": (X, np.vectorize(erf, [np.float32])),
    "Exp": (X, np.exp),
    "Expm1": (X, np.expm1),
    "Floor": (away_from_ties(SHAPE, [0.0, 1.0, -1.0]), np.floor),
    "Imag": (complexes(SHAPE), np.imag),
    "Inv": (POSITIVE, lambda x: 1 / x),
    "IsFinite": (SPECIAL, np.isfinite),
    "IsInf": (SPECIAL, np.isinf),
    "IsNan": (SPECIAL, np.isnan),
    "Log": (POSITIVE, np.log),
    "Log1p": (POSITIVE, np.log1p),
    "LogSoftmax": (X, lambda x: np.log(softmax(x))),
    "LogicalNot": (bools(SHAPE), np.logical_not),
    "Neg": (X, np.negative),
    "Real": (complexes(SHAPE), np.real),
    "Reciprocal": (POSITIVE, lambda x: 1 / x),
    "Relu": (X, lambda x: np.maximum(x, 0)),
    "Relu6": (X * 5, lambda x: np.clip(x, 0, 6)),
    "Rint": (arr([0.5, 1.5, -0.5, -1.6, 2.4]), np.rint),
    "Round": (arr([0.5, 1.5, -0.5, -1.6, 2.4]), np.rint),
    "Rsqrt": (POSITIVE, lambda x: 1 / np.sqrt(x)),
    "Selu": (X, selu),
    "Sigmoid": (X, lambda x: 1 / (1 + np.exp(-x))),
    "Sign": (arr([-2.5, 0.0, 3.0]), np.sign),
    "Sin": (X, np.sin),
    "Sinh": (X, np.sinh),
    "Softmax": (X, softmax),
    "Softplus": (X, lambda x: np.logaddexp(x, 0)),
    "Softsign": (X, lambda x: x / (1 + np.abs(x))),
    "Sqrt": (POSITIVE, np.sqrt),
    "Square": (X, np.square),
    "Tan": (SMALL, np.tan),
    "Tanh": (X, np.tanh),
}

ROW, COLUMN = floats((4,), seed=1), floats((3, 1), seed=2)
LEFT, RIGHT = ints(SHAPE), ints(SHAPE, 1, 9, seed=1)
BITS, SHIFTS = ints(SHAPE, 0, 256), ints(SHAPE, 0, 5, seed=1)

BINARY: dict[str, list[tuple[Any, Any, Any]]] = {
    "Add": [(X, ROW, np.add), (LEFT, RIGHT, np.add)],
    "AddV2": [(X, COLUMN, np.add), (LEFT, 3, np.add)],
    "Atan2": [(X, ROW, np.arctan2)],
    "BitwiseAnd": [(BITS, RIGHT, np.bitwise_and)],
    "BitwiseOr": [(BITS, RIGHT, np.bitwise_or)],
    "BitwiseXor": [(BITS, RIGHT, np.bitwise_xor)],
    "Complex": [(X, floats(SHAPE, seed=3), lambda x, y: x + 1j * y)],
    "Div": [(X, POSITIVE, np.divide), (LEFT, RIGHT, truncated)],
    "DivNoNan": [
        (X, arr([1.0, 0.0, -2.0, 0.0]), lambda x, y: np.where(y == 0, 0, x / np.where(y, y, 1)))
    ],
    "Equal": [(LEFT, RIGHT, np.equal), (X, X, np.equal)],
    "FloorDiv": [(LEFT, RIGHT, np.floor_divide), (X, POSITIVE, np.floor_divide)],
    "FloorMod": [(LEFT, RIGHT, np.mod), (X, POSITIVE, np.mod)],
    "Greater": [(X, ROW, np.greater), (LEFT, RIGHT, np.greater)],
    "GreaterEqual": [(LEFT, RIGHT, np.greater_equal)],
    "LeftShift": [(BITS, SHIFTS, np.left_shift)],
    "Less": [(X, ROW, np.less)],
    "LessEqual": [(LEFT, RIGHT, np.less_equal)],
    "LogicalAnd": [(bools(SHAPE), bools((4,), seed=1), np.logical_and)],
    "LogicalOr": [(bools(SHAPE), bools((4,), seed=1), np.logical_or)],
    "Maximum": [(X, ROW, np.maximum)],
    "Minimum": [(LEFT, RIGHT, np.minimum)],
    "Mod": [(LEFT, RIGHT, np.fmod), (X, POSITIVE, np.fmod)],
    "Mul": [(X, COLUMN, np.multiply), (LEFT, RIGHT, np.multiply)],
    "NotEqual": [(LEFT, RIGHT, np.not_equal)],
    "Pow": [(POSITIVE, ROW, np.power), (RIGHT, 2, np.power)],
    "Prelu": [(X, ROW, lambda x, alpha: np.where(x >= 0, x, alpha * x))],
    "RealDiv": [(X, POSITIVE, np.divide)],
    "RightShift": [(BITS, SHIFTS, np.right_shift)],
    "SquaredDifference": [
        (X, ROW, lambda x, y: (x - y) ** 2),
        (LEFT, 3, lambda x, y: (x - y) ** 2),
    ],
    "Sub": [(X, ROW, np.subtract), (LEFT, RIGHT, np.subtract)],
    "MulNoNan": [
        (arr([2.0, np.inf, np.nan]), arr([3.0, 0.0, 0.0]), lambda x, y: arr([6.0, 0.0, 0.0])),
    ],
    "TruncateDiv": [(LEFT, RIGHT, truncated), (X * 9, POSITIVE, truncated)],
    "Xdivy": [(arr([0.0, 2.0, 0.0]), arr([0.0, 4.0, 1.0]), lambda x, y: guarded(np.divide, x, y))],
    "Xlogy": [
        (
            arr([0.0, 2.0, 0.0]),
            arr([0.0, 4.0, 1.0]),
            lambda x, y: guarded(lambda a, b: a * np.log(b), x, y),
        )
    ],
}

IMAGES = floats((2, 3, 3, 4))
ROWS, OTHER_ROWS = floats((3, 4), seed=4), floats((3, 4), seed=5)

CASES = [
    *(case(op, x, expected=function) for op, (x, function) in UNARY.items()),
    *(
        case(op, x, y, expected=function, label=str(np.asarray(x).dtype))
        for op, rows in BINARY.items()
        for x, y, function in rows
    ),
    case("AddN", X, POSITIVE, SMALL, expected=lambda x, y, z: x + y + z),
    case("AddN", X, expected=lambda x: x, label="of one"),
    case("BiasAdd", IMAGES, ROW, expected=np.add, data_format="NHWC"),
    case("BiasAdd", X, ROW, expected=np.add, label="of a matrix"),
    case(
        "BiasAdd",
        IMAGES,
        COLUMN[:, 0],
        expected=lambda x, bias: x + bias[:, None, None],
        label="channels first",
        data_format="NCHW",
    ),
    case(
        "Cast",
        X * 3,
        expected=lambda x: np.trunc(x).astype(np.int32),
        label="to integers",
        DstT=Dtype("int32"),
    ),
    case(
        "Cast",
        LEFT,
        expected=lambda x: x.astype(np.float32),
        label="to floats",
        DstT=Dtype("float32"),
    ),
    case("Cast", LEFT, expected=lambda x: x != 0, label="to bool", DstT=Dtype("bool")),
    case("Cast", LEFT, expected=lambda x: x, label="to int64", DstT=Dtype("int64")),
    case("ClipByValue", X, -0.5, 0.75, expected=np.clip),
    case("ClipByValue", LEFT, -3, 4, expected=np.clip, label="int32"),
    case("LeakyRelu", X, expected=lambda x: np.where(x > 0, x, 0.2 * x)),
    case("LeakyRelu", X, expected=lambda x: np.where(x > 0, x, 0.05 * x), label="0.05", alpha=0.05),
    case("Select", bools(SHAPE), X, POSITIVE, expected=np.where),
    case(
        "Select",
        bools((3,)),
        ROWS,
        OTHER_ROWS,
        expected=lambda c, x, y: np.where(c[:, None], x, y),
        label="rows",
    ),
    case("SelectV2", bools((4,)), X, COLUMN, expected=np.where, label="broadcasting"),
    case(
        "FakeQuantWithMinMaxArgs",
        distinct(SHAPE, -8.0, 8.0),
        expected=lambda x: np.rint((np.clip(x, -6, 6) + 6) * 255 / 12) * 12 / 255 - 6,
        tolerance=0.01,
        min=-6.0,
        max=6.0,
        num_bits=8,
    ),
    case(
        "FakeQuantWithMinMaxVars",
        distinct(SHAPE, -1.0, 3.0),
        arr(0.0),
        arr(2.55),
        expected=lambda x, low, high: np.rint(np.clip(x, 0, 2.55) * 100) / 100,
        num_bits=8,
    ),
]
