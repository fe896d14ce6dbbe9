"""The gradients that a step applies, clipped to a maximum."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.engine import Tensor
from webtensor.ops import square, stack, sum
from webtensor.ops.optimizer_updates import clipping_factor, global_clipping_factor
from webtensor.ops.unary import clip_by_value

__all__ = ["clipped"]


def clipped(
    gradients: Sequence[Tensor],
    norm: float | None,
    global_norm: float | None,
    value: float | None,
) -> list[Tensor]:
    """Clip gradients to the first maximum that is positive.

    Args:
        gradients: the gradients.
        norm: the maximum norm of each.
        global_norm: the maximum norm of all together, which are scaled by the same factor.
        value: the maximum absolute value of elements.
    """
    if norm and norm > 0:
        return [gradient * clipping_factor(_squared_norm(gradient), norm) for gradient in gradients]
    if global_norm and global_norm > 0:
        squared_norm = sum(stack([_squared_norm(gradient) for gradient in gradients]))
        factor = global_clipping_factor(squared_norm, global_norm)
        return [gradient * factor for gradient in gradients]
    if value and value > 0:
        return [clip_by_value(gradient, -value, value) for gradient in gradients]
    return [*gradients]


def _squared_norm(gradient: Tensor) -> Tensor:
    return sum(square(gradient))
