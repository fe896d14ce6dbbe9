"""Python numbers that a captured function computes anew at each replay, such as seeds.

While a function is captured, such a number is a ``LateNumber``: its value then, and how it is
computed. Arithmetic makes further ones. They can be attributes of primitives and operands of ops;
wherever else Python wants a number, ``CaptureError`` is raised, so that none is lost unnoticed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from webtensor.engine.state import state
from webtensor.errors import CaptureError

__all__ = ["LateNumber", "NumberHolder", "applied", "at_capture", "late_number", "recomputed"]

Number = TypeVar("Number", bound=float)

_USED_AFTERWARDS = "function: a number of a capture is used after it"
_PLAIN_NUMBER = (
    "function: a number that changes from call to call, as a learning rate, a count of steps or a "
    "seed, is needed as a number of Python, which replays would not compute"
)


class NumberHolder(Protocol):
    """An owner of a Python number that functions read and assign, as optimizers count steps.

    Outside of captures, ``number`` is the number itself.
    """

    number: Any


class LateNumber:
    """A number of a function that is being captured.

    Attributes:
        value: the number at the capture.
        function: what computes it, from ``operands``, which are numbers, too.
        is_drawn: whether computing it has effects, as drawing a seed has.
    """

    __slots__ = ("function", "is_drawn", "operands", "value")

    def __init__(
        self,
        value: float,
        function: Callable[..., float],
        operands: tuple[Any, ...] = (),
        is_drawn: bool = False,
    ) -> None:
        self.value = value
        self.function = function
        self.operands = operands
        self.is_drawn = is_drawn

    def __bool__(self) -> bool:
        """Return whether the number is not 0; replays take this program only where it is so again.

        Raises:
            CaptureError: the number is drawn, or the capture has ended.
        """
        if not state.captures:
            raise CaptureError(_USED_AFTERWARDS)
        chosen: bool = state.captures[-1].choose(applied(bool, self))
        return chosen

    def _plain(self) -> Any:
        """Return the number as it is at the capture, if the capture allows it."""
        if not state.captures:
            raise CaptureError(_USED_AFTERWARDS)
        state.captures[-1].refuse(_PLAIN_NUMBER)
        return self.value

    def __float__(self) -> float:
        return float(self._plain())

    def __int__(self) -> int:
        return int(self._plain())

    def __index__(self) -> int:
        return operator.index(self._plain())

    def __hash__(self) -> int:
        return hash(self._plain())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._plain(), digits)

    def __format__(self, form: str) -> str:
        return format(self._plain(), form)

    def __repr__(self) -> str:
        return f"LateNumber({self.value!r})"


def at_capture(number: Any) -> Any:
    """Return a number as it is at the capture."""
    return number.value if type(number) is LateNumber else number


def applied(function: Callable[..., Number], *numbers: Any) -> Any:
    """Return a function of numbers; it is a late number if one of them is.

    Example:
        >>> from math import sqrt
        >>> applied(sqrt, 9.0)
        3.0
    """
    if not any(type(number) is LateNumber for number in numbers):
        return function(*numbers)
    return LateNumber(function(*map(at_capture, numbers)), function, numbers)


def late_number(source: Callable[[], float]) -> Any:
    """Return a number from its source; each replay asks the source again, in the same order."""
    return state.captures[-1].draw(source) if state.captures else source()


def recomputed(number: Any, computed: dict[int, Any]) -> Any:
    """Compute a number anew; ``computed`` has the results so far, by the numbers' identity."""
    if type(number) is not LateNumber:
        return number
    if id(number) not in computed:
        if number.is_drawn:
            computed[id(number)] = late_number(number.function)
        else:
            operands = [recomputed(operand, computed) for operand in number.operands]
            computed[id(number)] = applied(number.function, *operands)
    return computed[id(number)]


def _operator(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(operator, name)

    def forward(self: LateNumber, *others: Any) -> Any:
        if not all(isinstance(other, (int, float, LateNumber)) for other in others):
            return NotImplemented
        return applied(function, self, *others)

    return forward


def _reflected_operator(name: str) -> Callable[[LateNumber, Any], Any]:
    function: Callable[..., Any] = getattr(operator, name)

    def backward(self: LateNumber, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return applied(function, other, self)

    return backward


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(LateNumber, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(LateNumber, f"__r{_name}__", _reflected_operator(f"__{_name}__"))
for _name in ("lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs"):
    setattr(LateNumber, f"__{_name}__", _operator(f"__{_name}__"))
