"""The parts of a batch: inputs, targets and sample weights."""

from __future__ import annotations

from typing import Any, TypeAlias

from webtensor.engine import TensorLike

__all__ = ["Batch", "pack_x_y_sample_weight", "unpack_x_y_sample_weight"]

#: Inputs, ``(inputs, targets)`` or ``(inputs, targets, sample_weight)``.
Batch: TypeAlias = "TensorLike | tuple[TensorLike, ...] | dict[str, TensorLike]"


def pack_x_y_sample_weight(
    x: TensorLike, y: TensorLike | None = None, sample_weight: TensorLike | None = None
) -> Any:
    """Return a batch of its parts, as ``fit`` takes it; without targets, weights are dropped."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data: Batch) -> tuple[Any, Any, Any]:
    """Return the inputs, the targets and the sample weights of a batch, or None for missing ones.

    Raises:
        ValueError: the batch has more than three parts.
    """
    parts = list(data) if isinstance(data, (list, tuple)) else [data]
    if not 1 <= len(parts) <= 3:
        raise ValueError(
            f"a batch must be x, (x, y) or (x, y, sample_weight), but has {len(parts)} parts"
        )
    x, y, sample_weight = parts + [None] * (3 - len(parts))
    return x, y, sample_weight
