"""The elementwise table: functions of two tensors, with broadcasting.

Each function is a row (see ``elementwise.py``): adding one here adds it to every backend. Operands
of different dtypes are promoted (bool < int32 < float32); a Python number takes the other operand's
dtype where it fits. Shapes broadcast as in NumPy; ``ValueError`` where they cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webtensor.ops.elementwise import BOOL_RULES, Kind, binary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

__all__ = [
    "add",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "copysign",
    "divide",
    "divide_no_nan",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "squared_difference",
    "subtract",
]

# -- arithmetic ---------------------------------------------------------------------------------


@binary(
    numpy=lambda np, x, y: x + y,
    glsl="x + y",
    c="x + y",
    grad_x=lambda dy, out, x, y: dy,
    grad_y=lambda dy, out, x, y: dy,
)
def add(x: TensorLike, y: TensorLike) -> Tensor:
    """``x + y``.

    The shapes broadcast together. The result is float32, int32 or complex64, whichever can
    represent both dtypes.

    Raises:
        TypeError: an operand has dtype string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.add([[1.0], [2.0]], [10.0, 20.0]).tolist()
        [[11.0, 21.0], [12.0, 22.0]]
    """


@binary(
    numpy=lambda np, x, y: x - y,
    glsl="x - y",
    c="x - y",
    grad_x=lambda dy, out, x, y: dy,
    grad_y=lambda dy, out, x, y: -dy,
)
def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """``x - y``.

    The shapes broadcast together. The result is float32, int32 or complex64, whichever can
    represent both dtypes.

    Raises:
        TypeError: an operand has dtype string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.subtract([3, 2], 1).tolist()
        [2, 1]
    """


@binary(
    numpy=lambda np, x, y: x * y,
    glsl="x * y",
    c="x * y",
    grad_x=lambda dy, out, x, y: dy * y,
    grad_y=lambda dy, out, x, y: dy * x,
)
def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """``x * y``.

    The shapes broadcast together. The result is float32, int32 or complex64, whichever can
    represent both dtypes.

    Raises:
        TypeError: an operand has dtype string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.multiply([3, 2], 1.5).tolist()
        [4.5, 3.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: x / y,
    glsl="quotient(x, y)",
    c="x / y",
    grad_x=lambda dy, out, x, y: dy / y,
    grad_y=lambda dy, out, x, y: -dy * out / y,
)
def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """True division, in float32 for every dtype.

    The shapes broadcast together. The result is float32, or complex64 if an operand is.

    Raises:
        TypeError: an operand has dtype string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.divide([3, 2], 2).tolist()
        [1.5, 1.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.where(y == 0, np.float32(0), x / y),
    glsl="mix(quotient(x, y), 0.0, y == 0.0)",
    c="vsel(y == 0, vset(0.f), x / y)",
    grad_x=lambda dy, out, x, y: dy.divide_no_nan(y),
    grad_y=lambda dy, out, x, y: (-dy * out).divide_no_nan(y),
)
def divide_no_nan(x: TensorLike, y: TensorLike) -> Tensor:
    """True division that gives 0 where ``y`` is 0.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.divide_no_nan([3.0, 1.0], [2.0, 0.0]).tolist()
        [1.5, 0.0]
    """


@binary(
    # The quotient in float32 may round up to an integer: 1 / 0.1 is 10, but 0.1 > 1 / 10.
    numpy=lambda np, x, y: (
        np.floor(np.divide(x, y, dtype=np.float64)).astype(x.dtype)
        if x.dtype.kind == "f"
        else x // y
    ),
    glsl="floor(quotient(x, y))",
    glsl_int="int_floor_divide(x, y)",
    c="vfloordiv(x, y)",
    c_int="vifloordiv(x, y)",
)
def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Quotient rounded toward negative infinity, as Python's ``//``.

    Int32 division by zero gives 0.

    The shapes broadcast together. The result is float32 or int32, whichever can represent both
    dtypes.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.floor_divide([7, -7], 2).tolist()
        [3, -4]
    """


