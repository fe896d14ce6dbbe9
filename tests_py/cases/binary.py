"""Cases of the functions of two or three tensors: broadcasting, dtypes, special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, away_from_ties, bools, distinct, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    MATH,
    ROUNDED,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
    summed,
)

__all__ = ["BINARY", "GRADIENTS", "OPERATORS", "WHERE_AND_CLIP"]

NAN, INF = math.nan, math.inf

#: Every way in which two shapes broadcast, at sizes around and beyond a vector of four.
BROADCASTS = (
    ((), ()),
    ((), (3,)),
    ((5,), ()),
    ((1,), ()),
    ((1,), (4,)),
    ((4,), (1,)),
    ((17,), (17,)),
    ((1031,), (1031,)),
    ((1031,), ()),
    ((3, 1), (1, 4)),
    ((1, 5), (2, 1)),
    ((3, 4), (4,)),
    ((4,), (3, 4)),
    ((3, 4), (3, 1)),
    ((3, 1), (3, 4)),
    ((7, 9), (9,)),
    ((70, 33), (33,)),
    ((70, 33), (70, 1)),
    ((70, 33), ()),
    ((1, 1031), (3, 1)),
    ((2, 3, 4), (3, 1)),
    ((2, 1, 4), (3, 1)),
    ((2, 3, 4), (2, 1, 1)),
    ((1, 1, 1), (2, 3, 4)),
    ((5, 1, 7), (5, 9, 1)),
    ((2, 3, 4), (1,)),
    ((2, 1, 3, 1), (1, 4, 1, 5)),
    ((2, 3, 4, 5), (4, 1)),
    ((1, 3, 5, 8), (2, 1, 1, 8)),
    ((2, 3, 1, 1, 2), (3, 2, 1)),
    ((1, 2, 1, 3, 1, 2), (2, 1, 2, 1, 3, 1)),
    ((2, 3, 4, 5, 1, 2), (3, 1, 5, 2, 1)),
    ((2, 2, 2, 2, 2, 2), (2, 2, 2)),
    ((2, 1, 3, 1, 2, 2, 1, 2), (2, 1, 3, 1, 1, 2, 1)),
    ((0,), (1,)),
    ((0, 3), (3,)),
    ((2, 0), (1, 1)),
    ((2, 0, 3), ()),
    ((1, 0), (4, 1)),
)
FEW_BROADCASTS = (((7, 9), (7, 9)), ((5, 1), (1, 6)), ((), (3,)), ((2, 3, 4), (3, 1)))

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN)
#: Every special value beside every other.
SPECIAL_PAIRS = tuple(arr(side) for side in zip(*product(SPECIAL, SPECIAL), strict=True))

INTEGERS = (0, 1, -1, 2, -7, 7, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31))
INTEGER_PAIRS = tuple(
    arr(side, np.int32) for side in zip(*product(INTEGERS, INTEGERS), strict=True)
)


def _if_zero(y: Any, otherwise: Any, value: Any = 0) -> Any:
    return np.where(y == 0, value, otherwise)


def _floor_divide(x: Any, y: Any) -> Any:
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return np.floor(np.divide(x, y))
    return _if_zero(y, np.floor_divide(x, np.where(y == 0, 1, y)))


def _remainder(x: Any, y: Any) -> Any:
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return np.mod(x, y)
    return _if_zero(y, np.mod(x, np.where(y == 0, 1, y)))


def _int_pow(x: int, y: int) -> int:
    x, y = int(x), int(y)
    if y < 0:
        return x ** (y & 1) if abs(x) == 1 else 0
    value = pow(x, y, 2**32)
    return value - 2**32 if value >= 2**31 else value


def _pow(x: Any, y: Any) -> Any:
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return np.power(np.asarray(x, np.float64), y)
    return np.vectorize(_int_pow, otypes=[np.int64])(np.asarray(x) * 1, np.asarray(y) * 1)


POWER = Tolerance(
    "exp(y log x) needs log x to more than float32's digits; libraries that have them give 2 ULP, "
    "16 ULP is what OpenCL asks of pow, and GLSL ES 3.00 leaves it to exp2(y * log2(x))",
    ulps=16,
    gpu_ulps=64,
)


def _next_after(x: Any, y: Any) -> Any:
    return np.nextafter(np.float32(x), np.float32(y)).astype(np.float64)


def _copy_sign(x: Any, y: Any) -> Any:
    return np.copysign(np.float32(x) if np.asarray(x).dtype.kind == "i" else x, y) * 1.0


def _left_shift(x: Any, y: Any) -> Any:
    return np.where((y < 0) | (y > 31), 0, x * 2 ** np.clip(y, 0, 31))


def _right_shift(x: Any, y: Any) -> Any:
    return x // 2 ** np.where((y < 0) | (y > 31), 31, y)


LOG_SUM = Tolerance(
    "the logarithm of a sum is added to the larger operand, which it may nearly cancel",
    ulps=4,
    gpu_ulps=16,
    scale=lambda x, y: np.nan_to_num(np.maximum(np.abs(x), np.abs(y)), posinf=0),
)
REMAINDER = Tolerance(
    "what is left of x is as exact as x: GPUs have no exact remainder, and subtract a multiple of "
    "y that was rounded",
    ulps=1,
    gpu_ulps=2,
    scale=lambda x, y: np.abs(x),
)
NEIGHBOUR = Tolerance(
    "nothing is rounded, but the neighbours of zero are subnormal, which may be flushed",
    ulps=0.01,
)


@dataclass(frozen=True)
class Row:
    """A function of two tensors, its oracle, where to sample it, and what it takes."""

    function: str
    oracle: Callable[[Any, Any], Any]
    tolerance: Tolerance
    #: Domains of the two operands.
    x: tuple[float, float] = (-3.0, 3.0)
    y: tuple[float, float] = (-3.0, 3.0)
    integers: bool = True
    special: bool = True
    kind: str = "arithmetic"
    curved: bool = True
    differentiable: bool = True


BITS: dict[str, Any] = {"kind": "bits", "differentiable": False, "special": False}

# fmt: off
ROWS = (
    Row("add", lambda x, y: x + y, ROUNDED, curved=False),
    Row("subtract", lambda x, y: x - y, ROUNDED, curved=False),
    Row("multiply", lambda x, y: x * y, ROUNDED),
    Row("divide", lambda x, y: x / y, ROUNDED, y=(0.5, 3)),
    Row("divide_no_nan", lambda x, y: _if_zero(y, x / y), ROUNDED, y=(0.5, 3)),
    Row("floor_divide", _floor_divide, EXACT, y=(0.7, 3), differentiable=False),
    Row("remainder", _remainder, REMAINDER, y=(0.7, 3), curved=False, special=False),
    Row("pow", _pow, POWER, x=(0.1, 3)),
    Row("maximum", np.maximum, EXACT, curved=False),
    Row("minimum", np.minimum, EXACT, curved=False),
    Row("squared_difference", lambda x, y: (x - y) ** 2, FEW_ROUNDINGS),
    Row("atan2", np.arctan2, MATH),
    Row("prelu", lambda x, y: np.where(x < 0, x * y, x) * 1.0, ROUNDED),
    Row("hypot", np.hypot, FEW_ROUNDINGS),
    Row("logaddexp", np.logaddexp, LOG_SUM),
    Row("copysign", _copy_sign, EXACT, curved=False),
    Row("nextafter", _next_after, NEIGHBOUR, differentiable=False),
    Row("bitwise_and", lambda x, y: x & y, EXACT, **BITS),
    Row("bitwise_or", lambda x, y: x | y, EXACT, **BITS),
    Row("bitwise_xor", lambda x, y: x ^ y, EXACT, **BITS),
    Row("bitwise_left_shift", _left_shift, EXACT, **BITS),
    Row("bitwise_right_shift", _right_shift, EXACT, **BITS),
    Row("equal", lambda x, y: x == y, EXACT, kind="test", differentiable=False),
    Row("not_equal", lambda x, y: x != y, EXACT, kind="test", differentiable=False),
    Row("less", lambda x, y: x < y, EXACT, kind="test", differentiable=False),
    Row("less_equal", lambda x, y: x <= y, EXACT, kind="test", differentiable=False),
    Row("greater", lambda x, y: x > y, EXACT, kind="test", differentiable=False),
    Row("greater_equal", lambda x, y: x >= y, EXACT, kind="test", differentiable=False),
    Row("logical_and", lambda x, y: (x != 0) & (y != 0), EXACT, kind="logic", differentiable=False),
    Row("logical_or", lambda x, y: (x != 0) | (y != 0), EXACT, kind="logic", differentiable=False),
    Row("logical_xor", lambda x, y: (x != 0) ^ (y != 0), EXACT, kind="logic", differentiable=False),
)
# fmt: on
BY_NAME = {row.function: row for row in ROWS}


def _as_numbers(oracle: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An oracle for bool operands, which count as 0 and 1."""
    return lambda x, y: oracle(np.asarray(x) * 1, np.asarray(y) * 1)


