"""Loads every kernel module, and with them the table."""

from webtensor.backends.webgl import (
    blocks,
    compaction,
    contraction,
    convolution,
    elementwise,
    fourier,
    image,
    indexing,
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
from webtensor.backends.webgl.backend import kernel

__all__ = ["FAMILIES", "TABLE"]

#: Importing a family registers its kernels.
FAMILIES = (
    blocks,
    compaction,
    contraction,
    convolution,
    elementwise,
    fourier,
    image,
    indexing,
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
