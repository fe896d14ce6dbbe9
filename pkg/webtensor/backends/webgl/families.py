"""Loads every kernel module, and with them the table."""

from webtensor.backends.webgl import contraction as _contraction
from webtensor.backends.webgl import convolution as _convolution
from webtensor.backends.webgl import elementwise as _elementwise
from webtensor.backends.webgl import movement as _movement
from webtensor.backends.webgl import normalization as _normalization
from webtensor.backends.webgl import pooling as _pooling
from webtensor.backends.webgl import random as _random
from webtensor.backends.webgl import reduction as _reduction
from webtensor.backends.webgl.backend import kernel

__all__ = ["TABLE"]

TABLE = kernel
