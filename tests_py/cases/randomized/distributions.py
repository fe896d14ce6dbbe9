"""Random calls of functions of random numbers, with seeds that give the same ones everywhere."""

from __future__ import annotations

from typing import Any

from tests_py.cases.creation import SHIFTED
from tests_py.cases.distributions import distance_from_edges
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Case

__all__ = ["GENERATORS"]


def _shape(draw: Draw, most: int = 40) -> Any:
    shape = draw.shape(0, 4, most_elements=most)
    return draw.integer(0, 9) if draw.chance(5) else shape


def _seed(draw: Draw) -> int:
    return draw.pick([0, -1, draw.integer(1, 1000), draw.integer(2**31, 2**63)])


def _random_uniform(draw: Draw) -> Case:
    shape, seed = _shape(draw), _seed(draw)
    low = draw.integer(-9, 9)
    # A power of two apart, so that scaling rounds nothing before the result is rounded down.
    high = low + draw.pick([1, 2, 8, 64])
    dtypes = ("int32",) if draw.chance(3) else ()
    args = (shape, low, high, *dtypes)
    return call("random_uniform", *args, seed=seed, tolerance=SHIFTED)


def _random_uniform_int(draw: Draw) -> Case:
    low = draw.pick([0, -5, -(2**31), draw.integer(-1000, 1000)])
    high = min(2**31, low + draw.pick([1, 2, 10, 1000, 2**31 - 1]))
    return call("random_uniform_int", _shape(draw), low, high, seed=_seed(draw))


def _normal(function: str) -> Generator:
    def generator(draw: Draw) -> Case:
        moments = (draw.number(-4, 4), draw.number(0.25, 3))
        return call(function, _shape(draw), *moments, seed=_seed(draw))

    return generator


def _random_standard_normal(draw: Draw) -> Case:
    return call("random_standard_normal", _shape(draw), seed=_seed(draw))


def _random_gamma(draw: Draw) -> Case:
    alpha = draw.number(0.5, 8.5)
    beta = (draw.number(0.25, 4),) if draw.chance() else ()
    return call("random_gamma", draw.shape(0, 2, (0, 1, 2), 4), alpha, *beta, seed=_seed(draw))


def _multinomial(draw: Draw) -> Case:
    classes, count = draw.integer(1, 7), draw.integer(0, 12)
    rows: Shape = (draw.integer(0, 3),) if draw.chance() else ()
    normalized = draw.chance(3)
    logits = draw.floats((*rows, classes), 0.1, 2)
    if normalized:
        logits = logits / logits.sum(-1, keepdims=True)
    seed = _seed(draw)
    while distance_from_edges(logits, count, seed, normalized) < 1e-5:
        seed += 1
    return call("multinomial", logits, count, seed=seed, normalized=normalized)


GENERATORS: dict[str, Generator] = {
    "random_uniform": _random_uniform,
    "random_uniform_int": _random_uniform_int,
    "random_normal": _normal("random_normal"),
    "truncated_normal": _normal("truncated_normal"),
    "random_standard_normal": _random_standard_normal,
    "random_gamma": _random_gamma,
    "multinomial": _multinomial,
}
