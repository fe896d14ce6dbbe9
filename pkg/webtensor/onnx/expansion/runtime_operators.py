"""ONNX Runtime's own operators, those of the domain ``com.microsoft``, as functions of ONNX's.

Its optimizer, its quantizer and exporters for it write them. What is made of ONNX's operators is
moved to channels last and fused as these are. Operators that cannot be made of ONNX's have rows in
``webtensor.onnx.operations``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from webtensor.onnx.expansion.bodies import Body, Outputs, Write

__all__ = ["DOMAIN", "FUNCTIONS"]

DOMAIN = "com.microsoft"


def _renamed(op: str) -> Write:
    """Return the function that calls ONNX's operator of a name."""
    return lambda body: body(op, *body.inputs(len(body.dtypes)), **body.rest())


# -- activations and normalization -------------------------------------------------------------


def _sum(body: Body, *values: str) -> str:
    """Return the sum of the values that are not missing."""
    present = [value for value in values if value]
    return body("Sum", *present) if len(present) > 1 else present[0]


def _gelu(approximate: str) -> Write:
    return lambda body: body("Gelu", _sum(body, *body.inputs(2)), approximate=approximate)


def _quick_gelu(body: Body) -> Outputs:
    return body("Swish", body.input(0), alpha=body.take("alpha", 1.702))


def _activated(body: Body, x: str, name: str, **parameters: Any) -> str:
    if name == "Clip":
        return body("Clip", x, body.number(parameters["min"]), body.number(parameters["max"]))
    return body(name, x, **parameters) if name else x


def _skip_layer_normalization(body: Body) -> Outputs:
    x, skip, scale, offset, bias = body.inputs(5)
    total = _sum(body, x, skip, bias)
    epsilon = body.take("epsilon", 1e-12)
    results = body.nodes("LayerNormalization", total, scale, offset, outputs=3, epsilon=epsilon)
    return [*results, total]


def _skip_simplified_layer_normalization(body: Body) -> Outputs:
    x, skip, scale, bias = body.inputs(4)
    total = _sum(body, x, skip, bias)
    epsilon = body.take("epsilon", 1e-12)
    results = body.nodes("SimplifiedLayerNormalization", total, scale, outputs=2, epsilon=epsilon)
    return [results[0], "", results[1], total]


def _embeddings(body: Body) -> Outputs:
    words, segments, of_words, of_positions, of_segments, *parameters = body.inputs(9)
    scale, offset, mask, positions = parameters
    if positions:
        position = body("Gather", of_positions, positions)
    else:
        zero, length = body.integers(0), body("Shape", words, start=1, end=2)
        position = body("Slice", of_positions, zero, length, zero)
    values = [body("Gather", of_words, words), position]
    if segments:
        values.append(body("Gather", of_segments, segments))
    total = body("Sum", *values)
    epsilon = body.take("epsilon", 1e-12)
    result = body("LayerNormalization", total, scale, offset, epsilon=epsilon)
    body.take("mask_index_type", 0)
    counted = mask or body("Sub", words, words)
    lengths = body("ReduceSum", counted, body.integers(1), keepdims=0)
    return [result, lengths, total]


# -- products ----------------------------------------------------------------------------------


