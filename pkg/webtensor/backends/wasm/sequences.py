"""Numbers in equal steps, and ones on a diagonal."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("sequence")
def sequence(of: Signature, start: float, step: float, last: float) -> Description:
    """Element ``i`` is ``start + i * step``; the last one is ``last``."""
    return one_call(of, ("sequence", of.dtype), of.size, float(start), float(step), float(last))


@kernel("ragged_sequence")
def ragged_sequence(of: Signature) -> Description:
    """Element ``i`` of row ``r`` is ``starts[r] + i * deltas[r]``; rows begin at ``splits``."""
    return one_call(of, ("ragged_sequence", of.dtype), of.inputs[0].size, work=of.size)


@kernel("eye")
def eye(of: Signature, k: int) -> Description:
    """Ones at (row, row + k), else zeros."""
    return one_call(of, ("eye", of.dtype), *of.shape, k, work=of.size)
