"""Our functions in TensorFlow.js's words, and where the two are meant to differ."""

from __future__ import annotations

__all__ = ["COUNTERPARTS", "DIFFERENCES"]

#: Functions of the same name and parameters, save for camelCase.
SAME = """
    abs acos acosh asin asinh atan atanh ceil cos cosh elu exp expm1 floor log log1p relu relu6
    reciprocal round rsqrt selu sigmoid sign sin sinh softplus sqrt square step tan tanh
    add atan2 divide_no_nan equal floor_div greater greater_equal less less_equal logical_and
    logical_not logical_or logical_xor maximum minimum not_equal pow prelu squared_difference
    all any max mean min prod sum
    broadcast_to clip_by_value clone concat conv2d depthwise_conv2d dot expand_dims gather
    leaky_relu log_sigmoid log_softmax pad reshape slice softmax split squeeze stack tile
    transpose unstack where ones_like zeros_like
""".split()


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


#: JavaScript with our function's parameters, in order.
COUNTERPARTS: dict[str, str] = {
    **{name: f"tf.{_camel_case(name)}" for name in SAME},
    "atan2": "tf.atan2",
    "logical_not": "(x) => tf.logicalNot(tf.cast(x, 'bool'))",
    "logical_and": "(x, y) => tf.logicalAnd(tf.cast(x, 'bool'), tf.cast(y, 'bool'))",
    "logical_or": "(x, y) => tf.logicalOr(tf.cast(x, 'bool'), tf.cast(y, 'bool'))",
    "logical_xor": "(x, y) => tf.logicalXor(tf.cast(x, 'bool'), tf.cast(y, 'bool'))",
    "all": "(x, axis, keep) => tf.all(tf.cast(x, 'bool'), axis, keep)",
    "any": "(x, axis, keep) => tf.any(tf.cast(x, 'bool'), axis, keep)",
    "where": "(c, x, y) => tf.where(tf.cast(c, 'bool'), x, y)",
    "isnan": "tf.isNaN",
    "isinf": "tf.isInf",
    "isfinite": "tf.isFinite",
    "negative": "tf.neg",
    "subtract": "tf.sub",
    "multiply": "tf.mul",
    "divide": "tf.div",
    "floor_divide": "tf.floorDiv",
    "remainder": "tf.mod",
    "bitwise_and": "tf.bitwiseAnd",
    "argmax": "(x, axis) => axis === null ? tf.argMax(tf.reshape(x, [-1])) : tf.argMax(x, axis)",
    "argmin": "(x, axis) => axis === null ? tf.argMin(tf.reshape(x, [-1])) : tf.argMin(x, axis)",
    "erf": "tf.erf",
    "matmul": "tf.matMul",
    "max_pool": "(x, size, strides, pad) => tf.maxPool(x, size, strides ?? size, pad)",
    "avg_pool": "(x, size, strides, pad) => tf.avgPool(x, size, strides ?? size, pad)",
    "elu": "(x, alpha) => { if (alpha !== 1) throw Error('alpha'); return tf.elu(x); }",
    "permute_dims": "tf.transpose",
    "flatten": "(x) => tf.reshape(x, [-1])",
    "flip": "tf.reverse",
    "astype": "(x, dtype) => tf.cast(x, dtype)",
    "take": "(x, i, axis) => axis === null ? tf.gather(tf.reshape(x, [-1]), i) "
    ": tf.gather(x, i, axis)",
    "boolean_mask": "tf.booleanMaskAsync",
    "tensor": "(values, shape, dtype) => tf.tensor(values, shape ?? undefined, dtype ?? undefined)",
    "zeros": "(shape, dtype) => tf.zeros([shape].flat(), dtype)",
    "ones": "(shape, dtype) => tf.ones([shape].flat(), dtype)",
    "full": "(shape, value, dtype) => tf.fill([shape].flat(), value, dtype ?? undefined)",
    "arange": "(start, stop, step, dtype) => stop === null ? tf.range(0, start, step, "
    "dtype ?? undefined) : tf.range(start, stop, step, dtype ?? undefined)",
    "linspace": "(start, stop, num) => tf.linspace(start, stop, num)",
    "eye": "(rows, columns, k) => { if (k) throw Error('k'); "
    "return tf.eye(rows, columns ?? rows); }",
    "one_hot": "(i, depth, on, off, dtype) => tf.oneHot(i, depth, on, off, dtype)",
    "softmax_cross_entropy": "tf.losses.softmaxCrossEntropy",
}

#: Which cases are not compared, as a pattern of their names, and why.
DIFFERENCES: list[tuple[str, str]] = []
