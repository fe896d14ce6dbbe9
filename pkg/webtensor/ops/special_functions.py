"""The elementwise table: the error function, its inverse, and polynomials."""

from __future__ import annotations

from math import pi, sqrt as _sqrt
from typing import TYPE_CHECKING, Any

from webtensor.ops.elementwise import unary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

__all__ = [
    "erf",
    "erf_inv",
]

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
