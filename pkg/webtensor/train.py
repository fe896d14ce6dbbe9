"""TensorFlow.js's names for making optimizers, with its signatures: ``wt.train.adam(0.01)``.

They make the classes of ``wt.optimizers``, whose formulas are Keras's. They differ from
TensorFlow.js: ``adam`` adds ``epsilon`` to the root before its correction, not after it;
``adadelta`` divides by this step's mean square, not by the previous one; centered ``rmsprop`` adds
``epsilon``, which TensorFlow.js subtracts. An ``epsilon`` of None is the smallest that is safe on
the active backend.
"""

from __future__ import annotations

import sys

from webtensor.engine import backend
from webtensor.explanation import explained_functions
from webtensor.keras.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Momentum, RMSprop
from webtensor.keras.optimizers.arguments import Rate, not_negative
from webtensor.keras.optimizers.schedules import InverseTimeDecay

__all__ = ["adadelta", "adagrad", "adam", "adamax", "momentum", "rmsprop", "sgd"]


def _epsilon(epsilon: float | None) -> float:
    return backend().epsilon() if epsilon is None else epsilon


def sgd(learning_rate: float) -> SGD:
    """Stochastic gradient descent.

    Example:
        >>> import webtensor as wt
        >>> float(wt.train.sgd(0.5).learning_rate)
        0.5
    """
    return SGD(learning_rate)


def momentum(learning_rate: float, momentum: float, use_nesterov: bool = False) -> Momentum:
    """Gradient descent with momentum, or Nesterov's."""
    return Momentum(learning_rate, momentum, use_nesterov)


def adagrad(learning_rate: float, initial_accumulator_value: float = 0.1) -> Adagrad:
    """Smaller steps for what changed much."""
    return Adagrad(learning_rate, initial_accumulator_value, _epsilon(None))


def adadelta(
    learning_rate: float = 0.001, rho: float = 0.95, epsilon: float | None = None
) -> Adadelta:
    """Steps whose size follows the steps before."""
    return Adadelta(learning_rate, rho, _epsilon(epsilon))


def adam(
    learning_rate: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float | None = None,
) -> Adam:
    """Adaptive moment estimation."""
    return Adam(learning_rate, beta1, beta2, _epsilon(epsilon))


def adamax(
    learning_rate: float = 0.002,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float | None = None,
    decay: float = 0.0,
) -> Adamax:
    """Adam with the greatest gradient for the mean square.

    With ``decay`` the learning rate is divided by ``1 + decay * (t - 1)`` at step ``t``.
    """
    rate: Rate = learning_rate
    if not_negative("adamax", "decay", decay):
        rate = InverseTimeDecay(not_negative("adamax", "learning_rate", learning_rate), 1, decay)
    return Adamax(rate, beta1, beta2, _epsilon(epsilon))


def rmsprop(
    learning_rate: float,
    decay: float = 0.9,
    momentum: float = 0.0,
    epsilon: float | None = None,
    centered: bool = False,
) -> RMSprop:
    """Gradients divided by the root of their mean square, which decays by ``decay``."""
    return RMSprop(learning_rate, decay, momentum, _epsilon(epsilon), centered)


globals().update(explained_functions(sys.modules[__name__]))
