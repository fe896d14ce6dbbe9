"""Writes the C header of the activations that kernels apply to their own results.

It has their numbers, as ``backends/fused_activations.py`` counts them, and the C expressions of
their rows of the elementwise table, for ``source/epilogue.h``.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtensor.backends.fused_activations import FusedActivation
    from webtensor.ops.elementwise import Row


def activations_source(activations: Iterable["FusedActivation"], rows: Mapping[str, "Row"]) -> str:
    """Return the C header; ``FOR_EACH_ACTIVATION(CASE)`` expands to a CASE for each activation.

    A CASE has the activation's number, and its expression in the operand ``x``, the second operand
    ``y`` and the parameter ``alpha``.
    """
    expressions = {
        (row or name).upper(): "x" if row is None else rows[row].c for name, row, _ in activations
    }
    cases = [f"  CASE({number}, {expression})" for number, expression in expressions.items()]
    return "\n".join(
        [
            "/* Generated from the table of fused activations by activations_source.py. */",
            "#ifndef WEBTENSOR_ACTIVATIONS_H",
            "#define WEBTENSOR_ACTIVATIONS_H",
            "",
            f"enum {{ {', '.join(expressions)} }};",
            "",
            " \\\n".join(["#define FOR_EACH_ACTIVATION(CASE)", *cases]),
            "",
            "#endif",
            "",
        ]
    )
