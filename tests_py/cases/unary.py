"""Cases of the functions of one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, away_from_ties, bools, complexes, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    MATH,
    ROUNDED,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
)

__all__ = ["GRADIENTS", "UNARY"]

NAN, INF = math.nan, math.inf
SPECIAL = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, INF, -INF, NAN)
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
LARGEST = 3.4e38

SHAPES = (
    *((), (1,), (2,), (3,), (4,), (5,), (7,), (8,), (9,), (17,), (1031,)),
    *((3, 5), (1, 4), (4, 1), (70, 33), (1, 1)),
    *((2, 3, 4), (2, 1, 4), (1, 1, 5)),
    *((2, 3, 1, 5), (1, 2, 3, 1), (2, 1, 3, 1, 2), (1, 2, 1, 3, 1, 2), (2, 2, 2, 2, 2, 3)),
    *((0,), (0, 3), (2, 0, 3), (1, 0, 1, 0, 2, 3)),
)

# GPUs and C compilers compute sin and cos to an absolute error.
WAVE = Tolerance(
    "sin and cos lie in [-1, 1] and lose relative accuracy near their zeros, where libraries for "
    "float32 promise an absolute error",
    ulps=2,
    gpu_ulps=8,
    scale=lambda x, *_: 1.0,
)


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Map a function of the math module over an array."""
    return np.vectorize(function, otypes=[np.float64])


def _erf_inverse(x: float) -> float:
    if abs(x) >= 1 or x != x:
        return math.copysign(INF, x) if abs(x) == 1 else NAN
    y = abs(NormalDist().inv_cdf((1 - abs(x)) / 2)) / math.sqrt(2)
    for _ in range(3):  # Newton's method on the complement, which keeps its digits
        slope = 2 / math.sqrt(math.pi) * math.exp(-y * y)
        error = math.erf(y) - abs(x) if y < 1 else (1 - abs(x)) - math.erfc(y)
        y -= error / slope
    return math.copysign(y, x)


def _half_to_even(x: Any) -> Any:
    below = np.floor(x)
    part = x - below
    odd = np.mod(below, 2) == 1
    return np.where(part > 0.5, below + 1, np.where(part < 0.5, below, below + odd))


@dataclass(frozen=True)
class Row:
    """A function, its oracle in float64, where to sample it, and its derivatives' domain."""

    function: str
    oracle: Callable[..., Any]
    tolerance: Tolerance
    domain: tuple[float, float] = (-3.0, 3.0)
    more: Sequence[float] = ()
    special: Sequence[float] = SPECIAL
    #: Where to differentiate; None where the gradient is zero or absent.
    smooth: tuple[float, float] | None = (-2.0, 2.0)
    kinks: Sequence[float] = ()
    #: Whether the second derivative is worth a row: it is not zero.
    curved: bool = True
    #: What int32 gives: "float", "int", or None where it is not accepted.
    integers: str | None = "float"


def _nan_kept(oracle: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: np.where(np.isnan(x), x, oracle(x)) if x.dtype.kind == "f" else oracle(x)


WITHIN_ONE = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.0, INF, -INF, NAN)


