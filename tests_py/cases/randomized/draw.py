"""Random arguments of calls: shapes, axes, arrays, options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

import numpy as np

from tests_py.cases import inputs
from tests_py.cases.inputs import Array

__all__ = ["Draw", "Shape"]

Shape = tuple[int, ...]
T = TypeVar("T")

SPECIAL = inputs.arr([3, math.nan, -math.inf, 0.0, -0.0, math.inf, 1e-30, -1e-30, 2, -2])

#: Lengths of axes: the odd ones around a vector of four, one, and now and then nothing.
LENGTHS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 9)


class Draw:
    """Draws what a call is made of from a source of random numbers.

    Whatever decides about the structure of a call is drawn from the source; elements of arrays
    follow from one drawn seed.
    """

    def __init__(self, random: Random) -> None:
        self._random = random

    def integer(self, low: int, high: int) -> int:
        """Draw an integer between ``low`` and ``high``, both included."""
        return self._random.randint(low, high)

    def number(self, low: float, high: float) -> float:
        """Draw a number with few digits, which float32 and JSON keep."""
        return low + (high - low) * self.integer(0, 64) / 64

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of several."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, parts: int = 2) -> bool:
        """Draw ``True`` once in ``parts`` times."""
        return self.integer(1, parts) == 1

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Draw an order."""
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in items]

    # -- shapes ------------------------------------------------------------------------------

    def shape(
        self,
        least_rank: int = 0,
        most_rank: int = 6,
        lengths: Sequence[int] = LENGTHS,
        most_elements: int = 500,
    ) -> Shape:
        """Draw a shape; axes that would make it too large get size 1."""
        shape: list[int] = []
        left = most_elements
        for _ in range(self.integer(least_rank, most_rank)):
            length = self.pick(lengths)
            shape.append(length if length <= left else 1)
            left //= max(1, shape[-1])
        return tuple(shape)

    def filled_shape(self, least_rank: int = 0, most_rank: int = 6, most: int = 500) -> Shape:
        """Draw a shape without axes of size 0."""
        return self.shape(least_rank, most_rank, [length for length in LENGTHS if length], most)

    def long_shape(self) -> Shape:
        """Draw a shape with axes longer than the blocks that backends scan and sort in."""
        return self.shape(1, 3, (1, 2, 5, 31, 33, 64, 100, 129, 257), 2500)

    def broadcastable(self, shape: Shape) -> Shape:
        """Draw a shape that broadcasts to ``shape``: axes of size 1, and fewer axes."""
        repeated = tuple(1 if self.chance(4) else length for length in shape)
        return repeated[self.integer(0, len(repeated)) :] if self.chance(3) else repeated

    def axis(self, rank: int) -> int:
        """Draw an axis, counted from either end."""
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0) -> tuple[int, ...]:
        """Draw distinct axes in any order, each counted from either end."""
        count = self.integer(min(least, rank), rank)
        return tuple(axis - rank * self.chance() for axis in self.shuffled(range(rank))[:count])

    def axes_or_none(self, rank: int) -> int | tuple[int, ...] | None:
        """Draw what a reduction takes as axes: all, one, or several."""
        kind = self.integer(0, 2)
        if kind == 0 or rank == 0:
            return None
        return self.axis(rank) if kind == 1 else self.axes(rank, least=1)

    # -- arrays ------------------------------------------------------------------------------

    def _seed(self) -> int:
        return self.integer(0, 10**6)

    def floats(self, shape: Sequence[int], low: float = -2.0, high: float = 2.0) -> Array:
        """Draw uniform float32 numbers."""
        return inputs.floats(shape, low, high, self._seed())

    def ints(self, shape: Sequence[int], low: int = -9, high: int = 10) -> Array:
        """Draw uniform int32 numbers in [low, high)."""
        return inputs.ints(shape, low, high, self._seed())

    def bools(self, shape: Sequence[int]) -> Array:
        """Draw fair coin tosses."""
        return inputs.bools(shape, self._seed())

    def complexes(self, shape: Sequence[int]) -> Array:
        """Draw complex64 numbers."""
        return inputs.complexes(shape, seed=self._seed())

    def distinct(self, shape: Sequence[int], low: float = -2.0, high: float = 2.0) -> Array:
        """Draw float32 numbers of which no two are near each other."""
        return inputs.distinct(shape, low, high, self._seed())

    def specials(self, shape: Sequence[int]) -> Array:
        """Draw NaN, infinities, zeros of both signs, and a few other float32 numbers."""
        return np.asarray(SPECIAL[self.ints(shape, 0, len(SPECIAL))])

    def texts(self, shape: Sequence[int], most: int = 9, letters: str = "ab, é.") -> Array:
        """Draw words of up to ``most`` letters."""
        random = Random(self._seed())
        words = [
            "".join(random.choices(letters, k=random.randint(0, most)))
            for _ in range(math.prod(shape))
        ]
        return inputs.texts(words).reshape(shape)

    def numbers(self, shape: Sequence[int], kinds: str = "fib") -> Array:
        """Draw an array of one of several kinds.

        They are ``f``, ``i``, ``b`` and ``c`` for dtypes, ``t`` for text, ``s`` for special floats.
        """
        kind = self.pick(kinds)
        draw: Any = {
            "f": self.floats,
            "i": self.ints,
            "b": self.bools,
            "c": self.complexes,
            "t": self.texts,
            "s": self.specials,
        }[kind]
        values: Array = draw(shape)
        return values
