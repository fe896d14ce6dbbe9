"""The nodes that compute what the rows of the elementwise table do, by the names of the rows."""

from __future__ import annotations

from functools import partial

from webtensor import ops
from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.node_rules import Call, Rule, alike
from webtensor.convert.sizes import product
from webtensor.formats.graph_def import ElementType

__all__ = ["ELEMENTWISE_RULES"]

_INT32 = ElementType("int32")


def _plain(op: str, nodes: NodeBuilder, call: Call) -> Value:
    """Add one operation of the same operands."""
    return nodes.add(op, call.inputs, call.shape, call.dtype)


def _clipped(nodes: NodeBuilder, call: Call) -> Value:
    bounds = [nodes.scalar(bound, call.dtype) for bound in call.attributes[1:]]
    return nodes.add("ClipByValue", [*call.inputs, *bounds], call.shape)


def _scalar(call: Call, index: int) -> float | None:
    """Return the only element of an input, if it is constant."""
    value = call.values[index]
    return ops.reshape(value, (1,)).tolist()[0] if value is not None and value.size == 1 else None


def _at_least(nodes: NodeBuilder, call: Call) -> Value:
    """Add a maximum; that with 0 is what kernels of products apply."""
    if _scalar(call, 1) == 0 and call.dtype == "float32" and call.inputs[0].shape == call.shape:
        return nodes.add("Relu", call.inputs[:1], call.shape)
    return nodes.add("Maximum", call.inputs, call.shape)


def _at_most(nodes: NodeBuilder, call: Call) -> Value:
    """Add a minimum; that of ReLU with 6 is ReLU6."""
    op, inputs = nodes.producer(call.inputs[0])
    if op == "Relu" and _scalar(call, 1) == 6 and inputs[0].shape == call.shape:
        return nodes.add("Relu6", inputs, call.shape)
    return nodes.add("Minimum", call.inputs, call.shape)


def _added(nodes: NodeBuilder, call: Call) -> Value:
    """Add a sum; the bias of a product of stacked rows is added before these are parted."""
    for index, (x, bias) in enumerate((call.inputs, [*reversed(call.inputs)])):
        op, sources = nodes.producer(x)
        is_bias = call.values[1 - index] is not None and len(bias.shape) == 1
        if op != "Reshape" or not is_bias or nodes.producer(sources[0])[0] != "MatMul":
            continue
        rows = sources[0]
        if bias.shape[0] == rows.shape[-1] == x.shape[-1] and call.shape == x.shape:
            sums = nodes.add("BiasAdd", [rows, bias], rows.shape, data_format="NHWC")
            return nodes.reshaped(sums, call.shape)
    return nodes.add("AddV2", call.inputs, call.shape)


def _divided(nodes: NodeBuilder, call: Call) -> Value:
    """Add a quotient; that of a sum by the number of its elements is a mean."""
    total, count = call.inputs[0], _scalar(call, 1)
    op, inputs = nodes.producer(total)
    if op == "Reshape":
        total = inputs[0]
        op, inputs = nodes.producer(total)
    if op == "Sum" and count and product(inputs[0].shape) == product(call.shape) * int(count):
        mean = nodes.add("Mean", inputs, total.shape, keep_dims=False, Tidx=_INT32)
        return nodes.reshaped(mean, call.shape)
    return nodes.add("RealDiv", call.inputs, call.shape)


