"""Our functions in TensorFlow.js's words, and where the two are meant to differ."""

from __future__ import annotations

__all__ = ["COMPARED_ELSEWHERE", "COUNTERPARTS", "DIFFERENCES", "DISTRIBUTIONS", "REFUSALS"]

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
    "batch_norm",
    "batch_norm2d",
    "batch_norm3d",
    "batch_norm4d",
    "conv1d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dilation2d",
    "image.crop_and_resize",
    "image.flip_left_right",
    "image.non_max_suppression",
    "image.resize_bilinear",
    "image.resize_nearest_neighbor",
    "image.rotate_with_offset",
    "image.threshold",
    "image.transform",
    "local_response_normalization",
    "losses.absolute_difference",
    "losses.compute_weighted_loss",
    "losses.cosine_distance",
    "losses.hinge_loss",
    "losses.huber_loss",
    "losses.log_loss",
    "losses.mean_squared_error",
    "losses.sigmoid_cross_entropy",
    "losses.softmax_cross_entropy",
    "pool",
    "separable_conv2d",
    "add_n",
    "broadcast_args",
    "depth_to_space",
    "diag",
    "ensure_shape",
    "euclidean_norm",
    "log_sum_exp",
    "math.confusion_matrix",
    "mirror_pad",
    "moving_average",
    "norm",
    "ragged_tensor_to_tensor",
    "sparse.sparse_segment_mean",
    "sparse.sparse_segment_sum",
    "sparse_to_dense",
    "tensor_scatter_update",
    "unsorted_segment_sum",
]


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


#: A call with an object of parameters, which their fused functions take.
_FUSED = """(%s, bias, activation, preluActivationWeights, leakyreluAlpha) => tf.fused.%s({
  %s, bias, activation: activation ?? undefined, preluActivationWeights, leakyreluAlpha })"""
#: Given a negative axis, theirs make arrays of no length.
_SCAN = "(x, axis, ...rest) => tf.%s(x, axis < 0 ? axis + x.rank : axis, ...rest)"
_MASK = "(x, mask, axis) => tf.booleanMaskAsync(x, mask, axis < 0 ? axis + x.rank : axis)"
_CONVOLUTION = "x, filter, strides, pad, dataFormat, dilations, dimRoundingMode"
_PRODUCT = "a, b, transposeA, transposeB"


def _fused(name: str, parameters: str) -> str:
    return _FUSED % (parameters, name, parameters)


def _parts(function: str, *names: str) -> str:
    """A call of a function that returns an object, giving its properties in order."""
    listed = ", ".join(names)
    kind, wait = ("async ", "await ") if function.endswith("Async") else ("", "")
    return (
        f"{kind}(...args) => {{ const {{ {listed} }} = {wait}{function}(...args); "
        f"return [{listed}]; }}"
    )


