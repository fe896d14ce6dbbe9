"""Loads every kernel module, and with them the table."""

from webtensor.backends.numpy import contraction as _contraction
from webtensor.backends.numpy import elementwise as _elementwise
from webtensor.backends.numpy import movement as _movement
from webtensor.backends.numpy import normalization as _normalization
from webtensor.backends.numpy import pooling as _pooling
from webtensor.backends.numpy import random as _random
from webtensor.backends.numpy import reduction as _reduction
from webtensor.backends.numpy.backend import kernel

__all__ = ["TABLE"]

TABLE = kernel