ROWS = (
    Row("abs", lambda x: np.where(x < 0, -x, x), EXACT, kinks=(0,), curved=False, integers="int"),
    Row("negative", lambda x: 0 - x, EXACT, curved=False, integers="int"),
    Row(
        "sign",
        _nan_kept(
            lambda x: (
                (x > 0) * 1 - (x < 0) * 1.0 if x.dtype.kind == "f" else (x > 0) * 1 - (x < 0) * 1
            )
        ),
        EXACT,
        smooth=None,
        integers="int",
    ),
    Row("square", lambda x: x * x, ROUNDED, integers="int", more=(1e18, -1e18, 1e20, -1e20)),
    Row("sqrt", np.sqrt, ROUNDED, (0, 9), smooth=(0.5, 3), more=(1e30, 1e-30, LARGEST)),
    Row(
        "rsqrt",
        lambda x: 1 / np.sqrt(x),
        FEW_ROUNDINGS,
        (0.01, 9),
        smooth=(0.5, 3),
        more=(1e30, 1e-30),
    ),
    Row("reciprocal", lambda x: 1 / x, ROUNDED, (0.1, 9), smooth=(0.5, 3), more=(1e30, -1e-30)),
    Row(
        "ceil",
        np.ceil,
        EXACT,
        (-9, 9),
        smooth=None,
        integers="int",
        more=(8388609, -8388609, 1e10, -0.2),
    ),
    Row(
        "floor",
        np.floor,
        EXACT,
        (-9, 9),
        smooth=None,
        integers="int",
        more=(8388609, -8388609, 1e10, -0.2),
    ),
    Row(
        "round",
        _half_to_even,
        EXACT,
        (-9, 9),
        smooth=None,
        integers="int",
        more=(0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.49999997, 8388609, 4194304.5, 1e10),
    ),
    Row(
        "trunc",
        np.trunc,
        EXACT,
        (-9, 9),
        smooth=None,
        integers="int",
        more=(8388609, -8388609, 1e10, -0.2, 1.9999999, -1.9999999),
    ),
    Row("exp", np.exp, MATH, more=(88.5, 89, -80, -104, 1e4, -1e4, 1e-4, 20, -20)),
    Row("expm1", np.expm1, MATH, more=(1e-4, -1e-4, 1e-8, 88.5, 89, -20, -104)),
    Row(
        "log",
        np.log,
        MATH,
        (0.01, 9),
        smooth=(0.5, 3),
        more=(1e30, 1e-30, LARGEST, 1.001, 0.999),
    ),
    Row("log1p", np.log1p, MATH, (-0.9, 9), smooth=(-0.5, 3), more=(1e-4, -1e-4, 1e-8, 1e30)),
    Row(
        "log2",
        np.log2,
        MATH,
        (0.01, 9),
        smooth=(0.5, 3),
        more=(1e30, 1e-30, LARGEST, 1.001, 0.999, 0.70710678),
    ),
    Row(
        "log10",
        np.log10,
        MATH,
        (0.01, 9),
        smooth=(0.5, 3),
        more=(1e30, 1e-30, LARGEST, 1.001, 0.999),
    ),
    Row("sin", np.sin, WAVE, (-7, 7), more=(30, -100)),
    Row("cos", np.cos, WAVE, (-7, 7), more=(30, -100)),
    Row("tan", np.tan, MATH, (-1.4, 1.4), smooth=(-1, 1), more=(3, -3.5)),
    Row(
        "asin",
        np.arcsin,
        MATH,
        (-1, 1),
        special=WITHIN_ONE,
        smooth=(-0.8, 0.8),
        more=(1e-4, 0.9999),
    ),
    Row(
        "acos",
        np.arccos,
        MATH,
        (-1, 1),
        special=WITHIN_ONE,
        smooth=(-0.8, 0.8),
        more=(1e-4, 0.9999),
    ),
    Row("atan", np.arctan, MATH, (-9, 9), more=(1e-4, 1e30, -1e30)),
    Row("sinh", np.sinh, MATH, more=(1e-4, -1e-4, 10, -10, 89, 95)),
    Row("cosh", np.cosh, MATH, more=(1e-4, -1e-4, 10, -10, 89, 95)),
    Row("tanh", np.tanh, MATH, more=(1e-4, -1e-4, 10, -10, 95, -1e30)),
    Row("asinh", np.arcsinh, MATH, more=(1e-4, -1e-4, 1e4, -1e4, 1e30, -1e30)),
    Row("acosh", np.arccosh, MATH, (1, 9), smooth=(1.5, 3), more=(1.001, 1e4, 1e30, 0.5)),
    Row(
        "atanh",
        np.arctanh,
        MATH,
        (-0.95, 0.95),
        special=WITHIN_ONE,
        smooth=(-0.8, 0.8),
        more=(1e-4, 0.999),
    ),
    Row("erf", _each(math.erf), MATH, more=(1e-4, -1e-4, 3.5, -4.5)),
    Row(
        "erf_inv",
        _each(_erf_inverse),
        MATH,
        (-0.98, 0.98),
        special=WITHIN_ONE,
        smooth=(-0.8, 0.8),
        more=(1e-4, 0.9999, -0.99999),
    ),
    Row(
        "relu",
        _nan_kept(lambda x: x * (x > 0) if x.dtype.kind != "f" else np.where(x > 0, x, 0)),
        EXACT,
        kinks=(0,),
        curved=False,
        integers="int",
    ),
    Row(
        "relu6",
        _nan_kept(lambda x: np.where(x > 6, 6, np.where(x > 0, x, 0))),
        EXACT,
        (-3, 9),
        kinks=(0,),
        curved=False,
        integers="int",
    ),
    Row("elu", lambda x: np.where(x > 0, x, np.expm1(x)), MATH, kinks=(0,), more=(-1e-4, -20)),
    Row(
        "selu",
        lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)),
        MATH,
        kinks=(0,),
        more=(-1e-4, -20),
    ),
    Row("leaky_relu", lambda x: np.where(x > 0, x, 0.2 * x), ROUNDED, kinks=(0,), curved=False),
    Row(
        "sigmoid",
        lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x))),
        MATH,
        more=(20, -20, 80, -80, -200),
    ),
    Row("log_sigmoid", lambda x: -np.logaddexp(0, -x), MATH, more=(20, -20, 80, -1000, 1000)),
    Row("softplus", lambda x: np.logaddexp(0, x), MATH, more=(20, -20, 80, -80, 1000, -1000)),
    Row("step", _nan_kept(lambda x: np.where(x > 0, 1.0, 0.0)), EXACT, smooth=None),
    Row("signbit", np.signbit, EXACT, smooth=None, integers="bool", more=(-1e-30, LARGEST)),
    Row("isnan", lambda x: x != x, EXACT, smooth=None, integers="bool"),
    Row("isinf", lambda x: (x == INF) | (x == -INF), EXACT, smooth=None, integers="bool"),
    Row(
        "isfinite",
        lambda x: (x > -INF) & (x < INF),
        EXACT,
        smooth=None,
        integers="bool",
        more=(LARGEST,),
    ),
    Row("logical_not", lambda x: x == 0, EXACT, smooth=None, integers="bool"),
)


