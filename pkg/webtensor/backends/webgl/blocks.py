"""Formulas on blocks: a fragment computes its element's block of the result."""

from __future__ import annotations

from webtensor.backends.formulas import BlockFormula, Listing
from webtensor.backends.webgl.backend import kernel
from webtensor.backends.webgl.compiler import Input, Shader
from webtensor.backends.webgl.draws import Draws, Value
from webtensor.dtypes import float32

__all__: list[str] = []


def _shader(row: BlockFormula, lanes: int) -> Shader:
    listing = Listing(row, "float", "", "sigmoid_", "tanh_")
    names = [name for blocks in listing.inputs for name in blocks]
    chosen = listing.results[-1]
    for index in range(row.results - 2, -1, -1):
        chosen = f"block == {index} ? {listing.results[index]} : {chosen}"
    reads = [
        f"  V {name} = getX{operand}((row * {len(blocks)} + {index}) * units + position);"
        for operand, blocks in enumerate(listing.inputs)
        for index, name in enumerate(blocks)
    ]
    calls = [
        f"element(block, {', '.join(f'{name}{lane}' for name in names)})"
        for lane in (("",) if lanes == 1 else (".x", ".y", ".z", ".w"))
    ]
    code = "\n".join(
        [
            f"float element(int block, {', '.join(f'float {name}' for name in names)}) {{",
            *(f"  {statement}" for statement in listing.statements),
            f"  return {chosen};",
            "}",
            "V compute(int t) {",
            "  int rest = t;",
            "  int position = split(rest, units);",
            f"  int block = split(rest, {row.results});",
            "  int row = rest;",
            *reads,
            f"  return V({', '.join(calls)});",
            "}",
        ]
    )
    sources = [Input(f"x{index}", float32, lanes) for index in range(len(row.counts))]
    return Shader(row.name, sources, float32, lanes, [("units", "int")], code)


@kernel("blocks")
def blocks(draws: Draws, row: BlockFormula) -> Value:
    """Compute a formula of blocks of the last axis."""
    units = draws.shape[-1] // row.results
    lanes = 4 if units % 4 == 0 else 1
    key = ("blocks", row.name, lanes)
    return draws.result(key, lambda: _shader(row, lanes), units // lanes)