def _case(row: Row, x: Any, y: Any, **fields: Any) -> Case:
    return Case(row.function, (x, y), _as_numbers(row.oracle), row.tolerance, **fields)


def _pair(row: Row, first: Any, second: Any) -> tuple[Any, Any]:
    return floats(first, *row.x, seed=1), floats(second, *row.y, seed=2)


def _binary_cases() -> list[Case]:
    cases = []
    for first, second in BROADCASTS:
        sampled = {"sample": len(first) in (2, 5)}
        cases.append(_case(BY_NAME["add"], *_pair(BY_NAME["add"], first, second), **sampled))
    for first, second in BROADCASTS[1:10] + BROADCASTS[-4:]:
        cases.append(_case(BY_NAME["multiply"], *_pair(BY_NAME["multiply"], first, second)))
        cases.append(_case(BY_NAME["add"], ints(first), ints(second, seed=1)))
        cases.append(_case(BY_NAME["less"], floats(first), floats(second, seed=1)))
        cases.append(_case(BY_NAME["logical_and"], bools(first), bools(second, seed=1)))
    for row in ROWS:
        for first, second in FEW_BROADCASTS:
            x, y = _pair(row, first, second)
            if row.kind == "bits":
                x, y = ints(first, -100, 100), ints(second, -100, 100, seed=1)
            cases.append(_case(row, x, y, sample=first == (7, 9)))
        if row.special:
            cases.append(_case(row, *SPECIAL_PAIRS, note="of special values"))
        cases += _of_integers(row)
    return cases + _special_cases()


