"""Masks of scores: True where a query attends to a key, of shape (batch, queries, keys).

Dimensions of size 1 are broadcast.
"""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor

__all__ = ["MASKED_SCORE", "causal_mask", "combined_mask", "intersection", "window_mask"]

#: Replaces masked scores before the softmax.
MASKED_SCORE = -0.7 * 3.4028235e38


def intersection(mask: Tensor | None, other: Tensor | None) -> Tensor | None:
    """Return the mask of what both masks leave; either may be None."""
    if mask is None or other is None:
        return mask if other is None else other
    return wt.logical_and(mask, other)


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


def combined_mask(
    queries: int,
    keys: int,
    query_mask: Tensor | None,
    value_mask: Tensor | None,
    key_mask: Tensor | None,
    attention_mask: Tensor | None,
    use_causal_mask: bool,
    sliding_window: int | None,
) -> Tensor | None:
    """Return the mask of what all masks leave; None if there are none."""
    combined: Tensor | None = None
    if query_mask is not None:
        combined = wt.expand_dims(wt.astype(query_mask, bool_), -1)
    for mask in (value_mask, key_mask):
        if mask is not None:
            combined = intersection(combined, wt.expand_dims(wt.astype(mask, bool_), -2))
    if use_causal_mask:
        combined = intersection(combined, causal_mask(queries, keys))
    if sliding_window is not None:
        combined = intersection(combined, window_mask(queries, keys, sliding_window))
    if attention_mask is not None:
        combined = intersection(wt.astype(attention_mask, bool_), combined)
    return combined
