"""Random numbers, the same on every backend for the same seed.

Bits come from the counter-based generator Threefry-2x32 with 20 rounds (Salmon et al., *Parallel
random numbers: as easy as 1, 2, 3*, SC 2011): integer arithmetic, exact everywhere. Uniform numbers
are exact too; normal ones agree to the rounding of the inverse error function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import erf as _erf, sqrt
from random import Random
from struct import pack, unpack
from typing import Any

from webtensor.arguments import as_number
from webtensor.dtypes import as_dtype, float32, int32
from webtensor.engine import Primitive, Tensor, backend, run
from webtensor.ops.binary import add, minimum, multiply
from webtensor.ops.casting import cast_to
from webtensor.ops.unary import clip_by_value, erf_inv, floor, round, unit_float
from webtensor.shapes import as_shape

__all__ = ["random_normal", "random_uniform", "set_random_seed", "truncated_normal"]

_RANDOM_BITS = Primitive("random_bits")


@cache
def _seeds() -> Random:
    """Seeds are drawn from this. A snapshot of memory made after importing must not have it yet."""
    return Random()


def set_random_seed(seed: int) -> None:
    """Make the random numbers that follow, where no seed is given, reproducible.

    Example:
        >>> import webtensor as wt
        >>> wt.set_random_seed(7)
        >>> first = wt.random_uniform((3,)).tolist()
        >>> wt.set_random_seed(7)
        >>> wt.random_uniform((3,)).tolist() == first
        True
    """
    _seeds().seed(seed)


def new_seed() -> int:
    """Draw the seed of random numbers for which none is given."""
    return _seeds().getrandbits(64)


def _seed_bits(name: str, seed: float | None) -> int:
    """Return an integer for a seed: itself, or the bits of a float."""
    if seed is None:
        return new_seed()
    if isinstance(seed, int):
        return seed
    if isinstance(seed, float):
        return int.from_bytes(pack("<d", seed), "little")
    raise TypeError(f"{name}: seed must be a number or None, but got {seed!r}")


def random_bits(name: str, shape: int | Sequence[int], seed: float | None) -> Tensor:
    """Int32 numbers of 32 random bits; ``name`` is the function that errors will name."""
    bits = _seed_bits(name, seed)
    key = bits & 0xFFFFFFFF, bits >> 32 & 0xFFFFFFFF
    return run(_RANDOM_BITS, (), as_shape(name, shape), int32, *key)


def unit_numbers(name: str, shape: int | Sequence[int], seed: float | None) -> Tensor:
    """Uniform float32 numbers in [0, 1), multiples of 2**-24."""
    unit = unit_float(random_bits(name, shape, seed))
    active = backend()
    if active.float_format == "e" and not active.integers_are_whole:
        return minimum(unit, 1 - 2.0**-11)  # another backend made them, and rounding may give 1
    return unit


def in_dtype(drawn: Tensor, dtype: Any, whole: Callable[[Tensor], Tensor]) -> Tensor:
    """Convert random numbers to a dtype, float32 if it is None, by way of whole numbers."""
    target_dtype = float32 if dtype is None else as_dtype(dtype)
    return drawn if target_dtype is float32 else cast_to(whole(drawn), target_dtype)


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
    unit = unit_numbers("random_uniform", shape, seed)
    minval = as_number("random_uniform", "minval", minval)
    maxval = as_number("random_uniform", "maxval", maxval)
    drawn = unit
    if (minval, maxval) != (0, 1):
        drawn = add(multiply(unit, maxval - minval), minval)
        if minval < maxval:
            drawn = minimum(drawn, _float_below(maxval))  # the sum may have been rounded up
    return in_dtype(drawn, dtype, floor)


def _float_below(bound: float) -> float:
    """Return the largest number below ``bound`` in the active backend's format of floats."""
    float_format = backend().float_format
    bits, least = {"f": ("i", 2.0**-149), "e": ("h", 2.0**-24)}[float_format]
    try:
        (rounded,) = unpack(float_format, pack(float_format, bound))
    except OverflowError:  # it is far above all numbers that can be drawn
        return bound
    if rounded < bound:
        return float(rounded)
    if rounded == 0:
        return -least
    (number,) = unpack(bits, pack(float_format, rounded))
    return float(unpack(float_format, pack(bits, number - 1 if rounded > 0 else number + 1))[0])


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
