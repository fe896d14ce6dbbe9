"""Kernels of reductions, which see their operand as (outer, reduced, inner)."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("reduce")
def reduce(of: Signature, arrays: Arrays, kind: str, *group: int) -> Handle:
    """Reduce the middle axis."""
    function = getattr(np, kind)
    x = arrays[0].reshape(group)
    if kind in ("sum", "prod"):
        return function(x, axis=1, dtype=x.dtype).reshape(of.shape)
    return function(x, axis=1).reshape(of.shape)


@kernel("arg_reduce")
def arg_reduce(of: Signature, arrays: Arrays, kind: str, *group: int) -> Handle:
    """Find the index of the first extremum along the middle axis."""
    return getattr(np, kind)(arrays[0].reshape(group), axis=1).reshape(of.shape)
