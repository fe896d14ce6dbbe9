"""Loads every kernel module, and with them the table."""

from webtensor.backends.wasm import (
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
from webtensor.backends.wasm.backend import kernel

__all__ = ["FAMILIES", "TABLE"]

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
