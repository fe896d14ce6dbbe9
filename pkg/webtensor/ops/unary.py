"""The elementwise table: functions of one tensor.

Each function is a row (see ``elementwise.py``): adding one here adds it to every backend. Functions
that compute in float32 convert int32 and bool tensors first. Gradients are in terms of ``dy``, the
gradient of the result, ``y``, the result, and ``x``.
"""

from __future__ import annotations

from math import log as _log, pi, sqrt as _sqrt
from typing import TYPE_CHECKING, Any

from webtensor.ops.elementwise import BOOL_RULES, Kind, unary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

# The names shadow builtins as the array API standard's do.
__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_invert",
    "ceil",
    "clip_by_value",
    "cos",
    "cosh",
    "divisor_of_kept",
    "elu",
    "erf",
    "erf_inv",
    "exp",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "leaky_relu",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "logical_not",
    "negative",
    "reciprocal",
    "relu",
    "relu6",
    "round",
    "rsqrt",
    "selu",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "step",
    "tan",
    "tanh",
    "trunc",
    "unit_float",
]

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


# Rational approximation of the error function, from the highest power down.
_ERF_TOP = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
_ERF_BOTTOM = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03),
    *(-7.37332916720468e-03, -1.42647390514189e-02),
)

# M. Giles, *Approximating the erfinv function* (GPU Computing Gems, 2011), single precision.
_ERF_INV_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_ERF_INV_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _numpy_erf(np: Any, x: Any) -> Any:
    t = np.clip(x, -4, 4)
    return t * _horner(t * t, _ERF_TOP) / _horner(t * t, _ERF_BOTTOM)


def _numpy_erf_inv(np: Any, x: Any) -> Any:
    w = -np.log((1 - x) * (1 + x))
    central = _horner(w - 2.5, _ERF_INV_CENTRAL)
    tail = _horner(np.sqrt(w) - 3, _ERF_INV_TAIL)
    return np.where(np.abs(x) == 1, x * np.inf, x * np.where(w < 5, central, tail))


