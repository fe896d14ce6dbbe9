"""Operations that compute each element by itself."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, dtype, layout, number
from webtensor.graph.operations.rows import Row, Tensors
from webtensor.shapes import Shape

__all__ = ["ONLY_HERE", "ROWS"]

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "Ceil": "ceil",
    "ComplexAbs": "abs",
    "Cos": "cos",
    "Cosh": "cosh",
    "Elu": "elu",
    "Erf": "erf",
    "Exp": "exp",
    "Expm1": "expm1",
    "Floor": "floor",
    "Imag": "imag",
    "IsFinite": "isfinite",
    "IsInf": "isinf",
    "IsNan": "isnan",
    "Log": "log",
    "Log1p": "log1p",
    "LogSoftmax": "log_softmax",
    "LogicalNot": "logical_not",
    "Neg": "negative",
    "Real": "real",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Relu6": "relu6",
    "Round": "round",
    "Rsqrt": "rsqrt",
    "Selu": "selu",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softmax": "softmax",
    "Softplus": "softplus",
    "Sqrt": "sqrt",
    "Square": "square",
    "Tan": "tan",
    "Tanh": "tanh",
}

_BINARY = {
    "Add": "add",
    "AddV2": "add",
    "Atan2": "atan2",
    "Complex": "complex",
    "DivNoNan": "divide_no_nan",
    "Equal": "equal",
    "FloorDiv": "floor_divide",
    "FloorMod": "remainder",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "Less": "less",
    "LessEqual": "less_equal",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Mod": "remainder",
    "Mul": "multiply",
    "NotEqual": "not_equal",
    "Pow": "pow",
    "Prelu": "prelu",
    "RealDiv": "divide",
    "SquaredDifference": "squared_difference",
    "Sub": "subtract",
}

_UNARY_ONLY_HERE = {
    "Conj": "conj",
    "Inv": "reciprocal",
    "Rint": "round",
    "Softsign": "keras.activations.softsign",
}

_BINARY_ONLY_HERE = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "LeftShift": "bitwise_left_shift",
    "RightShift": "bitwise_right_shift",
}


def quotient(x: Tensor, y: Tensor) -> Tensor:
    """Divide; integers are rounded towards zero, as in C."""
    if str(x.dtype) != "int32":
        return ops.divide(x, y)
    size = ops.floor_divide(ops.abs(x), ops.abs(y))
    return ops.multiply(size, ops.multiply(ops.sign(x), ops.sign(y)))


def xdivy(x: Tensor, y: Tensor) -> Tensor:
    """Divide; where x is zero, so is the result."""
    return ops.where(ops.equal(x, 0), ops.zeros_like(x), ops.divide(x, y))


def xlogy(x: Tensor, y: Tensor) -> Tensor:
    """Return x times the logarithm of y; where x is zero, so is the result."""
    return ops.where(ops.equal(x, 0), ops.zeros_like(x), ops.multiply(x, ops.log(y)))


def add_bias(value: Tensor, bias: Tensor, data_format: str) -> Tensor:
    """Add a number to each channel."""
    if data_format.startswith("NC"):
        bias = ops.reshape(bias, (bias.size, *(1 for _ in value.shape[2:])))
    return ops.add(value, bias)


def select(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Choose elements, or whole rows where the condition has one element for each row."""
    if len(condition.shape) == 1 < len(x.shape):
        condition = ops.reshape(condition, _as_column(condition.shape, x.shape))
    return ops.where(condition, x, y)


def _as_column(shape: Shape, other: Shape) -> Sequence[int]:
    return (*shape, *(1 for _ in other[1:]))


def fake_quantized(x: Tensor, low: float, high: float, bits: int, narrow_range: bool) -> Tensor:
    """Round to the numbers that so many bits can tell apart between two bounds.

    Zero stays zero: the bounds are moved until it is one of these numbers (Jacob et al., 2018,
    "Quantization and Training of Neural Networks").
    """
    if not 2 <= bits <= 16 or not low < high:
        raise ValueError(f"num_bits must be 2 to 16, and min below max, not {bits}, {low}, {high}")
    least, greatest = int(narrow_range), (1 << bits) - 1
    scale = (high - low) / (greatest - least)
    zero = min(max(round(least - low / scale), least), greatest)
    steps = ops.round(
        ops.divide(ops.clip(x, (least - zero) * scale, (greatest - zero) * scale), scale)
    )
    return ops.multiply(steps, scale)


ROWS = {
    **{op: Row(name, 0) for op, name in _UNARY.items()},
    **{op: Row(name, 0, 1) for op, name in _BINARY.items()},
    "AddN": Row("add_n", Tensors()),
    "BiasAdd": Row(add_bias, 0, 1, data_format=layout("NHWC")),
    "Cast": Row("astype", 0, dtype=dtype("DstT")),
    "ClipByValue": Row("clip", 0, min=number(1), max=number(2)),
    "Div": Row(quotient, 0, 1),
    "FakeQuantWithMinMaxVars": Row(
        fake_quantized,
        0,
        low=number(1),
        high=number(2),
        bits=attribute("num_bits", 8),
        narrow_range=attribute("narrow_range", False),
    ),
    "LeakyRelu": Row("leaky_relu", 0, alpha=attribute("alpha", 0.2)),
    "Select": Row(select, 0, 1, 2),
    "SelectV2": Row("where", 0, 1, 2),
}

#: Those that TensorFlow.js does not have, even where its list has the name.
ONLY_HERE = {
    **{op: Row(name, 0) for op, name in _UNARY_ONLY_HERE.items()},
    **{op: Row(name, 0, 1) for op, name in _BINARY_ONLY_HERE.items()},
    "FakeQuantWithMinMaxArgs": Row(
        fake_quantized,
        0,
        low=attribute("min", -6.0),
        high=attribute("max", 6.0),
        bits=attribute("num_bits", 8),
        narrow_range=attribute("narrow_range", False),
    ),
    "TruncateDiv": Row(quotient, 0, 1),
    "Xdivy": Row(xdivy, 0, 1),
    "Xlogy": Row(xlogy, 0, 1),
}
