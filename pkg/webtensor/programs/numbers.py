"""Late numbers of a captured function, computed anew at each replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from webtensor.engine.late_numbers import LateNumber

__all__ = ["Choices", "Numbers"]


class Numbers:
    """A list of numbers: constants, and what is computed from them and from sources.

    Args:
        drawn: numbers that are drawn each time, in this order, before anything else is computed.
    """

    def __init__(self, drawn: Iterable[LateNumber] = ()) -> None:
        #: All numbers; those that are computed have no meaning here.
        self._numbers: list[Any] = []
        #: The index of what is computed, what computes it, and the indices of its operands.
        self._steps: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
        self._indices: dict[Any, int] = {}
        for number in drawn:
            self.index(number)

    def index(self, number: Any) -> int:
        """Return the index of a number in the list; it is added if it is not there."""
        if type(number) is not LateNumber:
            return self._add((id(number),), number)
        operands = tuple(map(self.index, number.operands))
        # A number without operands is a source, and differs at each call if it is drawn.
        key = (number.function, operands) if operands else (id(number),)
        count = len(self._numbers)
        index = self._add(key, number)
        if index == count:
            self._steps.append((index, number.function, operands))
        return index

    def _add(self, key: Any, number: Any) -> int:
        """Return the index of a number, which is added if none has its key."""
        index = self._indices.setdefault(key, len(self._numbers))
        if index == len(self._numbers):
            self._numbers.append(number)  # which keeps its identity
        return index

    def __call__(self) -> list[Any]:
        """Compute the numbers."""
        numbers = self._numbers.copy()
        for index, function, operands in self._steps:
            numbers[index] = function(*[numbers[operand] for operand in operands])
        return numbers


class Choices:
    """The branches that late numbers decided at a capture.

    Args:
        choices: numbers with what they were at the capture.
    """

    def __init__(self, choices: Sequence[tuple[LateNumber, bool]]) -> None:
        self._numbers = Numbers()
        self._outcomes = [(self._numbers.index(number), outcome) for number, outcome in choices]

    def hold(self) -> bool:
        """Whether the numbers decide the same now."""
        if not self._outcomes:
            return True
        numbers = self._numbers()
        return all(numbers[index] is outcome for index, outcome in self._outcomes)
