"""What all functions that differentiate do with the results of a user's function."""

from __future__ import annotations

from typing import Any, TypeVar

from webtensor.autodiff.tape import IDENTITY
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, Variable, alias, as_operand

__all__ = ["each_its_own", "ones_like", "require_tensor"]

Gradient = TypeVar("Gradient", Tensor, Tensor | None)


def require_tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Variable):
        return value.value
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: the function must return a tensor, but returned {value!r}")
    return value


def ones_like(tensor: Tensor) -> Tensor:
    ones = as_operand("grad", 1.0, complex64 if tensor.dtype is complex64 else float32)
    return ones.broadcast_to(tensor.shape)  # type: ignore[no-any-return]


def each_its_own(gradients: list[Gradient]) -> list[Gradient]:
    """Return the gradients so that disposing one source's does no harm to another's."""
    seen: set[int] = set()
    for position, gradient in enumerate(gradients):
        if gradient is None:
            continue
        if id(gradient) in seen:
            gradients[position] = alias(IDENTITY, gradient, gradient.shape)
        seen.add(id(gradient))
    return gradients
