"""Random calls of the losses: shapes, weights that broadcast, reductions, options."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.losses import BY_NONZERO, MEAN, NONE, ORACLES, SUM
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.table import Array, Case

__all__ = ["GENERATORS"]


def weighting(draw: Draw, shape: Shape) -> tuple[Any, int]:
    """Draw weights of losses, some of them zero, and a reduction."""
    weights: Any = draw.pick((None, draw.number(0.25, 2)))
    if draw.chance():
        weights = draw.floats(draw.broadcastable(shape), 0.25, 2)
        if draw.chance(3):
            weights = np.where(draw.bools(weights.shape), weights, 0).astype(np.float32)
    elif draw.chance(8):
        weights = draw.ints(draw.broadcastable(shape), 0, 3)
    return weights, draw.pick((NONE, MEAN, SUM, BY_NONZERO))


def operands(draw: Draw, name: str, shape: Shape) -> tuple[Array, Array]:
    """Draw labels, now and then hard ones, and predictions."""
    if name == "log_loss":
        labels, guess = draw.floats(shape, 0, 1), draw.floats(shape, 0.01, 0.99)
    elif "entropy" in name or name == "hinge_loss":
        labels, guess = draw.floats(shape, 0, 1), draw.floats(shape, -4, 4)
    else:
        return draw.floats(shape), draw.floats(shape)
    return (draw.ints(shape, 0, 2) if draw.chance(4) else labels), guess


#: What is usual, the least and the greatest value of the option before the reduction.
OPTIONS = {
    "huber_loss": (1.0, 0.25, 2.0),
    "log_loss": (1e-7, 0.0, 0.01),
    "sigmoid_cross_entropy": (0.0, 0.0, 1.0),
    "softmax_cross_entropy": (0.0, 0.0, 1.0),
}


def loss(name: str, draw: Draw) -> Case:
    by_rows = name == "softmax_cross_entropy"
    shape = draw.shape(int(by_rows), 4, most_elements=24)
    if by_rows and shape[-1] == 0:
        shape = (*shape[:-1], 3)
    weights, reduction = weighting(draw, shape[:-1] if by_rows else shape)
    options: tuple[float, ...] = ()
    if name in OPTIONS:
        usual, *limits = OPTIONS[name]
        options = (draw.pick((usual, draw.number(*limits))),)
    labels, guess = operands(draw, name, shape)
    return call(f"losses.{name}", labels, guess, weights, *options, reduction)


def cosine_distance(draw: Draw) -> Case:
    shape = draw.shape(1, 4, most_elements=24)
    axis = draw.axis(len(shape))
    weights_shape = list(shape)
    weights_shape[axis] = 1
    weights = weighting(draw, tuple(weights_shape))
    return call("losses.cosine_distance", *operands(draw, "", shape), axis, *weights)


def compute_weighted_loss(draw: Draw) -> Case:
    shape = draw.shape(0, 5, most_elements=24)
    losses = draw.ints(shape) if draw.chance(6) else draw.floats(shape)
    return call("losses.compute_weighted_loss", losses, *weighting(draw, shape))


GENERATORS: dict[str, Generator] = {
    **{f"losses.{name}": partial(loss, name) for name in ORACLES},
    "losses.cosine_distance": cosine_distance,
    "losses.compute_weighted_loss": compute_weighted_loss,
}
