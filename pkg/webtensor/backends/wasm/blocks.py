"""Formulas on blocks; ``wasm_build/blocks_source.py`` writes their kernels."""

from __future__ import annotations

from webtensor.backends.formulas import BlockFormula
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []

#: About how many instructions the elements of all blocks at one index take (LSTM: 19 µs for 2048).
_WORK = 35


@kernel("blocks")
def blocks(of: Signature, row: BlockFormula) -> Description:
    """Compute a formula of blocks of the last axis."""
    rows, units = of.size // of.shape[-1], of.shape[-1] // row.results
    return one_call(of, (row.name,), rows, units, work=rows * units * _WORK, is_shared=True)
