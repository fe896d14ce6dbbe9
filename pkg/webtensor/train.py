"""Functions that make optimizers as in TensorFlow.js, such as ``wt.train.adam(0.01)``.

They return the classes of ``wt.optimizers``, whose formulas are Keras's. These differ from
TensorFlow.js's in three optimizers: ``adam`` adds ``epsilon`` to the root before the bias
correction, not after it; ``adadelta`` divides by the mean square of this step, not of the step
before; centered ``rmsprop`` adds ``epsilon``, which TensorFlow.js subtracts. An ``epsilon`` of None
is the smallest that is safe on the active backend.
"""

from __future__ import annotations

import sys

from webtensor.engine import backend
from webtensor.explanation import explained_functions
from webtensor.keras.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Momentum, RMSprop
from webtensor.keras.optimizers.common_arguments import LearningRateLike, non_negative
from webtensor.keras.optimizers.schedules import InverseTimeDecay

__all__ = ["adadelta", "adagrad", "adam", "adamax", "momentum", "rmsprop", "sgd"]


def _epsilon(epsilon: float | None) -> float:
    return backend().epsilon() if epsilon is None else epsilon


def sgd(learning_rate: float) -> SGD:
    """Return an optimizer for stochastic gradient descent.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.sgd(0.5).learning_rate)
        0.5
    """
    return SGD(learning_rate)


def momentum(learning_rate: float, momentum: float, use_nesterov: bool = False) -> Momentum:
    """Return an optimizer for gradient descent with momentum, or with Nesterov's.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.momentum(0.5, 0.9).learning_rate)
        0.5
    """
    return Momentum(learning_rate, momentum, use_nesterov)


def adagrad(learning_rate: float, initial_accumulator_value: float = 0.1) -> Adagrad:
    """Return an Adagrad optimizer: parameters with large past gradients make smaller steps.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.adagrad(0.5).learning_rate)
        0.5
    """
    return Adagrad(learning_rate, initial_accumulator_value, _epsilon(None))


def adadelta(
    learning_rate: float = 0.001, rho: float = 0.95, epsilon: float | None = None
) -> Adadelta:
    """Return an Adadelta optimizer, whose step sizes follow a window of past gradients and steps.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.adadelta(0.5).learning_rate)
        0.5
    """
    return Adadelta(learning_rate, rho, _epsilon(epsilon))


def adam(
    learning_rate: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float | None = None,
) -> Adam:
    """Return an Adam optimizer (adaptive moment estimation).

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.adam(0.5).learning_rate)
        0.5
    """
    return Adam(learning_rate, beta1, beta2, _epsilon(epsilon))


def adamax(
    learning_rate: float = 0.002,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float | None = None,
    decay: float = 0.0,
) -> Adamax:
    """Return an Adamax optimizer: Adam with the maximum norm of the gradients.

    With ``decay`` the learning rate is divided by ``1 + decay * (t - 1)`` at step ``t``.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.adamax(0.5).learning_rate)
        0.5
    """
    rate: LearningRateLike = learning_rate
    if non_negative("adamax", "decay", decay):
        rate = InverseTimeDecay(non_negative("adamax", "learning_rate", learning_rate), 1, decay)
    return Adamax(rate, beta1, beta2, _epsilon(epsilon))


def rmsprop(
    learning_rate: float,
    decay: float = 0.9,
    momentum: float = 0.0,
    epsilon: float | None = None,
    centered: bool = False,
) -> RMSprop:
    """Return an RMSprop optimizer, which divides gradients by the root of their mean square.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.rmsprop(0.5).learning_rate)
        0.5
    """
    return RMSprop(learning_rate, decay, momentum, _epsilon(epsilon), centered)


globals().update(explained_functions(sys.modules[__name__]))