def _of_integers(row: Row) -> list[Case]:
    """Rows for int32, bool and mixed operands."""
    x, y = INTEGER_PAIRS
    if row.function == "pow":
        keep = (x != 0) | (y >= 0)  # 0 to a negative power has no value
        x, y = x[keep], y[keep]
    cases = [_case(row, x, y, note="of extreme integers")]
    cases.append(_case(row, bools((9,), 1), ints((9,), 1, 4)))
    if row.function in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        truths = bools((5, 3), 1), bools((5, 3), 2)
        cases.append(Case(row.function, truths, row.oracle, row.tolerance))
    elif row.function in ("divide", "floor_divide", "remainder", "pow"):
        cases.append(_case(row, ints((5, 3)), ints((5, 3), 1, 5)))
    else:
        cases.append(_case(row, bools((5, 3), 1), bools((5, 3), 2)))
    if row.kind != "bits":
        cases.append(_case(row, ints((5, 1), 1, 9), floats((1, 3), *row.y)))
        cases.append(_case(row, floats((4,), *row.x), ints((4,), 1, 5)))
        cases.append(_case(row, floats((4,), *row.x), bools((1,), 4) | True))
    return cases


def _special_cases() -> list[Case]:
    row = BY_NAME
    whole = arr([6, -6, 7, -7, 9, 0, 12, 1e6])
    by = arr([3, 3, -7, -7, 0.5, 5, -4, 1e3])
    infinite = arr([5, -5, INF, 3, -3, 0, NAN]), arr([INF, INF, 2, 0, -0.0, 2, 2])
    powers = (
        arr([2, -2, -2, 0, 0, -8, 10, 1.0000001, 0.5, -1, 3]),
        arr([10, 3, -3, 0, 2, 0.5, 38, 1e6, 130, 1e9, -0.0]),
    )
    return [
        _case(row["floor_divide"], whole, by, note="of whole multiples"),
        _case(row["remainder"], whole, by, note="of whole multiples"),
        _case(row["remainder"], *infinite, note="of special values"),
        _case(row["pow"], *powers, note="of unusual powers"),
        _case(row["pow"], floats((17,), 0.1, 30), arr([2.0]), note="squared"),
        _case(row["pow"], floats((17,), -3, 3), arr(-3.0), note="of negative numbers"),
        _case(row["pow"], ints((11,), -5, 6, 3), arr(7, np.int32)),
        _case(row["multiply"], floats((9,)), 2.5),
        _case(row["multiply"], 3, floats((9,))),
        _case(row["multiply"], ints((9,)), 3, sample=True),
        _case(row["multiply"], ints((9,)), 0.5),
        _case(row["add"], bools((9,)), True),
        _case(row["less"], 0.5, floats((9,))),
        _case(row["maximum"], ints((9,)), 0),
        _case(row["equal"], arr([2**24, 2**24 + 1], np.int32), 2**24 + 1, note="beyond 2**24"),
    ]


def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition != 0, x, y)


