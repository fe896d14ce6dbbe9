"""The elementwise table: functions of one tensor.

Each function is a row (see ``elementwise.py``): adding one here adds it to every backend. Functions
that compute in float32 convert int32 and bool tensors first. Gradients are in terms of ``dy``, the
gradient of the result, ``y``, the result, and ``x``.
"""

from __future__ import annotations

from math import log as _log
from typing import TYPE_CHECKING

from webtensor.ops.elementwise import BOOL_RULES, Kind, unary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

# The names shadow builtins as the array API standard's do.
__all__ = [
    "abs",
    "bitwise_invert",
    "ceil",
    "clip_by_value",
    "divisor_of_kept",
    "exp",
    "expm1",
    "float_between",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "reciprocal",
    "rsqrt",
    "sign",
    "signbit",
    "sqrt",
    "square",
    "trunc",
    "unit_float",
]


# -- arithmetic ---------------------------------------------------------------------------------


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.abs(x),
    glsl="abs(x)",
    c="vabs(x)",
    grad=lambda dy, y, x: dy * x.sign(),
)
def abs(x: TensorLike) -> Tensor:
    """Absolute value.

    The result has the shape of ``x`` and is float32, or int32 for int32 and bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.abs([-1.5, 2.0]).tolist()
        [1.5, 2.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: -x,
    glsl="-x",
    c="-x",
    grad=lambda dy, y, x: -dy,
)
def negative(x: TensorLike) -> Tensor:
    """Numerical negative, ``-x``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.negative([1, -2]).tolist()
        [-1, 2]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.sign(x),
    glsl="mix(sign(x), x, is_nan(x))",
    glsl_int="sign(x)",
    c="vsel(x > 0, vset(1.f), vsel(x < 0, vset(-1.f), x + 0.f))",
    c_int="vsel(x > 0, vseti(1), vsel(x < 0, vseti(-1), x))",
)
def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1 by the sign of ``x``, 0 for -0.0; NaN stays NaN.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.sign([-3.0, 0.0, 2.0]).tolist()
        [-1.0, 0.0, 1.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: x * x,
    glsl="x * x",
    c="x * x",
    grad=lambda dy, y, x: dy * x * 2,
)
def square(x: TensorLike) -> Tensor:
    """``x * x``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.square([3, -4]).tolist()
        [9, 16]
    """


@unary(
    numpy=lambda np, x: np.sqrt(x),
    glsl="sqrt(x)",
    c="vsqrt(x)",
    grad=lambda dy, y, x: dy * 0.5 / y,
)
def sqrt(x: TensorLike) -> Tensor:
    """Square root; NaN for negative numbers.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.sqrt([4.0, 9.0]).tolist()
        [2.0, 3.0]
    """


@unary(
    numpy=lambda np, x: 1 / np.sqrt(x),
    glsl="1.0 / sqrt(x)",
    c="1.f / vsqrt(x)",
    grad=lambda dy, y, x: dy * -0.5 * y / x,
)
def rsqrt(x: TensorLike) -> Tensor:
    """Reciprocal of the square root.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.rsqrt([4.0]).tolist()
        [0.5]
    """


@unary(
    numpy=lambda np, x: 1 / x,
    glsl="1.0 / x",
    c="1.f / x",
    grad=lambda dy, y, x: -dy * y * y,
)
def reciprocal(x: TensorLike) -> Tensor:
    """``1 / x``.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.reciprocal([4.0]).tolist()
        [0.25]
    """


