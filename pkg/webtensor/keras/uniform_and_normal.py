"""Uniform and normal random numbers: the part of ``keras.random`` that initializers draw from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from webtensor import ops as wt
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.seeds import Seed, draw_seed
from webtensor.keras.types import DTypeLike

__all__ = ["ShapeLike", "check_dtype", "normal", "truncated_normal", "uniform"]

ShapeLike: TypeAlias = int | Sequence[int]


def check_dtype(name: str, dtype: DTypeLike, required: DType) -> None:
    """Raise unless elements of a dtype of Keras are stored as the required dtype."""
    if storage_dtype(dtype, required) is not required:
        kind = "integers" if required is int32 else "floats"
        raise ValueError(f"{name}: dtype must be one of {kind}, but got {dtype!r}")


def uniform(
    shape: ShapeLike,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a uniform distribution over [minval, maxval).

    Raises:
        ValueError: ``dtype`` is not a float dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.random.uniform((2, 3), seed=1).shape
        (2, 3)
    """
    check_dtype("uniform", dtype, float32)
    return wt.random_uniform(shape, minval, maxval, float32, draw_seed("uniform", seed))


def normal(
    shape: ShapeLike,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a normal distribution.

    Raises:
        ValueError: ``dtype`` is not a float dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.random.normal((2, 3), seed=1).shape
        (2, 3)
    """
    check_dtype("normal", dtype, float32)
    return wt.random_normal(shape, mean, stddev, float32, draw_seed("normal", seed))


def truncated_normal(
    shape: ShapeLike,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike = None,
    seed: Seed = None,
) -> Tensor:
    """Draw numbers of a normal distribution within two standard deviations of the mean.

    Raises:
        ValueError: ``dtype`` is not a float dtype.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> bool(wt.all(wt.abs(keras.random.truncated_normal((100,), seed=1)) <= 2))
        True
    """
    check_dtype("truncated_normal", dtype, float32)
    return wt.truncated_normal(shape, mean, stddev, float32, draw_seed("truncated_normal", seed))
