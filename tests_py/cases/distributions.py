"""Cases of random numbers of other distributions than the uniform and the normal one."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tests_py.cases.creation import threefry
from tests_py.cases.inputs import arr, floats
from tests_py.cases.table import (
    EXACT,
    Array,
    Case,
    Tolerance,
    gradient_of,
    second_derivative_of,
)

__all__ = ["DISTRIBUTIONS", "distance_from_edges"]


def _words(shape: Any, seed: int) -> Array:
    size = int(np.prod(shape))
    key = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    words = [word for n in range((size + 1) // 2) for word in threefry(key, (n, 0))]
    return np.array(words[:size], dtype=np.int64).reshape(shape)


def _unit(shape: Any, seed: int) -> Array:
    return (_words(shape, seed) >> 8) * 2.0**-24


def _uniform_int(shape: Any, low: int, high: int, seed: int) -> Array:
    words = _words(shape, seed)
    signed = np.where(words >= 2**31, words - 2**32, words)
    return np.asarray(low + signed % (high - low))


def _normal(shape: Any, seed: int, **_: Any) -> Array:
    return np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])(_unit(shape, seed) + 2.0**-25)


# -- gamma ----------------------------------------------------------------------------------------


def _below(a: float, x: float) -> float:
    """The regularized lower incomplete gamma function, by its power series."""
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    total, n = term, a
    while term > 1e-18 * total or n < x:
        n += 1
        term *= x / n
        total += term
    return total


def _quantile(a: float, p: float) -> float:
    low, high = 1e-12, a + 60 * math.sqrt(a) + 60
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(a, middle) < p else (low, middle)
    return low


def _gamma(
    shape: Any, alpha: float, beta: float = 1.0, dtype: str = "float32", seed: int = 0
) -> Array:
    boosts = max(0, math.ceil(2 - alpha))
    units = _unit((boosts + 1, *shape), seed)
    quantile = np.vectorize(lambda p: _quantile(alpha + boosts, p), otypes=[np.float64])
    drawn = quantile(units[0] + 2.0**-25)
    for boost in range(boosts):
        drawn = drawn * (units[boost + 1] + 2.0**-25) ** (1 / (alpha + boost))
    drawn = drawn / beta
    return np.asarray(drawn if dtype == "float32" else np.round(drawn).astype(np.int64))


GAMMA = Tolerance(
    "a quantile of a normal number, which is itself good to some 32 ULP of 3 standard deviations, "
    "by a polynomial that is good to 1e-6",
    ulps=80,
    gpu_ulps=120,
    scale=lambda shape, alpha, beta=1.0, **_: (alpha + 3 * math.sqrt(alpha)) / beta,
)


# -- classes --------------------------------------------------------------------------------------


def _beyond_edges(logits: Any, count: int, seed: int, normalized: bool) -> Array:
    """By how much each number lies beyond each sum of the probabilities of the first classes."""
    weights = logits if normalized else np.exp(logits - logits.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    edges = np.cumsum(weights, -1)[..., :-1]
    unit = _unit((*logits.shape[:-1], count), seed)
    return np.asarray(unit[..., None] - edges[..., None, :])


def distance_from_edges(logits: Any, count: int, seed: int = 0, normalized: bool = False) -> float:
    """How near the nearest number is to an edge between classes, where rounding would decide."""
    return float(np.abs(_beyond_edges(logits, count, seed, normalized)).min(initial=1))


def _multinomial(logits: Any, count: int, seed: int = 0, normalized: bool = False) -> Array:
    assert distance_from_edges(logits, count, seed, normalized) > 1e-6, "too near an edge to tell"
    return np.sum(_beyond_edges(logits, count, seed, normalized) >= 0, -1).astype(np.int64)


# -- the polynomial that quantiles are made of ----------------------------------------------------

COEFFICIENTS = tuple(1 - index / 8 for index in range(17))
POLYNOMIAL = Tolerance(
    "the terms are rounded twice each, the larger ones less than the sum of all sizes",
    ulps=4,
    scale=lambda x, *coefficients: np.polyval(np.abs(coefficients), np.abs(x)),
)


def _polynomial(x: Any, *coefficients: float) -> Any:
    return sum(c * x ** (16 - index) for index, c in enumerate(coefficients))


def _polynomial_cases() -> list[Case]:
    case = Case("polynomial", (floats((5, 7), -1, 1), *COEFFICIENTS), _polynomial, POLYNOMIAL)
    small = replace(case, args=(floats((4,), -1, 1), *COEFFICIENTS))
    return [case, gradient_of(small), second_derivative_of(small)]


def _cases() -> list[Case]:
    gamma: tuple[tuple[Any, ...], ...] = (
        ((17,), 2.0),
        ((3, 4), 5.5),
        ((9,), 100.0),
        ((9,), 1.0),
        ((9,), 0.3, 2.0),
        ((9,), 1.5, 0.25),
        ((), 3.0),
        ((0, 2), 3.0),
    )
    cases = [
        Case("random_gamma", args, _gamma, GAMMA, {"seed": 5}, sample=args[1] == 1.5)
        for args in gamma
    ]
    bounds = ((0, 10), (-5, 5), (0, 1), (-(2**31), -1), (0, 2**31 - 1), (1000, 1007))
    cases += [
        Case("random_uniform_int", ((33,), *pair), _uniform_int, EXACT, {"seed": 3})
        for pair in bounds
    ]
    normal = Tolerance("see the cases of random_normal", 32, 48, lambda *_, **__: 3.0)
    probabilities = arr([0.25, 0.5, 0.125, 0.125])
    return [
        *cases,
        *_polynomial_cases(),
        Case("random_gamma", ((9,), 4.0, 1.0, "int32"), _gamma, EXACT, {"seed": 5}),
        Case("random_standard_normal", ((2, 9),), _normal, normal, {"seed": 4}),
        Case("multinomial", (floats((5,)), 40), _multinomial, EXACT, {"seed": 2}, sample=True),
        Case("multinomial", (floats((3, 7)), 17), _multinomial, EXACT, {"seed": 3}),
        Case("multinomial", (floats((2, 1)), 4), _multinomial, EXACT, {"seed": 3}),
        Case("multinomial", (floats((2, 3)), 0), _multinomial, EXACT, {"seed": 3}),
        Case("multinomial", (arr([1000, 0, 1000]), 9), _multinomial, EXACT, {"seed": 1}),
        Case(
            "multinomial",
            (probabilities, 30),
            _multinomial,
            EXACT,
            {"seed": 4, "normalized": True},
        ),
    ]


DISTRIBUTIONS = _cases()