#: JavaScript with our function's parameters, in order.
COUNTERPARTS: dict[str, str] = {
    **{
        f"Tensor.{name}": f"(x, ...rest) => x.{theirs}(...rest)"
        for name, theirs in {
            **{f"as{rank}d": f"as{rank}D" for rank in range(1, 6)},
            "as_scalar": "asScalar",
            "concat": "concat",
            "flatten": "flatten",
            "reshape_as": "reshapeAs",
            "stack": "stack",
            "to_bool": "toBool",
            "to_float": "toFloat",
            "to_int": "toInt",
        }.items()
    },
    "Tensor.where": "(x, condition, y) => x.where(condition, y)",
    "clip": "(x, least, most) => tf.clipByValue(x, least ?? -Infinity, most ?? Infinity)",
    "complex": "tf.complex",
    "imag": "tf.imag",
    "real": "tf.real",
    **{name: f"tf.{_camel_case(name)}" for name in SAME},
    "max_pool3d": "(x, size, strides, pad, rounding) => "
    "tf.maxPool3d(x, size, strides ?? size, pad, rounding)",
    "avg_pool3d": "(x, size, strides, pad, rounding) => "
    "tf.avgPool3d(x, size, strides ?? size, pad, rounding)",
    "max_pool_with_argmax": _parts("tf.maxPoolWithArgmax", "result", "indexes"),
    "basic_lstm_cell": "tf.basicLSTMCell",
    "fused.conv2d": _fused("conv2d", _CONVOLUTION),
    "fused.depthwise_conv2d": _fused("depthwiseConv2d", _CONVOLUTION),
    "fused.mat_mul": _fused("matMul", _PRODUCT),
    "image.grayscale_to_rgb": "tf.image.grayscaleToRGB",
    "image.rgb_to_grayscale": "tf.image.rgbToGrayscale",
    "image.non_max_suppression_padded": _parts(
        "tf.image.nonMaxSuppressionPadded", "selectedIndices", "validOutputs"
    ),
    "image.non_max_suppression_with_score": _parts(
        "tf.image.nonMaxSuppressionWithScore", "selectedIndices", "selectedScores"
    ),
    "image.non_max_suppression_async": "tf.image.nonMaxSuppressionAsync",
    "image.non_max_suppression_padded_async": _parts(
        "tf.image.nonMaxSuppressionPaddedAsync", "selectedIndices", "validOutputs"
    ),
    "image.non_max_suppression_with_score_async": _parts(
        "tf.image.nonMaxSuppressionWithScoreAsync", "selectedIndices", "selectedScores"
    ),
    "kept_by_dropout": """(x, rate, noiseShape, seed) => {
  const y = tf.dropout(x, rate, noiseShape ?? undefined, seed);
  const kept = tf.notEqual(y, 0);
  const axes = (noiseShape ?? []).flatMap((length, axis) => length === 1 ? [axis] : []);
  const isAlike = tf.equal(tf.any(kept, axes, true), tf.all(kept, axes, true));
  return [tf.where(kept, y, tf.div(x, 1 - rate)), tf.all(isAlike)];
}""",
    "stacked_lstm_cells": """(forgetBias, kernels, biases, data, c, h) => {
  const cells = kernels.map((kernel, place) => (data, c, h) =>
    tf.basicLSTMCell(forgetBias, kernel, biases[place], data, c, h));
  return tf.multiRNNCell(cells, data, c, h);
}""",
    "optimizer_steps": """(path, options, start, curvature, steps) => {
  const optimizer = tf.train[path.split('.')[1]](...options.map((one) => one ?? undefined));
  const weights = tf.variable(start);
  for (let step = 0; step < steps; step++)
    optimizer.minimize(() => curvature.mul(weights).mul(weights).sum().mul(0.5), false, [weights]);
  return weights;
}""",
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
    "max_pool": "(x, size, strides, pad, rounding) => "
    "tf.maxPool(x, size, strides ?? size, pad, rounding)",
    "avg_pool": "(x, size, strides, pad, rounding) => "
    "tf.avgPool(x, size, strides ?? size, pad, rounding)",
    "elu": "(x, alpha) => { if (alpha !== 1) throw Error('alpha'); return tf.elu(x); }",
    "permute_dims": "tf.transpose",
    "flatten": "(x) => tf.reshape(x, [-1])",
    "flip": "tf.reverse",
    "astype": "(x, dtype) => tf.cast(x, dtype)",
    "take": "(x, i, axis) => axis === null ? tf.gather(tf.reshape(x, [-1]), i) "
    ": tf.gather(x, i, axis)",
    "boolean_mask": _MASK,
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
    "einsum": """(equation, ...tensors) => {
  const [inputs, output] = equation.split('->');
  const terms = inputs.split(',');
  const isAlone = (letter) => terms.filter((term) => term.includes(letter)).length === 1;
  const isSummed = (letter) => /\\w/.test(letter) && !(output ?? letter).includes(letter);
  if (terms.length > 1 && [...inputs].some((letter) => isAlone(letter) && isSummed(letter)))
    throw Error('sum over an axis of one tensor');
  return tf.einsum(equation, ...tensors);
}""",
    "outer_product": "tf.outerProduct",
    "linalg.band_part": "tf.linalg.bandPart",
    "linalg.gram_schmidt": "tf.linalg.gramSchmidt",
    "signal.frame": "tf.signal.frame",
    "signal.hamming_window": "tf.signal.hammingWindow",
    "signal.hann_window": "tf.signal.hannWindow",
    "signal.stft": "(x, length, step, size) => tf.signal.stft(x, length, step, size ?? undefined)",
    "argwhere": "(x) => tf.whereAsync(tf.cast(x, 'bool'))",
    "batch_to_space_nd": "tf.batchToSpaceND",
    "bincount": "(x, weights, size) => tf.bincount(x, weights ?? tf.tensor1d([], 'int32'), "
    "size ?? Math.max(-1, ...x.dataSync()) + 1)",
    "dense_bincount": "(x, weights, size, binary) => tf.denseBincount(x, "
    "weights ?? tf.tensor(new Int32Array(), x.shape.map((_, n) => n ? 1 : 0), 'int32'), "
    "size ?? Math.max(-1, ...x.dataSync()) + 1, binary)",
    "gather_nd": "tf.gatherND",
    "in_top_k": "tf.inTopKAsync",
    "meshgrid": "tf.meshgrid",
    "moments": _parts("tf.moments", "mean", "variance"),
    "ragged_range": _parts("tf.raggedRange", "rtNestedSplits", "rtDenseValues"),
    "scatter_nd": "tf.scatterND",
    "lower_bound": "(x, values) => tf.lowerBound(x, values).reshape(values.shape)",
    "upper_bound": "(x, values) => tf.upperBound(x, values).reshape(values.shape)",
    "searchsorted": "(x, values, side) => tf.searchSorted(x, values, side)"
    ".reshape(values.shape ?? [])",
    "cumsum": _SCAN % "cumsum",
    "cumprod": _SCAN % "cumprod",
    "setdiff1d": "tf.setdiff1dAsync",
    "setdiff1d_async": "tf.setdiff1dAsync",
    "boolean_mask_async": _MASK,
    "where_async": "(x) => tf.whereAsync(tf.cast(x, 'bool'))",
    "in_top_k_async": "tf.inTopKAsync",
    "cosine_window": "tf.cosineWindow",
    # Theirs reflect the last row, too, where nothing is below it: its sign is that of LAPACK then.
    "linalg.qr": """(x, mode) => {
  const [q, r] = tf.linalg.qr(x, mode === 'complete');
  const [rows, columns] = x.shape.slice(-2);
  const signs = (length) => tf.tensor1d([...Array(length).keys()].map(
    (place) => place === rows - 1 && rows <= columns ? -1 : 1));
  return [q.mul(signs(q.shape.at(-1))), r.mul(signs(r.shape.at(-2)).expandDims(1))];
}""",
    "ragged_gather": _parts("tf.raggedGather", "outputNestedSplits", "outputDenseValues"),
    "string.static_regex_replace": "(x, pattern, rewrite, all) => tf.string.staticRegexReplace("
    r"x, pattern, rewrite.replace(/\\0/g, '$$&').replace(/\\(\d)/g, '$$$1'), all)",
    "string.string_n_grams": _parts("tf.string.stringNGrams", "nGrams", "nGramsSplits"),
    "string.string_split": _parts("tf.string.stringSplit", "indices", "values", "shape"),
    "string.string_to_hash_bucket_fast": "tf.string.stringToHashBucketFast",
    "space_to_batch_nd": "tf.spaceToBatchND",
    "sparse.sparse_fill_empty_rows": _parts(
        "tf.sparse.sparseFillEmptyRows",
        "outputIndices",
        "outputValues",
        "emptyRowIndicator",
        "reverseIndexMap",
    ),
    "sparse.sparse_reshape": _parts("tf.sparse.sparseReshape", "outputIndices", "outputShape"),
    "strided_slice": "(x, begin, end, strides, ...masks) => "
    "tf.stridedSlice(x, begin, end, strides ?? undefined, ...masks)",
    # Unsorted ones may come in any order there.
    "topk": _parts("((x, k) => tf.topk(x, k))", "values", "indices"),
    "unique": _parts("tf.unique", "values", "indices"),
    "spectral.fft": "tf.spectral.fft",
    "spectral.ifft": "tf.spectral.ifft",
    # Their result is a matrix of all signals, but for rank 3.
    "spectral.irfft": "(x, n) => { if (n !== null) throw Error('n'); "
    "return tf.spectral.irfft(x).reshape([...x.shape.slice(0, -1), -1]); }",
    "spectral.rfft": "(x, n) => tf.spectral.rfft(x, n ?? undefined)",
}

