"""Cases of making tensors: filled, in sequence, cast from others, random."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, bools, floats, ints
from tests_py.cases.table import (
    EXACT,
    FEW_ROUNDINGS,
    ROUNDED,
    WHOLE_PART,
    Array,
    Case,
    Tolerance,
)

__all__ = ["CASTS", "CREATION", "RANDOM", "SHIFTED", "threefry"]

NAN, INF = math.nan, math.inf
DTYPES = {"float32": np.float64, "int32": np.int64, "bool": np.bool_}


# -- filled and sequential -----------------------------------------------------------------------


def _full(shape: Any, value: float, dtype: str | None = None) -> Array:
    natural = {bool: np.bool_, int: np.int64, float: np.float64}[type(value)]
    return np.full(shape, value, DTYPES[dtype] if dtype else natural)


def _zeros(shape: Any, dtype: str = "float32") -> Array:
    return np.zeros(shape, DTYPES[dtype])


def _ones(shape: Any, dtype: str = "float32") -> Array:
    return np.ones(shape, DTYPES[dtype])


def _arange(*args: float, dtype: str | None = None) -> Array:
    values = np.arange(*args)
    return values.astype(DTYPES[dtype]) if dtype else values


def _like(function: Any) -> Any:
    return lambda x, *args, dtype=None: function(
        x, *args, dtype=DTYPES[dtype] if dtype else x.dtype
    )


def _eye(rows: int, columns: int | None = None, k: int = 0, dtype: str = "float32") -> Array:
    return np.eye(rows, columns, k, DTYPES[dtype])


def _creation_cases() -> list[Case]:
    cases = []
    shapes: tuple[Any, ...] = (
        (),
        3,
        (1,),
        (2, 3),
        (0,),
        (2, 0, 3),
        (1, 2, 1, 3, 1, 2),
        (70, 33),
        1031,
    )
    for shape in shapes:
        cases.append(Case("zeros", (shape,), _zeros))
        cases.append(Case("ones", (shape,), _ones, sample=shape == (70, 33)))
        cases.append(Case("full", (shape, 2.5), _full))
    for dtype in DTYPES:
        cases.append(Case("zeros", ((2, 3), dtype), _zeros))
        cases.append(Case("ones", ((2, 3), dtype), _ones))
        cases.append(Case("full", ((2, 3), 1, dtype), _full))
    values = (7, 2**24 + 1, -(2**31), 2**31 - 1, True, -0.5, NAN, -INF, 3.0e38, 1e-30)
    cases += [Case("full", ((3,), value), _full, ROUNDED) for value in values]
    for x in (floats((2, 3)), ints((5,)), bools((2, 1)), floats((0, 2))):
        cases.append(Case("zeros_like", (x,), _like(np.zeros_like)))
        cases.append(Case("ones_like", (x,), _like(np.ones_like)))
        cases.append(Case("full_like", (x, 1), _like(np.full_like)))
    cases.append(Case("ones_like", (floats((2,)),), _like(np.ones_like), kwargs={"dtype": "int32"}))
    wholes = ((5,), (0,), (2, 7), (7, 2), (7, 2, -2), (1, 10, 4), (-3, 3), (2**24, 2**24 + 5))
    cases += [Case("arange", args, _arange) for args in wholes]
    fractions = ((0.0, 1.0, 0.25), (5.5,), (1, 0, -0.3), (0.0, 0.0))
    cases += [Case("arange", args, _arange, ROUNDED) for args in fractions]
    cases.append(Case("arange", (4,), _arange, kwargs={"dtype": "float32"}))
    linspaces: tuple[tuple[float, float, int], ...] = (
        (0, 1, 5), (0, 1, 1), (2, 2, 3), (-1, 1, 2), (1, 0, 7), (0, 1, 0), (0.1, 1e6, 101),
    )  # fmt: skip
    cases += [Case("linspace", args, _linspace, FEW_ROUNDINGS) for args in linspaces]
    cases.append(Case("linspace", (0, 1, 4), _linspace, ROUNDED, {"endpoint": False}))
    cases += _large_cases()
    eyes = ((3,), (2, 4), (4, 2), (3, 3, 1), (3, 5, -1), (3, 3, 7), (0,), (1, 0))
    cases += [Case("eye", args, _eye) for args in eyes]
    cases.append(Case("eye", (3,), _eye, kwargs={"dtype": "int32"}))
    return cases + _from_host_cases()


#: Sequences that are computed in float32 differ from others by roundings of their largest numbers.
_IN_STEPS = Tolerance(
    "a product and a sum, relative to the largest number of the sequence",
    ulps=1,
    gpu_ulps=3,
    scale=lambda start, stop, *args, **kwargs: max(abs(start), abs(stop)),
)


def _large_cases() -> list[Case]:
    """Sequences so long that kernels make them."""
    wholes: tuple[tuple[int, ...], ...] = (
        (5000,),
        (-(2**31), -(2**31) + 3000),
        (2**31 - 1, 2**31 - 4000, -2),
        (-(2**31), 2**31, 2**20 + 1),
    )
    cases = [Case("arange", args, _arange) for args in wholes]
    cases += [
        Case("arange", (3000,), _arange, kwargs={"dtype": "float32"}),
        Case("arange", (-1.0, 700.0, 0.3), _arange, _IN_STEPS),
        Case("arange", (1e6, -1e6, -999.5), _arange, _IN_STEPS),
        Case("linspace", (-3, 7, 2003), _linspace, _IN_STEPS),
        Case("linspace", (1e-3, 0, 1500), _linspace, _IN_STEPS, {"endpoint": False}),
    ]
    eyes = ((70, 33), (33, 70, 5), (70, 33, -40), (1100, 1, -7), (1, 1100, 1099), (40, 40, 41))
    cases += [Case("eye", args, _eye) for args in eyes]
    return [*cases, *(Case("eye", (40,), _eye, kwargs={"dtype": dtype}) for dtype in DTYPES)]


def _linspace(start: float, stop: float, num: int, endpoint: bool = True) -> Array:
    return np.linspace(start, stop, num, endpoint=endpoint)


def _tensor(values: Any, shape: Any = None, dtype: str | None = None) -> Array:
    array = np.asarray(values if np.size(values) else np.zeros(np.shape(values)))
    if dtype:
        array = array.astype(DTYPES[dtype])
    return array if shape is None else array.reshape(shape)


def _from_host_cases() -> list[Case]:
    rows: tuple[tuple[Any, dict[str, Any]], ...] = (
        (3, {}),
        (2.5, {}),
        (True, {}),
        ([1, 2, 3], {}),
        ([1.5, 2, 3], {}),
        ([True, False], {}),
        ([[1, 2], [3, 4]], {}),
        ([[[1.0]], [[2.0]]], {}),
        ([[[[[[1, 2]]]]]], {}),
        ([], {}),
        ([[], []], {}),
        ([1, 2, 3, 4, 5, 6], {"shape": (2, 3)}),
        ([1, 0, 2], {"dtype": "float32"}),
        ([1, 0, 2], {"dtype": "bool"}),
        ([1.75, -1.75], {"dtype": "int32"}),
        ([True, 2], {}),
        ([NAN, INF, -INF], {}),
        ([2**31 - 1, -(2**31)], {}),
        ((1.0, 2.0), {"dtype": "float32"}),
    )
    return [Case("tensor", (values,), _tensor, kwargs=options) for values, options in rows]


# -- casts ---------------------------------------------------------------------------------------


def _astype(x: Array, dtype: str) -> Array:
    if dtype == "int32" and x.dtype.kind == "f":
        return np.trunc(np.clip(np.where(np.isnan(x), 0, x), -(2**31), 2**31 - 1)).astype(np.int64)
    if dtype == "float32" and x.dtype.kind == "i":
        return x.astype(np.float32).astype(np.float64)
    return x.astype(DTYPES[dtype])


def _cast_cases() -> list[Case]:
    sources = (
        arr([0, -0.0, 0.4, -0.4, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 2.7, 1e6, -1e6, 16777216]),
        arr([2147483520, -2147483648, 8388609, 1e-30, -1e-30]),
        arr([0, 1, -1, 2**24, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 33554435], np.int32),
        arr([True, False, True], np.bool_),
        floats((70, 33), -100, 100),
        ints((2, 1, 3, 1, 2)),
        floats((0, 3)),
        floats((), 1, 9),
    )
    cases = [
        Case("astype", (x, dtype), _astype, sample=x.ndim == 2) for x in sources for dtype in DTYPES
    ]
    beyond = arr([NAN, INF, -INF, 3e9, -3e9, 2147483648, 1e30])
    return [
        *cases,
        Case("astype", (beyond, "int32"), _astype, note="beyond int32: saturates, NaN is 0"),
        Case("astype", (beyond, "bool"), _astype, note="of special values"),
    ]


# -- random --------------------------------------------------------------------------------------

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)


def threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds, written from the paper in Python's integers."""
    mask = 0xFFFFFFFF
    keys = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = ((c + k) & mask for c, k in zip(counter, keys, strict=False))
    for turn in range(20):
        by = ROTATIONS[turn % 8]
        x = (x + y) & mask
        y = ((y << by | y >> (32 - by)) & mask) ^ x
        if turn % 4 == 3:
            injected = turn // 4 + 1
            x = (x + keys[injected % 3]) & mask
            y = (y + keys[(injected + 1) % 3] + injected) & mask
    return x, y


