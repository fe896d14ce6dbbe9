"""A primitive: the unit that backends implement and autodiff knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Gradient", "Primitive"]

#: ``gradient(dy, y, *inputs, *attributes)`` returns the gradient for one input.
Gradient = Callable[..., Any]


class Primitive:
    """A named operation with the kernel that computes it and one gradient rule per input.

    ``gradients`` has a rule for each input, which maps the output's gradient to the input's; None
    means that no gradient flows to the input. For any number of inputs, as of concat, it is a
    callable: ``gradients(index)`` returns the rule of an input. An operation through which no
    gradient flows at all has ``gradients=None`` and is never recorded.
    """

    __slots__ = ("gradients", "kernel", "name")

    def __init__(
        self,
        name: str,
        *,
        kernel: str | None = None,
        gradients: tuple[Gradient | None, ...] | Callable[[int], Gradient] | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel or name
        self.gradients = gradients

    def gradient_for(self, index: int) -> Gradient | None:
        """Return the rule for input number ``index``."""
        gradients = self.gradients
        if isinstance(gradients, tuple):
            return gradients[index]
        return gradients(index) if gradients is not None else None

    def __repr__(self) -> str:
        return f"Primitive({self.name!r})"
