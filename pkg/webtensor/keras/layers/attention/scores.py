"""Masks of scores: which queries see which keys. They are (batch, queries, keys), or broadcast."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor

__all__ = ["HIDDEN", "both", "combined_mask", "seen_before", "seen_within"]

#: What scores that are not seen become, before the softmax.
HIDDEN = -0.7 * 3.4028235e38


def both(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """Combine masks, of which either may be missing."""
    if one is None or other is None:
        return one if other is None else other
    return wt.logical_and(one, other)


def _places(queries: int, keys: int) -> tuple[Tensor, Tensor]:
    return wt.reshape(wt.arange(queries), (1, queries, 1)), wt.reshape(
        wt.arange(keys), (1, 1, keys)
    )


def seen_before(queries: int, keys: int) -> Tensor:
    """The mask of causal attention: a query sees keys up to its own place."""
    rows, columns = _places(queries, keys)
    return wt.greater_equal(rows, columns)


def seen_within(queries: int, keys: int, window: int) -> Tensor:
    """The mask of a sliding window: a query sees keys less than ``window`` places away."""
    rows, columns = _places(queries, keys)
    return wt.less(wt.abs(rows - columns), window)


def combined_mask(
    queries: int,
    keys: int,
    query_mask: Any = None,
    value_mask: Any = None,
    key_mask: Any = None,
    attention_mask: Any = None,
    use_causal_mask: bool = False,
    sliding_window: int | None = None,
) -> Tensor | None:
    """Return the mask that leaves what all of the given ones leave; None for all."""
    found: Tensor | None = None
    if query_mask is not None:
        found = wt.expand_dims(wt.astype(query_mask, bool_), -1)
    for mask in (value_mask, key_mask):
        if mask is not None:
            found = both(found, wt.expand_dims(wt.astype(mask, bool_), -2))
    if use_causal_mask:
        found = both(found, seen_before(queries, keys))
    if sliding_window is not None:
        found = both(found, seen_within(queries, keys, sliding_window))
    if attention_mask is not None:
        found = both(wt.astype(attention_mask, bool_), found)
    return found
