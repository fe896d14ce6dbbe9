"""Docstrings of functions of ``keras.ops`` that have no definition of their own.

Their rows name a function of ``webtensor.ops``, a lambda or a closure, whose docstring speaks of
something else. A row here is a description, an expression and its value, which is checked as a
doctest.
"""

from __future__ import annotations

__all__ = ["DOCSTRINGS"]

_SEGMENTS = """

``segment_ids`` is int32 of shape (n,), where n is the size of the first axis of ``data``; the
result has shape (num_segments, *data.shape[1:]).

Raises:
    ValueError: ``segment_ids`` has another shape."""

_PARTS = """

The parts may overlap. The shape (batch, spatial…, channels) becomes (batch, *output_size,
channels), in float32.

Raises:
    ValueError: ``inputs`` does not have 3 to 5 axes, or ``output_size`` does not fit."""

_WINDOWS = """

``inputs`` has shape (batch, spatial…, channels), or the channels after the batch with
data_format "channels_first". ``strides`` is ``pool_size`` by default; ``padding`` is "valid"
or "same".

Raises:
    ValueError: ``inputs`` does not have 3 to 5 axes, or an argument is not a positive integer."""

_ROWS: dict[str, tuple[str, str, str]] = {
    # -- tensors made -------------------------------------------------------------------------
    "bartlett": (
        "Return the Bartlett (triangular) window of ``x`` samples, as float32 (x,).",
        "keras.ops.bartlett(5).tolist()",
        "[0.0, 0.5, 1.0, 0.5, 0.0]",
    ),
    "blackman": (
        "Return the Blackman window of ``x`` samples, as float32 (x,).",
        "keras.ops.abs(keras.ops.blackman(3)).numpy().round(2)",
        "array([0., 1., 0.], dtype=float32)",
    ),
    "empty": (
        "Return a tensor of the given shape whose elements do not matter; they are zeros.",
        "keras.ops.empty((2, 3)).shape",
        "(2, 3)",
    ),
    "empty_like": (
        "Return a tensor of the shape of ``x`` whose elements do not matter; they are zeros.",
        "keras.ops.empty_like([[1, 2]]).shape",
        "(1, 2)",
    ),
    "hamming": (
        "Return the Hamming window of ``x`` samples, as float32 (x,).",
        "keras.ops.hamming(3).numpy().round(2)",
        "array([0.08, 1.  , 0.08], dtype=float32)",
    ),
    "hanning": (
        "Return the Hann window of ``x`` samples, as float32 (x,).",
        "keras.ops.hanning(5).numpy().round(2)",
        "array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)",
    ),
    "ones": (
        "Return a tensor of the given shape, filled with ones, float32 by default.",
        "keras.ops.ones((2,)).tolist()",
        "[1.0, 1.0]",
    ),
    "ones_like": (
        "Return ones of the shape of ``x``, and by default of its dtype.",
        "keras.ops.ones_like([5, 6]).tolist()",
        "[1, 1]",
    ),
    "zeros": (
        "Return a tensor of the given shape, filled with zeros, float32 by default.",
        "keras.ops.zeros((2,)).tolist()",
        "[0.0, 0.0]",
    ),
    "zeros_like": (
        "Return zeros of the shape of ``x``, and by default of its dtype.",
        "keras.ops.zeros_like([5, 6]).tolist()",
        "[0, 0]",
    ),
    # -- functions of corresponding elements --------------------------------------------------
    "abs": (
        "Return the absolute value of each element.",
        "keras.ops.abs([-1.5, 2.0]).tolist()",
        "[1.5, 2.0]",
    ),
    "absolute": (
        "Return the absolute value of each element.",
        "keras.ops.absolute([-1.5, 2.0]).tolist()",
        "[1.5, 2.0]",
    ),
    "angle": (
        "Return the angle of each complex element, in radians.",
        "keras.ops.angle([1 + 0j, 0 + 1j]).numpy().round(3)",
        "array([0.   , 1.571], dtype=float32)",
    ),
    "arccos": (
        "Return the inverse cosine of each element, in radians.",
        "keras.ops.arccos([1.0, 0.0]).numpy().round(3)",
        "array([0.   , 1.571], dtype=float32)",
    ),
    "arccosh": (
        "Return the inverse hyperbolic cosine of each element.",
        "keras.ops.arccosh([1.0, 2.0]).numpy().round(3)",
        "array([0.   , 1.317], dtype=float32)",
    ),
    "arcsin": (
        "Return the inverse sine of each element, in radians.",
        "keras.ops.arcsin([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 1.571], dtype=float32)",
    ),
    "arcsinh": (
        "Return the inverse hyperbolic sine of each element.",
        "keras.ops.arcsinh([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.881], dtype=float32)",
    ),
    "arctan": (
        "Return the inverse tangent of each element, in radians.",
        "keras.ops.arctan([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.785], dtype=float32)",
    ),
    "arctanh": (
        "Return the inverse hyperbolic tangent of each element.",
        "keras.ops.arctanh([0.0, 0.5]).numpy().round(3)",
        "array([0.   , 0.549], dtype=float32)",
    ),
    "bitwise_invert": (
        "Invert each bit of int32 elements.",
        "keras.ops.bitwise_invert([0, 5]).tolist()",
        "[-1, -6]",
    ),
    "bitwise_not": (
        "Invert each bit of int32 elements.",
        "keras.ops.bitwise_not([0, 5]).tolist()",
        "[-1, -6]",
    ),
    "ceil": (
        "Round each element up to an integer, as float32.",
        "keras.ops.ceil([1.2, -1.2]).tolist()",
        "[2.0, -1.0]",
    ),
    "conj": (
        "Return the complex conjugate of each element.",
        "keras.ops.conj([1 + 2j]).tolist()",
        "[(1-2j)]",
    ),
    "conjugate": (
        "Return the complex conjugate of each element.",
        "keras.ops.conjugate([1 + 2j]).tolist()",
        "[(1-2j)]",
    ),
    "copy": (
        "Return a tensor with the same elements.",
        "keras.ops.copy([1, 2]).tolist()",
        "[1, 2]",
    ),
    "cos": (
        "Return the cosine of each element, which is an angle in radians.",
        "keras.ops.cos([0.0, 1.0]).numpy().round(3)",
        "array([1.  , 0.54], dtype=float32)",
    ),
    "cosh": (
        "Return the hyperbolic cosine of each element.",
        "keras.ops.cosh([0.0, 1.0]).numpy().round(3)",
        "array([1.   , 1.543], dtype=float32)",
    ),
    "deg2rad": (
        "Convert angles from degrees to radians.",
        "keras.ops.deg2rad([90.0, 180.0]).numpy().round(3)",
        "array([1.571, 3.142], dtype=float32)",
    ),
    "exp": (
        "Return e to the power of each element.",
        "keras.ops.exp([0.0, 1.0]).numpy().round(3)",
        "array([1.   , 2.718], dtype=float32)",
    ),
    "expm1": (
        "Return ``exp(x) - 1`` of each element, accurate near 0.",
        "keras.ops.expm1([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 1.718], dtype=float32)",
    ),
    "fabs": (
        "Return the absolute value of each element, as float32.",
        "keras.ops.fabs([-1, 2]).tolist()",
        "[1.0, 2.0]",
    ),
    "floor": (
        "Round each element down to an integer, as float32.",
        "keras.ops.floor([1.2, -1.2]).tolist()",
        "[1.0, -2.0]",
    ),
    "imag": (
        "Return the imaginary part of each element.",
        "keras.ops.imag([1 + 2j]).tolist()",
        "[2.0]",
    ),
    "isfinite": (
        "Return, as bool, whether each element is neither infinite nor NaN.",
        'keras.ops.isfinite([1.0, float("inf"), float("nan")]).tolist()',
        "[True, False, False]",
    ),
    "isinf": (
        "Return, as bool, whether each element is infinite.",
        'keras.ops.isinf([1.0, float("inf"), float("nan")]).tolist()',
        "[False, True, False]",
    ),
    "isnan": (
        "Return, as bool, whether each element is NaN.",
        'keras.ops.isnan([1.0, float("inf"), float("nan")]).tolist()',
        "[False, False, True]",
    ),
    "isneginf": (
        "Return, as bool, whether each element is negative infinity.",
        'keras.ops.isneginf([1.0, float("-inf"), float("inf")]).tolist()',
        "[False, True, False]",
    ),
    "isposinf": (
        "Return, as bool, whether each element is positive infinity.",
        'keras.ops.isposinf([1.0, float("-inf"), float("inf")]).tolist()',
        "[False, False, True]",
    ),
    "log": (
        "Return the natural logarithm of each element.",
        "keras.ops.log([1.0, 2.0]).numpy().round(3)",
        "array([0.   , 0.693], dtype=float32)",
    ),
    "log10": (
        "Return the logarithm of each element to base 10.",
        "keras.ops.log10([1.0, 100.0]).numpy().round(3)",
        "array([0., 2.], dtype=float32)",
    ),
    "log1p": (
        "Return ``log(1 + x)`` of each element, accurate near 0.",
        "keras.ops.log1p([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.693], dtype=float32)",
    ),
    "log2": (
        "Return the logarithm of each element to base 2.",
        "keras.ops.log2([1.0, 8.0]).numpy().round(3)",
        "array([0., 3.], dtype=float32)",
    ),
    "logical_not": (
        "Negate each element, of which 0 counts as false.",
        "keras.ops.logical_not([True, False]).tolist()",
        "[False, True]",
    ),
    "negative": (
        "Return each element with the opposite sign.",
        "keras.ops.negative([1.0, -2.0]).tolist()",
        "[-1.0, 2.0]",
    ),
    "rad2deg": (
        "Convert angles from radians to degrees.",
        "keras.ops.rad2deg([0.0, 3.14159265]).numpy().round(3)",
        "array([  0., 180.], dtype=float32)",
    ),
    "real": (
        "Return the real part of each element.",
        "keras.ops.real([1 + 2j]).tolist()",
        "[1.0]",
    ),
    "reciprocal": (
        "Return ``1 / x`` of each element.",
        "keras.ops.reciprocal([2.0, 4.0]).tolist()",
        "[0.5, 0.25]",
    ),
    "sign": (
        "Return -1, 0 or 1: the sign of each element.",
        "keras.ops.sign([-3.0, 0.0, 2.0]).tolist()",
        "[-1.0, 0.0, 1.0]",
    ),
    "signbit": (
        "Return, as bool, whether the sign bit of each element is set, as it is for -0.0.",
        "keras.ops.signbit([-0.0, 0.0, -2.0]).tolist()",
        "[True, False, True]",
    ),
    "sin": (
        "Return the sine of each element, which is an angle in radians.",
        "keras.ops.sin([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.841], dtype=float32)",
    ),
    "sinh": (
        "Return the hyperbolic sine of each element.",
        "keras.ops.sinh([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 1.175], dtype=float32)",
    ),
    "sqrt": (
        "Return the non-negative square root of each element.",
        "keras.ops.sqrt([4.0, 9.0]).tolist()",
        "[2.0, 3.0]",
    ),
    "square": (
        "Return the square of each element.",
        "keras.ops.square([-2, 3]).tolist()",
        "[4, 9]",
    ),
    "tan": (
        "Return the tangent of each element, which is an angle in radians.",
        "keras.ops.tan([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 1.557], dtype=float32)",
    ),
    "tanh": (
        "Return the hyperbolic tangent of each element.",
        "keras.ops.tanh([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.762], dtype=float32)",
    ),
    "trunc": (
        "Round each element toward zero.",
        "keras.ops.trunc([1.7, -1.7]).tolist()",
        "[1.0, -1.0]",
    ),
    "add": (
        "Return the sums of corresponding elements, which are broadcast.",
        "keras.ops.add([1, 2], 3).tolist()",
        "[4, 5]",
    ),
    "arctan2": (
        "Return the angle of each point (x2, x1) from the positive x-axis, in radians.",
        "keras.ops.arctan2([0.0, 1.0], [1.0, 0.0]).numpy().round(3)",
        "array([0.   , 1.571], dtype=float32)",
    ),
    "bitwise_and": (
        "Return the bitwise AND of int32 elements.",
        "keras.ops.bitwise_and([6, 3], 5).tolist()",
        "[4, 1]",
    ),
    "bitwise_left_shift": (
        "Shift the bits of int32 elements to the left by ``y`` positions.",
        "keras.ops.bitwise_left_shift([1, 3], 2).tolist()",
        "[4, 12]",
    ),
    "bitwise_or": (
        "Return the bitwise OR of int32 elements.",
        "keras.ops.bitwise_or([6, 3], 5).tolist()",
        "[7, 7]",
    ),
    "bitwise_right_shift": (
        "Shift the bits of int32 elements to the right by ``y`` positions, keeping the sign.",
        "keras.ops.bitwise_right_shift([8, -8], 2).tolist()",
        "[2, -2]",
    ),
    "bitwise_xor": (
        "Return the bitwise exclusive OR of int32 elements.",
        "keras.ops.bitwise_xor([6, 3], 5).tolist()",
        "[3, 6]",
    ),
    "divide": (
        "Return the quotients of corresponding elements as float32.",
        "keras.ops.divide([1, 6], 4).tolist()",
        "[0.25, 1.5]",
    ),
    "divide_no_nan": (
        "Return the quotients of corresponding elements, and 0 where the divisor is 0.",
        "keras.ops.divide_no_nan([1.0, 6.0], [0.0, 4.0]).tolist()",
        "[0.0, 1.5]",
    ),
    "equal": (
        "Return, as bool, whether corresponding elements are equal.",
        "keras.ops.equal([1, 2, 3], 2).tolist()",
        "[False, True, False]",
    ),
    "floor_divide": (
        "Return the quotients of corresponding elements, rounded down.",
        "keras.ops.floor_divide([7, -7], 2).tolist()",
        "[3, -4]",
    ),
    "fmax": (
        "Return the larger of corresponding elements, and the number where one of them is NaN.",
        'keras.ops.fmax([1.0, float("nan")], [2.0, 3.0]).tolist()',
        "[2.0, 3.0]",
    ),
    "fmin": (
        "Return the smaller of corresponding elements, and the number where one of them is NaN.",
        'keras.ops.fmin([1.0, float("nan")], [2.0, 3.0]).tolist()',
        "[1.0, 3.0]",
    ),
    "greater": (
        "Return, as bool, whether ``x1 > x2`` for corresponding elements.",
        "keras.ops.greater([1, 2, 3], 2).tolist()",
        "[False, False, True]",
    ),
    "greater_equal": (
        "Return, as bool, whether ``x1 >= x2`` for corresponding elements.",
        "keras.ops.greater_equal([1, 2, 3], 2).tolist()",
        "[False, True, True]",
    ),
    "hypot": (
        "Return ``sqrt(x1² + x2²)`` of corresponding elements, without overflow.",
        "keras.ops.hypot([3.0], [4.0]).tolist()",
        "[5.0]",
    ),
    "left_shift": (
        "Shift the bits of int32 elements to the left by ``y`` positions.",
        "keras.ops.left_shift([1, 3], 2).tolist()",
        "[4, 12]",
    ),
    "less": (
        "Return, as bool, whether ``x1 < x2`` for corresponding elements.",
        "keras.ops.less([1, 2, 3], 2).tolist()",
        "[True, False, False]",
    ),
    "less_equal": (
        "Return, as bool, whether ``x1 <= x2`` for corresponding elements.",
        "keras.ops.less_equal([1, 2, 3], 2).tolist()",
        "[True, True, False]",
    ),
    "logaddexp": (
        "Return ``log(exp(x1) + exp(x2))`` of corresponding elements, without overflow.",
        "keras.ops.logaddexp([0.0], [0.0]).numpy().round(3)",
        "array([0.693], dtype=float32)",
    ),
    "logical_and": (
        "Return, as bool, whether both of corresponding elements are true.",
        "keras.ops.logical_and([True, False], [True, True]).tolist()",
        "[True, False]",
    ),
    "logical_or": (
        "Return, as bool, whether at least one of corresponding elements is true.",
        "keras.ops.logical_or([True, False], [False, False]).tolist()",
        "[True, False]",
    ),
    "logical_xor": (
        "Return, as bool, whether exactly one of corresponding elements is true.",
        "keras.ops.logical_xor([True, False], [True, True]).tolist()",
        "[False, True]",
    ),
    "maximum": (
        "Return the larger of corresponding elements, and NaN where one of them is NaN.",
        "keras.ops.maximum([1, 5], 3).tolist()",
        "[3, 5]",
    ),
    "minimum": (
        "Return the smaller of corresponding elements, and NaN where one of them is NaN.",
        "keras.ops.minimum([1, 5], 3).tolist()",
        "[1, 3]",
    ),
    "mod": (
        "Return the remainder of ``x1 / x2`` with the sign of ``x2``.",
        "keras.ops.mod([-7, 7], 3).tolist()",
        "[2, 1]",
    ),
    "multiply": (
        "Return the products of corresponding elements, which are broadcast.",
        "keras.ops.multiply([1, 2], 3).tolist()",
        "[3, 6]",
    ),
    "nextafter": (
        "Return the float32 that follows ``x1`` in the direction of ``x2``.",
        "(keras.ops.nextafter([1.0], [2.0]) > 1.0).tolist()",
        "[True]",
    ),
    "not_equal": (
        "Return, as bool, whether corresponding elements differ.",
        "keras.ops.not_equal([1, 2, 3], 2).tolist()",
        "[True, False, True]",
    ),
    "power": (
        "Return ``x1`` to the power of ``x2`` of corresponding elements.",
        "keras.ops.power([2.0, 3.0], 2.0).tolist()",
        "[4.0, 9.0]",
    ),
    "right_shift": (
        "Shift the bits of int32 elements to the right by ``y`` positions, keeping the sign.",
        "keras.ops.right_shift([8, -8], 2).tolist()",
        "[2, -2]",
    ),
    "subtract": (
        "Return the differences of corresponding elements, which are broadcast.",
        "keras.ops.subtract([1, 2], 3).tolist()",
        "[-2, -1]",
    ),
    "true_divide": (
        "Return the quotients of corresponding elements as float32.",
        "keras.ops.true_divide([1, 6], 4).tolist()",
        "[0.25, 1.5]",
    ),
    # -- elements moved -----------------------------------------------------------------------
    "ravel": (
        "Flatten a tensor to one axis.",
        "keras.ops.ravel([[1, 2], [3, 4]]).tolist()",
        "[1, 2, 3, 4]",
    ),
    "dsplit": (
        "Split a tensor along the third axis into a number of equal parts, or at indices.",
        "[part.shape for part in keras.ops.dsplit(keras.ops.ones((1, 2, 4)), 2)]",
        "[(1, 2, 2), (1, 2, 2)]",
    ),
    "hsplit": (
        "Split a tensor along the second axis, or a vector along the first.",
        "[part.tolist() for part in keras.ops.hsplit([[1, 2], [3, 4]], 2)]",
        "[[[1], [3]], [[2], [4]]]",
    ),
    "nonzero": (
        "Return the indices of the elements that are not zero: one int32 tensor per axis.",
        "[axis.tolist() for axis in keras.ops.nonzero([[0, 5], [6, 0]])]",
        "[[0, 1], [1, 0]]",
    ),
    "tril": (
        "Return matrices with zeros above the ``k``-th diagonal.",
        "keras.ops.tril([[1, 2], [3, 4]]).tolist()",
        "[[1, 0], [3, 4]]",
    ),
    "triu": (
        "Return matrices with zeros below the ``k``-th diagonal.",
        "keras.ops.triu([[1, 2], [3, 4]]).tolist()",
        "[[1, 2], [0, 4]]",
    ),
    "vsplit": (
        "Split a tensor along the first axis into a number of equal parts, or at indices.",
        "[part.tolist() for part in keras.ops.vsplit([[1, 2], [3, 4]], 2)]",
        "[[[1, 2]], [[3, 4]]]",
    ),
    "repeat": (
        "Repeat each element along an axis; without ``axis``, flatten them first.",
        "keras.ops.repeat([1, 2], 2).tolist()",
        "[1, 1, 2, 2]",
    ),
    "fliplr": (
        "Reverse the order of the columns, which are along the second axis.",
        "keras.ops.fliplr([[1, 2], [3, 4]]).tolist()",
        "[[2, 1], [4, 3]]",
    ),
    "flipud": (
        "Reverse the order of the rows, which are along the first axis.",
        "keras.ops.flipud([[1, 2], [3, 4]]).tolist()",
        "[[3, 4], [1, 2]]",
    ),
    # -- functions along axes -----------------------------------------------------------------
    "all": (
        "Return, as bool, whether all elements along axes are true, of which 0 counts as false.",
        "keras.ops.all([[True, False], [True, True]], axis=1).tolist()",
        "[False, True]",
    ),
    "amax": (
        "Return the maximum along axes.",
        "keras.ops.amax([[1, 5], [3, 4]], axis=1).tolist()",
        "[5, 4]",
    ),
    "amin": (
        "Return the minimum along axes.",
        "keras.ops.amin([[1, 5], [3, 4]], axis=1).tolist()",
        "[1, 3]",
    ),
    "any": (
        "Return, as bool, whether any element along axes is true, of which 0 counts as false.",
        "keras.ops.any([[True, False], [False, False]], axis=1).tolist()",
        "[True, False]",
    ),
    "argmax": (
        "Return the int32 index of the first maximum along an axis, or of the flattened elements.",
        "keras.ops.argmax([[1, 5], [4, 3]], axis=1).tolist()",
        "[1, 0]",
    ),
    "argmin": (
        "Return the int32 index of the first minimum along an axis, or of the flattened elements.",
        "keras.ops.argmin([[1, 5], [4, 3]], axis=1).tolist()",
        "[0, 1]",
    ),
    "cumprod": (
        "Return the cumulative products along an axis, or of the flattened elements.",
        "keras.ops.cumprod([1, 2, 3, 4]).tolist()",
        "[1, 2, 6, 24]",
    ),
    "cumsum": (
        "Return the cumulative sums along an axis, or of the flattened elements.",
        "keras.ops.cumsum([1, 2, 3, 4]).tolist()",
        "[1, 3, 6, 10]",
    ),
    "max": (
        "Return the maximum along axes, which is no less than ``initial`` where given.",
        "keras.ops.max([[1, 5], [3, 4]], axis=1).tolist()",
        "[5, 4]",
    ),
    "mean": (
        "Return the mean along axes.",
        "keras.ops.mean([[1.0, 5.0], [3.0, 4.0]], axis=1).tolist()",
        "[3.0, 3.5]",
    ),
    "min": (
        "Return the minimum along axes, which is no more than ``initial`` where given.",
        "keras.ops.min([[1, 5], [3, 4]], axis=1).tolist()",
        "[1, 3]",
    ),
    "std": (
        "Return the standard deviation along axes.",
        "keras.ops.std([[1.0, 5.0], [3.0, 3.0]], axis=1).tolist()",
        "[2.0, 0.0]",
    ),
    "sum": (
        "Return the sum along axes.",
        "keras.ops.sum([[1, 5], [3, 4]], axis=1).tolist()",
        "[6, 7]",
    ),
    "var": (
        "Return the variance along axes.",
        "keras.ops.var([[1.0, 5.0], [3.0, 3.0]], axis=1).tolist()",
        "[4.0, 0.0]",
    ),
    "nanargmax": (
        "Return the int32 index of the first maximum that is not NaN, or -1 where all are NaN.",
        'keras.ops.nanargmax([1.0, float("nan"), 3.0]).item()',
        "2",
    ),
    "nanargmin": (
        "Return the int32 index of the first minimum that is not NaN, or -1 where all are NaN.",
        'keras.ops.nanargmin([1.0, float("nan"), 3.0]).item()',
        "0",
    ),
    "nancumprod": (
        "Return the cumulative products, in which NaN counts as 1.",
        'keras.ops.nancumprod([2.0, float("nan"), 3.0]).tolist()',
        "[2.0, 2.0, 6.0]",
    ),
    "nancumsum": (
        "Return the cumulative sums, in which NaN counts as 0.",
        'keras.ops.nancumsum([1.0, float("nan"), 3.0]).tolist()',
        "[1.0, 1.0, 4.0]",
    ),
    "nanmax": (
        "Return the maximum along axes of the elements that are not NaN; NaN where all are.",
        'keras.ops.nanmax([1.0, float("nan"), 3.0]).item()',
        "3.0",
    ),
    "nanmin": (
        "Return the minimum along axes of the elements that are not NaN; NaN where all are.",
        'keras.ops.nanmin([1.0, float("nan"), 3.0]).item()',
        "1.0",
    ),
    # -- products -----------------------------------------------------------------------------
    "matmul": (
        """Return the matrix products of two tensors.

The shapes (…, m, n) and (…, n, k) give (…, m, k), with batches broadcast.
A vector counts as one row (``x1``) or one column (``x2``), which the result then lacks.""",
        "keras.ops.matmul([[1, 2], [3, 4]], [[1], [1]]).tolist()",
        "[[3], [7]]",
    ),
    "slogdet": (
        "Return the signs and logarithms of the absolute determinants of matrices (…, n, n).",
        "keras.ops.slogdet([[2.0, 0.0], [0.0, -1.0]])[0].item()",
        "-1.0",
    ),
    # -- segments and special functions -------------------------------------------------------
    "segment_max": (
        "Return the maximum of slices that have the same segment index." + _SEGMENTS,
        "keras.ops.segment_max([1, 2, 3], [0, 1, 0]).tolist()",
        "[3, 2]",
    ),
    "segment_min": (
        "Return the minimum of slices that have the same segment index." + _SEGMENTS,
        "keras.ops.segment_min([1, 2, 3], [0, 1, 0]).tolist()",
        "[1, 2]",
    ),
    "segment_prod": (
        "Return the product of slices that have the same segment index." + _SEGMENTS,
        "keras.ops.segment_prod([1, 2, 3], [0, 1, 0]).tolist()",
        "[3, 2]",
    ),
    "erf": (
        "Return the error function of each element.",
        "keras.ops.erf([0.0, 0.5]).numpy().round(3)",
        "array([0.  , 0.52], dtype=float32)",
    ),
    "erfinv": (
        "Return the inverse of the error function of each element.",
        "keras.ops.erfinv([0.0, 0.5]).numpy().round(3)",
        "array([0.   , 0.477], dtype=float32)",
    ),
    "rsqrt": (
        "Return ``1 / sqrt(x)`` of each element.",
        "keras.ops.rsqrt([4.0, 16.0]).tolist()",
        "[0.5, 0.25]",
    ),
    # -- matrices -----------------------------------------------------------------------------
    "det": (
        "Return the determinants of square matrices: (…, n, n) becomes (…).",
        "round(keras.ops.linalg.det([[1.0, 2.0], [3.0, 4.0]]).item(), 3)",
        "-2.0",
    ),
    "eigh": (
        """Return the eigenvalues and eigenvectors of symmetric or Hermitian matrices.

For ``x`` of shape (…, n, n) these are (…, n), in ascending order, and (…, n, n), in columns.""",
        "keras.ops.linalg.eigh([[3.0, 0.0], [0.0, 1.0]])[0].tolist()",
        "[1.0, 3.0]",
    ),
    "inv": (
        "Return the inverses of square matrices, of shape (…, n, n).",
        "keras.ops.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()",
        "[[0.5, 0.0], [0.0, 0.25]]",
    ),
    # -- neural networks ----------------------------------------------------------------------
    "celu": (
        "Return ``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.",
        "keras.ops.celu([-1.0, 1.0]).numpy().round(3)",
        "array([-0.632,  1.   ], dtype=float32)",
    ),
    "elu": (
        "Return ``x`` where it is positive, else ``alpha * (exp(x) - 1)``.",
        "keras.ops.elu([-1.0, 1.0]).numpy().round(3)",
        "array([-0.632,  1.   ], dtype=float32)",
    ),
    "gelu": (
        "Return ``x * Φ(x)``, the Gaussian error linear unit, by default approximated by tanh.",
        "keras.ops.gelu([-1.0, 1.0]).numpy().round(2)",
        "array([-0.16,  0.84], dtype=float32)",
    ),
    "glu": (
        "Return the first half of ``x`` along an axis times the sigmoid of the second half.",
        "keras.ops.glu([2.0, 0.0]).tolist()",
        "[1.0]",
    ),
    "hard_shrink": (
        "Return ``x`` where ``abs(x) > threshold``, else 0.",
        "keras.ops.hard_shrink([-1.0, 0.25, 1.0]).tolist()",
        "[-1.0, 0.0, 1.0]",
    ),
    "hard_sigmoid": (
        "Return ``x / 6 + 0.5``, limited to the range from 0 to 1.",
        "keras.ops.hard_sigmoid([-4.0, 0.0, 4.0]).tolist()",
        "[0.0, 0.5, 1.0]",
    ),
    "hard_silu": (
        "Return ``x * hard_sigmoid(x)``.",
        "keras.ops.hard_silu([0.0, 1.5, 4.0]).tolist()",
        "[0.0, 1.125, 4.0]",
    ),
    "hard_swish": (
        "Return ``x * hard_sigmoid(x)``.",
        "keras.ops.hard_swish([0.0, 1.5, 4.0]).tolist()",
        "[0.0, 1.125, 4.0]",
    ),
    "hard_tanh": (
        "Limit each element to the range from -1 to 1.",
        "keras.ops.hard_tanh([-4.0, 0.5, 4.0]).tolist()",
        "[-1.0, 0.5, 1.0]",
    ),
    "leaky_relu": (
        "Return ``x`` where it is positive, else ``negative_slope * x``.",
        "keras.ops.leaky_relu([-1.0, 1.0], negative_slope=0.25).tolist()",
        "[-0.25, 1.0]",
    ),
    "log_sigmoid": (
        "Return ``log(1 / (1 + exp(-x)))`` of each element, without overflow.",
        "keras.ops.log_sigmoid([0.0]).numpy().round(3)",
        "array([-0.693], dtype=float32)",
    ),
    "log_softmax": (
        "Return the logarithm of ``softmax`` along an axis, or along several.",
        "keras.ops.log_softmax([0.0, 0.0]).numpy().round(3)",
        "array([-0.693, -0.693], dtype=float32)",
    ),
    "relu": (
        "Return the positive elements, and 0 in place of the others.",
        "keras.ops.relu([-1.0, 2.0]).tolist()",
        "[0.0, 2.0]",
    ),
    "relu6": (
        "Limit each element to the range from 0 to 6.",
        "keras.ops.relu6([-1.0, 2.0, 9.0]).tolist()",
        "[0.0, 2.0, 6.0]",
    ),
    "selu": (
        "Return the scaled exponential linear unit: ``1.0507 * elu(x, 1.6733)``.",
        "keras.ops.selu([-1.0, 1.0]).numpy().round(3)",
        "array([-1.111,  1.051], dtype=float32)",
    ),
    "sigmoid": (
        "Return ``1 / (1 + exp(-x))`` of each element.",
        "keras.ops.sigmoid([0.0]).tolist()",
        "[0.5]",
    ),
    "silu": (
        "Return ``x * sigmoid(x)``.",
        "keras.ops.silu([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.731], dtype=float32)",
    ),
    "soft_shrink": (
        "Move each element toward 0 by ``threshold``, and to 0 where it is nearer.",
        "keras.ops.soft_shrink([-1.0, 0.25, 1.0]).tolist()",
        "[-0.5, 0.0, 0.5]",
    ),
    "softmax": (
        "Return ``exp(x) / sum(exp(x))`` along an axis, or along several together.",
        "keras.ops.softmax([0.0, 0.0]).tolist()",
        "[0.5, 0.5]",
    ),
    "softplus": (
        "Return ``log(1 + exp(x))`` of each element, without overflow.",
        "keras.ops.softplus([0.0]).numpy().round(3)",
        "array([0.693], dtype=float32)",
    ),
    "softsign": (
        "Return ``x / (1 + abs(x))``.",
        "keras.ops.softsign([-1.0, 1.0]).tolist()",
        "[-0.5, 0.5]",
    ),
    "sparse_plus": (
        "Return 0 up to -1, ``(x + 1)² / 4`` between -1 and 1, and ``x`` from 1 on.",
        "keras.ops.sparse_plus([-2.0, 0.0, 2.0]).tolist()",
        "[0.0, 0.25, 2.0]",
    ),
    "sparse_sigmoid": (
        "Return ``(x + 1) / 2``, limited to the range from 0 to 1.",
        "keras.ops.sparse_sigmoid([-2.0, 0.0, 2.0]).tolist()",
        "[0.0, 0.5, 1.0]",
    ),
    "sparsemax": (
        "Return the nearest probability distribution along an axis; small elements become 0.",
        "keras.ops.sparsemax([1.0, 0.0]).tolist()",
        "[1.0, 0.0]",
    ),
    "squareplus": (
        "Return ``(x + sqrt(x² + b)) / 2``.",
        "keras.ops.squareplus([0.0]).tolist()",
        "[1.0]",
    ),
    "swish": (
        "Return ``x * sigmoid(x)``.",
        "keras.ops.swish([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.731], dtype=float32)",
    ),
    "tanh_shrink": (
        "Return ``x - tanh(x)``.",
        "keras.ops.tanh_shrink([0.0, 1.0]).numpy().round(3)",
        "array([0.   , 0.238], dtype=float32)",
    ),
    "threshold": (
        "Return ``x`` where it is greater than ``threshold``, else ``default_value``.",
        "keras.ops.threshold([-1.0, 2.0], 0.0, 9.0).tolist()",
        "[9.0, 2.0]",
    ),
    "adaptive_average_pool": (
        "Return the mean of each of ``output_size`` parts along the spatial axes." + _PARTS,
        "keras.ops.adaptive_average_pool([[[1.0], [2.0], [3.0], [4.0]]], 2).numpy().ravel()",
        "array([1.5, 3.5], dtype=float32)",
    ),
    "adaptive_max_pool": (
        "Return the maximum of each of ``output_size`` parts along the spatial axes." + _PARTS,
        "keras.ops.adaptive_max_pool([[[1.0], [2.0], [3.0], [4.0]]], 2).numpy().ravel()",
        "array([2., 4.], dtype=float32)",
    ),
    "average_pool": (
        "Return the mean of each window along 1 to 3 spatial axes." + _WINDOWS,
        "keras.ops.average_pool([[[1.0], [2.0], [3.0], [4.0]]], 2).numpy().ravel()",
        "array([1.5, 3.5], dtype=float32)",
    ),
    "max_pool": (
        "Return the maximum of each window along 1 to 3 spatial axes." + _WINDOWS,
        "keras.ops.max_pool([[[1.0], [2.0], [3.0], [4.0]]], 2).numpy().ravel()",
        "array([2., 4.], dtype=float32)",
    ),
}


def _docstring(description: str, expression: str, value: str) -> str:
    return f"""{description}

Example:
    >>> from webtensor import keras
    >>> {expression}
    {value}
"""


DOCSTRINGS = {name: _docstring(*row) for name, row in _ROWS.items()}

#: Where ``doctest`` looks for examples outside docstrings.
__test__ = DOCSTRINGS