def _where_cases() -> list[Case]:
    shapes = (
        ((3, 4), (3, 4), (3, 4)),
        ((3, 1), (4,), ()),
        ((), (5,), (5,)),
        ((5,), (), ()),
        ((2, 1, 3), (1, 4, 1), (3,)),
        ((70, 33), (33,), (70, 1)),
        ((1, 2, 1, 3, 1, 2), (2, 1), (3, 1, 1, 2)),
        ((0,), (1,), ()),
        ((2, 0), (1, 1), (2, 0)),
    )
    large = arr([2**24 + 1, -(2**31), 2**31 - 1], np.int32)
    cases = [
        Case("where", (bools(c), floats(x), floats(y, seed=1)), _where, sample=len(c) == 2)
        for c, x, y in shapes
    ]
    return [
        *cases,
        Case("where", (bools((3,)), large, large[::-1].copy()), _where, note="beyond 2**24"),
        Case("where", (bools((7,)), bools((7,), 1), bools((7,), 2)), _where),
        Case("where", (ints((7,), -1, 2), floats((7,)), ints((7,))), _where),
        Case("where", (floats((7,), 0, 1), 1.5, floats((7,))), _where),
        Case("where", (bools((7,)), arr(SPECIAL[2:]), 0.0), _where, note="keeps NaN out"),
        Case("where", (bools((4,)), 1, 0), _where),
    ]


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is not None:
        x = np.where(x < low, low, x)
    return x if high is None else np.where(x > high, high, x)


def _clip_cases() -> list[Case]:
    x = floats((7, 9))
    return [
        Case("clip", (x, -0.5, 1.25), _clip, sample=True),
        Case("clip", (x, -0.5), _clip),
        Case("clip", (x, None, 0.5), _clip),
        Case("clip", (x,), _clip),
        Case("clip", (x, floats((9,), -1, 0), floats((7, 1), 0, 1)), _clip),
        Case("clip", (ints((9,)), -3, 4), _clip),
        Case("clip", (ints((9,)), -3.5, 4), lambda x, a, b: _clip(x * 1.0, a, b)),
        Case("clip", (arr([2**31 - 1, -(2**31), 2**24 + 1], np.int32), -(2**30), 2**30), _clip),
        Case("clip", (arr(SPECIAL), -1.5, 1.5), _clip),
        Case("clip", (floats((0, 3)), -1, 1), _clip),
        Case("clip", (arr(SPECIAL), 0.75, 0.75), _clip),
        *(
            Case(name, (arr(SPECIAL), *bounds), _clip)
            for name in ("clip", "clip_by_value")
            for bounds in ((5, 1), (1.5, -1.5), (INF, -INF))
        ),
        *(
            Case("clip", (values, *bounds), np.clip)
            for values in (arr([0.0, 3.0, 9.0, NAN]), arr([0, 3, 9], np.int32))
            for bounds in ((5, 1), (5.0, 1), (NAN, 1), (1, NAN), (NAN, NAN), (None, NAN))
            if values.dtype == np.float32 or NAN not in bounds
        ),
        Case("clip", (arr([0.0, 3.0, 9.0]), arr([5.0]), arr(1.0)), _clip),
    ]


# -- operators ----------------------------------------------------------------------------------


