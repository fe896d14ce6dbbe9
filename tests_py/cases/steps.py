"""Cases of what optimizers do at each step, and of rounding to the steps of quantized tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests_py.cases.inputs import arr, floats
from tests_py.cases.table import FEW_ROUNDINGS, Array, Case

__all__ = ["STEPS"]

#: Whole vectors, rests, and more than one dimension.
SHAPES = ((), (1,), (5,), (67,), (3, 7, 5), (40, 25))


def _operands(shape: tuple[int, ...], count: int) -> list[Array]:
    """Positive operands, the first the largest, so that differences lose no digits."""
    first = floats(shape, 4.0, 5.0, seed=1)
    return [first, *(floats(shape, 0.1, 2.0, seed=seed) for seed in range(2, count + 1))]


def _cases(name: str, oracle: Callable[..., Array], count: int, *numbers: float) -> list[Case]:
    return [
        Case(name, (*_operands(shape, count), *numbers), oracle, FEW_ROUNDINGS) for shape in SHAPES
    ]


def clipping_factor(x: Array, limit: float) -> Array:
    """The oracle of both factors where numbers are finite."""
    return np.minimum(limit / np.maximum(np.sqrt(x), 1e-30), 1)


def linear_of_leader(
    x: Array, y: Array, z: Array, w: Array, power: float, rate: float, shrinkage: float
) -> Array:
    return x + y + w * shrinkage - ((z + y**2) ** power - z**power) * rate * w


def follow_regularized_leader(
    x: Array, y: Array, power: float, rate: float, first: float, second: float
) -> Array:
    return (np.clip(x, -first, first) - x) / (y**power * rate + second)


def rounded_steps(x: Array, factor: float, low: float, high: float, scale: float) -> Array:
    return np.clip(np.round(x * factor), low, high) * np.float32(scale)


STEPS = [
    *_cases("rounded_steps", rounded_steps, 1, 30.0, -128.0, 137.0, 0.05),
    *_cases("rounded_steps", rounded_steps, 1, -1.0, -4.0, 127.0, 0.5),
    *_cases("moved_against", lambda x, y, rate: x - y * rate, 2, 0.25),
    *_cases("moved_along", lambda x, y, z, share, rate: x + y * share - z * rate, 3, 0.9, 0.01),
    *_cases("moved_towards", lambda x, y, share: x + (y - x) * share, 2, 0.1),
    *_cases("moved_towards_square", lambda x, y, share: x + (y * y - x) * share, 2, 0.001),
    *_cases("plus_square", lambda x, y: x + y * y, 2),
    *_cases("weighted_sum", lambda x, y, first, second: x * first + y * second, 2, 0.9, 0.1),
    *_cases("decayed_maximum", lambda x, y, decay: np.maximum(x * decay, np.abs(y)), 2, 0.25),
    *_cases(
        "decayed_maximum", lambda x, y, decay: np.maximum(x * decay, np.abs(y)), 2, -0.25,
    ),
    *_cases(
        "moved_against_ratio", lambda x, y, z, epsilon, rate: x - y / (z**0.5 + epsilon) * rate,
        3, 1e-7, 0.01,
    ),
    *_cases(
        "moved_against_quotient", lambda x, y, z, epsilon, rate: x - y / (z + epsilon) * rate,
        3, 1e-3, 0.01,
    ),
    *_cases(
        "moved_against_mixed_ratio",
        lambda x, y, z, w, first, second, epsilon: x - (y * first + z * second) / (
            w**0.5 + epsilon
        ),
        4, 0.02, 0.01, 1e-3,
    ),
    *_cases(
        "moved_by_root_ratio",
        lambda x, y, z, decay, epsilon, rate: x * decay + y / np.sqrt(z + epsilon) * rate,
        3, 0.9, 1e-3, -0.01,
    ),
    *_cases(
        "moved_by_centered_ratio",
        lambda x, y, z, w, decay, epsilon, rate: x * decay + y * rate / np.sqrt(
            np.maximum(z - w**2, 0) + epsilon
        ),
        4, 0.9, 0.5, -0.01,
    ),
    *_cases(
        "moved_against_sign",
        lambda x, y, z, first, second, rate: x - np.sign(y * first + z * second) * rate,
        3, 0.5, -0.5, 0.25,
    ),
    *_cases(
        "ratio_of_roots",
        lambda x, y, z, epsilon: np.sqrt((x + epsilon) / (y + epsilon)) * z,
        3, 1e-3,
    ),
    *_cases(
        "ratio_to_root", lambda x, y, epsilon, rate: x / (np.sqrt(y) + epsilon) * rate,
        2, 1e-3, 0.5,
    ),
    *_cases("trust_ratio", lambda x, y, rate: np.sqrt(x / y) * rate, 2, 0.5),
    *[
        Case("trust_ratio", (*map(arr, norms), 0.5), lambda x, y, rate: arr(rate))
        for norms in ((0, 2), (2, 0), (0, 0))
    ],
    *[
        Case(name, (arr([0, 0.25, 4, 9, np.nan]), 1.5), clipping_factor, FEW_ROUNDINGS)
        for name in ("clipping_factor", "global_clipping_factor")
    ],
    Case("clipping_factor", (arr([np.inf]), 1.5), clipping_factor),
    Case(
        "global_clipping_factor",
        (arr([np.inf]), 1.5),
        lambda x, limit: np.where(np.isinf(x), np.nan, clipping_factor(x, limit)),
    ),
    *_cases("linear_of_leader", linear_of_leader, 4, 0.5, 0.25, 0.5),
    *_cases("linear_of_leader", linear_of_leader, 4, 0.75, 0.25, 0.0),
    *_cases("follow_regularized_leader", follow_regularized_leader, 2, 0.5, 100.0, 0.25, 0.5),
    *_cases("follow_regularized_leader", follow_regularized_leader, 2, 0.75, 2.0, 0.0, 0.0),
]  # fmt: skip