def _bits(shape: Any, seed: int) -> Array:
    size = int(np.prod(shape))
    key = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    words = [word for n in range((size + 1) // 2) for word in threefry(key, (n, 0))]
    return np.array(words[:size], dtype=np.int64).reshape(shape)


def _unit(shape: Any, seed: int) -> Array:
    return (_bits(shape, seed) >> 8) * 2.0**-24


def _uniform(
    shape: Any, low: float = 0.0, high: float = 1.0, dtype: str = "float32", seed: int = 0
) -> Array:
    drawn = low + (high - low) * _unit(shape, seed)
    return drawn if dtype == "float32" else np.floor(drawn).astype(DTYPES[dtype])


def _inverted(unit: Array, low: float, high: float) -> Array:
    """Quantiles of probabilities spread over (low, high), given as the centred 2p - 1."""
    centred = np.float32(low) + (np.asarray(unit) + 2.0**-25) * (high - low)
    quantile = NormalDist().inv_cdf
    return np.vectorize(lambda c: quantile((1 + c) / 2), otypes=[np.float64])(centred)


def _normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: str = "float32", seed: int = 0
) -> Array:
    return mean + stddev * _inverted(_unit(shape, seed), -1, 1)


def _truncated(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: str = "float32", seed: int = 0
) -> Array:
    edge = math.erf(math.sqrt(2))
    return mean + stddev * np.clip(_inverted(_unit(shape, seed), -edge, edge), -2, 2)


def _size(shape: Any, mean: float = 0.0, stddev: float = 1.0, **_: Any) -> float:
    """Size of a quantile within three standard deviations."""
    return abs(mean) + 3 * stddev


def _size_to_the_end(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: str = "float32", seed: int = 0
) -> Array:
    """The same, and a thirty-second of the slope of the quantile, which counts beyond."""
    drawn = _normal(shape, seed=seed)
    slope = math.sqrt(2 * math.pi) * np.exp(drawn * drawn / 2)
    return _size(shape, mean, stddev) + stddev * slope / 32


QUANTILE = Tolerance(
    "the probability is rounded to a multiple of 2**-24 before the quantile is taken, whose slope "
    "at p is 1/density: up to 2**-25 / 0.005 within 3 standard deviations, a few ULP elsewhere",
    ulps=32,
    gpu_ulps=48,
    scale=_size,
)
QUANTILE_TO_THE_END = replace(
    QUANTILE,
    why=f"{QUANTILE.why}; beyond them, one ULP of the probability, which has few bits on some GPUs",
    scale=_size_to_the_end,
)
SHIFTED = Tolerance(
    "a product and a sum of numbers of the size of the bounds",
    ulps=1,
    gpu_ulps=2,
    scale=lambda shape, low=0.0, high=1.0, **_: abs(low) + abs(high),
)


def _random_cases() -> list[Case]:
    cases = [
        Case("random_uniform", ((17,),), _uniform, EXACT, {"seed": seed})
        for seed in (0, 1, 42, 2**32 + 5, 2**63 + 12345, -1)
    ]
    shapes: tuple[Any, ...] = (
        (),
        (1,),
        (2,),
        5,
        (3, 4),
        (7, 9),
        (0,),
        (2, 0),
        (2, 1, 3, 1, 2),
        (1031,),
        (70, 33),
    )
    for shape in shapes:
        sample = shape in ((3, 4), (1031,))
        cases.append(Case("random_uniform", (shape,), _uniform, EXACT, {"seed": 7}, sample=sample))
    cases += [
        Case("random_uniform", ((17,), -2.0, 3.0), _uniform, SHIFTED, {"seed": 3}),
        Case("random_uniform", ((65,), 0, 10, "int32"), _uniform, WHOLE_PART, {"seed": 3}),
        Case("random_uniform", ((65,), -5, 5, "int32"), _uniform, WHOLE_PART, {"seed": 4}),
        Case("random_normal", ((70, 33),), _normal, QUANTILE_TO_THE_END, {"seed": 5}, sample=True),
        Case("random_normal", ((17,), 3.0, 0.5), _normal, QUANTILE_TO_THE_END, {"seed": 6}),
        Case("truncated_normal", ((70, 33),), _truncated, QUANTILE, {"seed": 7}, sample=True),
        Case("truncated_normal", ((17,), 1.0, 2.0), _truncated, QUANTILE, {"seed": 8}),
    ]
    return cases


CREATION = _creation_cases()
CASTS = _cast_cases()
RANDOM = _random_cases()
