"""Sizes of tensors in several traces of one computation: numbers, and those that vary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, floordiv, mul, neg, sub
from typing import TypeAlias

from webtensor.errors import ModelFormatError

__all__ = ["Shape", "Size", "UnknownSizeError", "Varying", "product", "size_of"]


class UnknownSizeError(ModelFormatError):
    """Runs with these sizes do not show one graph for all sizes; runs with others may.

    Attributes:
        progress: 0 where the model does not take the sizes, 1 where runs differ in more than in
            sizes, 2 where their graph fails in a check.
    """

    def __init__(self, message: str, progress: int = 0) -> None:
        super().__init__(message)
        self.progress = progress


@dataclass(frozen=True)
class Varying:
    """A size that depends on those of the inputs; ``values`` has it in each trace.

    Example:
        >>> 2 * Varying((2, 3)) + 1
        Varying(values=(5, 7))
        >>> Varying((2, 3)) - Varying((1, 2))
        1
    """

    values: tuple[int, ...]

    def __add__(self, other: Size) -> Size:
        return self._with(other, add)

    def __sub__(self, other: Size) -> Size:
        return self._with(other, sub)

    def __mul__(self, other: Size) -> Size:
        return self._with(other, mul)

    def __floordiv__(self, other: Size) -> Size:
        return self._with(other, floordiv)

    def __rsub__(self, other: int) -> Size:
        return size_of(map(neg, self.values)) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def _with(self, other: Size, function: Callable[[int, int], int]) -> Size:
        others = other.values if isinstance(other, Varying) else (other,) * len(self.values)
        return size_of(map(function, self.values, others))


Size: TypeAlias = int | Varying
Shape: TypeAlias = tuple[Size, ...]


def size_of(values: Iterable[int]) -> Size:
    """Return a size with a value in each trace, which is a number if it is the same in all."""
    in_order = tuple(values)
    return in_order[0] if len({*in_order}) == 1 else Varying(in_order)


def product(sizes: Sequence[Size]) -> Size:
    """Return the product of sizes.

    Example:
        >>> product((3, Varying((2, 4))))
        Varying(values=(6, 12))
    """
    return reduce(mul, sizes, 1)
