"""Operations that compute each element by itself."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import floor
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, boolean, dtype, layout, number, numbers
from webtensor.graph.operations.gamma_functions import digamma, log_gamma
from webtensor.graph.operations.rows import Row, Tensors

__all__ = ["ONLY_HERE", "ROWS"]


def _lowercase(names: str) -> dict[str, str]:
    """Return the names of functions that are those of operations."""
    return {name: name.lower() for name in names.split()}


_UNARY = {
    **_lowercase(
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Expm1 Floor Imag IsFinite "
        "IsInf IsNan Log Log1p Real Reciprocal Relu Relu6 Round Rsqrt Selu Sigmoid Sign Sin Sinh "
        "Softmax Softplus Sqrt Square Tan Tanh"
    ),
    "ComplexAbs": "abs",
    "LogSoftmax": "log_softmax",
    "LogicalNot": "logical_not",
    "Neg": "negative",
}

_BINARY = {
    **_lowercase("Add Atan2 Complex Equal Greater Less Maximum Minimum Pow Prelu"),
    "AddV2": "add",
    "DivNoNan": "divide_no_nan",
    "FloorDiv": "floor_divide",
    "FloorMod": "remainder",
    "GreaterEqual": "greater_equal",
    "LessEqual": "less_equal",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "Mul": "multiply",
    "NotEqual": "not_equal",
    "RealDiv": "divide",
    "SquaredDifference": "squared_difference",
    "Sub": "subtract",
}

_UNARY_ONLY_HERE = {
    "Angle": "angle",
    "Conj": "conj",
    "Erfinv": "erf_inv",
    "Inv": "reciprocal",
    "Invert": "bitwise_invert",
    "Rint": "round",
    "Softsign": "keras.activations.softsign",
}

_BINARY_ONLY_HERE = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Cross": "keras.ops.cross",
    "LeftShift": "bitwise_left_shift",
    "NextAfter": "nextafter",
    "RightShift": "bitwise_right_shift",
}


def quotient(x: Tensor, y: Tensor) -> Tensor:
    """Divide; integers are rounded towards zero, as in C."""
    if str(x.dtype) != "int32":
        return ops.divide(x, y)
    size = ops.floor_divide(-ops.abs(x), -ops.abs(y))
    return size * ops.sign(x) * ops.sign(y)


def truncated_quotient(x: Tensor, y: Tensor) -> Tensor:
    """Divide, and round towards zero, also floats."""
    return ops.trunc(quotient(x, y))


def unless_zero(compute: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return what computes with two tensors, and gives zero where the first one is zero."""

    def guarded(x: Tensor, y: Tensor) -> Tensor:
        return ops.where(ops.equal(x, 0), ops.zeros_like(x), compute(x, y))

    return guarded


def remainder(x: Tensor, y: Tensor) -> Tensor:
    """Return what is left of x; it has the sign of x, as in C."""
    # int32 has -abs of all its numbers, but not abs of the lowest.
    rest = ops.remainder(-ops.abs(x), -ops.abs(y))
    return ops.where(ops.less(x, 0), rest, -rest)


def add_bias(value: Tensor, bias: Tensor, data_format: str) -> Tensor:
    """Add a number to each channel."""
    if data_format.startswith("NC"):
        bias = ops.reshape(bias, (bias.size, *(1 for _ in value.shape[2:])))
    return value + bias


def select(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Choose elements, or whole rows where the condition has one element for each row."""
    if len(condition.shape) == 1 < len(x.shape):
        condition = ops.reshape(condition, (-1, *(1 for _ in x.shape[1:])))
    return ops.where(condition, x, y)


def fake_quantized(
    x: Tensor, low: Sequence[float], high: Sequence[float], bits: int, narrow_range: bool
) -> Tensor:
    """Round to the numbers that ``bits`` bits represent between two bounds.

    Each channel may have bounds of its own.

    Zero stays zero: the bounds are moved until it is one of these numbers (Jacob et al., 2018,
    "Quantization and Training of Neural Networks").
    """
    if not 2 <= bits <= 16 or any(first >= last for first, last in zip(low, high, strict=True)):
        raise ValueError(f"num_bits must be 2 to 16, and min below max, not {bits}, {low}, {high}")
    steps = (1 << bits) - 1 - narrow_range
    # Halves are rounded up, as float32 has them: those of bounds of equal size.
    scales = array("f", ((last - first) / steps for first, last in zip(low, high, strict=True)))
    ratios = array("f", (-first / scale for first, scale in zip(low, scales, strict=True)))
    zeros = [min(max(floor(ratio + 0.5), 0), steps) for ratio in ratios]
    minimum, scale = (
        ops.tensor(values, (len(values),) if len(values) > 1 else (), "float32")
        for values in ([-zero * scale for zero, scale in zip(zeros, scales, strict=True)], scales)
    )
    offset = (x - minimum) / scale
    return ops.floor(ops.clip(offset, 0.0, float(steps)) + 0.5) * scale + minimum


_STEPS: dict[str, Any] = {
    "bits": attribute("num_bits", 8),
    "narrow_range": boolean("narrow_range"),
}

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
        low=numbers(1),
        high=numbers(2),
        **_STEPS,
    ),
    "LeakyRelu": Row("leaky_relu", 0, alpha=attribute("alpha", 0.2)),
    "Mod": Row(remainder, 0, 1),
    "Select": Row(select, 0, 1, 2),
    "SelectV2": Row("where", 0, 1, 2),
}

#: Those that TensorFlow.js does not have, even where its list has the name.
ONLY_HERE = {
    **{op: Row(name, 0) for op, name in _UNARY_ONLY_HERE.items()},
    **{op: Row(name, 0, 1) for op, name in _BINARY_ONLY_HERE.items()},
    "AccumulateNV2": Row("add_n", Tensors()),
    "BiasAddV1": Row("add", 0, 1),
    "Digamma": Row(digamma, 0),
    "FakeQuantWithMinMaxArgs": Row(
        fake_quantized,
        0,
        low=attribute("min", [-6.0], lambda value: [value]),
        high=attribute("max", [6.0], lambda value: [value]),
        **_STEPS,
    ),
    "FakeQuantWithMinMaxVarsPerChannel": Row(
        fake_quantized, 0, low=numbers(1), high=numbers(2), **_STEPS
    ),
    "Lgamma": Row(log_gamma, 0),
    "MulNoNan": Row(unless_zero(ops.multiply), 1, 0),
    "TruncateDiv": Row(truncated_quotient, 0, 1),
    "TruncateMod": Row(remainder, 0, 1),
    "Xdivy": Row(unless_zero(ops.divide), 0, 1),
    "Xlog1py": Row(unless_zero(lambda x, y: x * ops.log1p(y)), 0, 1),
    "Xlogy": Row(unless_zero(lambda x, y: x * ops.log(y)), 0, 1),
}
