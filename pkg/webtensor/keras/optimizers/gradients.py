"""The gradients that a step applies: without missing ones, and as float32."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable, as_operand

__all__ = ["without_missing"]


def without_missing(
    gradients: Sequence[Tensor | None], variables: Sequence[Variable]
) -> tuple[list[Tensor], list[Variable]]:
    """Leave out the variables whose gradient is None, with a warning.

    Raises:
        ValueError: all gradients are None, or a gradient's shape differs from its variable's.
    """
    pairs = list(zip(gradients, variables, strict=True))
    missing = [
        getattr(variable, "path", variable.name) for gradient, variable in pairs if gradient is None
    ]
    if len(missing) == len(pairs):
        raise ValueError("apply: no gradients provided for any variable")
    if missing:
        warnings.warn(
            f"Gradients do not exist for variables {missing} when minimizing the loss",
            stacklevel=4,
        )
    present = [
        (_checked(gradient, variable), variable)
        for gradient, variable in pairs
        if gradient is not None
    ]
    return [gradient for gradient, _ in present], [variable for _, variable in present]


def _checked(gradient: Tensor, variable: Variable) -> Tensor:
    """Return a gradient as a float32 tensor of the variable's shape."""
    gradient = as_operand("apply", gradient)
    if gradient.dtype is not float32:
        gradient = gradient.astype(float32)
    if gradient.shape != variable.shape:
        raise ValueError(
            f"apply: variable {variable.name!r} has shape {variable.shape}, but its gradient "
            f"has shape {gradient.shape}"
        )
    return gradient
