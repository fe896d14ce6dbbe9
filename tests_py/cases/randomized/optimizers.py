"""Random steps of every optimizer, from random weights with random options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases import formulas
from tests_py.cases.formulas import Step
from tests_py.cases.randomized.calls import Generator
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.table import Array, Case, Tolerance

__all__ = ["GENERATORS"]

#: What an epsilon of None is where numbers have 32 bits.
EPSILON = 1e-7


def formula(name: str, options: list[Any]) -> Step:
    """The step of an optimizer of ``wt.train`` with these options."""
    numbers = [EPSILON if option is None else option for option in options]
    if name == "adagrad":
        numbers.append(EPSILON)
    make: Callable[..., Step] = getattr(formulas, name)
    return make(*numbers)


def steps_by_formula(
    path: str, options: list[Any], start: Array, curvature: Array, steps: int
) -> Array:
    """The oracle of ``optimizer_steps``."""
    step, weights = formula(path.split(".")[1], options), start
    for number in range(1, steps + 1):
        weights = step(weights, curvature * weights, number)
    return weights


STEPS = Tolerance(
    "each of up to six steps rounds some ten numbers of the size of 2, and moves on from there",
    ulps=60,
    gpu_ulps=240,
    scale=lambda *_: 2.0,
)


def options(draw: Draw, name: str) -> list[Any]:
    """Draw options in the order of ``wt.train``'s functions."""
    rate = draw.number(0.01, 0.1)
    epsilon = draw.pick((None, 1e-8, 1e-3, 1e-3))
    decays = [draw.number(0.5, 0.95) for _ in range(2)]
    if name == "sgd":
        return [rate]
    if name == "momentum":
        return [rate, decays[0], draw.chance()]
    if name == "adagrad":
        return [rate, draw.number(0.1, 1)]
    if name == "adadelta":
        return [rate, decays[0], epsilon]
    if name == "rmsprop":
        return [rate, decays[0], draw.pick((0.0, draw.number(0, 0.9))), epsilon, draw.chance()]
    return [rate, *decays, epsilon, *([draw.pick((0.0, 0.25))] if name == "adamax" else [])]


def optimizer(name: str, draw: Draw) -> Case:
    shape = draw.shape(0, 3, most_elements=24)
    signs = np.where(draw.bools(shape), np.float32(1), np.float32(-1))
    start = np.asarray(draw.floats(shape, 0.5, 2) * signs)
    curvature = draw.floats(shape, 0.5, 2)
    args = (f"train.{name}", options(draw, name), start, curvature, draw.integer(1, 6))
    return Case("optimizer_steps", args, steps_by_formula, STEPS)


GENERATORS: dict[str, Generator] = {
    f"train.{name}": partial(optimizer, name)
    for name in ("sgd", "momentum", "adagrad", "adadelta", "adam", "adamax", "rmsprop")
}
