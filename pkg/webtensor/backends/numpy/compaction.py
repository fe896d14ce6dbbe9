"""Kernels that list where a mask is true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("true_indices")
def true_indices(backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType) -> Handle:
    """List the indices of the true elements; the result has as many elements."""
    return np.flatnonzero(array_of(inputs[0]))
