"""Cases of complex tensors: their parts, arithmetic, functions, movement and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, complexes, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    ROUNDED,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["COMPLEX", "GRADIENTS"]

COMPLEX_MATH = Tolerance(
    "a complex function is composed of several real ones; the error is relative to the size of the "
    "complex result, as the smaller part may come of cancellation",
    ulps=6,
    gpu_ulps=32,
)
POWER = Tolerance("exp(y log x) magnifies the error of the logarithm", ulps=64, gpu_ulps=128)


@dataclass(frozen=True)
class Row:
    """A function of one complex tensor, its oracle, and its derivatives' domain."""

    function: str
    oracle: Callable[[Any], Any]
    tolerance: Tolerance = COMPLEX_MATH
    #: Sizes of the real and imaginary parts that it is tried with.
    sizes: tuple[float, ...] = (2.0, 1e-3, 30.0)
    #: Whether it is differentiable, as a function of the plane.
    smooth: bool = True


def _sign(z: Any) -> Any:
    return np.where(z == 0, 0, z / np.where(z == 0, 1, np.abs(z)))


ROWS = (
    Row("abs", np.abs, FEW_ROUNDINGS, (2.0, 1e-3, 1e30, 1e-30)),
    Row("negative", np.negative, EXACT),
    Row("square", np.square, FEW_ROUNDINGS),
    Row("reciprocal", lambda z: 1 / z, COMPLEX_MATH, (2.0, 1e-3, 1e25, 1e-25)),
    Row("sign", _sign, COMPLEX_MATH, (2.0, 1e30)),
    Row("round", np.round, EXACT, (9.0,), smooth=False),
    Row("exp", np.exp),
    Row("expm1", np.expm1),
    Row("log", np.log, COMPLEX_MATH, (2.0, 1e-3, 1e30)),
    Row("log1p", np.log1p, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e30)),
    Row("log2", np.log2),
    Row("log10", np.log10),
    Row("sqrt", np.sqrt, COMPLEX_MATH, (2.0, 1e-3, 1e38, 1e-30)),
    Row("sin", np.sin),
    Row("cos", np.cos),
    Row("tan", np.tan),
    Row("sinh", np.sinh),
    Row("cosh", np.cosh),
    Row("tanh", np.tanh),
    Row("asin", np.arcsin, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("acos", np.arccos, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("atan", np.arctan, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("asinh", np.arcsinh, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("acosh", np.arccosh, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("atanh", np.arctanh, COMPLEX_MATH, (0.5, 2.0, 1e-3, 1e15)),
    Row("real", np.real, EXACT),
    Row("imag", np.imag, EXACT),
    Row("conj", np.conj, EXACT),
    Row("angle", np.angle, FEW_ROUNDINGS, (2.0, 1e30)),
)

NAN, INF = math.nan, math.inf
STRANGE = arr(
    [1 + 2j, complex(NAN, 0), complex(0, NAN), complex(INF, 1), complex(1, -INF), 0], np.complex64
)
#: Points on the axes near zero, where functions without a branch cut there are differentiated.
NEAR_ZERO = arr([0, 0.5, -0.5, 0.5j, -0.5j], np.complex64)
POSITIVE = arr([1.5, 2, 30], np.complex64)
UNCUT_NEAR_ZERO = (
    *("exp", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "atanh"),
)
#: Points on the axes, away from where functions have branch points.
ON_AXES = arr([0.5, -0.5, 2, 0.5j, -0.5j, 2j, -2j, 1 + 1j, -1 - 1j], np.complex64)


def _product_terms(x: Any, y: Any) -> Any:
    return np.abs(x) @ np.abs(y)


def _complex_cases() -> list[Case]:
    cases = [
        Case(
            row.function,
            (complexes((7, 3), -size, size),),
            row.oracle,
            row.tolerance,
            note=f"up to {size:g}",
            sample=size == 2.0,
        )
        for row in ROWS
        for size in row.sizes
    ]
    cases += [
        Case(row.function, (ON_AXES,), row.oracle, row.tolerance, note="on axes") for row in ROWS
    ]
    cases += [
        Case("isnan", (STRANGE,), np.isnan),
        Case("isinf", (STRANGE,), np.isinf),
        Case("isfinite", (STRANGE,), np.isfinite),
        Case("sign", (arr([0, 3j], np.complex64),), _sign),
        Case("complex", (floats((2, 3)), floats((3,), seed=1)), lambda x, y: x + 1j * y),
        Case("real", (floats((3,)),), np.real),
        Case("imag", (floats((3,)),), np.imag),
    ]
    x, y = complexes((3, 4)), complexes((4,), seed=1)
    two_operands: tuple[tuple[str, Any, Tolerance], ...] = (
        ("add", np.add, ROUNDED),
        ("subtract", np.subtract, ROUNDED),
        ("multiply", np.multiply, FEW_ROUNDINGS),
        ("divide", np.divide, COMPLEX_MATH),
        ("equal", np.equal, EXACT),
        ("not_equal", np.not_equal, EXACT),
        ("pow", np.power, POWER),
    )
    for name, oracle, tolerance in two_operands:
        cases += [
            Case(name, (x, y), oracle, tolerance, sample=True),
            Case(name, (x, floats((3, 1))), oracle, tolerance),
            Case(name, (ints((3, 4), 1, 5), y), oracle, tolerance),
            Case(name, (x, x.copy()), oracle, tolerance, note="of equals"),
        ]
    cases += [
        Case(
            "divide",
            (complexes((5,), -1e30, 1e30), complexes((5,), -1e30, 1e30, 1)),
            np.divide,
            COMPLEX_MATH,
        ),
        Case(
            "divide",
            (arr([1 + 1j, -2, 3, 0], np.complex64), arr([0, 0, INF, 0], np.complex64)),
            np.divide,
            note="by zero and infinity",
        ),
        Case("pow", (arr([0, 0, 2j], np.complex64), arr([0, 2, 0], np.complex64)), np.power, POWER),
        Case("where", (bools((3, 1)), x, 1.0), np.where),
        Case("where", (bools((4,)), x, y), np.where),
        Case(
            "matmul",
            (x, complexes((4, 5), seed=2)),
            np.matmul,
            summed(_product_terms, 16),
            sample=True,
        ),
        Case(
            "matmul", (complexes((2, 3, 4)), floats((4, 2))), np.matmul, summed(_product_terms, 16)
        ),
        Case("sum", (x, 0), np.sum, summed(lambda x, axis: np.abs(x).sum(axis), 3)),
        Case("prod", (complexes((5, 3)), 0), np.prod, COMPLEX_MATH),
        *(Case("prod", (complexes((2, 3, 0)), axes), np.prod) for axes in ((0, 1), (1, 2), 2, 0)),
        Case("mean", (x,), np.mean, summed(lambda x: np.abs(x).sum(), 12)),
    ]
    return cases + _movement_cases(x)


def _movement_cases(x: Any) -> list[Case]:
    rows: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
        ("reshape", ((2, 6),), np.reshape),
        ("permute_dims", ((1, 0),), np.transpose),
        ("flip", (1,), np.flip),
        ("expand_dims", (1,), np.expand_dims),
        ("broadcast_to", ((2, 3, 4),), np.broadcast_to),
        ("pad", ([(1, 0), (0, 2)],), np.pad),
        ("tile", ((2, 1),), np.tile),
        ("take", (arr([2, 0], np.int32), 0), np.take),
        ("astype", ("float32",), lambda x, _: x.real),
        ("astype", ("bool",), lambda x, _: x != 0),
        ("zeros_like", (), np.zeros_like),
        ("Tensor.__getitem__", (slice(1, None),), lambda x, key: x[key]),
        ("Tensor.__getitem__", ((..., slice(None, None, -2)),), lambda x, key: x[key]),
    )
    cases = [Case(name, (x, *args), oracle) for name, args, oracle in rows]
    return [
        *cases,
        Case("concat", ([x, floats((2, 4))], 0), np.concatenate),
        Case("concat", ([complexes((3, 0))] * 2, 1), np.concatenate),
        Case("stack", ([x, complexes((3, 4), seed=1)], 1), np.stack),
        Case("astype", (ints((3,)), "complex64"), lambda x, _: x.astype(np.complex128)),
    ]


def _gradient_cases() -> list[Case]:
    cases = []
    for row in ROWS:
        if row.smooth:
            case = Case(row.function, (complexes((4,), 0.2, 0.8),), row.oracle)
            cases.append(gradient_of(case))
            if row.function not in ("negative", "real", "imag", "conj"):
                cases.append(second_derivative_of(case))
    cases += [
        gradient_of(Case(row.function, (NEAR_ZERO,), row.oracle, note="on axes"))
        for row in ROWS
        if row.function in UNCUT_NEAR_ZERO
    ]
    cases += [
        gradient_of(Case(name, (POSITIVE,), oracle, note="on the real axis"))
        for name, oracle in (("sqrt", np.sqrt), ("acosh", np.arccosh), ("log", np.log))
    ]
    x, y = complexes((2, 3), 0.2, 1), complexes((3,), 0.2, 1, seed=1)
    cases += [
        gradient_of(Case(name, (x, y), oracle))
        for name, oracle in (
            ("add", np.add),
            ("multiply", np.multiply),
            ("divide", np.divide),
            ("pow", np.power),
        )
    ]
    return [
        *cases,
        gradient_of(Case("abs", (arr([1 + 1j, -2 - 2j, 3, 4j], np.complex64),), np.abs)),
        gradient_of(Case("log", (arr([1 + 1j, -2 - 2j, 3, 4j, 0.8j], np.complex64),), np.log)),
        gradient_of(Case("matmul", (x, complexes((3, 2), seed=2)), np.matmul)),
        gradient_of(Case("complex", (floats((3,)), floats((3,), seed=1)), lambda x, y: x + 1j * y)),
        gradient_of(Case("prod", (x, 0), np.prod)),
        gradient_of(Case("where", (bools((3,)), x, y), np.where)),
        gradient_of(Case("multiply", (x, floats((3,))), np.multiply)),
    ]


COMPLEX = _complex_cases()
GRADIENTS = _gradient_cases()
