"""Random calls of normalization, dropout, recurrent cells and fused products."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tests_py.cases.normalizing import CELL, LRN, _lstm
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw, Shape
from tests_py.cases.randomized.windows import fused_options
from tests_py.cases.table import FEW_ROUNDINGS, Array, Case, Tolerance

__all__ = ["GENERATORS"]

# -- batch normalization -------------------------------------------------------------------------


def is_last_axes(shape: Shape, whole: Shape) -> bool:
    """Whether numbers of a shape, repeated one after the other, fill the whole shape."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape == whole[len(whole) - len(shape) :]


def batch_norm(name: str, ranks: tuple[int, int], draw: Draw) -> Case:
    shape = draw.shape(*ranks)
    rank = len(shape) if name != "batch_norm" else None
    are_alike = draw.chance()

    def parameter(low: float) -> Array:
        if are_alike or not shape or draw.chance():
            parameter_shape = shape[-1:]
        elif rank is None:
            parameter_shape = draw.broadcastable(shape)
        else:
            parameter_shape = draw.pick((shape, tuple(1 if draw.chance(3) else n for n in shape)))
        return draw.floats(parameter_shape, low)

    x = draw.ints(shape) if draw.chance(6) else draw.floats(shape)
    mean, variance = parameter(-2.0), parameter(0.05)
    offset = parameter(-2.0) if draw.chance() else None
    scale = parameter(0.5) if draw.chance() else None
    parameters = [
        parameter for parameter in (mean, variance, offset, scale) if parameter is not None
    ]
    epsilon = draw.pick((0.001, 0.001, 0.0, 0.125))
    case = call(name, x, mean, variance, offset, scale, epsilon)
    repeated = not all(is_last_axes(parameter.shape, shape) for parameter in parameters)
    return replace(case, note="repeated within" if repeated else "")


def local_response_normalization(draw: Draw) -> Case:
    shape = draw.shape(3, 4)
    x = draw.ints(shape) if draw.chance(6) else draw.floats(shape)
    beta = draw.pick((0.5, 0.75, 1, 0, -1, 2, draw.number(0, 1)))
    options = (draw.integer(0, 9), draw.number(1, 2), draw.number(0, 1), beta)
    return call("local_response_normalization", x, *options, tolerance=LRN)


# -- dropout -------------------------------------------------------------------------------------


def dropout(draw: Draw) -> Case:
    """What is kept, had all been kept; and that what falls together is dropped together."""
    shape = draw.filled_shape()
    noise: Any = None
    if draw.chance():
        noise = [1 if draw.chance(3) else draw.pick((None, n)) for n in shape]
    x = draw.floats(shape, 0.5)
    rate = draw.integer(0, 15) / 16

    def oracle(x: Array, rate: float, *_: Any) -> tuple[Array, Any]:
        return x / (1 - rate), np.True_

    args = (x, rate, noise, draw.integer(0, 99))
    return Case("kept_by_dropout", args, oracle, FEW_ROUNDINGS)


# -- recurrent cells -----------------------------------------------------------------------------


def forget_bias(draw: Draw) -> Any:
    return draw.number(-1, 1) if draw.chance() else draw.floats((), -1, 1)


def basic_lstm_cell(draw: Draw) -> Case:
    batch, inputs, units = draw.integer(0, 4), draw.integer(0, 5), draw.integer(1, 5)
    kernel = draw.floats((inputs + units, 4 * units), -1, 1)
    state = [draw.floats((batch, units), -1, 1) for _ in range(2)]
    bias, data = draw.floats((4 * units,)), draw.floats((batch, inputs))
    return call("basic_lstm_cell", forget_bias(draw), kernel, bias, data, *state)


def stacked(
    forget_bias: Any,
    kernels: list[Array],
    biases: list[Array],
    data: Array,
    c: list[Array],
    h: list[Array],
) -> tuple[Array, ...]:
    """The new memories of all cells, then the new states."""
    states = []
    for parameters in zip(kernels, biases, c, h, strict=True):
        kernel, bias, memory, state = parameters
        states.append(_lstm(forget_bias, kernel, bias, data, memory, state))
        data = states[-1][1]
    return (*(memory for memory, _ in states), *(state for _, state in states))


def multi_rnn_cell(draw: Draw) -> Case:
    batch, inputs = draw.integer(1, 3), draw.integer(1, 4)
    sizes = [draw.integer(1, 4) for _ in range(draw.integer(1, 3))]
    data = draw.floats((batch, inputs))
    kernels = []
    for units in sizes:
        kernels.append(draw.floats((inputs + units, 4 * units), -1, 1))
        inputs = units
    biases = [draw.floats((4 * units,)) for units in sizes]
    c, h = ([draw.floats((batch, units), -1, 1) for units in sizes] for _ in range(2))
    args = (forget_bias(draw), kernels, biases, data, c, h)
    return Case("stacked_lstm_cells", args, stacked, CELL)


# -- fused products, and what is averaged --------------------------------------------------------


def mat_mul(draw: Draw) -> Case:
    batch = draw.shape(0, 2, (0, 1, 2, 3))
    m, k, n = (draw.pick((0, 1, 2, 3, 5, 9)) for _ in range(3))
    transposed = draw.chance(), draw.chance()
    a, b = ((k, m) if transposed[0] else (m, k)), ((n, k) if transposed[1] else (k, n))
    left = draw.floats((*batch, *a))
    right = draw.floats((*(batch if draw.chance() else ()), *b))
    return call("fused.mat_mul", left, right, *transposed, **fused_options(draw, (*batch, m, n)))


AVERAGED = Tolerance(
    "six roundings relative to both numbers, and 1 - decay**step, which cancels up to ten-fold",
    ulps=24,
    gpu_ulps=96,
    scale=lambda v, x, *_, **__: np.abs(v) + np.abs(x),
)


def moving_average(draw: Draw) -> Case:
    shape = draw.shape()
    v, x = draw.floats(shape), draw.floats(shape)
    decay, step = draw.number(0, 0.9), draw.integer(1, 20)
    arguments: tuple[Any, ...] = draw.pick(((step,), (step, True), (step, False)))
    if draw.chance(3):
        arguments = (np.array(step, np.float32), *arguments[1:])
    decayed = np.array(decay, np.float32) if draw.chance(3) else decay
    return call("moving_average", v, x, decayed, *arguments, tolerance=AVERAGED)


GENERATORS: dict[str, Generator] = {
    "batch_norm": partial(batch_norm, "batch_norm", (0, 6)),
    **{f"batch_norm{n}d": partial(batch_norm, f"batch_norm{n}d", (n, n)) for n in (2, 3, 4)},
    "local_response_normalization": local_response_normalization,
    "dropout": dropout,
    "basic_lstm_cell": basic_lstm_cell,
    "multi_rnn_cell": multi_rnn_cell,
    "fused.mat_mul": mat_mul,
    "moving_average": moving_average,
}