# -- rounding -----------------------------------------------------------------------------------


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.ceil(x),
    glsl="ceil(x)",
    glsl_int="x",
    c="vceil(x)",
    c_int="x",
)
def ceil(x: TensorLike) -> Tensor:
    """Smallest integer that is not less.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.ceil([1.2, -1.2]).tolist()
        [2.0, -1.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.floor(x),
    glsl="floor(x)",
    glsl_int="x",
    c="vfloor(x)",
    c_int="x",
)
def floor(x: TensorLike) -> Tensor:
    """Largest integer that is not greater.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.floor([1.2, -1.2]).tolist()
        [1.0, -2.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.round(x),
    glsl="roundEven(x)",
    glsl_int="x",
    c="vround(x)",
    c_int="x",
)
def round(x: TensorLike) -> Tensor:
    """Nearest integer; halves go to the even one. ``wt.round`` rounds to decimals, too."""


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.trunc(x),
    glsl="trunc(x)",
    glsl_int="x",
    c="vtrunc(x)",
    c_int="x",
)
def trunc(x: TensorLike) -> Tensor:
    """Nearest integer that is not farther from zero.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.trunc([1.7, -1.7]).tolist()
        [1.0, -1.0]
    """


# -- exponentials and logarithms ----------------------------------------------------------------


@unary(
    numpy=lambda np, x: np.exp(x),
    glsl="exp_(x)",
    c="vexp(x)",
    grad=lambda dy, y, x: dy * y,
)
def exp(x: TensorLike) -> Tensor:
    """Exponential.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.exp([0.0, 1.0]).tolist()[0]
        1.0
    """


