"""Masks of scores: True where a query attends to a key, of shape (batch, queries, keys).

Dimensions of size 1 are broadcast.
"""

from __future__ import annotations

from functools import reduce

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor

__all__ = ["MASKED_SCORE", "causal_mask", "intersection", "per_key", "per_query", "window_mask"]

#: Replaces masked scores before the softmax.
MASKED_SCORE = -0.7 * 3.4028235e38


def intersection(*masks: Tensor | None) -> Tensor | None:
    """Return the mask, as bool, of what all masks leave; None if all are None."""
    present = [wt.astype(mask, bool_, copy=False) for mask in masks if mask is not None]
    return reduce(wt.logical_and, present) if present else None


def per_query(mask: Tensor | None) -> Tensor | None:
    """Give a mask (batch, queries) an axis of size 1 for the keys."""
    return None if mask is None else wt.expand_dims(mask, -1)


def per_key(mask: Tensor | None) -> Tensor | None:
    """Give a mask (batch, keys) an axis of size 1 for the queries."""
    return None if mask is None else wt.expand_dims(mask, -2)


def _indices(queries: int, keys: int) -> tuple[Tensor, Tensor]:
    """Return the indices of queries along axis 1, and of keys along axis 2."""
    return (
        wt.reshape(wt.arange(queries), (1, queries, 1)),
        wt.reshape(wt.arange(keys), (1, 1, keys)),
    )


def causal_mask(queries: int, keys: int) -> Tensor:
    """Return the mask with which a query attends to keys up to its own index."""
    query_index, key_index = _indices(queries, keys)
    return wt.greater_equal(query_index, key_index)


def window_mask(queries: int, keys: int, window: int) -> Tensor:
    """Return the mask with which a query attends to keys whose indices differ by less."""
    query_index, key_index = _indices(queries, keys)
    return wt.less(wt.abs(query_index - key_index), window)
