"""Optimizers: ``base`` is what all share; one module per optimizer."""

from webtensor.optimizers.adadelta import Adadelta
from webtensor.optimizers.adagrad import Adagrad
from webtensor.optimizers.adam import Adam
from webtensor.optimizers.adamax import Adamax
from webtensor.optimizers.base import Optimizer
from webtensor.optimizers.rmsprop import RMSprop
from webtensor.optimizers.sgd import SGD, Momentum

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "Momentum", "Optimizer", "RMSprop"]
