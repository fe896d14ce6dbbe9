"""Functions of corresponding elements, in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi

from webtensor import ops as wt
from webtensor.dtypes import bool_, complex64, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.ops.operations import (
    Arguments,
    Computation,
    Row,
    binary,
    elementwise,
    op,
    unary,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config

__all__ = ["ROWS", "isclose"]

_PER_DEGREE = pi / 180
_LN2 = log(2)


def _float(x: TensorLike) -> Tensor:
    """Convert integers and truth values to float32; leave complex64 as it is."""
    operand = wt.asarray(x)
    return operand if operand.dtype in (float32, complex64) else wt.astype(operand, float32)


def _cbrt(x: TensorLike) -> Tensor:
    """Return the real cube root of each element, in float32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cbrt([-8.0, 27.0]).numpy().round(3)
        array([-2.,  3.], dtype=float32)
    """
    x = _float(x)
    return wt.copysign(wt.pow(wt.abs(x), 1 / 3), x)


def _exp2(x: TensorLike) -> Tensor:
    """Return 2 to the power of each element.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.exp2([0.0, 3.0]).tolist()
        [1.0, 8.0]
    """
    return wt.pow(2.0, _float(x))


def _sinc(x: TensorLike) -> Tensor:
    """Return ``sin(πx) / (πx)`` of each element, and 1 at 0.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.sinc([0.0, 0.5]).numpy().round(3)
        array([1.   , 0.637], dtype=float32)
    """
    angle = wt.multiply(_float(x), pi)
    is_zero = wt.equal(angle, 0)
    safe = wt.where(is_zero, 1.0, angle)
    # The Taylor series, which is 1 at 0, has the second derivative, too.
    return wt.where(is_zero, 1.0 - angle * angle / 6, wt.divide(wt.sin(safe), safe))


def _round(x: TensorLike, decimals: int = 0) -> Tensor:
    """Round each element to ``decimals`` decimals, halves to the even neighbor.

    A negative number of decimals rounds to tens, hundreds and so on.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.round([0.5, 1.5, -2.7]).tolist()
        [0.0, 2.0, -3.0]
    """
    return wt.round(x, decimals)


def _clip(x: TensorLike, x_min: TensorLike, x_max: TensorLike) -> Tensor:
    """Limit each element to the range from ``x_min`` to ``x_max``, which are broadcast.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.clip([-2.0, 0.5, 3.0], 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    x = wt.asarray(x)
    return wt.clip(wt.astype(x, int32) if x.dtype is bool_ else x, x_min, x_max)


def _nan_to_num(
    x: TensorLike,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Tensor:
    """Replace NaN by ``nan`` and the infinities by ``posinf`` and ``neginf``.

    The infinities become the largest and the lowest finite float32 by default.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nan_to_num([float("nan"), 2.0, float("inf")], posinf=9.0).tolist()
        [0.0, 2.0, 9.0]
    """
    operand = wt.asarray(x)
    if operand.dtype is complex64:
        parts = (wt.real(operand), wt.imag(operand))
        return wt.complex(*(_nan_to_num(part, nan, posinf, neginf) for part in parts))
    if operand.dtype is not float32:
        return operand
    maximum = wt.finfo(float32).max
    result = wt.where(wt.isnan(operand), nan, operand)
    result = wt.where(wt.equal(result, wt.inf), maximum if posinf is None else posinf, result)
    return wt.where(wt.equal(result, -wt.inf), -maximum if neginf is None else neginf, result)


def _isreal(x: TensorLike) -> Tensor:
    """Return, as bool, whether each element has no imaginary part.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.isreal([1 + 0j, 2 + 3j]).tolist()
        [True, False]
    """
    x = wt.asarray(x)
    if x.dtype is complex64:
        return wt.equal(wt.imag(x), 0)
    return wt.ones_like(x, bool_)


def _ignoring_nan(choose: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a choice between two elements prefer a number to NaN."""

    def chosen(x1: TensorLike, x2: TensorLike) -> Tensor:
        x1, x2 = wt.asarray(x1), wt.asarray(x2)
        return wt.where(wt.isnan(x1), x2, wt.where(wt.isnan(x2), x1, choose(x1, x2)))

    return chosen


def _fmod(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the remainder of ``x1 / x2`` with the sign of ``x1``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.fmod([-7, 7], 3).tolist()
        [-1, 1]
    """
    remainder = wt.remainder(_not_positive(x1), _not_positive(x2))
    return wt.where(wt.less(x1, 0), remainder, wt.negative(remainder))


def _not_positive(x: TensorLike) -> Tensor:
    """Return ``-abs(x)``, which int32 has for all of its elements."""
    x = wt.asarray(x)
    return wt.where(wt.less(x, 0), x, wt.negative(x))


def isclose(
    x1: TensorLike,
    x2: TensorLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Return, as bool, whether elements differ by no more than ``atol + rtol * |x2|``.

    With ``equal_nan``, NaN is close to NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.isclose([1.0, 2.0], [1.000001, 2.1]).tolist()
        [True, False]
    """
    x1, x2 = _float(x1), _float(x2)
    is_near = wt.less_equal(wt.abs(x1 - x2), atol + rtol * wt.abs(x2))
    is_near = wt.logical_or(wt.logical_and(is_near, wt.isfinite(x2)), wt.equal(x1, x2))
    if not equal_nan:
        return is_near
    return wt.logical_or(is_near, wt.logical_and(wt.isnan(x1), wt.isnan(x2)))


def _isin(
    x1: TensorLike, x2: TensorLike, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return, as bool of the shape of ``x1``, whether each element is among those of ``x2``.

    ``invert`` negates the result; ``assume_unique`` changes nothing.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.isin([1, 2, 3], [2, 5]).tolist()
        [False, True, False]
    """
    return wt.isin(x1, wt.reshape(x2, (-1,)), invert=invert)


def _isin_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    return KerasTensor(getattr(args[0], "shape", ()), bool_)


def _gcd(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the greatest common divisors of int32 or bool elements, which are broadcast.

    Raises:
        TypeError: the elements are not integers.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.gcd([12, 7], 18).tolist()
        [6, 1]
    """
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    for argument, operand in (("x1", x1), ("x2", x2)):
        if operand.dtype not in (int32, bool_):
            raise TypeError(f"gcd: {argument} must hold integers, but is {operand.dtype}")
    larger, smaller = wt.broadcast_arrays(x1, x2)
    while bool(wt.any(wt.not_equal(smaller, 0))):
        is_done = wt.equal(smaller, 0)
        larger, smaller = (
            wt.where(is_done, larger, smaller),
            wt.where(is_done, 0, wt.remainder(larger, wt.where(is_done, 1, smaller))),
        )
    return wt.abs(larger)


def _lcm(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the least common multiples of int32 or bool elements; the multiple of 0 is 0.

    Raises:
        TypeError: the elements are not integers.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.lcm([4, 5], 6).tolist()
        [12, 30]
    """
    divisor = _gcd(x1, x2)
    safe = wt.where(wt.equal(divisor, 0), 1, divisor)
    return wt.multiply(wt.floor_divide(wt.abs(x1), safe), wt.abs(x2))


def _heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return 0 where ``x1`` is negative, 1 where it is positive, and ``x2`` where it is 0.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.heaviside([-1.0, 0.0, 2.0], 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    x1, x2 = _float(x1), _float(x2)
    return wt.where(wt.equal(x1, 0), x2, wt.sign(x1) / 2 + 0.5)


def _ldexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return ``x1 * 2 ** x2`` of corresponding elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.ldexp([1.0, 3.0], [2, 1]).tolist()
        [4.0, 6.0]
    """
    # In three steps, none of which overflows where the result does not.
    exponent = wt.clip(_float(x2), -378, 378)
    third = wt.trunc(exponent / 3)
    step = _exp2(third)
    return wt.multiply(x1, step) * step * _exp2(exponent - third * 2)


def _logaddexp2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return ``log2(2 ** x1 + 2 ** x2)`` of corresponding elements, without overflow.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.logaddexp2([3.0], [3.0]).numpy().round(3)
        array([4.], dtype=float32)
    """
    return wt.logaddexp(wt.multiply(x1, _LN2), wt.multiply(x2, _LN2)) / _LN2


def _where(
    condition: TensorLike, x1: TensorLike | None = None, x2: TensorLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return elements of ``x1`` where the condition is true, else of ``x2``; all are broadcast.

    With the condition alone, return the indices of its true elements: one int32 tensor per axis.

    Raises:
        ValueError: only one of ``x1`` and ``x2`` is given.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.where([True, False], [1, 2], 0).tolist()
        [1, 0]
    """
    if (x1 is None) != (x2 is None):
        raise ValueError(
            f"where: {'x1' if x1 is None else 'x2'} is missing; give both x1 and x2, or neither"
        )
    return wt.nonzero(condition) if x1 is None else wt.where(condition, x1, x2)


def _select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Tensor:
    """Return elements of the first choice whose condition is true, else the default.

    Raises:
        ValueError: the lists are empty or differ in length.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.select([[True, False], [True, True]], [[1, 1], [2, 2]]).tolist()
        [1, 2]
    """
    if not condlist or len(condlist) != len(choicelist):
        raise ValueError(
            "select: condlist and choicelist must be lists of one length above 0, but have "
            f"{len(condlist)} and {len(choicelist)} elements"
        )
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = wt.where(condition, choice, result)
    return wt.asarray(result)


def _unless_bool(compute: Callable[[Tensor], Tensor]) -> Callable[[TensorLike], Tensor]:
    """Make a function of numbers leave truth values as they are."""

    def computed(x: TensorLike) -> Tensor:
        operand = wt.asarray(x)
        return wt.clone(operand) if operand.dtype is bool_ else compute(operand)

    return computed


_ABSOLUTE = unary(_unless_bool(wt.abs), "Absolute")
_CONJUGATE = unary(wt.conj, "Conjugate")

ROWS: dict[str, Row] = {
    # -- one tensor ----------------------------------------------------------------------------
    "abs": _ABSOLUTE,
    "absolute": _ABSOLUTE,
    "angle": unary(wt.angle),
    "arccos": unary(wt.acos),
    "arccosh": unary(wt.acosh),
    "arcsin": unary(wt.asin),
    "arcsinh": unary(wt.asinh),
    "arctan": unary(wt.atan),
    "arctanh": unary(wt.atanh),
    "bitwise_invert": unary(wt.bitwise_invert),
    "bitwise_not": unary(wt.bitwise_invert),
    "cbrt": unary(_cbrt),
    "ceil": unary(lambda x: wt.ceil(_float(x))),
    "clip": elementwise(_clip, "x_min x_max"),
    "conj": _CONJUGATE,
    "conjugate": _CONJUGATE,
    "copy": unary(wt.clone),
    "cos": unary(wt.cos),
    "cosh": unary(wt.cosh),
    "deg2rad": unary(lambda x: wt.multiply(_float(x), _PER_DEGREE)),
    "exp": unary(wt.exp),
    "exp2": unary(_exp2),
    "expm1": unary(wt.expm1),
    "fabs": unary(lambda x: wt.abs(_float(x))),
    "floor": unary(lambda x: wt.floor(_float(x))),
    "imag": unary(wt.imag),
    "isfinite": unary(wt.isfinite),
    "isinf": unary(wt.isinf),
    "isnan": unary(wt.isnan),
    "isneginf": unary(lambda x: wt.less_equal(x, -wt.inf)),
    "isposinf": unary(lambda x: wt.greater_equal(x, wt.inf)),
    "isreal": unary(_isreal),
    "log": unary(wt.log),
    "log10": unary(wt.log10),
    "log1p": unary(wt.log1p),
    "log2": unary(wt.log2),
    "logical_not": unary(wt.logical_not),
    "nan_to_num": elementwise(_nan_to_num, "nan posinf neginf"),
    "negative": unary(wt.negative),
    "rad2deg": unary(lambda x: wt.divide(_float(x), _PER_DEGREE)),
    "real": unary(wt.real),
    "reciprocal": unary(wt.reciprocal),
    "round": elementwise(_round, "decimals"),
    "sign": unary(wt.sign),
    "signbit": unary(wt.signbit),
    "sin": unary(wt.sin),
    "sinc": unary(_sinc),
    "sinh": unary(wt.sinh),
    "sqrt": unary(wt.sqrt),
    "square": unary(wt.square),
    "tan": unary(wt.tan),
    "tanh": unary(wt.tanh),
    "trunc": unary(_unless_bool(wt.trunc)),
    # -- two tensors ---------------------------------------------------------------------------
    "add": binary(wt.add),
    "arctan2": binary(wt.atan2),
    "bitwise_and": binary(wt.bitwise_and, names="x y"),
    "bitwise_left_shift": binary(wt.bitwise_left_shift, names="x y"),
    "bitwise_or": binary(wt.bitwise_or, names="x y"),
    "bitwise_right_shift": binary(wt.bitwise_right_shift, names="x y"),
    "bitwise_xor": binary(wt.bitwise_xor, names="x y"),
    "divide": binary(wt.divide),
    "divide_no_nan": binary(wt.divide_no_nan),
    "equal": binary(wt.equal),
    "floor_divide": binary(wt.floor_divide),
    "fmax": binary(_ignoring_nan(wt.maximum)),
    "fmin": binary(_ignoring_nan(wt.minimum)),
    "fmod": binary(_fmod),
    "gcd": binary(_gcd),
    "greater": binary(wt.greater),
    "greater_equal": binary(wt.greater_equal),
    "heaviside": binary(_heaviside),
    "hypot": binary(wt.hypot),
    "isclose": elementwise(isclose, "equal_nan"),
    "isin": op(_isin, "assume_unique invert", class_name="IsIn", spec=_isin_spec),
    "lcm": binary(_lcm),
    "ldexp": binary(_ldexp),
    "left_shift": binary(wt.bitwise_left_shift, names="x y"),
    "less": binary(wt.less),
    "less_equal": binary(wt.less_equal),
    "logaddexp": binary(wt.logaddexp),
    "logaddexp2": binary(_logaddexp2),
    "logical_and": binary(wt.logical_and),
    "logical_or": binary(wt.logical_or),
    "logical_xor": binary(wt.logical_xor),
    "maximum": binary(wt.maximum),
    "minimum": binary(wt.minimum),
    "mod": binary(wt.remainder),
    "multiply": binary(wt.multiply),
    "nextafter": binary(wt.nextafter),
    "not_equal": binary(wt.not_equal),
    "power": binary(wt.pow),
    "right_shift": binary(wt.bitwise_right_shift, names="x y"),
    "subtract": binary(wt.subtract),
    "true_divide": binary(wt.divide),
    # -- choices -------------------------------------------------------------------------------
    "select": elementwise(_select),
    "where": elementwise(_where),
}
