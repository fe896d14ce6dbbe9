"""Writes the C source of the kernels of formulas on blocks (see ``ops/blocks.py``).

A kernel is called as ``row(x0, x1, …, out, rows, units, part, parts)``: each of the ``rows`` of an
operand consists of its blocks, of ``units`` elements each. Its export is named after the row.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtensor.backends.formulas import BlockFormula


def kernel(row: "BlockFormula") -> Iterator[str]:
    """Yield the lines of one row."""
    from webtensor.backends.formulas import Listing

    listing = Listing(row, "vf", "f", "vsigmoid", "vtanh")
    body = " ".join([*listing.statements, *listing.results])
    addresses = ", ".join(f"const float *x{index}" for index in range(len(row.counts)))
    yield f"EXPORT({row.name})"
    yield f"void {row.name}({addresses}, float *out, int rows, int units, int part, int parts) {{"
    for index in range(len(row.counts)):
        yield f"  (void)x{index};"
    yield "  int row, end;"
    yield "  find_piece(rows, 1, part, parts, &row, &end);"
    yield "  for (; row < end; row++) {"
    yield "    for (int j = 0; j < units; j += 4) {"
    for operand, blocks in enumerate(listing.inputs):
        for block, name in enumerate(blocks):
            if name in body:
                offset = f"(row * {len(blocks)} + {block}) * units + j"
                yield f"      vf {name} = load(x{operand} + {offset});"
    for statement in listing.statements:
        yield f"      {statement}"
    for block, result in enumerate(listing.results):
        value = f"vset({result})" if result[0].isdigit() else result
        offset = f"(row * {row.results} + {block}) * units + j"
        yield f"      store_up_to(out + {offset}, {value}, units - j);"
    yield "    }"
    yield "  }"
    yield "}"
    yield ""


def blocks_source(rows: Iterable["BlockFormula"]) -> str:
    """Return the C source of every row's kernel."""
    lines = [
        "/* Generated from the formulas on blocks by blocks_source.py. */",
        '#include "elementwise.h"',
        "",
        "INLINE vf vsigmoid(vf x) { return 1.f / (1.f + vexp(-x)); }",
        "",
    ]
    for row in rows:
        lines += kernel(row)
    return "\n".join(lines)
