"""Kernels of reductions, which see their operand as (outer, reduced, inner)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("reduce")
def reduce(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    *group: int,
) -> Handle:
    """Reduce the middle axis."""
    function = getattr(np, kind)
    x = array_of(inputs[0]).reshape(group)
    if kind in ("sum", "prod"):
        return function(x, axis=1, dtype=x.dtype).reshape(shape)
    return function(x, axis=1).reshape(shape)


@kernel("arg_reduce")
def arg_reduce(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    kind: str,
    *group: int,
) -> Handle:
    """Find the index of the first extremum along the middle axis."""
    return getattr(np, kind)(array_of(inputs[0]).reshape(group), axis=1).reshape(shape)
