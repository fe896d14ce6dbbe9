"""Optimizers: ``base`` is what all share; one module per optimizer."""

from webtensor.optimizers.adam import Adam
from webtensor.optimizers.base import Optimizer
from webtensor.optimizers.sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "Momentum", "Optimizer"]