def _convolution(body: Body) -> Outputs:
    x, filter, bias, addend = body.inputs(4)
    name, parameters = body.take("activation", ""), body.take("activation_params", [])
    names = {"Clip": ("min", "max"), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",)}
    total = _sum(body, body("Conv", x, filter, bias, **body.rest()), addend)
    return _activated(body, total, name, **dict(zip(names.get(name, ()), parameters, strict=True)))


def _matrix_product(body: Body) -> Outputs:
    name = body.take("activation", "")
    prefix = "activation_"
    options = body.rest()
    parameters = {key.removeprefix(prefix): options.pop(key) for key in [*options] if prefix in key}
    return _activated(body, body("Gemm", *body.inputs(3), **options), name, **parameters)


def _product_of_bits(op: str, count: int, *ignored: str) -> Write:
    """Return the function of a product with a matrix that ``op`` makes of few bits.

    Args:
        op: the operator.
        count: its number of inputs.
        ignored: attributes that say how ONNX Runtime computes the product.
    """

    def write(body: Body) -> Outputs:
        for name in ignored:
            body.take(name, None)
        matrix = body(op, *body.inputs(count, 1), domain=DOMAIN, **body.rest())
        return _sum(body, body("MatMul", body.input(0), matrix), body.input(count + 1))

    return write


class _Quantized(NamedTuple):
    """The names of a quantized matrix, its scale and its zero point."""

    values: str
    scale: str
    zero: str


def _integer_product(body: Body, a: _Quantized, b: _Quantized) -> str:
    """Return the product of quantized matrices, in floats."""
    product = body("Cast", body("MatMulInteger", a.values, b.values, a.zero, b.zero), to=1)
    return body("Mul", product, body("Mul", a.scale, b.scale))


def _dynamic_product(body: Body) -> Outputs:
    a, b, scale, zero, bias = body.inputs(5)
    quantized = _Quantized(*body.nodes("DynamicQuantizeLinear", a, outputs=3))
    return _sum(body, _integer_product(body, quantized, _Quantized(b, scale, zero)), bias)


def _float_product(body: Body) -> Outputs:
    a, b, a_scale, b_scale, a_zero, b_zero, bias = body.inputs(7)
    operands = _Quantized(a, a_scale, a_zero), _Quantized(b, b_scale, b_zero)
    return _sum(body, _integer_product(body, *operands), bias)


def _quantized_matrix_product(body: Body) -> Outputs:
    a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero = body.inputs(9)
    if body.take("transA", 0):
        a = body("Transpose", a, perm=[1, 0])
    if body.take("transB", 0):
        b = body("Transpose", b, perm=[1, 0])
    total = body("Cast", _sum(body, body("MatMulInteger", a, b, a_zero, b_zero), bias), to=1)
    scale = body("Mul", body("Mul", a_scale, b_scale), body.number(body.take("alpha", 1.0)))
    result = body("Mul", total, scale)
    return _quantized(body, result, y_scale, y_zero, body.dtypes[0]) if y_scale else result


def _dynamic_memory_network(body: Body) -> Outputs:
    x, kernel, recurrent, *states = body.inputs(8)
    w_scale, w_zero, r_scale, r_zero = body.inputs(4, 8)
    options = body.rest()
    shape = body.integers(2 if options.get("direction") == "bidirectional" else 1, 1, -1)

    def matrix(value: str, scale: str, zero: str) -> str:
        shifted = body("Sub", value, body("Reshape", zero, shape))
        scaled = body("Mul", body("Cast", shifted, to=1), body("Reshape", scale, shape))
        return body("Transpose", scaled, perm=[0, 2, 1])

    return body.nodes(
        "LSTM",
        x,
        matrix(kernel, w_scale, w_zero),
        matrix(recurrent, r_scale, r_zero),
        *states,
        outputs=3,
        **options,
    )


def _distances(body: Body) -> Outputs:
    metric = body.take("metric")
    if metric not in ("euclidean", "sqeuclidean"):
        raise ValueError(f"metric is {metric!r:.200}")
    squared = body.squared_distances(*body.inputs(2))
    return squared if metric == "sqeuclidean" else body("Sqrt", squared)


# -- attention ---------------------------------------------------------------------------------


def _attention(body: Body) -> Outputs:
    x, weights, bias, mask, past, attention_bias = body.inputs(6)
    total = _sum(body, body("MatMul", x, weights), bias)
    return _attended(body, total, mask, past, attention_bias)


def _quantized_attention(body: Body) -> Outputs:
    x, weights, bias, scale, weight_scale, mask, zero, weight_zero, past = body.inputs(9)
    operands = _Quantized(x, scale, zero), _Quantized(weights, weight_scale, weight_zero)
    product = _integer_product(body, *operands)
    return _attended(body, _sum(body, product, bias), mask, past, "")


def _attended(body: Body, projections: str, mask: str, past: str, attention_bias: str) -> list[str]:
    """Return attention for queries, keys and values in one tensor, and all keys and values."""
    sizes = body.take("qkv_hidden_sizes", [])
    if body.take("do_rotary", 0) or body.take("past_present_share_buffer", 0):
        raise ValueError("do_rotary and past_present_share_buffer are not supported")
    parts = [projections, *([body.integers(*sizes)] if sizes else [])]
    queries, keys, values = body.nodes("Split", *parts, outputs=3, axis=-1, num_outputs=3)
    first = body.integers(0)
    past_parts = ["", ""]
    if past:
        halves = body.nodes("Split", past, outputs=2, axis=0, num_outputs=2)
        past_parts = [body("Squeeze", half, first) for half in halves]
    inputs = (queries, keys, values, "", mask, attention_bias, *past_parts)
    result, *present = body.nodes(
        "MultiHeadAttention", *inputs, outputs=3, domain=DOMAIN, **body.rest()
    )
    return [result, body("Concat", *[body("Unsqueeze", part, first) for part in present], axis=0)]


# -- quantized numbers -------------------------------------------------------------------------


def _quantized(body: Body, x: str, scale: str, zero: str, dtype: str) -> str:
    options = {} if zero else {"output_dtype": dtype or "uint8"}
    return body("QuantizeLinear", x, scale, zero, **options)


def _of_quantized(compute: Callable[..., str], count: int = 1) -> Write:
    """Return the function of what is computed with ``count`` quantized tensors, and quantized."""

    def write(body: Body) -> Outputs:
        operands = [body("DequantizeLinear", *body.inputs(3, 3 * index)) for index in range(count)]
        scale, zero = body.inputs(2, 3 * count)
        return _quantized(body, compute(body, *operands), scale, zero, body.dtypes[0])

    return write


def _operator(op: str) -> Callable[..., str]:
    return lambda body, *operands: body(op, *operands, **body.rest())


def _of_images(op: str) -> Callable[..., str]:
    """Return an operator on images, which may have channels last."""

    def compute(body: Body, *operands: str) -> str:
        if body.take("channels_last", 0):
            return _of_channels_last(body, op, *operands)
        return body(op, *operands, **body.rest())

    return compute


def _of_channels_last(body: Body, op: str, x: str, *others: str) -> str:
    first = body("Transpose", x, perm=[0, 3, 1, 2])
    return body("Transpose", body(op, first, *others, **body.rest()), perm=[0, 2, 3, 1])


def _softmax(body: Body, x: str) -> str:
    """Before version 13, an axis stood for all from there on."""
    is_flat, axis = body.take("opset") < 13, body.take("axis", -1)
    if is_flat and axis != -1:
        raise ValueError("an axis before the last one is not supported before version 13")
    return body("Softmax", x, axis=axis)


def _quantized_concatenation(body: Body) -> Outputs:
    scale, zero = body.inputs(2)
    operands = [
        body("DequantizeLinear", *body.inputs(3, start)) for start in range(2, len(body.dtypes), 3)
    ]
    joined = body("Concat", *operands, axis=body.take("axis"))
    return _quantized(body, joined, scale, zero, body.dtypes[2])


def _quantized_choice(body: Body) -> Outputs:
    operands = [body("DequantizeLinear", *body.inputs(3, start)) for start in (1, 4)]
    chosen = body("Where", body.input(0), *operands)
    return _quantized(body, chosen, body.input(7), body.input(8), body.dtypes[1])


def _quantized_convolution(body: Body) -> Outputs:
    return _of_images("QLinearConv")(body, *body.inputs(9))


def _pooled(body: Body) -> Outputs:
    return _of_channels_last(body, "MaxPool", body.input(0))


FUNCTIONS: dict[str, Write] = {
    **{
        op: _renamed(op)
        for op in ("DequantizeLinear", "GatherND", "GridSample", "QuantizeLinear", "Range", "Trilu")
    },
    "Attention": _attention,
    "BiasGelu": _gelu("none"),
    "CDist": _distances,
    "DynamicQuantizeLSTM": _dynamic_memory_network,
    "DynamicQuantizeMatMul": _dynamic_product,
    "EmbedLayerNormalization": _embeddings,
    "ExpandDims": _renamed("Unsqueeze"),
    "FastGelu": _gelu("tanh"),
    "FusedConv": _convolution,
    "FusedGemm": _matrix_product,
    "Gelu": _gelu("none"),
    "MatMulBnb4": _product_of_bits("WeightsOfCodes", 2, "training_mode"),
    "MatMulIntegerToFloat": _float_product,
    "MatMulNBits": _product_of_bits("WeightsOfBlocks", 4, "accuracy_level", "weight_prepacked"),
    "NhwcMaxPool": _pooled,
    "QAttention": _quantized_attention,
    "QGemm": _quantized_matrix_product,
    "QLinearAdd": _of_quantized(_operator("Add"), 2),
    "QLinearAveragePool": _of_quantized(_of_images("AveragePool")),
    "QLinearConcat": _quantized_concatenation,
    "QLinearConv": _quantized_convolution,
    "QLinearGlobalAveragePool": _of_quantized(_of_images("GlobalAveragePool")),
    "QLinearLeakyRelu": _of_quantized(_operator("LeakyRelu")),
    "QLinearMul": _of_quantized(_operator("Mul"), 2),
    "QLinearReduceMean": _of_quantized(_operator("ReduceMean")),
    "QLinearSigmoid": _of_quantized(_operator("Sigmoid")),
    "QLinearSoftmax": _of_quantized(_softmax),
    "QLinearWhere": _quantized_choice,
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_layer_normalization,
    "SkipSimplifiedLayerNormalization": _skip_simplified_layer_normalization,
}
