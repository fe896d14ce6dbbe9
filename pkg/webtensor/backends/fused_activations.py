"""The activations that kernels of products and convolutions apply to their own results.

``FUSED_ACTIVATIONS`` is the one list of them. An activation's expressions for each backend and its
gradient are those of its row of the elementwise table, so that the ops (``ops/epilogue.py``), the
layers and the kernels need nothing but this list; from it and from the table,
``wasm_build/activations_source.py`` writes the C source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from webtensor.backends.api import Elementwise

__all__ = ["ACTIVATION_NUMBERS", "FUSED_ACTIVATIONS", "FusedActivation", "epilogue_operands"]

Element = TypeVar("Element")


class FusedActivation(NamedTuple):
    """An activation: its name in ``wt.fused``, and in the elementwise table (None: the identity).

    ``parameters`` are the defaults of the row's parameters.
    """

    name: str
    row: str | None
    parameters: tuple[float, ...] = ()


#: The gradient rule of an activation of one operand must give the same if it reads the result ``y``
#: in place of the operand ``x``: kernels do not store what they apply the activation to.
FUSED_ACTIVATIONS = (
    FusedActivation("linear", None),
    FusedActivation("elu", "elu", (1.0,)),
    FusedActivation("relu", "relu"),
    FusedActivation("relu6", "relu6"),
    FusedActivation("sigmoid", "sigmoid"),
    FusedActivation("prelu", "prelu"),
    FusedActivation("leakyrelu", "leaky_relu", (0.2,)),
)

#: The numbers that C kernels have for the activations, by the names of rows.
ACTIVATION_NUMBERS = {activation.row: number for number, activation in enumerate(FUSED_ACTIVATIONS)}


def epilogue_operands(
    operands: Sequence[Element], row: Elementwise | None
) -> tuple[Element, Element | None, Element | None]:
    """Return the bias, the slopes and the residual of a kernel's operands after the product's two.

    The bias is always there, the slopes where the row has two operands, the residual if one is
    added.
    """
    bias, *others = operands
    slopes = others.pop(0) if row is not None and row.arity == 2 else None
    return bias, slopes, others[0] if others else None
