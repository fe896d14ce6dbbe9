"""Uniform random numbers of any interval and dtype, made from the bits of ``random_bits``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack, unpack
from typing import Any

from webtensor.arguments import as_number
from webtensor.dtypes import as_dtype, float32
from webtensor.engine import Tensor, backend
from webtensor.ops.casting import cast_to
from webtensor.ops.random_bits import random_bits, unit_numbers
from webtensor.ops.unary import float_between, floor

__all__ = ["random_uniform"]


def in_dtype(drawn: Tensor, dtype: Any, rounded: Callable[[Tensor], Tensor]) -> Tensor:
    """Convert random numbers to a dtype, float32 if it is None, by way of integers."""
    target_dtype = float32 if dtype is None else as_dtype(dtype)
    return drawn if target_dtype is float32 else cast_to(rounded(drawn), target_dtype)


def random_uniform(
    shape: int | Sequence[int],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Any = float32,
    seed: float | None = None,
) -> Tensor:
    """Numbers uniformly distributed in [minval, maxval); whole ones for int32.

    The result has the given shape and dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        ValueError: a size in ``shape`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.random_uniform((2,), seed=1).tolist() == wt.random_uniform((2,), seed=1).tolist()
        True
    """
    minval = as_number("random_uniform", "minval", minval)
    maxval = as_number("random_uniform", "maxval", maxval)
    if (minval, maxval) == (0, 1):
        drawn = unit_numbers("random_uniform", shape, seed)
    else:
        maximum = _float_below(maxval) if minval < maxval else minval  # sums may be rounded up
        bits = random_bits("random_uniform", shape, seed)
        drawn = float_between(bits, minval, maxval - minval, maximum)
    return in_dtype(drawn, dtype, floor)


def _float_below(bound: float) -> float:
    """Return the largest number below ``bound`` in the active backend's format of floats."""
    float_format = backend().float_format
    bits, smallest = {"f": ("i", 2.0**-149), "e": ("h", 2.0**-24)}[float_format]
    try:
        (rounded,) = unpack(float_format, pack(float_format, bound))
    except OverflowError:  # it is far above all numbers that can be drawn
        return bound
    if rounded < bound:
        return float(rounded)
    if rounded == 0:
        return -smallest
    (number,) = unpack(bits, pack(float_format, rounded))
    return float(unpack(float_format, pack(bits, number - 1 if rounded > 0 else number + 1))[0])
