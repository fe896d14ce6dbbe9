"""Kernels of reductions, which see their operand as (outer, reduced, inner)."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("reduce")
def reduce(of: Signature, kind: str, outer: int, reduced: int, inner: int) -> Description:
    """Reduce the middle axis."""
    sizes, work = (outer, reduced, inner), outer * reduced * inner / 4
    return one_call(of, ("reduce", kind, of.dtype), *sizes, work=work, is_shared=outer > 1)


@kernel("arg_reduce")
def arg_reduce(of: Signature, kind: str, outer: int, reduced: int, inner: int) -> Description:
    """Find the index of the first extremum along the middle axis."""
    sizes, work = (outer, reduced, inner), outer * reduced * inner
    return one_call(of, (kind, of.inputs[0].dtype), *sizes, work=work)
