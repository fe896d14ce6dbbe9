"""The elementwise table: trigonometric and hyperbolic functions."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from webtensor.ops.elementwise import Kind, binary, unary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "hypot",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

# -- trigonometric functions -----------------------------------------------------------------------


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


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.arctan2(x, y),
    glsl="atan2_(x, y)",
    c="vatan2(x, y)",
    grad_x=lambda dy, out, x, y: dy * y / (x * x + y * y),
    grad_y=lambda dy, out, x, y: -dy * x / (x * x + y * y),
)
def atan2(x: TensorLike, y: TensorLike) -> Tensor:
    """Angle in radians of the point with ordinate ``x`` and abscissa ``y``.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.atan2([0.0], [1.0]).tolist()
        [0.0]
    """


@binary(
    kind=Kind.FLOAT,
    numpy=lambda np, x, y: np.hypot(x, y),
    glsl="hypot_(x, y)",
    c="vhypot(x, y)",
    grad_x=lambda dy, out, x, y: (dy * x).divide_no_nan(out),
    grad_y=lambda dy, out, x, y: (dy * y).divide_no_nan(out),
)
def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    """``sqrt(x * x + y * y)``, without overflow or underflow of the squares.

    The shapes broadcast together. The result is float32.

    Raises:
        TypeError: an operand has dtype complex64 or string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.hypot([3.0], [4.0]).tolist()
        [5.0]
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


# -- hyperbolic functions --------------------------------------------------------------------------


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