def _leaky(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.add("LeakyRelu", call.inputs, call.shape, alpha=float(call.attributes[1]))


def _elu(nodes: NodeBuilder, call: Call) -> Value:
    alpha = float(call.attributes[1])
    plain = nodes.add("Elu", call.inputs, call.shape)
    if alpha == 1:
        return plain
    # Both parts of x are kept apart: a positive part stays, a negative one is scaled.
    zero, factor = nodes.scalar(0.0, "float32"), nodes.scalar(alpha, "float32")
    positive = nodes.add("GreaterEqual", [*call.inputs, zero], call.shape, "bool")
    scaled = alike(nodes, "Mul", plain, factor)
    return nodes.add("SelectV2", [positive, plain, scaled], call.shape, "float32")


def _quantized(nodes: NodeBuilder, call: Call) -> Value:
    """Round to steps within a range."""
    (x,), (factor, low, high, scale) = call.inputs, call.attributes[1:]
    steps = alike(nodes, "Mul", x, nodes.scalar(factor, "float32"))
    whole = nodes.add("Round", [steps], x.shape)
    bounds = [nodes.scalar(bound, "float32") for bound in (low, high)]
    limited = nodes.add("ClipByValue", [whole, *bounds], x.shape)
    if scale == 1:
        return limited
    return alike(nodes, "Mul", limited, nodes.scalar(scale, "float32"))


def _negative(nodes: NodeBuilder, call: Call) -> Value:
    zero = nodes.scalar(0.0, "float32")
    return nodes.add("Less", [*call.inputs, zero], call.shape, "bool")


def _scaled_log(factor: float, nodes: NodeBuilder, call: Call) -> Value:
    logarithm = nodes.add("Log", call.inputs, call.shape)
    return alike(nodes, "Mul", logarithm, nodes.scalar(factor, "float32"))


def _truncated(nodes: NodeBuilder, call: Call) -> Value:
    (x,) = call.inputs
    size = nodes.add("Floor", [nodes.add("Abs", [x], x.shape)], x.shape)
    return alike(nodes, "Mul", nodes.add("Sign", [x], x.shape), size)


def _step(nodes: NodeBuilder, call: Call) -> Value:
    (x,), alpha = call.inputs, float(call.attributes[1])
    zero, one = nodes.scalar(0.0, "float32"), nodes.scalar(1.0, "float32")
    scaled = alike(nodes, "Mul", x, nodes.scalar(alpha, "float32"))
    positive = nodes.add("Greater", [x, zero], x.shape, "bool")
    return nodes.add("SelectV2", [positive, one, scaled], x.shape, "float32")


def _log_sigmoid(nodes: NodeBuilder, call: Call) -> Value:
    (x,) = call.inputs
    soft = nodes.add("Softplus", [nodes.add("Neg", [x], x.shape)], x.shape)
    return nodes.add("Neg", [soft], x.shape)


def _log_of_sum(nodes: NodeBuilder, call: Call) -> Value:
    x, y = call.inputs
    distance = nodes.add("Abs", [alike(nodes, "Sub", x, y)], call.shape)
    small = nodes.add("Exp", [nodes.add("Neg", [distance], call.shape)], call.shape)
    rest = nodes.add("Log1p", [small], call.shape)
    return alike(nodes, "AddV2", alike(nodes, "Maximum", x, y), rest)


def _hypotenuse(nodes: NodeBuilder, call: Call) -> Value:
    squares = [nodes.add("Square", [x], x.shape) for x in call.inputs]
    return nodes.add("Sqrt", [alike(nodes, "AddV2", *squares)], call.shape)


def _different(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.add("NotEqual", call.inputs, call.shape, "bool")


def _masked(nodes: NodeBuilder, call: Call) -> Value:
    """Add a bitwise and; that with a mask of the lowest bits is a remainder."""
    bits = call.values[1]
    divisor = 1 + (bits.item() if bits is not None and bits.size == 1 else -1)
    if divisor.bit_count() != 1 or divisor > 1 << 30:
        return _plain("BitwiseAnd", nodes, call)
    return alike(nodes, "FloorMod", call.inputs[0], nodes.scalar(divisor, "int32"))


def _inverted(nodes: NodeBuilder, call: Call) -> Value:
    return nodes.add("BitwiseXor", [*call.inputs, nodes.scalar(-1, "int32")], call.shape)


def _copied_sign(nodes: NodeBuilder, call: Call) -> Value:
    x, y = call.inputs
    zero = nodes.scalar(0.0, "float32")
    negative = nodes.add("Less", [y, zero], y.shape, "bool")
    size = nodes.add("Abs", [x], x.shape)
    minus = nodes.add("Neg", [size], x.shape)
    return nodes.add("SelectV2", [negative, minus, size], call.shape, "float32")


#: Operations that compute what a row of the elementwise table does.
_ELEMENTWISE = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atan2": "Atan2",
    "atanh": "Atanh",
    "bitwise_left_shift": "LeftShift",
    "bitwise_or": "BitwiseOr",
    "bitwise_right_shift": "RightShift",
    "bitwise_xor": "BitwiseXor",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "divide_no_nan": "DivNoNan",
    "equal": "Equal",
    "erf": "Erf",
    "exp": "Exp",
    "expm1": "Expm1",
    "floor": "Floor",
    "floor_divide": "FloorDiv",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
    "isfinite": "IsFinite",
    "isinf": "IsInf",
    "isnan": "IsNan",
    "less": "Less",
    "less_equal": "LessEqual",
    "log": "Log",
    "log1p": "Log1p",
    "logical_and": "LogicalAnd",
    "logical_not": "LogicalNot",
    "logical_or": "LogicalOr",
    "multiply": "Mul",
    "negative": "Neg",
    "not_equal": "NotEqual",
    "pow": "Pow",
    "prelu": "Prelu",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "relu6": "Relu6",
    "remainder": "FloorMod",
    "round": "Round",
    "rsqrt": "Rsqrt",
    "selu": "Selu",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "softplus": "Softplus",
    "sqrt": "Sqrt",
    "square": "Square",
    "squared_difference": "SquaredDifference",
    "subtract": "Sub",
    "tan": "Tan",
    "tanh": "Tanh",
    "where": "SelectV2",
}

ELEMENTWISE_RULES: dict[str, Rule] = {
    **{name: partial(_plain, op) for name, op in _ELEMENTWISE.items()},
    "add": _added,
    "bitwise_and": _masked,
    "bitwise_invert": _inverted,
    "clip_by_value": _clipped,
    "copysign": _copied_sign,
    "divide": _divided,
    "elu": _elu,
    "hypot": _hypotenuse,
    "leaky_relu": _leaky,
    "log10": partial(_scaled_log, 0.4342944819032518),
    "log2": partial(_scaled_log, 1.4426950408889634),
    "log_sigmoid": _log_sigmoid,
    "logaddexp": _log_of_sum,
    "logical_xor": _different,
    "maximum": _at_least,
    "minimum": _at_most,
    "rounded_steps": _quantized,
    "signbit": _negative,
    "step": _step,
    "trunc": _truncated,
}
