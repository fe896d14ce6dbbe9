"""Cases of what optimizers do at each step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests_py.cases.inputs import floats
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


STEPS = [
    *_cases("moved_against", lambda x, y, rate: x - y * rate, 2, 0.25),
    *_cases("moved_towards", lambda x, y, share: x + (y - x) * share, 2, 0.1),
    *_cases("moved_towards_square", lambda x, y, share: x + (y * y - x) * share, 2, 0.001),
    *_cases(
        "moved_against_ratio", lambda x, y, z, epsilon, rate: x - y / (z**0.5 + epsilon) * rate,
        3, 1e-7, 0.01,
    ),
    *_cases(
        "moved_against_root_ratio",
        lambda x, y, z, epsilon, rate: x - y / np.sqrt(z + epsilon) * rate,
        3, 1e-3, 0.01,
    ),
]  # fmt: skip
