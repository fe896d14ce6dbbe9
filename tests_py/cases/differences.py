"""Derivatives of oracles by central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from tests_py.cases.table import Array, Case, wide

__all__ = ["gradients", "second_derivatives"]


def _loss(case: Case) -> Callable[[list[Array]], float]:
    """The sum of the result times ``dy``, as a function of the sources."""
    arrays: list[Array] = [wide(tensor) for tensor in case.tensors]
    dy = wide(case.dy)

    def loss(sources: list[Array]) -> float:
        tensors = list(arrays)
        for index, source in zip(case.sources, sources, strict=True):
            tensors[index] = source
        return float(np.sum(np.real(case.compute(tensors) * np.conj(dy))))

    return loss


def _sources(case: Case) -> list[Array]:
    return [wide(case.tensors[source]) for source in case.sources]


def _directions(source: Array) -> tuple[complex, ...]:
    """What to move an element by: complex ones have a derivative along each axis of the plane."""
    return (1, 1j) if source.dtype.kind == "c" else (1,)


def gradients(case: Case) -> list[Array]:
    """Differences over 2e-5: truncation and rounding errors are both about 1e-10."""
    loss = _loss(case)
    sources = _sources(case)
    step = 1e-5
    results = []
    for position, source in enumerate(sources):
        result = np.zeros_like(source)
        for index, along in product(np.ndindex(*source.shape), _directions(source)):
            ends = []
            for sign in (1, -1):
                moved = [source.copy() for source in sources]
                moved[position][index] += sign * step * along
                ends.append(loss(moved))
            result[index] += along * (ends[0] - ends[1]) / (2 * step)
        results.append(result)
    return results


def second_derivatives(case: Case) -> list[Array]:
    """Mixed differences along ``directions`` and each element; errors are about 1e-7."""
    loss = _loss(case)
    sources = _sources(case)
    directions = [wide(direction) for direction in case.directions]
    step = 3e-4
    results = []
    for position, source in enumerate(sources):
        result = np.zeros_like(source)
        for index, axis in product(np.ndindex(*source.shape), _directions(source)):
            total = 0.0
            for sign, along in product((1, -1), (1, -1)):
                moved = [
                    np.array(source + along * step * direction)
                    for source, direction in zip(sources, directions, strict=True)
                ]
                moved[position][index] += sign * step * axis
                total += sign * along * loss(moved)
            result[index] += axis * total / (4 * step * step)
        results.append(result)
    return results
