"""Initial weights of Keras's layers, drawn by NumPy.

JAX compiles a program for each shape of random numbers, and seven for an orthogonal matrix, which
took a third of the time of tests of layers and models. Keras's initializers draw with integers as
seeds; JAX still draws where a generator is the seed, as in dropout.
"""

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
from keras.src.backend.jax import random as draws
from scipy.special import ndtr, ndtri

__all__ = ["draw_by_numpy"]

Shape = tuple[int, ...]


def generator(seed: int) -> np.random.Generator:
    """Return the generator of a seed, which may be negative."""
    return np.random.default_rng(seed % 2**32)


def normal(seed: int, shape: Shape, mean: float = 0.0, stddev: float = 1.0) -> np.ndarray:
    """Draw from a normal distribution."""
    return generator(seed).normal(mean, stddev, shape)


def truncated_normal(seed: int, shape: Shape, mean: float = 0.0, stddev: float = 1.0) -> np.ndarray:
    """Draw from a normal distribution, up to two standard deviations from its mean."""
    return mean + stddev * ndtri(generator(seed).uniform(ndtr(-2.0), ndtr(2.0), shape))


def uniform(seed: int, shape: Shape, minval: float = 0.0, maxval: float = 1.0) -> np.ndarray:
    """Draw from a uniform distribution."""
    return generator(seed).uniform(minval, maxval, shape)


def orthogonal(self: Any, shape: Shape, dtype: Any = None) -> Any:
    """Return what Keras's ``Orthogonal`` does: an orthonormal basis times the gain."""
    rows, columns = prod(shape[:-1]), shape[-1]
    matrix = draws.normal((max(rows, columns), min(rows, columns)), seed=self.seed)
    basis, _ = np.linalg.qr(np.asarray(matrix))
    return as_array(self.gain * (basis if rows >= columns else basis.T).reshape(shape), dtype)


def as_array(values: np.ndarray, dtype: Any) -> Any:
    """Return an array of JAX."""
    return jnp.asarray(values.astype(dtype or keras.config.floatx()))


def quick(by_jax: Callable[..., Any], by_numpy: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return a function that draws by NumPy where the seed is an integer."""

    @wraps(by_jax)
    def draw(shape: Shape, *args: Any, dtype: Any = None, seed: Any = None, **options: Any) -> Any:
        if isinstance(seed, int):
            return as_array(by_numpy(seed, shape, *args, **options), dtype)
        return by_jax(shape, *args, dtype=dtype, seed=seed, **options)

    return draw


def draw_by_numpy() -> None:
    """Replace the functions that Keras's initializers call."""
    for by_numpy in (normal, truncated_normal, uniform):
        name = by_numpy.__name__
        setattr(draws, name, quick(getattr(draws, name), by_numpy))
    keras.initializers.Orthogonal.__call__ = orthogonal