@unary(
    numpy=lambda np, x: np.expm1(x),
    glsl="expm1_(x)",
    c="vexpm1(x)",
    grad=lambda dy, y, x: dy * (y + 1),
)
def expm1(x: TensorLike) -> Tensor:
    """``exp(x) - 1``, exact to rounding near zero.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.expm1([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.log(x),
    glsl="log_(x)",
    c="vlog(x)",
    grad=lambda dy, y, x: dy / x,
)
def log(x: TensorLike) -> Tensor:
    """Natural logarithm; NaN for negative numbers, -inf for zero.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.log([1.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.log1p(x),
    glsl="log1p_(x)",
    c="vlog1p(x)",
    grad=lambda dy, y, x: dy / (x + 1),
)
def log1p(x: TensorLike) -> Tensor:
    """``log(1 + x)``, exact to rounding near zero.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.log1p([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.log2(x),
    glsl="log2_(x)",
    c="vlog2(x)",
    grad=lambda dy, y, x: dy / (x * _log(2)),
)
def log2(x: TensorLike) -> Tensor:
    """Logarithm to base 2, exact for powers of two; NaN for negative numbers, -inf for zero.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.log2([8.0, 0.5]).tolist()
        [3.0, -1.0]
    """


@unary(
    numpy=lambda np, x: np.log10(x),
    glsl="log10_(x)",
    c="vlog10(x)",
    grad=lambda dy, y, x: dy / (x * _log(10)),
)
def log10(x: TensorLike) -> Tensor:
    """Logarithm to base 10; NaN for negative numbers, -inf for zero.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.log10([1.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x, minimum, maximum: np.clip(x, minimum, maximum),
    glsl="mix(min(max(x, minimum), maximum), x, is_nan(x))",
    c="vsel(x > maximum, vset(maximum), "
    "vsel(x < minimum, vset(minimum < maximum ? minimum : maximum), x))",
    grad=lambda dy, y, x, minimum, maximum: dy.where((x >= minimum) & (x <= maximum), 0.0),
)
def clip_by_value(x: TensorLike, minimum: float, maximum: float) -> Tensor:
    """``x`` limited to an interval of two numbers. See ``clip``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.clip_by_value([-2.0, 0.5, 3.0], 0, 1).tolist()
        [0.0, 0.5, 1.0]
    """


# -- tests --------------------------------------------------------------------------------------


@unary(kind=Kind.TEST, numpy=lambda np, x: np.isnan(x), glsl="is_nan(x)", c="x != x")
def isnan(x: TensorLike) -> Tensor:
    """Whether each element is NaN, as bool.

    The result has the shape of ``x`` and is bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.isnan([float("nan"), 1.0]).tolist()
        [True, False]
    """


@unary(kind=Kind.TEST, numpy=lambda np, x: np.isinf(x), glsl="is_inf(x)", c="vabs(x) == VINF")
def isinf(x: TensorLike) -> Tensor:
    """Whether each element is infinite, as bool.

    The result has the shape of ``x`` and is bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.isinf([float("-inf"), 1.0]).tolist()
        [True, False]
    """


@unary(kind=Kind.TEST, numpy=lambda np, x: np.isfinite(x), glsl="is_finite(x)", c="vabs(x) < VINF")
def isfinite(x: TensorLike) -> Tensor:
    """Whether each element is neither NaN nor infinite, as bool.

    The result has the shape of ``x`` and is bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.isfinite([float("nan"), 1.0]).tolist()
        [False, True]
    """


@unary(
    kind=Kind.TEST,
    numpy=lambda np, x: np.signbit(x),
    glsl="is_negative(x)",
    c="(vi)x < 0",
)
def signbit(x: TensorLike) -> Tensor:
    """Whether the sign bit is set, as bool: for negative numbers, -0.0 and NaN of that sign.

    The result has the shape of ``x`` and is bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.signbit([-0.0, 0.0, -2.0]).tolist()
        [True, False, True]
    """


@unary(kind=Kind.LOGICAL, numpy=lambda np, x: np.logical_not(x), glsl="!x", c="~x")
def logical_not(x: TensorLike) -> Tensor:
    """Truth value of NOT ``x``.

    The result has the shape of ``x`` and is bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.logical_not([True, False]).tolist()
        [False, True]
    """


# -- bits ---------------------------------------------------------------------------------------


@unary(kind=Kind.INTEGER, numpy=lambda np, x: ~x, glsl="~x", c="~x")
def bitwise_invert(x: TensorLike) -> Tensor:
    """Bitwise NOT of an int32 tensor; the truth value of NOT ``x`` for a bool one.

    The result has the shape of ``x`` and is int32, or bool for bool.

    Raises:
        TypeError: ``x`` has dtype float32, complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_invert([0, 5]).tolist()
        [-1, -6]
    """


BOOL_RULES["bitwise_invert"] = logical_not


# -- random bits --------------------------------------------------------------------------------


@unary(
    kind=Kind.BITS,
    numpy=lambda np, x: (x.view(np.uint32) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24),
    glsl="unit_of_bits(x)",
    c="vtofloat((vi)((vu)x >> 8)) * 0x1p-24f",
)
def unit_float(x: TensorLike) -> Tensor:
    """Number in [0, 1) made of the upper 24 bits of each int32; exact on every backend.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype float32, complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.unit_float([0, -(2**31)]).tolist()
        [0.0, 0.5]
    """


@unary(
    kind=Kind.BITS,
    numpy=lambda np, x, low, span, most: np.minimum(
        (x.view(np.uint32) >> np.uint32(8)).astype(np.float32)
        * np.float32(2**-24)
        * np.float32(span)
        + np.float32(low),
        np.float32(most),
    ),
    glsl="min(unit_of_bits(x) * span + low, most)",
    c="vmin(vtofloat((vi)((vu)x >> 8)) * 0x1p-24f * span + low, vset(most))",
)
def float_between(x: TensorLike, low: float, span: float, most: float) -> Tensor:
    """``low`` plus ``span`` times ``unit_float`` of the bits, but not more than ``most``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype float32, complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.float_between([0, -(2**31), -1], 1.0, 2.0, 2.5).tolist()
        [1.0, 2.0, 2.5]
    """


@unary(
    kind=Kind.BITS,
    numpy=lambda np, x, rate, divisor: np.where(
        (x.view(np.uint32) >> np.uint32(8)) * np.float32(2**-24) >= np.float32(rate),
        np.float32(divisor),
        np.float32(0),
    ),
    glsl="step(rate, unit_of_bits(x)) * divisor",
    c="vsel(vtofloat((vi)((vu)x >> 8)) * 0x1p-24f >= rate, vset(divisor), vset(0.f))",
)
def divisor_of_kept(x: TensorLike, rate: float, divisor: float) -> Tensor:
    """``divisor`` where ``unit_float`` of the bits is ``rate`` or more, else 0: for dropout.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype float32, complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.divisor_of_kept([0, -(2**31)], 0.25, 2.0).tolist()
        [0.0, 2.0]
    """
