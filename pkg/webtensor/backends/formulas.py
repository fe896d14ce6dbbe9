"""Formulas on blocks, as backends see them (see ``ops/blocks.py``).

A formula is a Python function of a namespace, which has ``sigmoid`` and ``tanh``, and of one value
per block; it may add, subtract and multiply these and numbers. ``Listing`` writes a formula as
statements that are valid in C and in GLSL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

__all__ = ["BlockFormula", "Formula", "Listing"]

#: ``formula(namespace, block, …)`` returns the result's blocks, of which 0 is one of zeros.
Formula = Callable[..., tuple[Any, ...]]


class BlockFormula(Protocol):
    """A row with a formula, and the numbers of blocks of its operands and of its result."""

    @property
    def name(self) -> str: ...
    @property
    def formula(self) -> Formula: ...
    @property
    def counts(self) -> tuple[int, ...]: ...
    @property
    def results(self) -> int: ...


class _Symbol:
    """The name of a value."""

    def __init__(self, listing: Listing, name: str) -> None:
        self.listing, self.name = listing, name

    def __add__(self, other: Any) -> _Symbol:
        return self.listing.note(self, "+", other)

    def __sub__(self, other: Any) -> _Symbol:
        return self.listing.note(self, "-", other)

    def __mul__(self, other: Any) -> _Symbol:
        return self.listing.note(self, "*", other)

    def __radd__(self, other: Any) -> _Symbol:
        return self.listing.note(other, "+", self)

    def __rsub__(self, other: Any) -> _Symbol:
        return self.listing.note(other, "-", self)

    def __rmul__(self, other: Any) -> _Symbol:
        return self.listing.note(other, "*", self)


class Listing:
    """The statements of a row: ``inputs`` are the names of its operands' blocks.

    ``number``, ``sigmoid_name`` and ``tanh_name`` are the language's names of the type and the
    functions; ``results`` are the expressions of the result's blocks.
    """

    def __init__(
        self, row: BlockFormula, number: str, suffix: str, sigmoid_name: str, tanh_name: str
    ) -> None:
        self._number, self._suffix = number, suffix
        self._sigmoid, self._tanh = sigmoid_name, tanh_name
        self.statements: list[str] = []
        self.inputs: Sequence[Sequence[str]] = [
            [f"x{operand}_{block}" for block in range(count)]
            for operand, count in enumerate(row.counts)
        ]
        symbols = [_Symbol(self, name) for names in self.inputs for name in names]
        self.results = [self._text(result) for result in row.formula(self, *symbols)]

    def sigmoid(self, x: Any) -> _Symbol:
        """Note a call of the sigmoid."""
        return self._named(f"{self._sigmoid}({self._text(x)})")

    def tanh(self, x: Any) -> _Symbol:
        """Note a call of the hyperbolic tangent."""
        return self._named(f"{self._tanh}({self._text(x)})")

    def note(self, x: Any, operator: str, y: Any) -> _Symbol:
        """Note an operation."""
        return self._named(f"{self._text(x)} {operator} {self._text(y)}")

    def _text(self, value: Any) -> str:
        return value.name if isinstance(value, _Symbol) else f"{float(value)}{self._suffix}"

    def _named(self, expression: str) -> _Symbol:
        name = f"t{len(self.statements)}"
        self.statements.append(f"{self._number} {name} = {expression};")
        return _Symbol(self, name)
