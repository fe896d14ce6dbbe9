"""Formulas on blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.formulas import BlockFormula
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


class _Arrays:
    """The functions that a formula may call, for arrays."""

    tanh = staticmethod(np.tanh)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))


@kernel("blocks")
def blocks(of: Signature, arrays: Arrays, row: BlockFormula) -> Handle:
    """Compute a formula of blocks of the last axis."""
    parts = [
        part
        for array, count in zip(arrays, row.counts, strict=True)
        for part in np.split(array, count, -1)
    ]
    result = np.empty(of.shape, of.dtype.name)
    result_blocks = np.split(result, row.results, -1)
    for block, values in zip(result_blocks, row.formula(_Arrays, *parts), strict=True):
        block[...] = values
    return result
