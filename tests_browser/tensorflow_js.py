"""Our functions in TensorFlow.js's words, and where the two are meant to differ."""

from __future__ import annotations

__all__ = ["COMPARED_ELSEWHERE", "COUNTERPARTS", "DIFFERENCES", "REFUSALS"]

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
    "cumprod",
    "cumsum",
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
_CONVOLUTION = "x, filter, strides, pad, dataFormat, dilations, dimRoundingMode"
_PRODUCT = "a, b, transposeA, transposeB"


def _fused(name: str, parameters: str) -> str:
    return _FUSED % (parameters, name, parameters)


def _parts(function: str, *names: str) -> str:
    """A call of a function that returns an object, giving its properties in order."""
    listed = ", ".join(names)
    return f"(...args) => {{ const {{ {listed} }} = {function}(...args); return [{listed}]; }}"


#: JavaScript with our function's parameters, in order.
COUNTERPARTS: dict[str, str] = {
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
    "einsum": "tf.einsum",
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
    "size ?? Math.max(...x.dataSync()) + 1)",
    "dense_bincount": "(x, weights, size, binary) => tf.denseBincount(x, "
    "weights ?? tf.tensor(new Int32Array(), x.shape.map((_, n) => n ? 1 : 0), 'int32'), "
    "size ?? Math.max(...x.dataSync()) + 1, binary)",
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
    "setdiff1d": "tf.setdiff1dAsync",
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
    "topk": _parts("tf.topk", "values", "indices"),
    "unique": _parts("tf.unique", "values", "indices"),
    "spectral.fft": "tf.spectral.fft",
    "spectral.ifft": "tf.spectral.ifft",
    "spectral.irfft": "(x, n) => { if (n !== null) throw Error('n'); "
    "return tf.spectral.irfft(x); }",
    "spectral.rfft": "(x, n) => tf.spectral.rfft(x, n ?? undefined)",
}

#: What is compared with theirs in another way than by calls with equal results, and where.
COMPARED_ELSEWHERE: dict[str, str] = {}

#: What they refuse to compute, as a pattern of their error, and why we do not.
REFUSALS: list[tuple[str, str]] = [
    ("Unknown padding parameter", "ours take a pair for each axis in three dimensions, too"),
    ("got dataFormat of|support dataFormat NCHW|depth of input", "ours take channels first"),
    ("Either stride or dilation must be 1", "ours take both"),
    (
        "pad must be an integer when using dimRoundingMode",
        "ours round whatever the padding, and theirs turn 0 into 'valid' in pool",
    ),
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
    (
        "Equations without an arrow|duplicate axes in input|more than 2 input tensors|ellipsis",
        "ours take every equation that NumPy's einsum takes",
    ),
    ("gradient function not found for Einsum", "ours have the gradient of einsum"),
    (r"Error in slice[23]D: begin\[0\]", "ours cut batches of signals into frames, too"),
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
    ("invalid axis: 1,3,5|must be in range .-1, 1.", "ours take axes in any number and order"),
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
    (
        r"^(?!spectral).*complex",
        "their complex tensors only know sums, products, parts and Fourier transforms",
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
    # -- windows
    (
        r"^(gradient of )?conv1d\(.*, \d, 'NWC'",
        "a number as padding pads their rows above and below, too",
    ),
    (
        r"^(gradient of )?conv2d_transpose\(.*, 1(, '\w+')?\)$"
        r"|^(gradient of )?(separable_conv2d|dilation2d)\(.*[\d)], 1, (\d|\(\d, \d\))\)$"
        r"|^(gradient of )?pool\(.*'(max|avg)', 1, |^max_pool_with_argmax\(.*, 1, (True|False)\)$"
        r"|^fused\.\w+\(.*, 2, 1, bias",
        "with a number as padding they take the filter for square, not dilated, and the strides "
        "for alike",
    ),
    (
        r"^(gradient of )?(conv3d|conv3d_transpose|max_pool3d|avg_pool3d)\(.*"
        r", (2|3|4|\(2, 1, 3\)|\(2, 3, 1\)), 'same'",
        "in three dimensions their padding becomes negative where the stride is the longer",
    ),
    (
        r"^(gradient of )?pool\(.*'(max|avg)', ('same'|1|\[\[.*\]\]), (2|\(2, 1\))",
        "where windows are dilated, they count and pick the padding of 'same', and ignore others",
    ),
    (
        r"^dilation2d\(.*\[\[|^dilation2d.*special",
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
    # -- images
    (
        r"^image\.transform\((2|3|6|7)x",
        "their CPU backend returns after the first image of a batch",
    ),
    (r"^image\.transform\(.*nan\)", "0 times the fill value is NaN there; ours leaves it out"),
    (
        r"^image\.crop_and_resize\(.*\[9, 8\]",
        "what rounding moves out of the image by a hair is extrapolated there; on ours it is edge",
    ),
    (
        r"^image\.resize_\w+\((1x49x2x1.*True|2x2x5x3, \(3, 1030\), False, False)\)",
        "their places are rounded to doubles before they are rounded down; ours are exact",
    ),
    (r"^image\.resize_\w+\(.*unscaled", "infinity times 0 is NaN there; ours copies the pixels"),
    (r"^image\.resize_nearest_neighbor\(int 1x2x2x1", "they pass large integers through float32"),
    (r"^image\.rotate_with_offset\(.*\(1, 2, 3, 4\)\)", "a fourth channel is always 255 there"),
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
        r"^(batch_norm|local_response_normalization|fused\.mat_mul)\(int",
        "they round the result to the operand's dtype; ours is float32",
    ),
    (r"^batch_norm\(2x3x4x5, 2x3x1x1", "they repeat parameters along the last axis only"),
    # -- scans, sorting, scattering, arrangements
    (r"^cum(sum|prod)\((0|2x0|3x5, -1)", "their shape is NaN of nothing, and of a negative axis"),
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
        r"^ragged_tensor_to_tensor\(int 3, 3x2, 2, ",
        "a default value of several elements is left out there",
    ),
    (
        r"^unsorted_segment_sum\(int 9, int 9, 3\)$",
        "they multiply large integers, as doubles; ours wrap to 32 bits",
    ),
    (
        r"^dense_bincount\(int \d+, .*True\)$",
        "they ignore binary_output for a tensor of rank 1",
    ),
    # -- theirs are less exact, or wrong
    (r"^signal\.\w+_window\(1\)", "their window of length 1 is NaN; ours is its middle"),
    (r"^einsum\('ij,kl->'", "they leave axes in the result that only the second tensor has"),
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
        r"^gradient of (losses\.)?softmax_cross_entropy\((\S+), \2(, 2.*)?\)$",
        "their gradient for the labels is not the derivative; that for the logits is compared",
    ),
]