def _horner(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Evaluate a polynomial, its coefficients starting with the highest power."""
    result = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


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
    """Nearest integer; halves go to the even one.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.round([0.5, 1.5, -2.7]).tolist()
        [0.0, 2.0, -3.0]
    """


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


# -- trigonometry -------------------------------------------------------------------------------


@unary(
    numpy=lambda np, x: np.sin(x),
    glsl="sin_(x)",
    c="vsin(x)",
    grad=lambda dy, y, x: dy * x.cos(),
)
def sin(x: TensorLike) -> Tensor:
    """Sine of an angle in radians.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.sin([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.cos(x),
    glsl="cos_(x)",
    c="vcos(x)",
    grad=lambda dy, y, x: -dy * x.sin(),
)
def cos(x: TensorLike) -> Tensor:
    """Cosine of an angle in radians.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.cos([0.0]).tolist()
        [1.0]
    """


@unary(
    numpy=lambda np, x: np.tan(x),
    glsl="tan_(x)",
    c="vtan(x)",
    grad=lambda dy, y, x: dy * (1 + y * y),
)
def tan(x: TensorLike) -> Tensor:
    """Tangent of an angle in radians.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.tan([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arcsin(x),
    glsl="asin_(x)",
    c="vasin(x)",
    grad=lambda dy, y, x: dy * (1 - x * x).rsqrt(),
)
def asin(x: TensorLike) -> Tensor:
    """Inverse sine in radians; NaN outside [-1, 1].

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.asin([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arccos(x),
    glsl="acos_(x)",
    c="vacos(x)",
    grad=lambda dy, y, x: -dy * (1 - x * x).rsqrt(),
)
def acos(x: TensorLike) -> Tensor:
    """Inverse cosine in radians; NaN outside [-1, 1].

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.acos([1.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arctan(x),
    glsl="atan_(x)",
    c="vatan(x)",
    grad=lambda dy, y, x: dy / (1 + x * x),
)
def atan(x: TensorLike) -> Tensor:
    """Inverse tangent in radians.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.atan([0.0]).tolist()
        [0.0]
    """


# -- hyperbolic functions -----------------------------------------------------------------------


@unary(
    numpy=lambda np, x: np.sinh(x),
    glsl="sinh_(x)",
    c="vsinh(x)",
    grad=lambda dy, y, x: dy * x.cosh(),
)
def sinh(x: TensorLike) -> Tensor:
    """Hyperbolic sine.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.sinh([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.cosh(x),
    glsl="cosh_(x)",
    c="vcosh(x)",
    grad=lambda dy, y, x: dy * x.sinh(),
)
def cosh(x: TensorLike) -> Tensor:
    """Hyperbolic cosine.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.cosh([0.0]).tolist()
        [1.0]
    """


@unary(
    numpy=lambda np, x: np.tanh(x),
    glsl="tanh_(x)",
    c="vtanh(x)",
    grad=lambda dy, y, x: dy * (1 - y * y),
)
def tanh(x: TensorLike) -> Tensor:
    """Hyperbolic tangent.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.tanh([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arcsinh(x),
    glsl="asinh_(x)",
    c="vasinh(x)",
    grad=lambda dy, y, x: dy * (1 + x * x).rsqrt(),
)
def asinh(x: TensorLike) -> Tensor:
    """Inverse hyperbolic sine.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.asinh([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arccosh(x),
    glsl="acosh_(x)",
    c="vacosh(x)",
    grad=lambda dy, y, x: dy / y.sinh(),
)
def acosh(x: TensorLike) -> Tensor:
    """Inverse hyperbolic cosine; NaN below 1.

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.acosh([1.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: np.arctanh(x),
    glsl="atanh_(x)",
    c="vatanh(x)",
    grad=lambda dy, y, x: dy / (1 - x * x),
)
def atanh(x: TensorLike) -> Tensor:
    """Inverse hyperbolic tangent; NaN outside [-1, 1].

    The result has the shape of ``x`` and is float32, or complex64 for complex64.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.atanh([0.0]).tolist()
        [0.0]
    """


# -- error function -----------------------------------------------------------------------------


@unary(
    numpy=_numpy_erf,
    glsl="erf_(x)",
    c="verf(x)",
    grad=lambda dy, y, x: dy * (2 / _sqrt(pi)) * (-x * x).exp(),
)
def erf(x: TensorLike) -> Tensor:
    """Gauss error function.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.erf([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=_numpy_erf_inv,
    glsl="erf_inv_(x)",
    c="verf_inv(x)",
    grad=lambda dy, y, x: dy * (_sqrt(pi) / 2) * (y * y).exp(),
)
def erf_inv(x: TensorLike) -> Tensor:
    """Inverse of the error function; infinite at -1 and 1, NaN beyond.

    Giles, *Approximating the erfinv function*, GPU Computing Gems (2011).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.erf_inv([0.0]).tolist()
        [0.0]
    """


# -- polynomials --------------------------------------------------------------------------------


def _polynomial_source() -> str:
    """Horner's rule for the coefficients ``c0`` to ``c16``, in GLSL and C alike."""
    source = "c0"
    for index in range(1, 17):
        source = f"({source} * x + c{index})"
    return source


def _polynomial_gradient(dy: Tensor, y: Tensor, x: Tensor, *coefficients: float) -> Tensor:
    slopes = [c * (16 - index) for index, c in enumerate(coefficients[:-1])]
    return dy * polynomial(x, 0.0, *slopes)


@unary(
    numpy=lambda np, x, *coefficients: _horner(x, coefficients),
    glsl=_polynomial_source(),
    c=_polynomial_source(),
    grad=_polynomial_gradient,
)
def polynomial(
    x: TensorLike,
    c0: float,
    c1: float,
    c2: float,
    c3: float,
    c4: float,
    c5: float,
    c6: float,
    c7: float,
    c8: float,
    c9: float,
    c10: float,
    c11: float,
    c12: float,
    c13: float,
    c14: float,
    c15: float,
    c16: float,
) -> Tensor:
    """Polynomial of degree 16 with the given coefficients, the highest first. Not public."""


# -- activations --------------------------------------------------------------------------------


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.maximum(x, 0),
    glsl="relu_(x)",
    glsl_int="max(x, 0)",
    c="vsel(x < 0, vset(0.f), x)",
    c_int="vmax(x, vseti(0))",
    grad=lambda dy, y, x: dy * x.step(),
)
def relu(x: TensorLike) -> Tensor:
    """Rectified linear unit, ``max(x, 0)``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.relu([-1.0, 2.0]).tolist()
        [0.0, 2.0]
    """


@unary(
    kind=Kind.NUMERIC,
    numpy=lambda np, x: np.clip(x, 0, 6),
    glsl="mix(clamp(x, 0.0, 6.0), x, is_nan(x))",
    glsl_int="clamp(x, 0, 6)",
    c="vsel(x < 0, vset(0.f), vsel(x > 6, vset(6.f), x))",
    c_int="vmin(vmax(x, vseti(0)), vseti(6))",
    grad=lambda dy, y, x: dy * x.step() * (6 - x).step(),
)
def relu6(x: TensorLike) -> Tensor:
    """Rectified linear unit capped at 6, ``min(max(x, 0), 6)``.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.relu6([-1.0, 2.0, 8.0]).tolist()
        [0.0, 2.0, 6.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(x < 0, x * alpha, x),
    glsl="mix(x, x * alpha, x < 0.0)",
    c="vsel(x < 0, x * alpha, x)",
    grad=lambda dy, y, x, alpha: dy * x.step(alpha),
)
def leaky_relu(x: TensorLike, alpha: float = 0.2) -> Tensor:
    """``x`` where it is positive, else ``alpha * x`` (Maas et al., 2013).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.leaky_relu([-10.0, 1.0], alpha=0.5).tolist()
        [-5.0, 1.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x),
    glsl="mix(x, alpha * expm1_(x), x < 0.0)",
    c="vsel(x < 0, alpha * vexpm1(x), x)",
    grad=lambda dy, y, x, alpha: dy * (y + alpha).where(x < 0, 1.0),
)
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., 2015).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.elu([0.0, 1.0]).tolist()
        [0.0, 1.0]
    """


@unary(
    numpy=lambda np, x: _SELU_SCALE * np.where(x < 0, _SELU_ALPHA * np.expm1(np.minimum(x, 0)), x),
    glsl=f"{_SELU_SCALE} * mix(x, {_SELU_ALPHA} * expm1_(x), x < 0.0)",
    c=f"{_SELU_SCALE}f * vsel(x < 0, {_SELU_ALPHA}f * vexpm1(x), x)",
    grad=lambda dy, y, x: dy * (y + _SELU_SCALE * _SELU_ALPHA).where(x <= 0, _SELU_SCALE),
)
def selu(x: TensorLike) -> Tensor:
    """Scaled exponential linear unit (Klambauer et al., 2017).

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.selu([0.0]).tolist()
        [0.0]
    """


@unary(
    numpy=lambda np, x: 1 / (1 + np.exp(-x)),
    glsl="sigmoid_(x)",
    c="1.f / (1.f + vexp(-x))",
    grad=lambda dy, y, x: dy * y * (1 - y),
)
def sigmoid(x: TensorLike) -> Tensor:
    """Logistic function, ``1 / (1 + exp(-x))``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.sigmoid([0.0]).tolist()
        [0.5]
    """


@unary(
    numpy=lambda np, x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    glsl="mix(min(x, 0.0), x, is_nan(x)) - log1p_(exp_(-abs(x)))",
    c="vsel(x > 0, vset(0.f), x) - vlog1p(vexp(-vabs(x)))",
    grad=lambda dy, y, x: dy * (-x).sigmoid(),
)
def log_sigmoid(x: TensorLike) -> Tensor:
    """Logarithm of the logistic function, without overflow.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.log_sigmoid([-1000.0]).tolist()
        [-1000.0]
    """


@unary(
    numpy=lambda np, x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    glsl="relu_(x) + log1p_(exp_(-abs(x)))",
    c="vsel(x < 0, vset(0.f), x) + vlog1p(vexp(-vabs(x)))",
    grad=lambda dy, y, x: dy * x.sigmoid(),
)
def softplus(x: TensorLike) -> Tensor:
    """``log(1 + exp(x))``, without overflow.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.softplus([1000.0]).tolist()
        [1000.0]
    """


@unary(
    numpy=lambda np, x, alpha: np.where(np.isnan(x), x, np.where(x > 0, 1, alpha)),
    glsl="mix(mix(alpha, 1.0, x > 0.0), x, is_nan(x))",
    c="vsel(x > 0, vset(1.f), vsel(x == x, vset(alpha), x))",
)
def step(x: TensorLike, alpha: float = 0.0) -> Tensor:
    """1 where ``x`` is positive, else ``alpha``.

    The result has the shape of ``x`` and is float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.step([-2.0, 0.0, 3.0]).tolist()
        [0.0, 0.0, 1.0]
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


@unary(
    kind=Kind.BITS,
    numpy=lambda np, x, period, a, b: (
        a - b * np.cos(np.minimum(x, period - x) * (2 * pi / period))
    ).astype(np.float32),
    glsl="a - b * cos_(min(float(x), period - float(x)) * (6.2831853 / period))",
    c="a - b * vcos(vmin(vtofloat(x), period - vtofloat(x)) * (6.2831853f / period))",
)
def height_of_window(x: TensorLike, period: float, a: float, b: float) -> Tensor:
    """``a - b * cos(2 * pi * x / period)`` of int32 numbers from 0 to ``period``."""
