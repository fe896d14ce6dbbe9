"""Formulas of the optimizers in float64, each a function of the options that returns a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests_py.cases.table import Array

__all__ = ["Step", "adadelta", "adagrad", "adam", "adamax", "momentum", "rmsprop", "sgd"]

#: Gives the weights after the step of a number, counted from 1, along a gradient.
Step = Callable[[Array, Array, int], Array]


def sgd(learning_rate: float) -> Step:
    """Plain descent."""
    return lambda w, gradient, step: w - learning_rate * gradient


def momentum(learning_rate: float, momentum: float, nesterov: bool = False) -> Step:
    """Descent with momentum."""
    velocity: Any = 0.0

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal velocity
        velocity = momentum * velocity + gradient
        direction = gradient + momentum * velocity if nesterov else velocity
        return np.asarray(w - learning_rate * direction)

    return update


def adam(learning_rate: float, beta_1: float, beta_2: float, epsilon: float) -> Step:
    """Adam as in Keras."""
    mean: Any = 0.0
    square: Any = 0.0

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal mean, square
        mean = beta_1 * mean + (1 - beta_1) * gradient
        square = beta_2 * square + (1 - beta_2) * gradient**2
        rate = learning_rate * math.sqrt(1 - beta_2**step) / (1 - beta_1**step)
        return np.asarray(w - rate * mean / (np.sqrt(square) + epsilon))

    return update


def rmsprop(
    learning_rate: float, rho: float, momentum: float, epsilon: float, centered: bool
) -> Step:
    """RMSprop as in Keras."""
    square: Any = 0.0
    mean: Any = 0.0
    velocity: Any = 0.0

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal square, mean, velocity
        square = rho * square + (1 - rho) * gradient**2
        mean = rho * mean + (1 - rho) * gradient
        spread = square - mean**2 if centered else square
        velocity = momentum * velocity + learning_rate * gradient / np.sqrt(spread + epsilon)
        return np.asarray(w - velocity)

    return update


def adagrad(learning_rate: float, initial: float, epsilon: float) -> Step:
    """Adagrad as in Keras."""
    total: Any = initial

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal total
        total = total + gradient**2
        return np.asarray(w - learning_rate * gradient / np.sqrt(total + epsilon))

    return update


def adadelta(learning_rate: float, rho: float, epsilon: float) -> Step:
    """Adadelta as in Keras."""
    square: Any = 0.0
    steps: Any = 0.0

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal square, steps
        square = rho * square + (1 - rho) * gradient**2
        change = np.sqrt(steps + epsilon) / np.sqrt(square + epsilon) * gradient
        steps = rho * steps + (1 - rho) * change**2
        return np.asarray(w - learning_rate * change)

    return update


def adamax(
    learning_rate: float, beta_1: float, beta_2: float, epsilon: float, decay: float = 0.0
) -> Step:
    """Adamax as in Keras, with TensorFlow.js's decay."""
    mean: Any = 0.0
    maximum: Any = 0.0

    def update(w: Array, gradient: Array, step: int) -> Array:
        nonlocal mean, maximum
        mean = beta_1 * mean + (1 - beta_1) * gradient
        maximum = np.maximum(beta_2 * maximum, np.abs(gradient))
        rate = learning_rate / (1 + decay * (step - 1)) / (1 - beta_1**step)
        return np.asarray(w - rate * mean / (maximum + epsilon))

    return update
