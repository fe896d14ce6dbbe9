"""Random calls of every function, each with an oracle: the table's rows, without end.

A generator draws a call of one function: shapes of rank 0 to 6, axes of size 0 and 1,
broadcasting, indices from either end, odd strides and paddings. CPython draws with Hypothesis;
pages get the same few calls each time, and TensorFlow.js computes them, too.
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

__all__ = ["GENERATORS", "RANDOM_FAMILIES", "Draw"]

#: Calls drawn of each function for the pages.
CALLS = 12

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


def _calls(function: str, generator: Generator) -> list[Case]:
    return [generator(Draw(Random(f"{function} {number}"))) for number in range(CALLS)]


RANDOM_FAMILIES: dict[str, list[Case]] = {
    f"random {name}": one_of_each_name(
        [case for function, entry in group.items() for case in _calls(function, entry)]
    )
    for name, group in GROUPS.items()
}
