"""Reproducible data: every array follows from its shape and a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "arr",
    "away_from_ties",
    "bools",
    "complexes",
    "distinct",
    "encoded",
    "floats",
    "ints",
    "texts",
]

Array = np.ndarray[Any, Any]
Shape = Sequence[int]


def _random(shape: Shape, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, len(shape), *shape])


def floats(shape: Shape, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Uniform float32 numbers."""
    return _random(shape, seed).uniform(low, high, tuple(shape)).astype(np.float32)


def complexes(shape: Shape, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Complex64 numbers with uniform real and imaginary parts."""
    parts = floats((*shape, 2), low, high, seed)
    return np.ascontiguousarray(parts).view(np.complex64)[..., 0]


def ints(shape: Shape, low: int = -9, high: int = 10, seed: int = 0) -> Array:
    """Uniform int32 numbers in [low, high)."""
    return _random(shape, seed).integers(low, high, tuple(shape)).astype(np.int32)


def bools(shape: Shape, seed: int = 0) -> Array:
    """Fair coin tosses."""
    return np.asarray(_random(shape, seed).integers(0, 2, tuple(shape)).astype(np.bool_))


def distinct(shape: Shape, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Evenly spaced float32 numbers in random order, so that none is near another."""
    size = int(np.prod(shape))
    return (
        _random(shape, seed)
        .permutation(np.linspace(low, high, size))
        .astype(np.float32)
        .reshape(shape)
    )


def away_from_ties(shape: Shape, ties: Sequence[float], seed: int = 0) -> Array:
    """Numbers in [-2, 2] at least 0.05 away from ``places``, where a function has a kink."""
    values = floats(shape, seed=seed)
    for tie in ties:
        near = np.abs(values - tie) < 0.05
        values = np.where(near, tie + np.where(values < tie, -0.1, 0.1), values)
    return values.astype(np.float32)


def encoded(value: Any) -> Any:
    """Text as ``bytes``; everything else as it is."""
    return value.encode() if isinstance(value, str) else value


def texts(values: Any) -> Array:
    """An array of ``bytes`` objects, of nested lists of text or bytes."""
    array = np.array(values, object)
    return np.array(list(map(encoded, array.ravel().tolist())), object).reshape(array.shape)


def arr(values: Any, dtype: Any = np.float32) -> Array:
    """An array of given values."""
    return np.array(values, dtype=dtype)