@binary(
    numpy=lambda np, x, y: np.mod(x, y),
    glsl="float_remainder(x, y)",
    glsl_int="int_remainder(x, y)",
    c="vremainder(x, y)",
    c_int="viremainder(x, y)",
    grad_x=lambda dy, out, x, y: dy,
    grad_y=lambda dy, out, x, y: -dy * (x // y),
)
def remainder(x: TensorLike, y: TensorLike) -> Tensor:
    """Remainder of division with the sign of ``y``, as Python's ``%``.

    Int32 division by zero gives 0.

    The shapes broadcast together. The result is float32 or int32, whichever can represent both
    dtypes.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.remainder([7, -7], 3).tolist()
        [1, 2]
    """


@binary(
    numpy=lambda np, x, y: np.power(x, y) if x.dtype.kind == "f" else _numpy_int_pow(np, x, y),
    glsl="float_pow(x, y)",
    glsl_int="int_pow(x, y)",
    c="vpow(x, y)",
    c_int="vipow(x, y)",
    grad_x=lambda dy, out, x, y: dy * y * x.where((x != 0) | (y != 0), 1.0) ** (y - 1),
    grad_y=lambda dy, out, x, y: dy * (out * x.where(x > 0, 1.0).log()),
)
def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """``x`` to the power ``y``.

    Integer powers of integers wrap on overflow, and negative ones truncate toward zero.

    The shapes broadcast together. The result is float32, int32 or complex64, whichever can
    represent both dtypes.

    Raises:
        TypeError: an operand has dtype string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.pow([2.0, 3.0], 2).tolist()
        [4.0, 9.0]
    """


def _numpy_int_pow(np: Any, x: Any, y: Any) -> Any:
    """Integer power by squaring, with negative exponents truncated toward zero."""
    x, y = np.broadcast_arrays(x, y)
    result = np.power(x, np.maximum(y, 0))
    negative = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y & 1), 0)).astype(np.int32)
    return np.where(y < 0, negative, result)


@binary(
    numpy=lambda np, x, y: np.maximum(x, y),
    glsl="float_max(x, y)",
    glsl_int="max(x, y)",
    c="vmax(x, y)",
    grad_x=lambda dy, out, x, y: dy.where(x >= y, 0.0),
    grad_y=lambda dy, out, x, y: dy.where(x < y, 0.0),
)
def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """The greater of each pair; NaN where either is NaN.

    The shapes broadcast together. The result is float32 or int32, whichever can represent both
    dtypes.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.maximum([1, 5], 3).tolist()
        [3, 5]
    """


@binary(
    numpy=lambda np, x, y: np.minimum(x, y),
    glsl="float_min(x, y)",
    glsl_int="min(x, y)",
    c="vmin(x, y)",
    grad_x=lambda dy, out, x, y: dy.where(x <= y, 0.0),
    grad_y=lambda dy, out, x, y: dy.where(x > y, 0.0),
)
def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """The lesser of each pair; NaN where either is NaN.

    The shapes broadcast together. The result is float32 or int32, whichever can represent both
    dtypes.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.minimum([1, 5], 3).tolist()
        [1, 3]
    """


@binary(
    numpy=lambda np, x, y: (x - y) * (x - y),
    glsl="(x - y) * (x - y)",
    c="(x - y) * (x - y)",
    grad_x=lambda dy, out, x, y: dy * (x - y) * 2,
    grad_y=lambda dy, out, x, y: dy * (y - x) * 2,
)
def squared_difference(x: TensorLike, y: TensorLike) -> Tensor:
    """``(x - y) * (x - y)``.

    The shapes broadcast together. The result is float32 or int32, whichever can represent both
    dtypes.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.squared_difference([1, 5], 3).tolist()
        [4, 4]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.logaddexp(x, y),
    glsl="log_add_exp(x, y)",
    c="vlogaddexp(x, y)",
    grad_x=lambda dy, out, x, y: dy * (x - y).sigmoid(),
    grad_y=lambda dy, out, x, y: dy * (y - x).sigmoid(),
)
def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    """``log(exp(x) + exp(y))``, without overflow.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.logaddexp([1000.0], [-1000.0]).tolist()
        [1000.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.copysign(x, y),
    glsl="copy_sign(x, y)",
    c="with_sign(vabs(x), sign_of(y))",
    grad_x=lambda dy, out, x, y: dy * x.sign() * out.sign(),
)
def copysign(x: TensorLike, y: TensorLike) -> Tensor:
    """The size of ``x`` with the sign of ``y``, which -0.0 has too.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.copysign([1.0, 2.0], [-3.0, -0.0]).tolist()
        [-1.0, -2.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.nextafter(x, y),
    glsl="next_after(x, y)",
    c="vnextafter(x, y)",
)
def nextafter(x: TensorLike, y: TensorLike) -> Tensor:
    """The float32 number next to ``x`` in the direction of ``y``.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.nextafter([1.0], [2.0]).tolist() == [1.0 + 2.0**-23]
        True
    """


# -- bits ---------------------------------------------------------------------------------------


@binary(kind=Kind.INTEGER, numpy=lambda np, x, y: x & y, glsl="x & y", c="x & y")
def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Bitwise AND of int32 tensors; logical AND of bool ones.

    The shapes broadcast together. The result is int32, or bool for bool.

    Raises:
        TypeError: an operand has dtype float32, complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_and([6, 5], 3).tolist()
        [2, 1]
    """