SHIFTED = Tolerance(
    "a product and a sum of numbers of the size of the bounds",
    ulps=1,
    gpu_ulps=2,
    scale=lambda x, low, span, most: abs(low) + abs(span),
)


def _unary_cases() -> list[Case]:
    cases = [
        Case("negative", (floats(shape),), lambda x: -x, sample=shape in ((3, 5), (0,), (70, 33)))
        for shape in SHAPES
    ]
    cases += [
        Case("exp", (floats(shape),), np.exp, MATH)
        for shape in ((), (3,), (1031,), (2, 1, 3, 1, 2), (0, 3), (70, 33))
    ]
    for row in ROWS:
        low, high = row.domain
        plain = Case(row.function, (floats((7, 9), low, high),), row.oracle, row.tolerance)
        cases.append(replace(plain, sample=True))
        values = (*row.special, *row.more)
        cases.append(
            Case(row.function, (arr(values),), row.oracle, row.tolerance, note="of special values")
        )
        as_integers = _on_integers(row)
        cases.append(Case(row.function, (ints((5, 3), -9, 10),), as_integers, row.tolerance))
        cases.append(Case(row.function, (bools((7,)),), as_integers, row.tolerance))
    large = arr([2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 2**16, 46341], np.int32)
    cases += [
        Case(row.function, (large,), _on_integers(row), EXACT, note="beyond 2**24")
        for row in ROWS
        if row.integers == "int"
    ]
    cases += [
        Case("leaky_relu", (floats((9,)), 0.5), lambda x, a: np.where(x > 0, x, a * x), ROUNDED),
        Case("leaky_relu", (arr(SPECIAL), 0.0), lambda x, a: np.where(x > 0, x, a * x), ROUNDED),
        Case("elu", (floats((9,)),), _elu, MATH, {"alpha": 2.5}),
        Case("step", (floats((9,)), -3.0), lambda x, a: np.where(x > 0, 1, a) * 1.0, EXACT),
        *(
            Case("round", (x, decimals), np.round, FEW_ROUNDINGS)
            for x in (floats((7, 9), -300, 300), ints((9,), -300, 300))
            for decimals in (1, 2, -1, -2)
        ),
        # Ten times the largest number overflows, in NumPy, too.
        *(
            Case("round", (arr(SPECIAL), decimals), np.round, FEW_ROUNDINGS)
            for decimals in (-1, -2)
        ),
        Case("round", (complexes((4,)), 1), np.round, FEW_ROUNDINGS),
        Case("clip_by_value", (floats((17,)), -0.5, 1.25), np.clip, EXACT, sample=True),
        Case("clip_by_value", (arr(SPECIAL), -0.5, 1.25), np.clip, EXACT),
        Case("clip_by_value", (arr(SPECIAL), -INF, 1.0), np.clip, EXACT),
        Case("composed", (arr(SPECIAL[:-1]), arr(0), "sign", "signbit"), _sign_of_sign),
        Case("unit_float", (_bits(),), _unit_float, EXACT, sample=True),
        Case("divisor_of_kept", (_bits(), 0.5, 2.0), _divisor_of_kept, EXACT, sample=True),
        Case(
            "float_between",
            (_bits(), -3.0, 0.5, -2.75),
            _float_between,
            SHIFTED,
            sample=True,
        ),
        Case("bitwise_invert", (large,), np.invert, EXACT, sample=True),
        Case("bitwise_invert", (ints((2, 3)),), np.invert, EXACT),
        Case("bitwise_invert", (bools((7,)),), np.invert, EXACT),
        Case("log2", (arr([2.0**n for n in range(-126, 128)]),), np.log2, EXACT, note="of powers"),
    ]
    return cases