#: Calls of functions of random numbers that draw from one distribution: ours, and theirs.
DISTRIBUTIONS: dict[str, tuple[str, str]] = {
    "dropout": (
        "wt.dropout(wt.ones(n), 0.3, seed=1)",
        "tf.dropout(tf.ones([n]), 0.3, undefined, 1)",
    ),
    "multinomial": (
        "wt.multinomial([0.0, 1.0, -1.0, 0.5], n, seed=2)",
        "tf.multinomial(tf.tensor1d([0, 1, -1, 0.5]), n, 2)",
    ),
    "rand": (
        "wt.rand(n, iter(range(n)).__next__)",
        "tf.rand([n], ((k) => () => k++)(0))",
    ),
    "random_gamma": (
        "wt.random_gamma(n, 2.5, 1.5, seed=3)",
        # Theirs multiply by beta, which is documented as the inverse of the scale.
        "tf.randomGamma([n], 2.5, 1 / 1.5, 'float32', 3)",
    ),
    "random_normal": (
        "wt.random_normal(n, 2.0, 0.5, seed=4)",
        "tf.randomNormal([n], 2, 0.5, 'float32', 4)",
    ),
    "random_standard_normal": (
        "wt.random_standard_normal(n, seed=5)",
        "tf.randomStandardNormal([n], 'float32', 5)",
    ),
    "random_uniform": (
        "wt.random_uniform(n, -2.0, 3.0, seed=6)",
        "tf.randomUniform([n], -2, 3, 'float32', 6)",
    ),
    "random_uniform_int": (
        # Theirs round towards 0, so that 0 comes twice as often among negative ones.
        "wt.random_uniform_int(n, 2, 9, seed=7)",
        "tf.randomUniformInt([n], 2, 9, 7)",
    ),
    "truncated_normal": (
        "wt.truncated_normal(n, 1.0, 2.0, seed=8)",
        "tf.truncatedNormal([n], 1, 2, 'float32', 8)",
    ),
}