@binary(kind=Kind.INTEGER, numpy=lambda np, x, y: x | y, glsl="x | y", c="x | y")
def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Bitwise OR of int32 tensors; logical OR of bool ones.

    The shapes broadcast together. The result is int32, or bool for bool.

    Raises:
        TypeError: an operand has dtype float32, complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_or([6, 5], 3).tolist()
        [7, 7]
    """


@binary(kind=Kind.INTEGER, numpy=lambda np, x, y: x ^ y, glsl="x ^ y", c="x ^ y")
def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Bitwise exclusive OR of int32 tensors; logical exclusive OR of bool ones.

    The shapes broadcast together. The result is int32, or bool for bool.

    Raises:
        TypeError: an operand has dtype float32, complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_xor([6, 5], 3).tolist()
        [5, 6]
    """


@binary(
    kind=Kind.INTEGER,
    numpy=lambda np, x, y: np.where((y < 0) | (y > 31), 0, x << (y & 31)),
    glsl="y < 0 || y > 31 ? 0 : x << y",
    c="vsel((vu)y > 31, vseti(0), x << (y & 31))",
)
def bitwise_left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """The bits of ``x`` shifted left by ``y``; 0 where ``y`` is not in [0, 31].

    The shapes broadcast together. The result is int32.

    Raises:
        TypeError: an operand has dtype float32, complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_left_shift([1, 3], [4, 1]).tolist()
        [16, 6]
    """


@binary(
    kind=Kind.INTEGER,
    numpy=lambda np, x, y: x >> np.where((y < 0) | (y > 31), 31, y),
    glsl="x >> (y < 0 || y > 31 ? 31 : y)",
    c="x >> vsel((vu)y > 31, vseti(31), y)",
)
def bitwise_right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """The bits of ``x`` shifted right by ``y``, keeping the sign.

    Where ``y`` is not in [0, 31] only the sign is left: 0 or -1.

    The shapes broadcast together. The result is int32.

    Raises:
        TypeError: an operand has dtype float32, complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.bitwise_right_shift([16, -6], [2, 1]).tolist()
        [4, -3]
    """


# -- comparisons --------------------------------------------------------------------------------


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x == y, glsl="x == y", c="x == y")
def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x == y``, as bool; NaN equals nothing.

    The shapes broadcast together. The result is bool.

    Raises:
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.equal([1, 2], 2).tolist()
        [False, True]
    """


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x != y, glsl="x != y", c="x != y")
def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x != y``, as bool.

    The shapes broadcast together. The result is bool.

    Raises:
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.not_equal([1, 2], 2).tolist()
        [True, False]
    """


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x < y, glsl="x < y", c="x < y")
def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x < y``, as bool.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.less([1, 2], 2).tolist()
        [True, False]
    """


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x <= y, glsl="x <= y", c="x <= y")
def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x <= y``, as bool.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.less_equal([1, 3], 2).tolist()
        [True, False]
    """


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x > y, glsl="x > y", c="x > y")
def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x > y``, as bool.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.greater([1, 3], 2).tolist()
        [False, True]
    """


@binary(kind=Kind.TEST, numpy=lambda np, x, y: x >= y, glsl="x >= y", c="x >= y")
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether ``x >= y``, as bool.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.greater_equal([1, 2], 2).tolist()
        [False, True]
    """


# -- logic --------------------------------------------------------------------------------------


@binary(kind=Kind.LOGICAL, numpy=lambda np, x, y: np.logical_and(x, y), glsl="x && y", c="x & y")
def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Truth value of ``x`` AND ``y``.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.logical_and([True, True], [True, False]).tolist()
        [True, False]
    """


@binary(kind=Kind.LOGICAL, numpy=lambda np, x, y: np.logical_or(x, y), glsl="x || y", c="x | y")
def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Truth value of ``x`` OR ``y``.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.logical_or([False, True], [False, False]).tolist()
        [False, True]
    """


@binary(kind=Kind.LOGICAL, numpy=lambda np, x, y: np.logical_xor(x, y), glsl="x != y", c="x ^ y")
def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Truth value of either ``x`` or ``y`` but not both.

    The shapes broadcast together. The result is bool.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.logical_xor([True, True], [True, False]).tolist()
        [False, True]
    """


BOOL_RULES.update(
    bitwise_and=logical_and,
    bitwise_or=logical_or,
    bitwise_xor=logical_xor,
)
