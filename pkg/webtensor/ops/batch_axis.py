"""The batch axis, which rows, images and volumes may come without."""

from __future__ import annotations

from webtensor.engine import Tensor, TensorLike
from webtensor.ops.casting import as_float
from webtensor.ops.movement import reshape

__all__ = ["as_batch", "drop_batch"]


def as_batch(name: str, x: TensorLike, rank: int) -> tuple[Tensor, bool]:
    """Return ``x`` as a float tensor of a rank, and whether the batch axis had to be added."""
    batch = as_float(name, "x", x)
    is_added = len(batch.shape) == rank - 1
    if is_added:
        batch = reshape(batch, (1, *batch.shape))
    if len(batch.shape) != rank:
        raise ValueError(
            f"{name}: x must have rank {rank - 1} or {rank}, but its shape is {batch.shape}"
        )
    return batch, is_added


def drop_batch(y: Tensor, is_added: bool) -> Tensor:
    """Return ``y`` without the batch axis if ``as_batch`` added it."""
    return reshape(y, y.shape[1:]) if is_added else y
