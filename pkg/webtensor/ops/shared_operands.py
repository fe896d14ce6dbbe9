"""Gradients of what several products share, such as the matrix of each step of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.autodiff import Gathered
from webtensor.engine import Tensor
from webtensor.ops.movement import concat

__all__ = ["OfRows"]


class OfRows(Gathered):
    """A gradient that ``rule`` computes from rows, and so from the rows of all products at once."""

    def __init__(self, rule: Callable[..., Tensor], *rows: Tensor) -> None:
        self.rule = rule
        self.rows = [rows]

    def plus(self, other: Any) -> OfRows:
        """Add a tensor, or the rows of other products."""
        if isinstance(other, OfRows) and other.rule is self.rule:
            self.rows += other.rows
            other = other.rest
        self._add_rest(other)
        return self

    def total(self) -> Tensor:
        """Compute the gradient, of the rows in the order of the products that they belong to."""
        columns = zip(*reversed(self.rows), strict=True)
        whole = self.rule(*(concat(column) if len(column) > 1 else column[0] for column in columns))
        return whole if self.rest is None else self.rest + whole
