"""Formulas on blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.formulas import BlockFormula
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


class _Arrays:
    """The functions that a formula may call, for arrays."""

    tanh = staticmethod(np.tanh)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))


@kernel("blocks")
def blocks(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, row: BlockFormula
) -> Handle:
    """Compute a formula of blocks of the last axis."""
    parts = [
        part
        for operand, count in zip(inputs, row.counts, strict=True)
        for part in np.split(array_of(operand), count, -1)
    ]
    result = np.empty(shape, dtype.name)
    result_blocks = np.split(result, row.results, -1)
    for block, values in zip(result_blocks, row.formula(_Arrays, *parts), strict=True):
        block[...] = values
    return result
