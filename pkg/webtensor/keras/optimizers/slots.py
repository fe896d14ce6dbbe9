"""The variables of optimizers: slots, which are tensors, and scalars stored as Python numbers."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable
from typing import Any

from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor, Variable, as_operand, state
from webtensor.engine.late_numbers import LateNumber, applied, at_capture
from webtensor.shapes import Shape

__all__ = ["HostNumber", "Slot", "as_float32"]


def as_float32(number: float) -> float:
    """Round a number to float32.

    Example:
        >>> as_float32(0.001)
        0.0010000000474974513
    """
    return array("f", [number])[0]


class Slot(Variable):
    """A variable of an optimizer. Its path is the optimizer's name, a slash and its own name."""

    __slots__ = ("path",)

    def __init__(self, value: Tensor, name: str, path: str) -> None:
        super().__init__(value, False, name)
        self.path = path


class HostNumber(Slot):
    """A scalar variable whose value is a Python number.

    A step reads ``number``, which does not wait for the device. Arithmetic and comparisons with
    Python numbers return Python numbers; other operations return tensors, as of other variables.
    Within a captured function it is a number that each replay reads and assigns again.

    Example:
        >>> rate = HostNumber(0.5, float32, "learning_rate", "sgd/learning_rate")
        >>> rate * 2, rate < 1, rate.value.tolist()
        (1.0, True, 0.5)
    """

    __slots__ = ("_dtype", "_number")

    def __init__(self, number: float, dtype: DType, name: str, path: str) -> None:
        self.name, self.path, self.trainable = name, path, False
        self._dtype = dtype
        self.assign(number)

    @property
    def number(self) -> Any:
        """The number."""
        captures = state.captures
        return captures[-1].read_number(self) if captures else self._number

    @number.setter
    def number(self, number: Any) -> None:
        if state.captures:
            state.captures[-1].write_number(self, number)
        self._number = at_capture(number)

    @property
    def _value(self) -> Tensor:  # type: ignore[override]
        return as_operand("HostNumber", self.number, self._dtype)

    @property
    def shape(self) -> Shape:
        """The shape: that of a scalar."""
        return ()

    @property
    def dtype(self) -> DType:
        """The dtype of ``value``."""
        return self._dtype

    def assign(self, value: Any) -> None:
        """Assign a number, or the value of a scalar tensor.

        Raises:
            ValueError: ``value`` is not a scalar.
        """
        if not isinstance(value, (int, float, LateNumber)):
            operand = as_operand("assign", value)
            if operand.shape != ():
                raise ValueError(f"assign: variable {self.name!r} has shape (), but got {value!r}")
            value = operand.item()
        self.number = applied(as_float32 if self._dtype is float32 else int, value)

    def assign_add(self, value: Any) -> Tensor:
        """Add ``value`` to the number, and return the sum."""
        self.assign(self + value)
        return self.value

    def assign_sub(self, value: Any) -> Tensor:
        """Subtract ``value`` from the number, and return the difference."""
        self.assign(self - value)
        return self.value

    def __reduce__(self) -> tuple[Any, ...]:
        return HostNumber, (self.number, self._dtype, self.name, self.path)

    __hash__ = Slot.__hash__

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape=(), dtype={self.dtype}, value={self.number}>"


def _on_the_host(name: str) -> Callable[[HostNumber, Any], Any]:
    """Return an operator that computes with Python numbers where both operands are numbers."""
    on_numbers, on_tensors = getattr(operator, name), getattr(Slot, f"__{name}__")

    def forward(self: HostNumber, other: Any) -> Any:
        if isinstance(other, HostNumber):
            other = other.number
        return (
            on_numbers(self.number, other)
            if isinstance(other, (int, float, LateNumber))
            else on_tensors(self, other)
        )

    return forward


def _reflected_on_the_host(name: str) -> Callable[[HostNumber, Any], Any]:
    """Return the reflected operator, whose second operand is the ``HostNumber``."""
    on_numbers, on_tensors = getattr(operator, name), getattr(Slot, f"__r{name}__")

    def backward(self: HostNumber, other: Any) -> Any:
        return (
            on_numbers(other, self.number)
            if isinstance(other, (int, float, LateNumber))
            else on_tensors(self, other)
        )

    return backward


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(HostNumber, f"__{_name}__", _on_the_host(_name))
    setattr(HostNumber, f"__r{_name}__", _reflected_on_the_host(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(HostNumber, f"__{_name}__", _on_the_host(_name))
