"""What happens to gradients before a step: those that are missing, those that are too long."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable, as_operand
from webtensor.ops import clip, square, stack, sum
from webtensor.ops.optimizer_updates import clipping_factor, global_clipping_factor

__all__ = ["clipped_each", "clipped_together", "clipped_values", "without_missing"]


def clipped_each(grads: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Shorten each gradient to a length."""
    return [one * clipping_factor(sum(square(one)), limit) for one in grads]


def clipped_together(grads: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Shorten all gradients by one factor, so that together they have a length."""
    total = sum(stack([sum(square(one)) for one in grads]))
    factor = global_clipping_factor(total, limit)
    return [one * factor for one in grads]


def clipped_values(grads: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Limit the elements of gradients."""
    return [clip(one, -limit, limit) for one in grads]


def without_missing(
    grads: Sequence[Any], variables: Sequence[Variable]
) -> tuple[list[Tensor], list[Variable]]:
    """Leave out variables without a gradient, with a warning; check the shapes of the others."""
    missing = [
        getattr(variable, "path", variable.name)
        for gradient, variable in zip(grads, variables, strict=True)
        if gradient is None
    ]
    if len(missing) == len(grads):
        raise ValueError("apply: no gradients provided for any variable")
    if missing:
        warnings.warn(
            f"Gradients do not exist for variables {missing} when minimizing the loss",
            stacklevel=4,
        )
    found, known = [], []
    for gradient, variable in zip(grads, variables, strict=True):
        if gradient is None:
            continue
        held = as_operand("apply", gradient)
        if held.dtype is not float32:
            held = held.astype(float32)
        if held.shape != variable.shape:
            raise ValueError(
                f"apply: variable {variable.name!r} has shape {variable.shape}, but its gradient "
                f"has shape {held.shape}"
            )
        found.append(held)
        known.append(variable)
    return found, known