def _elu(x: Any, alpha: float) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _bits() -> Any:
    return arr([0, 1, 255, 256, 2**31 - 1, -(2**31), -1, -256, 123456789], np.int32)


def _unit_float(x: Any) -> Any:
    return (np.mod(x, 2**32) // 256) * 2.0**-24


def _divisor_of_kept(x: Any, rate: float, divisor: float) -> Any:
    return np.where(_unit_float(x) >= rate, divisor, 0.0)


def _float_between(x: Any, low: float, span: float, most: float) -> Any:
    return np.minimum(_unit_float(x) * span + low, most)


def _sign_of_sign(x: Any, *_: Any) -> Any:
    return np.signbit(np.sign(x))


def _on_integers(row: Row) -> Callable[..., Any]:
    """The oracle for int32 and bool operands, which are converted to what the row computes in."""
    if row.integers == "int":
        return lambda x: np.asarray(row.oracle(x * 1)).astype(np.int64)
    return lambda x: row.oracle(x * 1.0)


def _gradient_cases() -> list[Case]:
    cases = []
    for row in ROWS:
        if row.smooth is None:
            continue
        x = floats((2, 3), *row.smooth) if not row.kinks else away_from_ties((2, 3), row.kinks)
        case = Case(row.function, (x,), row.oracle)
        cases.append(gradient_of(case))
        if row.curved:
            cases.append(second_derivative_of(case))
    x = away_from_ties((7,), (0, -0.5, 1.25))
    cases += [
        gradient_of(Case("leaky_relu", (x, 0.5), lambda x, a: np.where(x > 0, x, a * x))),
        gradient_of(Case("elu", (x,), _elu, kwargs={"alpha": 2.5})),
        second_derivative_of(Case("elu", (x,), _elu, kwargs={"alpha": 2.5})),
        gradient_of(Case("clip_by_value", (x, -0.5, 1.25), np.clip)),
        gradient_of(Case("exp", (floats(()),), np.exp)),
        second_derivative_of(Case("exp", (floats(()),), np.exp)),
        gradient_of(Case("tanh", (floats((0, 3)),), np.tanh)),
        gradient_of(Case("sin", (floats((1, 2, 1, 3, 1, 2)),), np.sin)),
    ]
    for name in ("sign", "floor", "ceil", "round", "trunc", "step"):
        flat = next(row for row in ROWS if row.function == name)
        cases.append(gradient_of(Case(name, (arr([0.3, -1.3, 2.2]),), flat.oracle)))
    return cases


UNARY = _unary_cases()
GRADIENTS = _gradient_cases()
