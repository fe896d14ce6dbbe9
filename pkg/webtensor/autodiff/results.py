"""What all functions that differentiate do with a user's variables, and with what they compute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from webtensor.autodiff.tape import IDENTITY
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, Variable, alias, as_operand

__all__ = ["ones_like", "require_real", "require_tensor", "variable_list", "without_aliases"]

Gradient = TypeVar("Gradient", Tensor, Tensor | None)


def require_tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Variable):
        return value.value
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: the function must return a tensor, but returned {value!r}")
    return value


def variable_list(name: str, argument: str, variables: Any) -> list[Variable]:
    """Return variables as a list; a single variable is a list of one."""
    listed = [variables] if isinstance(variables, Variable) else variables
    listed = [*listed] if isinstance(listed, Iterable) else [listed]
    for variable in listed:
        if not isinstance(variable, Variable):
            raise TypeError(f"{name}: {argument} must be a list of variables, but has {variable!r}")
    return listed


def require_real(name: str, value: Tensor | Variable) -> None:
    """Raise for a complex value, whose elements have no rows of a Jacobian."""
    if value.dtype is complex64:
        raise TypeError(
            f"{name}: what is differentiated must be real numbers, but is complex64; take the real "
            "and the imaginary part by themselves"
        )


def ones_like(tensor: Tensor) -> Tensor:
    ones = as_operand("grad", 1.0, complex64 if tensor.dtype is complex64 else float32)
    return ones.broadcast_to(tensor.shape)  # type: ignore[no-any-return]


def without_aliases(gradients: list[Gradient]) -> list[Gradient]:
    """Return the gradients so that disposing one source's does no harm to another's."""
    seen: set[int] = set()
    for position, gradient in enumerate(gradients):
        if gradient is None:
            continue
        if id(gradient) in seen:
            gradients[position] = alias(IDENTITY, gradient, gradient.shape)
        seen.add(id(gradient))
    return gradients