def _operator_cases() -> list[Case]:
    """Each operator with a tensor or a number on either side."""
    x, y, n, p = floats((2, 3)), floats((3,), 1, 2, seed=1), ints((2, 3)), bools((2, 3))
    m = ints((3,), 1, 5)
    tables: list[tuple[str, Any, tuple[tuple[Any, Any], ...], Tolerance]] = [
        ("add", np.add, ((x, y), (x, 2), (n, 2), (n, 0.5), (p, 1)), ROUNDED),
        ("sub", np.subtract, ((x, y), (x, 2), (n, 2)), ROUNDED),
        ("mul", np.multiply, ((x, y), (x, 2), (n, 2)), ROUNDED),
        ("truediv", np.true_divide, ((x, y), (x, 2), (n, 2), (n, m)), ROUNDED),
        ("floordiv", np.floor_divide, ((x, y), (n, m), (n, 2)), EXACT),
        ("mod", np.mod, ((x, y), (n, m), (n, 4)), FEW_ROUNDINGS),
        ("divmod", np.divmod, ((x, y), (n, m), (n, 4)), FEW_ROUNDINGS),
        ("pow", np.power, ((np.abs(x), y), (x, 2), (n, m)), POWER),
        ("matmul", np.matmul, ((x, y), (n, m)), summed(lambda a, b: np.abs(a) @ np.abs(b), 3)),
        ("and", np.bitwise_and, ((p, p), (n, m), (n, 3)), EXACT),
        ("or", np.bitwise_or, ((p, bools((3,), 1)), (p, True), (n, m), (n, 3)), EXACT),
        ("xor", np.bitwise_xor, ((p, bools((3,), 1)), (n, m)), EXACT),
        ("lshift", np.left_shift, ((n, m), (n, 2)), EXACT),
        ("rshift", np.right_shift, ((n, m), (n, 2)), EXACT),
        ("lt", np.less, ((x, y), (x, 0), (n, m)), EXACT),
        ("le", np.less_equal, ((x, y), (n, 0)), EXACT),
        ("gt", np.greater, ((x, y), (n, 0)), EXACT),
        ("ge", np.greater_equal, ((x, y), (n, 0)), EXACT),
        ("eq", np.equal, ((x, x), (n, 0), (p, True)), EXACT),
        ("ne", np.not_equal, ((x, x), (n, 0)), EXACT),
    ]
    cases = [
        Case(f"Tensor.__{name}__", pair, oracle, tolerance)
        for name, oracle, pairs, tolerance in tables
        for pair in pairs
    ]
    reflected: tuple[tuple[str, Any, Any, Any, Tolerance], ...] = (
        ("radd", np.add, x, 2, ROUNDED),
        ("rsub", np.subtract, n, 2, ROUNDED),
        ("rmul", np.multiply, n, 0.5, ROUNDED),
        ("rtruediv", np.true_divide, y, 2, ROUNDED),
        ("rfloordiv", np.floor_divide, m, 7, EXACT),
        ("rmod", np.mod, m, 7, FEW_ROUNDINGS),
        ("rdivmod", np.divmod, m, 7, FEW_ROUNDINGS),
        ("rpow", np.power, x, 2.0, POWER),
    )
    cases += [
        Case(f"Tensor.__{name}__", (x, y), lambda x, y, oracle=oracle: oracle(y, x), tolerance)
        for name, oracle, x, y, tolerance in reflected
    ]
    return [
        *cases,
        Case("Tensor.__neg__", (x,), np.negative),
        Case("Tensor.__pos__", (n,), np.positive),
        Case("Tensor.__abs__", (n,), np.abs),
        Case("Tensor.__invert__", (p,), np.logical_not),
        Case("Tensor.__invert__", (n,), np.invert),
    ]


# -- gradients ----------------------------------------------------------------------------------


def _gradient_cases() -> list[Case]:
    cases = []
    for first, second in BROADCASTS:
        if np.prod(first) * np.prod(second) <= 1500:
            case = _case(BY_NAME["multiply"], *_pair(BY_NAME["multiply"], first, second))
            cases.append(gradient_of(case))
    for row in ROWS:
        if not row.differentiable:
            continue
        for first, second in (((2, 3), (2, 3)), ((3, 1), (2,)), ((), (3,))):
            x, y = _pair(row, first, second)
            if row.function in ("maximum", "minimum"):
                values = distinct((x.size + y.size,))
                x, y = values[: x.size].reshape(first), values[x.size :].reshape(second)
            if row.function == "prelu":
                x = away_from_ties(first, (0,))
            case = _case(row, x, y)
            cases.append(gradient_of(case))
            if row.curved and first != ():
                cases.append(second_derivative_of(case))
    condition = bools((2, 3))
    where = Case("where", (condition, floats((3,)), floats((2, 1), seed=1)), _where)
    x = away_from_ties((7,), (-0.5, 1.25))
    power = _case(BY_NAME["pow"], floats((5,), -2, 2, seed=3), 3.0)
    return [
        *cases,
        gradient_of(where),
        gradient_of(Case("where", (bools(()), floats((2,)), floats((2,), seed=1)), _where)),
        gradient_of(power),
        second_derivative_of(power),
        gradient_of(_case(BY_NAME["multiply"], floats((3,)), ints((3,)))),
        gradient_of(_case(BY_NAME["floor_divide"], arr([1.3, -2.2]), arr([1.0, 1.5]))),
        gradient_of(Case("clip", (x, -0.5, 1.25), _clip)),
        gradient_of(Case("clip", (x, None, 1.25), _clip)),
        gradient_of(Case("clip", (x, arr(-0.5), arr(1.25)), _clip)),
    ]


BINARY = _binary_cases()
WHERE_AND_CLIP = _where_cases() + _clip_cases()
OPERATORS = _operator_cases()
GRADIENTS = _gradient_cases()
