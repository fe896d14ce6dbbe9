"""Operators that compute each element by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi, sqrt
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.element_types import Elements
from webtensor.graph.nodes import Node
from webtensor.graph.operations import Row
from webtensor.graph.operations.elementwise import quotient, remainder
from webtensor.graph.operations.rows import Bound
from webtensor.io.stored_tensors import elements_of, tensor_of
from webtensor.onnx.operations.element_types import BIT_WIDTHS, dtype_of, type_name
from webtensor.onnx.operations.operators import Operator
from webtensor.onnx.operations.texts import cast_texts

__all__ = ["ROWS", "cast", "gelu", "is_float", "swish"]

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bitwise_invert",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "IsNaN": "isnan",
    "Log": "log",
    "Neg": "negative",
    "Not": "logical_not",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softplus": "softplus",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}

_BINARY = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "GreaterOrEqual": "greater_equal",
    "LessOrEqual": "less_equal",
}

#: Operators whose second operand had to be aligned by an attribute before version 7.
_ALIGNED = {
    "Add": ops.add,
    "And": ops.logical_and,
    "Div": quotient,
    "Equal": ops.equal,
    "Greater": ops.greater,
    "Less": ops.less,
    "Mul": ops.multiply,
    "Or": ops.logical_or,
    "Sub": ops.subtract,
    "Xor": ops.logical_xor,
}


def aligned(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return an operator whose second operand's axes begin at ``axis`` of the first."""

    def computed(x: Tensor, y: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
        if broadcast and axis is not None:
            first = axis % max(len(x.shape), 1)
            trailing = len(x.shape) - first - len(y.shape)
            y = ops.reshape(y, (*y.shape, *[1] * trailing))
        return function(x, y)

    return computed


def is_float(x: Tensor) -> bool:
    """Whether elements are floating-point numbers."""
    return str(x.dtype) == "float32"


# -- arithmetic --------------------------------------------------------------------------------


def power(x: Tensor, y: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Raise to a power; the result has the dtype of the base."""
    if str(x.dtype) == str(y.dtype):
        return aligned(ops.pow)(x, y, axis=axis, broadcast=broadcast)
    if is_float(x):
        return ops.pow(x, ops.astype(y, "float32"))
    return ops.astype(ops.pow(ops.astype(x, "float32"), y), "int32")


def modulo(x: Tensor, y: Tensor, *, fmod: int = 0) -> Tensor:
    """Return remainders, with the sign of the divisor, or of the dividend as in C."""
    return remainder(x, y) if fmod else ops.remainder(x, y)


def shifted(x: Tensor, y: Tensor, *, direction: str) -> Tensor:
    """Shift bits."""
    if direction not in ("LEFT", "RIGHT"):
        raise ValueError(f"direction must be 'LEFT' or 'RIGHT', not {direction!r}")
    shift = ops.bitwise_left_shift if direction == "LEFT" else ops.bitwise_right_shift
    return shift(x, y)


def _folding(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return an operator of any number of operands."""

    def computed(*values: Tensor) -> Tensor:
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result

    return computed


total = _folding(ops.add)


def mean(*values: Tensor) -> Tensor:
    """Return the means of several tensors."""
    return ops.divide(total(*values), float(len(values)))


def clipped(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Bring elements between two bounds, of which the upper one wins."""
    if min is not None:
        x = ops.maximum(x, min)
    return x if max is None else ops.minimum(x, max)


def is_infinite(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    """Whether elements are infinite."""
    matches = ops.isinf(x)
    if not detect_negative:
        matches = ops.logical_and(matches, ops.greater(x, 0))
    return matches if detect_positive else ops.logical_and(matches, ops.less(x, 0))


# -- dtypes ------------------------------------------------------------------------------------


def cast(x: Tensor, *, to: int | str) -> Tensor:
    """Change the dtype; integers of few bits lose the others, as in C."""
    name = type_name(to)
    dtype = dtype_of(name)
    if "string" in (dtype, str(x.dtype)):
        return cast_texts(x, dtype)
    if dtype == "bool":
        return x if str(x.dtype) == "bool" else ops.not_equal(x, 0)
    result = ops.astype(x, dtype)
    bits = BIT_WIDTHS.get(name)
    if bits is None or str(x.dtype) == "bool":
        return result
    result = ops.bitwise_and(result, (1 << bits) - 1)
    if name.startswith("uint"):
        return result
    return ops.where(ops.greater_equal(result, 1 << bits - 1), result - (1 << bits), result)


class _Cast(Operator):
    """The row of casts, which read what becomes text."""

    def _bind(self, node: Node, constants: Mapping[int, Tensor]) -> Bound:
        bound, kind = super()._bind(node, constants), node.attributes["to"]
        is_text = isinstance(kind, (int, str)) and dtype_of(kind) == "string"
        return bound._replace(reads=bound.inputs[:1]) if is_text else bound


def cast_like(x: Tensor, target: Tensor, *, output_dtype: str | None = None) -> Tensor:
    """Change the dtype to that of another tensor."""
    return cast(x, to=output_dtype or str(target.dtype))


def bit_cast(x: Tensor, *, to: int) -> Tensor:
    """Return the numbers of another dtype that have the same bits."""
    _, kind, data = elements_of(x)
    if {kind, type_name(to)} != {"float32", "int32"}:
        raise ValueError(f"the bits of {kind} as {type_name(to)} are not supported")
    return tensor_of(Elements(x.shape, type_name(to), data), "BitCast")


# -- activations -------------------------------------------------------------------------------


def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return max(0, x) + min(0, alpha · (exp(x / alpha) − 1))."""
    return ops.maximum(x, 0.0) + ops.minimum(alpha * ops.expm1(x / alpha), 0.0)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """Return x · Φ(x)."""
    if approximate == "tanh":
        return 0.5 * x * (1.0 + ops.tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + ops.erf(x * sqrt(0.5)))


def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x, or alpha · (exp(x) − 1) where it is negative."""
    return ops.elu(x, alpha)


def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """Return alpha · x + beta between 0 and 1."""
    return ops.clip(alpha * x + beta, 0.0, 1.0)


def hard_swish(x: Tensor) -> Tensor:
    """Return x · hard_sigmoid(x)."""
    return x * hard_sigmoid(x, alpha=1 / 6)


def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """Return x, or alpha · x where it is negative."""
    return ops.leaky_relu(x, alpha)


def mish(x: Tensor) -> Tensor:
    """Return x · tanh(softplus(x))."""
    return x * ops.tanh(ops.softplus(x))


def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """Return x, or slope · x where it is negative."""
    if len(slope.shape) == 1 < len(x.shape) and slope.shape[0] not in (1, x.shape[-1]):
        slope = ops.reshape(slope, (-1, *[1] * (len(x.shape) - 2)))
    return ops.where(ops.less(x, 0), slope * x, x)


def selu(x: Tensor, *, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Any:
    """Return gamma · x, or gamma · alpha · (exp(x) − 1) where it is negative."""
    return gamma * ops.elu(x, alpha)


def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    """Bring elements closer to zero by a bias, and those between the thresholds to it."""
    high = ops.where(ops.greater(x, lambd), x - bias, ops.zeros_like(x))
    return ops.astype(ops.where(ops.less(x, -lambd), x + bias, high), x.dtype, copy=False)


def softsign(x: Tensor) -> Tensor:
    """Return x / (1 + |x|)."""
    return x / (1.0 + ops.abs(x))


def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x · sigmoid(alpha · x)."""
    return x * ops.sigmoid(alpha * x)


def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return x, or 0 where it is at most alpha."""
    return ops.where(ops.greater(x, alpha), x, ops.zeros_like(x))


ROWS: dict[str, Row] = {
    **{f"{op}-1": Operator(name) for op, name in _UNARY.items()},
    **{f"{op}-1": Operator(name) for op, name in _BINARY.items()},
    **{f"{op}-1": Operator(aligned(function)) for op, function in _ALIGNED.items()},
    **{f"{op}-7": Operator(function) for op, function in _ALIGNED.items()},
    "BitCast-1": Operator(bit_cast, x=lambda value: value),
    "BitShift-1": Operator(shifted),
    "Cast-1": _Cast(cast).ignoring("round_mode", "saturate"),
    "CastLike-1": Operator(cast_like).ignoring("round_mode", "saturate"),
    "Celu-1": Operator(celu),
    "Clip-1": Operator(clipped),
    "Elu-1": Operator(elu),
    "Gelu-1": Operator(gelu),
    "HardSigmoid-1": Operator(hard_sigmoid),
    "HardSwish-1": Operator(hard_swish),
    "IsInf-1": Operator(is_infinite),
    "LeakyRelu-1": Operator(leaky_relu),
    "Max-1": Operator(_folding(ops.maximum)),
    "Mean-1": Operator(mean),
    "Min-1": Operator(_folding(ops.minimum)),
    "Mish-1": Operator(mish),
    "Mod-1": Operator(modulo),
    "PRelu-1": Operator(prelu),
    "Pow-1": Operator(power),
    "Selu-1": Operator(selu),
    "Shrink-1": Operator(shrink),
    "Softsign-1": Operator(softsign),
    "Sum-1": Operator(total),
    "Swish-1": Operator(swish),
    "ThresholdedRelu-1": Operator(thresholded_relu),
    "Where-1": Operator("where"),
}
