"""Loads every kernel module, and with them the table."""

from webtensor.backends.numpy import (
    blocks,
    compaction,
    contraction,
    elementwise,
    fourier,
    image,
    indexing,
    linalg,
    movement,
    normalization,
    padding,
    pooling,
    random,
    reduction,
    scan,
    scatter,
    sequences,
    sorting,
)
from webtensor.backends.numpy.backend import kernel

__all__ = ["FAMILIES", "TABLE"]

#: Importing a family registers its kernels.
FAMILIES = (
    blocks,
    compaction,
    contraction,
    elementwise,
    fourier,
    image,
    indexing,
    linalg,
    movement,
    normalization,
    padding,
    pooling,
    random,
    reduction,
    scan,
    scatter,
    sequences,
    sorting,
)

TABLE = kernel
