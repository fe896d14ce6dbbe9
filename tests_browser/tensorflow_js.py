"""Our functions in TensorFlow.js's words, and where the two are meant to differ."""

from __future__ import annotations

__all__ = ["COUNTERPARTS", "DIFFERENCES", "REFUSALS"]

#: Functions of the same name and parameters, save for camelCase.
SAME = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "elu",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "relu",
    "relu6",
    "reciprocal",
    "round",
    "rsqrt",
    "selu",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "step",
    "tan",
    "tanh",
    "add",
    "atan2",
    "equal",
    "floor_div",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "not_equal",
    "pow",
    "prelu",
    "squared_difference",
    "all",
    "any",
    "max",
    "mean",
    "min",
    "prod",
    "sum",
    "broadcast_to",
    "clip_by_value",
    "clone",
    "concat",
    "conv2d",
    "depthwise_conv2d",
    "dot",
    "expand_dims",
    "gather",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "pad",
    "reshape",
    "slice",
    "softmax",
    "split",
    "squeeze",
    "stack",
    "tile",
    "transpose",
    "unstack",
    "where",
    "ones_like",
    "zeros_like",
]


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
    "divide_no_nan": "tf.divNoNan",
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

#: What they refuse to compute, as a pattern of their error, and why we do not.
REFUSALS: list[tuple[str, str]] = [
    (
        "must be float32 tensor|Input dtype must be|Only supports 'int32'",
        "ours convert integers to float32, and bools to integers, where a function asks for them",
    ),
    ("Tensors must have the same shape", "ours broadcast in every function of two tensors"),
    ("Either strides or dilations must be 1", "ours take both"),
    ("mask's shape must match", "ours count a negative axis of boolean_mask from the end"),
    ("dilation rates greater than 1 are not yet supported", "ours have that gradient"),
    ("number of input channels", "ours take gradients with channels first"),
    ("The shape of dy passed in grads", "see conv2d with a number as padding, below"),
    (
        "The gradient of input '.' has shape|The new shape .* has",
        "ours sum a gradient over every axis along which an operand was broadcast",
    ),
    ("gradient function not found for Equal", "ours have the gradient of divide_no_nan"),
    ("along a non-last dimension", "ours normalize any axis"),
    ("inner shapes .* and \\(undefined\\)", "ours have the gradient of products of vectors"),
    (r"the index value -\d+ is not in", "our indices may be negative, as Python's"),
    ("All entries in 'perm'|length of perm", "our axes may be negative, as Python's"),
    ("Size\\(6\\) must match", "a shape may be given as one number in ours"),
    ("must match length of reps", "our repetitions may be fewer or more than the axes, as NumPy's"),
    (r"pad\(scalar\) is not defined", "ours return the scalar"),
    ("must be a tensor", "their booleanMaskAsync has no gradient"),
    ("number of values should be positive|depth must be >=2", "ours give what is asked for"),
    ("^Error: (alpha|k)$", "they have no such parameter"),
]

#: Which cases are not compared, as a pattern of their names, and why.
DIFFERENCES: list[tuple[str, str]] = [
    ("complex", "their complex tensors are pairs of tensors, made and read in another way"),
    # -- dtypes
    (
        r"^(reciprocal|expm1|log1p|asin|acos|atan|sinh|asinh|acosh|atanh|erf|selu|log_sigmoid"
        r"|softplus|step|leaky_relu|divide_no_nan|atan2|prelu)\((int|bool)",
        "they round the result to the operand's dtype; ours is float32",
    ),
    (r"^divide\((int|bool) \S+ (int|bool)", "they divide two integers as integers"),
    (
        r"^(negative|sign|add|subtract|multiply|squared_difference)\(bool",
        "they compute bools in bytes; ours count as int32",
    ),
    (
        r"^(abs|square|multiply|pow|squared_difference)\(int.* (extreme|beyond)",
        "JavaScript rounds large integers to doubles; ours wrap to 32 bits",
    ),
    (r"^matmul\(int.* wrapping", "JavaScript rounds the sums to doubles, or float32"),
    (r"^matmul\(bool \S+ bool", "they compute bools in bytes; ours count as int32"),
    (
        r"^equal.* beyond 2\*\*24|^(full|arange|tensor)\(.*(16777|21474)",
        "integers become float32 there unless a dtype is given",
    ),
    (r"^tensor\(\[True, 2\]\)", "the first element decides the dtype there"),
    (r"^concat\(\[(int|bool) \S+ (int )?2x3", "the first tensor decides the dtype there"),
    # -- NaN, infinity
    (r"^sign\(11\) of special", "their sign of NaN is 0; ours is NaN, as NumPy's"),
    (r"^pow\(81, 81\) of special", "1 to the power NaN is NaN in JavaScript; ours is 1, as in C"),
    (r"^floor_divide\(81, 81\) of special", "theirs is an int32, which has no NaN"),
    (r"^remainder\(7, 7\) of special", "theirs of a negative number and infinity is NaN"),
    (r"^max_pool.* of special", "their pooling passes over NaN; ours shows it, as NumPy's max"),
    (r"^arg(max|min).* of NaN", "their search passes over NaN; ours finds the first, as NumPy's"),
    # -- zero-size axes
    (r"^where\(bool 0|^broadcast_to\(1, \(0\)", "they give broadcast axes of 0 and 1 the length 1"),
    (r"^all\(bool .*0", "all of nothing is false there; ours is true, as Python's and NumPy's"),
    (r"^arange\(7, 2\)$", "they count down where no step is given"),
    # -- parameters
    (r"^arg(max|min).*keepdims", "they have no keepdims"),
    (r"^linspace.*endpoint", "they have no endpoint"),
    (
        r"conv2d\(.*, (\d|\(\d, \d\)), 1, 'NHWC'",
        "with a number as padding they take the filter for square and not dilated",
    ),
    (r"^depthwise_conv2d.*NCHW", "their depthwise convolution takes channels last only"),
    (
        r"^astype\(7, 'int32'\) beyond int32",
        "JavaScript wraps what is beyond int32; ours saturates, as C's and WebAssembly's",
    ),
    # -- theirs are less exact, or wrong
    (r"^erf\(", "their approximation has an absolute error of 1.5e-7; ours a relative one"),
    (r"^linspace\(1, 0, 7\)", "they add the step up, and miss the last number"),
    (
        r"^matmul\((2x1x|2x3x\S+ 2x1x|0x)",
        "their product of batches takes the wrong matrices where a later axis broadcasts, and "
        "computes one where there are none",
    ),
    (
        r"^gradient of avg_pool\(.*('same'|, 1)\)$",
        "their gradient counts the padding, which their mean does not",
    ),
    (r"^gradient of floor_divide", "theirs is that of division; ours is 0, its derivative"),
    (
        r"^gradient of softmax_cross_entropy\(3x4, 3x4\)$",
        "their gradient for the labels is not the derivative; that for the logits is compared",
    ),
]
