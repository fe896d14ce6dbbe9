"""Formulas on blocks: the computation of a recurrent cell from its gates, in one pass.

The last axis of an operand consists of several blocks of equal size, such as the gates of a cell. A
row here is a formula of the blocks of all operands, element by element; it returns the blocks of
the result. It is written once, in Python, for four uses: called with arrays, it computes; called
with tensors, it is composed of ops, which is how a row without gradient rules is differentiated;
called with symbols, it writes the statements of C and of GLSL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.autodiff import Tape
from webtensor.backends.formulas import Formula
from webtensor.dtypes import float32
from webtensor.engine import Gradient, Primitive, Tensor, planned, run
from webtensor.ops.activations import sigmoid
from webtensor.ops.creation import zeros_like
from webtensor.ops.movement import concat, split
from webtensor.ops.trigonometry import tanh

__all__ = ["BLOCK_ROWS", "BlockRow", "blocks"]


class _Ops:
    """The functions that a formula may call, for tensors."""

    sigmoid = staticmethod(sigmoid)
    tanh = staticmethod(tanh)


class BlockRow(Primitive):
    """A formula on blocks; ``counts`` says how many each operand has, ``results`` the result."""

    __slots__ = ("counts", "formula", "results")

    def __init__(
        self,
        formula: Formula,
        counts: tuple[int, ...],
        results: int,
        gradients: tuple[Gradient, ...] | None,
    ) -> None:
        rules: Any = self._rule_for if gradients is None else gradients
        super().__init__(formula.__name__, kernel="blocks", gradients=rules)
        self.formula = formula
        self.counts = counts
        self.results = results

    def composed(self, *operands: Tensor) -> Tensor:
        """Compute the formula by ops."""
        parts: list[Tensor] = []
        for operand, count in zip(operands, self.counts, strict=True):
            parts += split(operand, count, -1) if count > 1 else [operand]
        results = self.formula(_Ops, *parts)
        blocks = [block if isinstance(block, Tensor) else zeros_like(parts[0]) for block in results]
        return concat(blocks, -1) if len(blocks) > 1 else blocks[0]

    def _rule_for(self, index: int) -> Gradient:
        """The gradient of the formula composed of ops."""

        def rule(dy: Tensor, y: Tensor, *arguments: Any) -> Tensor:
            *operands, _ = arguments
            with Tape() as tape:
                tape.watch(operands[index])
                result = self.composed(*operands)
            gradient = tape.gradients([result], [operands[index]], [dy])[0]
            return zeros_like(operands[index]) if gradient is None else gradient

        return rule


#: Every row by name; the C kernels are generated from it.
BLOCK_ROWS: dict[str, BlockRow] = {}


def blocks(
    *counts: int, results: int = 1, gradients: tuple[Gradient, ...] | None = None
) -> Callable[[Formula], Callable[..., Tensor]]:
    """Make a function of float32 tensors, whose axes but the last are equal, of a formula.

    Rules of ``gradients`` are called with the row as the last argument. Shapes are not checked.
    """

    def decorate(formula: Formula) -> Callable[..., Tensor]:
        row = BlockRow(formula, counts, results, gradients)
        BLOCK_ROWS[row.name] = row

        @planned
        def apply(*operands: Tensor) -> Tensor:
            first = operands[0].shape
            shape = (*first[:-1], first[-1] // counts[0] * results)
            return run(row, operands, shape, float32, row)

        return apply

    return decorate
