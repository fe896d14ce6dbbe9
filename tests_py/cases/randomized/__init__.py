"""Random calls of every function, each with an oracle: the table's rows, without end.

A generator draws a call of one function: shapes of rank 0 to 6, axes of size 0 and 1,
broadcasting, indices from either end, odd strides and paddings. The same calls are drawn each
time; pages make the first few of them (`families`), and TensorFlow.js computes them, too.
"""

from __future__ import annotations

from random import Random

from tests_py.cases.randomized import (
    creating,
    distributions,
    dynamic,
    elementwise,
    fourier,
    images,
    linalg,
    losses,
    movement,
    normalizing,
    optimizers,
    products,
    reducing,
    scanning,
    scattering,
    sorting,
    sparse,
    strings,
    windows,
)
from tests_py.cases.randomized.calls import Generator
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Case, one_of_each_name

__all__ = ["GENERATORS", "GROUPS", "Draw", "drawn_calls"]

GROUPS: dict[str, dict[str, Generator]] = {
    "elementwise": elementwise.GENERATORS,
    "reductions": reducing.GENERATORS,
    "products": products.GENERATORS,
    "movement": movement.GENERATORS,
    "creation": creating.GENERATORS,
    "scans": scanning.GENERATORS,
    "sorting and searching": sorting.GENERATORS,
    "scattering": scattering.GENERATORS,
    "dynamic shapes": dynamic.GENERATORS,
    "sparse and ragged": sparse.GENERATORS,
    "strings": strings.GENERATORS,
    "linear algebra": linalg.GENERATORS,
    "fourier transforms": fourier.GENERATORS,
    "distributions": distributions.GENERATORS,
    "windows": windows.GENERATORS,
    "normalization": normalizing.GENERATORS,
    "images": images.GENERATORS,
    "losses": losses.GENERATORS,
    "optimizers": optimizers.GENERATORS,
}

GENERATORS: dict[str, Generator] = {
    function: generator for group in GROUPS.values() for function, generator in group.items()
}


def drawn_calls(function: str, count: int) -> list[Case]:
    """Draw calls of a function, the same each time."""
    draws = [Draw(Random(f"{function} {number}")) for number in range(count)]
    return one_of_each_name([GENERATORS[function](draw) for draw in draws])
