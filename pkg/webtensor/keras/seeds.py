"""Seeds of random functions: integers, and ``SeedGenerator``, with a new seed for each call."""

from __future__ import annotations

from typing import TypeAlias

from webtensor import ops as wt
from webtensor.engine.late_numbers import late_number
from webtensor.engine.scopes import outside_scopes
from webtensor.keras.arguments import Configurable
from webtensor.keras.names import auto_name, name_scope
from webtensor.keras.variables import Variable
from webtensor.ops.random_bits import lasting_seed, new_seed

__all__ = ["Seed", "SeedGenerator", "draw_seed"]

_MAX_UINT32 = 0xFFFFFFFF
_MAX_INT32 = 0x7FFFFFFF


def _as_int32(number: int) -> int:
    """Return the int32 of the lowest 32 bits of an integer."""
    return (number + _MAX_INT32 + 1 & _MAX_UINT32) - _MAX_INT32 - 1


class SeedGenerator(Configurable):
    """A source of seeds, a different one for each call of a random function.

    ``state`` has the seed and the number of seeds drawn. It stays on the host.

    Args:
        seed: an integer, or None for a seed drawn at random.

    Raises:
        ValueError: ``seed`` is not an integer.

    Example:
        >>> from webtensor import keras
        >>> seed = keras.random.SeedGenerator(42)
        >>> first = keras.random.normal((2,), seed=seed).tolist()
        >>> first == keras.random.normal((2,), seed=seed).tolist()
        False
    """

    _unknown_error = ValueError

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        if seed is not None and not isinstance(seed, int):
            raise ValueError(f"SeedGenerator: seed must be an integer or None, but got {seed!r}")
        self.seed = seed
        self.name = name or auto_name("seed_generator")
        first = lasting_seed() & _MAX_INT32 if seed is None else seed
        with name_scope(self.name), outside_scopes():
            self.state = Variable(
                wt.tensor([_as_int32(first), 0]), trainable=False, name="seed_generator_state"
            )

    def next(self, ordered: bool = True) -> int:
        """Return the next seed, a 64-bit integer."""
        seed: int = late_number(self._next)
        return seed

    def _next(self) -> int:
        first, count = map(int, self.state.value.tolist())
        self.state.assign([first, _as_int32(count + 1)])
        return first & _MAX_UINT32 | (count & _MAX_UINT32) << 32


#: What random functions take as a seed.
Seed: TypeAlias = int | SeedGenerator | None


def draw_seed(name: str, seed: Seed) -> int:
    """Return the 64-bit integer that a seed stands for at this call of the function ``name``.

    Raises:
        ValueError: ``seed`` is not a seed.
    """
    if seed is None:
        return new_seed()
    if isinstance(seed, SeedGenerator):
        return seed.next()
    if not isinstance(seed, int):
        raise ValueError(
            f"{name}: seed must be an integer, a SeedGenerator or None, but got {seed!r}"
        )
    return seed
