"""The gradients that a step applies: without missing ones, and clipped to a maximum."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable, as_operand
from webtensor.ops import square, stack, sum
from webtensor.ops.optimizer_updates import clipping_factor, global_clipping_factor
from webtensor.ops.unary import clip_by_value as _clip

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "without_missing"]


def clip_by_norm(gradients: Sequence[Tensor], maximum: float) -> list[Tensor]:
    """Scale each gradient down to a maximum norm."""
    return [gradient * clipping_factor(sum(square(gradient)), maximum) for gradient in gradients]


def clip_by_global_norm(gradients: Sequence[Tensor], maximum: float) -> list[Tensor]:
    """Scale all gradients by the same factor, down to a maximum norm of all together."""
    squared_norm = sum(stack([sum(square(gradient)) for gradient in gradients]))
    factor = global_clipping_factor(squared_norm, maximum)
    return [gradient * factor for gradient in gradients]


def clip_by_value(gradients: Sequence[Tensor], maximum: float) -> list[Tensor]:
    """Clip the elements of gradients to a maximum absolute value."""
    return [_clip(gradient, -maximum, maximum) for gradient in gradients]


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
