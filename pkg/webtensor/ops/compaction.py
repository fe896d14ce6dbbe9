"""Indices of a mask's true elements; their number must be read from the device."""

from __future__ import annotations

from webtensor.dtypes import int32
from webtensor.engine import Primitive, Tensor, run
from webtensor.ops.reduction import sum as _sum

__all__ = ["count_true", "count_true_async", "true_indices"]

_TRUE_INDICES = Primitive("true_indices")


def count_true(mask: Tensor) -> int:
    """Return the number of a bool tensor's true elements, read from the device."""
    count: int = _sum(mask).item()
    return count


async def count_true_async(mask: Tensor) -> int:
    """Do what ``count_true`` does, without blocking the page."""
    count: int = await _sum(mask).array()
    return count


def true_indices(mask: Tensor, count: int) -> Tensor:
    """Return the indices, in the flat tensor, of the ``count`` true elements."""
    return run(_TRUE_INDICES, (mask,), (count,), int32)