#: What is compared with theirs in another way than by calls with equal results, and where.
COMPARED_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(DISTRIBUTIONS, "test_against_tfjs.py::test_random_numbers"),
    **{
        f"browser.{name}": "test_pixels_against_tfjs.py"
        for name in ("draw", "from_pixels", "from_pixels_async", "to_pixels")
    },
    "Tensor.data_to_gpu": "test_gpu_data.py",
    "multi_rnn_cell": "calls of stacked_lstm_cells",
    **dict.fromkeys(
        (
            "deregister_graph_op",
            "load_graph_model",
            "load_graph_model_async",
            "register_graph_op",
        ),
        "test_graph_models_against_tfjs.py",
    ),
    **{
        f"train.{name}": "calls of optimizer_steps"
        for name in ("adadelta", "adagrad", "adam", "adamax", "momentum", "rmsprop", "sgd")
    },
}

#: What they refuse to compute, as a pattern of their error, and why we do not.
REFUSALS: list[tuple[str, str]] = [
    ("Unknown padding parameter", "ours take a pair for each axis in three dimensions, too"),
    ("got dataFormat of|support dataFormat NCHW|depth of input", "ours take channels first"),
    ("Either stride or dilation must be 1", "ours take both"),
    (
        "pad must be an integer when using dimRoundingMode",
        "theirs turn a padding of 0 into 'valid' in pool",
    ),
    ("Invalid typed array length: -", "they compute a negative length for a filter too large"),
    ("must be less than or equal to max", "ours clip by bounds out of order and NaN, as NumPy"),
    (r"Size\(\d+\) must match the product of shape", "theirs has no gradient for those batches"),
    (
        "gradient function not found for (NotEqual|Conv3DBackpropInputV2|CropAndResize|Transform"
        "|RotateWithOffset|FlipLeftRight|MaxPoolWithArgmax)",
        "ours have that gradient",
    ),
    ("gradient for op ResizeBilinear", "theirs has height and width in the other order"),
    ("^TypeError: Cannot read properties of undefined", "their gradient fails"),
    ("comprised of positive integers", "ours take an image without a batch"),
    (
        "must be float32 tensor|Input dtype must be|Only supports 'int32'",
        "ours convert integers to float32, and bools to integers, where a function asks for them",
    ),
    (r"requires mean and \w+ to have equal ranks", "ours are each of any rank"),
    ("Tensors must have the same shape", "ours broadcast in every function of two tensors"),
    ("Either strides or dilations must be 1", "ours take both"),
    ("dilation rates greater than 1 are not yet supported", "ours have that gradient"),
    ("number of input channels", "ours take gradients with channels first"),
    ("The shape of dy passed in grads", "see conv2d with a number as padding, below"),
    (
        r"Size\(48\) must match the product of shape 2,3,2",
        "ours take a pair for each axis of a row; theirs four, as for an image",
    ),
    (
        "The gradient of input '.' has shape|The new shape .* has"
        r"|Size\(\d+\) must match the product of shape (1,)+\d",
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
    (
        "Equations without an arrow|duplicate axes in input|more than 2 input tensors|ellipsis",
        "ours take every equation that NumPy's einsum takes",
    ),
    ("gradient function not found for Einsum", "ours have the gradient of einsum"),
    ("must be complex64 but got|must be real value but got", "ours convert numbers"),
    ("Pass at least one tensor to tf.stack", "ours factor stacks of no matrices"),
    ("expects the input to be rank 1 or higher", "ours pick scalars by no indices"),
    (r"indices\.shape: \d+, shape: .* update\.rank", "ours put a single update at a single index"),
    ("must be numeric tensor, but got string tensor", "ours put text where they put numbers"),
    ("sum over an axis of one tensor", "they add up along another axis, or along none"),
    ("dy must have 'float32' dtype", "ours have gradients of complex results"),
    ("^Error: (alpha|k|n)$", "they have no such parameter"),
    (
        "gradient function not found for (Diag|StridedSlice|DepthToSpace|SparseSegmentSum"
        "|SparseSegmentMean|GatherNd|ScatterNd|TensorScatterUpdate|SparseToDense|Bincount"
        "|DenseBincount|Cumprod)",
        "ours have that gradient",
    ),
    ("Cannot compute gradient of y=f", "their ensureShape gives the very tensor it got"),
    ("index value 9 is not in", "ours leave numbers of no segment out of the gradient, too"),
    ("Only NHWC dataFormat supported|blockSize should be > 1", "ours take both"),
    ("Reduce of empty array", "ours take no blocks at all"),
    ("Negative size values", "ours give nothing where the end lies before the beginning"),
    (r"invalid ord value: (3|0\.5)", "ours have the norm of every positive order"),
    (r"invalid axis: [-\d,]+|must be in range .-1, 1.", "ours take axes in any number and order"),
    (r"shape= are incompatible: .*shape\.rank = 0", "theirs take no shape that is just -1"),
    ("Requested more than 0 entries", "ours pick slices without elements"),
    ("expects the updates to be rank 1", "ours put a single update at a single index"),
    ("must have the same dtype", "ours promote"),
    (
        "Leading dimension of|Cannot infer the missing size",
        "ours search one sequence for values of any shape, and one of nothing",
    ),
]

#: Which cases are not compared, as a pattern of their names, and why.
DIFFERENCES: list[tuple[str, str]] = [
    (r"^round\(.+, -?\d\)", "ours round to decimals, too"),
    (r"^expand_dims\(.+, \(", "ours insert several axes at once"),
    (
        r"^(gradient of )?conv[23]d_transpose\(.*dilations=",
        "theirs has no dilations in transposed convolutions; ours has, as Keras's layers do",
    ),
    (
        r"^(?!spectral).*complex",
        "their complex tensors only know sums, products, parts and Fourier transforms",
    ),
    (
        r"^pad\(3, \(1, 2\)\)",
        "theirs takes one pair of paddings in pad1d alone; ours in pad, as NumPy's",
    ),
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
    (r"^(gradient of )?fused\.\w+\(.*residual=", "to add a residual is ours alone"),
    (r"^(gradient of )?conv2d\(.* in groups$", "theirs has no groups of channels"),
    # -- NaN, infinity
    (r"^sign\(11\) of special", "their sign of NaN is 0; ours is NaN, as NumPy's"),
    (r"^pow\(81, 81\) of special", "1 to the power NaN is NaN in JavaScript; ours is 1, as in C"),
    (r"^floor_divide\(81, 81\) of special", "theirs is an int32, which has no NaN"),
    (r"^remainder\(7, 7\) of special", "theirs of a negative number and infinity is NaN"),
    (r"^max_pool.* of special", "their pooling passes over NaN; ours shows it, as NumPy's max"),
    (
        r"^clip\(7x9, 9, 7x1|^clip\(3, 1, scalar|^clip\(int 9, -3.5|^gradient of clip\(7, scalar",
        "their bounds are plain numbers, of the dtype of what they bound; ours may be tensors",
    ),
    (r"^clip\(9, 0\.75, 0\.75", "theirs fills NaN, too, where the bounds are equal"),
    (r"^arg(max|min).* of NaN", "their search passes over NaN; ours finds the first, as NumPy's"),
    # -- zero-size axes
    (r"^where\(bool 0|^broadcast_to\(1, \(0\)", "they give broadcast axes of 0 and 1 the length 1"),
    (
        r"^all\((bool|int) (\S*x)?0[x,)]",
        "all of nothing is false there; ours is true, as Python's and NumPy's",
    ),
    (r"^arange\(7, 2\)$", "they count down where no step is given"),
    # -- parameters
    (r"^arg(max|min)\(.*(keepdims|, True\))", "they have no keepdims"),
    (r"^linspace.*endpoint", "they have no endpoint"),
    (r"^bincount\(.*minlength=", "they have no least number of counts; ours is NumPy's"),
    (
        r"conv2d\(.*, (\d|\(\d, \d\)), 1, 'NHWC', (\d|\(\d, \d\))\)( #\d+)?$",
        "with a number as padding they take the filter for square and not dilated",
    ),
    (r"^depthwise_conv2d.*NCHW", "their depthwise convolution takes channels last only"),
    (
        r"^astype\(7, 'int32'\) beyond int32",
        "JavaScript wraps what is beyond int32; ours saturates, as C's and WebAssembly's",
    ),
    # -- windows
    (
        r"^(gradient of )?conv1d\(.*, \d, 'NWC'",
        "with a number as padding they take the width of rows for their height, which is 1",
    ),
    (
        r"^(gradient of )?separable_conv2d\(.*[\d)], 1, (\d|\(\d, \d\))\)$"
        r"|^(gradient of )?pool\(.*'(max|avg)', 1(, (\d|\(\d, \d\)))*\)$"
        r"|^max_pool_with_argmax\(\S+ (\(3, 2\), \d|\d, \(1, 3\)|\(3, 2\), \(1, 3\)), 1, \w+\)$"
        r"|^fused\.\w+\(.*, 2, 1, bias",
        "with a number as padding they take the filter for square, not dilated, and the strides "
        "for alike",
    ),
    (
        r"^(gradient of )?(conv3d|conv3d_transpose|max_pool3d|avg_pool3d)\(.*strides past the end",
        "in three dimensions their padding becomes negative where the stride is the longer",
    ),
    (
        r"^(gradient of )?pool\(.*'(max|avg)', ('same'|\d|\[\[.*\]\]), (?!1,|\(1, 1\))\S",
        "where windows are dilated, they count and pick the padding of 'same', and ignore others",
    ),
    (
        r"^dilation2d\(.*(special|empty windows)",
        "a window of nothing is the least safe integer there; ours is minus infinity; NaN shows",
    ),
    (
        r"^gradient of (pool\(.*'avg', 'same'|avg_pool3d\(.*'same')",
        "their gradient counts the padding, which their mean does not",
    ),
    (
        r"^gradient of max_pool3d\(.*, \(1, 2, 3\)",
        "their gradient finds the wrong places in windows that are no cubes",
    ),
    (
        r"^(?!(gradient of )?\w+3d).*with one padding of unlike axes",
        "with a number as padding they take the filter for square, and the strides for alike",
    ),
    (r"^(max_pool(3d)?|pool)\(int .*empty windows", "theirs is an int32, which has no infinity"),
    (
        r"^pool\(\S+ \(1, 1\), '(max|avg)', .*empty windows",
        "they return what they get where windows of one pixel leave the shape as it is",
    ),
    # -- losses, optimizers
    (
        r"^losses\.\w+\((int )?(\d+x)*0[x,].*, 1\)$",
        "their weighted mean of nothing is 0; ours is NaN, as NumPy's",
    ),
    (
        r"^losses\.softmax_cross_entropy\((int )?(\d+|\d+x\d+x\S+), .*"
        r", (0\.\d*[1-9]\d*|1\.0), \d\)",
        "they smooth labels by the length of axis 1, whatever the rank; ours by that of the last",
    ),
    (
        r"^optimizer_steps\('train\.adadelta'",
        "they divide by the mean square before the step's gradient; ours is Keras's formula",
    ),
    (
        r"^optimizer_steps\('train\.adam', \[.*, 0\.001\]",
        "they add epsilon to the corrected root; ours to the root, as Keras, which differs by less "
        "than rounding where epsilon is small",
    ),
    (
        r"^optimizer_steps\('train\.rmsprop', \[.*, 0\.001, True\]",
        "they subtract epsilon from a variance; ours add it, as Keras, which keeps the root real",
    ),
    # -- images
    (
        r"^image\.transform\((int )?(0|2|3|6|7)x",
        "their CPU backend returns after the first image of a batch, and the batch if it is empty",
    ),
    (r"^image\.transform\(.*nan\)", "0 times the fill value is NaN there; ours leaves it out"),
    (
        r"^image\.crop_and_resize\(.*\[9, 8\]",
        "what rounding moves out of the image by a hair is extrapolated there; on ours it is edge",
    ),
    (
        r"^image\.resize_\w+\((1x49x2x1.*True|2x2x5x3, \(3, 1030\), False, False)\)"
        r"|^image\.resize_nearest_neighbor.*missed by doubles",
        "their places are rounded to doubles before they are rounded down; ours are exact",
    ),
    (r"^image\.resize_\w+\(.*unscaled", "infinity times 0 is NaN there; ours copies the pixels"),
    (
        r"^image\.resize_nearest_neighbor\(int \S+ [([]\d+, \d+[])]\)",
        "they pass large integers through float32",
    ),
    (
        r"^image\.rotate_with_offset\(.*(\(1, 2, 3, 4\)\)|with a fill of opacity)",
        "a fourth channel is always 255 there",
    ),
    (
        r"^gradient of image\.resize_nearest_neighbor\(.*False, True\)",
        "their gradient is that without half_pixel_centers",
    ),
    (
        r"^gradient of image\.resize_nearest_neighbor\(1x1x3x1",
        "their gradient never ends where one row is spread with corners aligned",
    ),
    # -- normalization
    (
        r"^(batch_norm(\dd)?|local_response_normalization|fused\.mat_mul|conv3d(_transpose)?"
        r"|dilation2d)\(int",
        "they round the result to the operand's dtype; ours is float32",
    ),
    (
        r"^batch_norm\(2x3x4x5, 2x3x1x1|^batch_norm.*repeated within",
        "they repeat parameters along the first axes only",
    ),
    # -- factorizations and signals
    (
        r"^linalg\.qr\((?:\d+x)+(?!(\d+)x\1[,)])\d+x\d+[,)]",
        "they take the parts of stacks to have the shape of the stack, which those of squares have",
    ),
    (r"^(gradient of )?signal\.(frame|stft)\((int )?\d+x", "they take one signal"),
    (r"^signal\.stft\(.*window_fn=None", "theirs always multiplies by a window"),
    # -- scans, sorting, scattering, arrangements
    (r"^cum(sum|prod)\((\w+ )?(\d+x)*0[x,]", "their shape is NaN of nothing"),
    (
        r"^gradient of unsorted_segment_sum\(3x4, int 3, 0\)",
        "their gradient picks slices of no segments",
    ),
    (
        r"^(topk|log_sum_exp|searchsorted)\(.* special",
        "NaN has no place there; ours comes last, or shows",
    ),
    (
        r"^(unique\(4\) of NaN|setdiff1d\(4, 3\))",
        "NaN equals NaN in JavaScript's sets; ours equals nothing, as the array API standard's",
    ),
    (
        r"^in_top_k\(2x3, int 2, \d\)",
        "NaN and infinity have no place there; ours are never among the first, as TensorFlow's",
    ),
    (r"^searchsorted.*sorter", "they have no sorter"),
    (r"^meshgrid\(.*'ij'|^meshgrid\(.*, .*, .*'xy'", "they take two tensors, and an object"),
    (r"^norm\(2x3x4x5, 1, \(-1, 1\)", "theirs reduces another axis where they are not in order"),
    (r"^gradient of mirror_pad", "their gradient leaves out what was mirrored"),
    (r"^sparse\.sparse_segment_mean\(int", "their mean of integers is an integer; ours is float32"),
    (
        r"^ragged_tensor_to_tensor\((-1|int \d+), (\d+x)+\d+, \d+, ",
        "a default value of several elements is left out there",
    ),
    (
        r"^ragged_tensor_to_tensor\(int \d+, (\w+ )?\d+x\d",
        "given a shape, they take the length of an element for the number of an axis",
    ),
    (
        r"^unsorted_segment_sum\(int 9, int 9, 3\)$",
        "they multiply large integers, as doubles; ours wrap to 32 bits",
    ),
    (
        r"^unsorted_segment_sum\(int 30000, ",
        "they read all numbers anew for each of 20 000 segments, which takes half a minute",
    ),
    (
        r"^dense_bincount\(int \d+, .*True\)$",
        "they ignore binary_output for a tensor of rank 1",
    ),
    (r"^(dense_)?bincount\(int \S+, bool", "they compute bools in bytes; ours count as int32"),
    (
        r"^string\.string_n_grams\(text 0, ",
        "of no words at all they make nothing, but n-grams of pads of an empty row among others",
    ),
    # -- theirs are less exact, or wrong
    (r"^arange\(-1\.0, 700\.0", "theirs adds up its steps, and drifts"),
    (r"^linspace\(-3, 7, 2003", "theirs adds up its steps, and drifts"),
    (
        r"^(signal\.)?\w+_window\(1[,)]|^signal\.stft\([^,]*, 1, ",
        "their window of length 1 is NaN; ours is its middle",
    ),
    (r"^erf\(", "their approximation has an absolute error of 1.5e-7; ours a relative one"),
    (
        r"^strided_slice\((int )?\w+, \[.*\], \[.*\], \[.*-.*\], \d+, \d+, 0, 0, [1-9]",
        "where one axis is dropped and another runs backwards, theirs begins elsewhere",
    ),
    (r"^linspace\(1, 0, 7\)", "they add the step up, and miss the last number"),
    (
        r"^matmul\((2x1x|2x3x\S+ 2x1x|0x)|^fused\.mat_mul\((\d+x)*0x(\d+x)*\d+x\d+,",
        "their product of batches takes the wrong matrices where a later axis broadcasts, and "
        "computes one where there are none",
    ),
    (
        r"^gradient of avg_pool\(.*('same'|, 1)\)$",
        "their gradient counts the padding, which their mean does not",
    ),
    (r"^gradient of floor_divide", "theirs is that of division; ours is 0, its derivative"),
    (
        r"^gradient of (losses\.)?softmax_cross_entropy\((\S+), \2(, 2.*)?\)$",
        "their gradient for the labels is not the derivative; that for the logits is compared",
    ),
]
