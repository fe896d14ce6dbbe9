"""Random bits and uniform numbers, the same on every backend for the same seed.

Bits come from the counter-based generator Threefry-2x32 with 20 rounds (Salmon et al., *Parallel
random numbers: as easy as 1, 2, 3*, SC 2011): integer arithmetic, exact everywhere. Uniform numbers
in [0, 1) are exact, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from struct import pack

from webtensor.dtypes import int32
from webtensor.engine import Primitive, Tensor, backend, run, state
from webtensor.engine.late_numbers import LateNumber, late_number
from webtensor.ops.binary import minimum
from webtensor.ops.unary import unit_float
from webtensor.shapes import as_shape, single_integer

__all__ = ["set_random_seed"]

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
    integer = single_integer(seed)
    _seeds().seed(seed if integer is None else integer)


def new_seed() -> int:
    """Draw the seed of random numbers for which none is given."""
    seed: int = late_number(_new_seed)
    return seed


def lasting_seed() -> int:
    """Draw a seed that an object keeps."""
    if state.captures:
        state.captures[-1].recording.made_seeds = True
    return _new_seed()


def _new_seed() -> int:
    return _seeds().getrandbits(64)


def seed_attributes(seed: int) -> tuple[int, int]:
    """Return the attributes of the primitive for a seed."""
    return seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF


def _seed_bits(name: str, seed: float | None) -> int:
    """Return an integer for a seed: itself, or the bits of a float."""
    if seed is None:
        return new_seed()
    if isinstance(seed, (int, LateNumber)):
        return seed
    integer = single_integer(seed)
    if integer is not None:
        return integer
    if hasattr(seed, "__float__"):
        return int.from_bytes(pack("<d", seed), "little")
    raise TypeError(f"{name}: seed must be a number or None, but got {seed!r}")


def random_bits(name: str, shape: int | Sequence[int], seed: float | None) -> Tensor:
    """Int32 numbers of 32 random bits; ``name`` is the function that errors will name."""
    attributes = seed_attributes(_seed_bits(name, seed))
    return run(_RANDOM_BITS, (), as_shape(name, shape), int32, *attributes)


def unit_numbers(name: str, shape: int | Sequence[int], seed: float | None) -> Tensor:
    """Uniform float32 numbers in [0, 1), multiples of 2**-24."""
    unit = unit_float(random_bits(name, shape, seed))
    active = backend()
    if active.float_format == "e" and not active.integers_are_whole:
        return minimum(unit, 1 - 2.0**-11)  # another backend made them, and rounding may give 1
    return unit
