"""Normal random numbers, made by inversion of uniform ones.

They agree between backends to the rounding of the inverse error function.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf as _erf, sqrt
from typing import Any

from webtensor.arguments import as_number
from webtensor.dtypes import float32
from webtensor.engine import Tensor, backend
from webtensor.ops.binary import add, multiply
from webtensor.ops.random import in_dtype
from webtensor.ops.random_bits import unit_numbers
from webtensor.ops.special_functions import erf_inv
from webtensor.ops.unary import clip_by_value, round

__all__ = ["random_normal", "truncated_normal"]


def normal_between(unit: Tensor, low: float, high: float) -> Tensor:
    """Normal numbers by inversion, for uniform ones mapped to probabilities in (low, high)."""
    # Half the distance of uniform numbers from 0 to the next, and from the last to 1.
    half_step = {"f": 2.0**-25, "e": 2.0**-12}[backend().float_format]
    centred = add(multiply(unit, (high - low)), low + half_step * (high - low))
    return multiply(erf_inv(centred), sqrt(2))


def random_normal(
    shape: int | Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = float32,
    seed: float | None = None,
) -> Tensor:
    """Numbers with a normal distribution; with dtype int32, they are rounded.

    The result has the given shape and dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.random_normal((2, 3), seed=1).shape
        (2, 3)
    """
    name = "random_normal"
    normal = normal_between(unit_numbers(name, shape, seed), -1.0, 1.0)
    return _spread(name, normal, mean, stddev, dtype)


def _spread(name: str, normal: Tensor, mean: Any, stddev: Any, dtype: Any) -> Tensor:
    """Scale normal numbers to another mean and standard deviation."""
    factor, offset = as_number(name, "stddev", stddev), as_number(name, "mean", mean)
    drawn = normal if factor == 1 else multiply(normal, factor)
    return in_dtype(drawn if offset == 0 else add(drawn, offset), dtype, round)


def truncated_normal(
    shape: int | Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = float32,
    seed: float | None = None,
) -> Tensor:
    """Normal numbers, none of them farther than two standard deviations from the mean.

    With dtype int32, they are rounded.

    The result has the given shape and dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> x = wt.truncated_normal((100,), seed=1)
        >>> bool(wt.all(wt.abs(x) <= 2.0))
        True
    """
    edge = _erf(sqrt(2))
    name = "truncated_normal"
    unit = unit_numbers(name, shape, seed)
    normal = clip_by_value(normal_between(unit, -edge, edge), -2.0, 2.0)
    return _spread(name, normal, mean, stddev, dtype)
