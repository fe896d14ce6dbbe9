"""Kernels that list where a mask is true."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("true_indices")
def true_indices(of: Signature, arrays: Arrays) -> Handle:
    """List the indices of the true elements; the result has as many elements."""
    return np.flatnonzero(arrays[0])
