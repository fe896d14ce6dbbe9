"""What optimizers remember: tensors beside each weight, and numbers that the host keeps."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable
from typing import Any

from webtensor.dtypes import DType, float32
from webtensor.engine import Tensor, Variable, as_operand
from webtensor.ops import tensor
from webtensor.shapes import Shape

__all__ = ["HostNumber", "Slot", "as_float32"]


def as_float32(number: float) -> float:
    """The float32 number next to one.

    Example:
        >>> as_float32(0.001)
        0.0010000000474974513
    """
    return array("f", [number])[0]


class Slot(Variable):
    """A tensor that an optimizer remembers; ``path`` is its name after the optimizer's."""

    __slots__ = ("path",)

    def __init__(self, value: Tensor, name: str, path: str) -> None:
        super().__init__(value, False, name)
        self.path = path


class HostNumber(Slot):
    """A number that the host keeps, and that others see as a variable without axes.

    Steps read ``number``, which asks no device. Arithmetic and comparisons with Python numbers give
    Python numbers; anything else gets a tensor, as from other variables.

    Example:
        >>> rate = HostNumber(0.5, float32, "learning_rate", "sgd/learning_rate")
        >>> rate * 2, rate < 1, rate.value.tolist()
        (1.0, True, 0.5)
    """

    __slots__ = ("_kind", "number")

    def __init__(self, number: float, dtype: DType, name: str, path: str) -> None:
        self.name, self.path, self.trainable = name, path, False
        self._kind = dtype
        self.assign(number)

    @property
    def _value(self) -> Tensor:  # type: ignore[override]
        return tensor(self.number, dtype=self._kind)

    @property
    def shape(self) -> Shape:
        """Lengths of the axes: none."""
        return ()

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._kind

    def assign(self, value: Any) -> None:
        """Hold another number from now on.

        Raises:
            ValueError: ``value`` has axes.
        """
        if not isinstance(value, (int, float)):
            held = as_operand("assign", value)
            if held.shape != ():
                raise ValueError(f"assign: variable {self.name!r} has shape (), but got {value!r}")
            value = held.item()
        self.number = as_float32(value) if self._kind is float32 else int(value)

    def assign_add(self, value: Any) -> None:
        """Hold a number that is greater by ``value``."""
        self.assign(self + value)

    def assign_sub(self, value: Any) -> None:
        """Hold a number that is less by ``value``."""
        self.assign(self - value)

    def __reduce__(self) -> tuple[Any, ...]:
        return HostNumber, (self.number, self._kind, self.name, self.path)

    __hash__ = Slot.__hash__

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape=(), dtype={self.dtype}, value={self.number}>"


def _on_the_host(name: str) -> Callable[[HostNumber, Any], Any]:
    """An operator that computes with Python numbers where it can."""
    compute, general = getattr(operator, name), getattr(Slot, f"__{name}__")

    def forward(self: HostNumber, other: Any) -> Any:
        if isinstance(other, HostNumber):
            other = other.number
        return (
            compute(self.number, other) if isinstance(other, (int, float)) else general(self, other)
        )

    return forward


def _reflected_on_the_host(name: str) -> Callable[[HostNumber, Any], Any]:
    compute, general = getattr(operator, name), getattr(Slot, f"__r{name}__")

    def backward(self: HostNumber, other: Any) -> Any:
        return (
            compute(other, self.number) if isinstance(other, (int, float)) else general(self, other)
        )

    return backward


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(HostNumber, f"__{_name}__", _on_the_host(_name))
    setattr(HostNumber, f"__r{_name}__", _reflected_on_the_host(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(HostNumber, f"__{_name}__", _on_the_host(_name))
