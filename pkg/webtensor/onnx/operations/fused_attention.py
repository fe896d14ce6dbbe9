"""Attention and rotary embeddings as ONNX Runtime has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, sqrt
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.attention import heads_of, repeated_heads, rotated
from webtensor.onnx.operations.operators import Operator, number

__all__ = ["ROWS"]


def rotated_at(
    x: Tensor,
    position_ids: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Tensor:
    """Rotate pairs of features; a single position is that of the first row."""
    if position_ids.size == 1:
        length = x.shape[-2]
        positions = ops.reshape(position_ids, (1, 1)) + ops.arange(length)
        position_ids = ops.broadcast_to(positions, (x.shape[0], length))
    return rotated(
        x if scale == 1.0 else x * scale,
        cos_cache,
        sin_cache,
        position_ids,
        interleaved=interleaved,
        num_heads=num_heads or x.shape[-1] // (2 * cos_cache.shape[1]),
        rotary_embedding_dim=rotary_embedding_dim,
    )


# -- attention of equally many heads -----------------------------------------------------------


def attended_by_heads(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    key_padding_mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return sums of values by the similarity of queries and keys, and all keys and values."""
    queries, keys, values = _projections(query, key, value, bias, num_heads)
    if past_key is not None and past_value is not None:
        keys, values = ops.concat([past_key, keys], 2), ops.concat([past_value, values], 2)
    rows, columns = queries.shape[2], keys.shape[2]
    scores: Any = ops.matmul(queries * (scale or 1 / sqrt(queries.shape[3])), keys, False, True)
    if key_padding_mask is not None:
        is_inside = _is_inside(key_padding_mask, queries.shape[0], columns)
        scores = scores + ops.where(is_inside, 0.0, mask_filter_value)
    if attention_bias is not None:
        scores = scores + attention_bias
    if unidirectional:
        past = 0 if past_key is None else past_key.shape[2]
        row = ops.reshape(ops.arange(rows), (rows, 1))
        last = ops.where(ops.less(row, rows - 1), row + past, columns)  # as ONNX Runtime does
        scores = scores + ops.where(ops.less_equal(ops.arange(columns), last), 0.0, -inf)
    return _joined(ops.matmul(ops.softmax(scores), values)), keys, values


def _projections(
    query: Tensor, key: Tensor | None, value: Tensor | None, bias: Tensor | None, num_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of shape (batch, heads, length, features)."""
    parts: list[Any]
    if key is None:
        parts = [ops.permute_dims(part, (0, 2, 1, 3)) for part in ops.unstack(query, 3)]
    elif value is None:
        pair = [ops.permute_dims(part, (0, 2, 1, 3)) for part in ops.unstack(key, 3)]
        parts = [heads_of(query, num_heads), *pair]
    else:
        parts = [
            part if len(part.shape) == 4 else heads_of(part, num_heads)
            for part in (query, key, value)
        ]
    if bias is not None:
        sizes = [num_heads * part.shape[3] for part in parts]
        shares = ops.split(bias, sizes)
        parts = [
            part + ops.reshape(share, (num_heads, 1, -1))
            for part, share in zip(parts, shares, strict=True)
        ]
    queries, keys, values = parts
    return queries, keys, values


def _is_inside(mask: Tensor, batch: int, columns: int) -> Tensor:
    """Return which keys a mask admits, in a shape that broadcasts to that of scores.

    A mask has a number for each key of each sequence, for each pair of a query and a key, or, with
    one axis, the length of each sequence, perhaps followed by the starts.
    """
    if len(mask.shape) in (2, 3):
        shape = (batch, 1, *([1] if len(mask.shape) == 2 else []), *mask.shape[1:])
        return ops.greater(ops.reshape(mask, shape), 0)
    if len(mask.shape) > 1 or mask.shape[0] not in (batch, 2 * batch):
        raise ValueError(f"a mask of shape {mask.shape} is not supported")
    positions = ops.arange(columns)
    ends = ops.reshape(mask[:batch], (batch, 1, 1, 1))
    is_inside = ops.less(positions, ends)
    if mask.shape[0] == batch:
        return is_inside
    starts = ops.reshape(mask[batch:], (batch, 1, 1, 1))
    return ops.logical_and(is_inside, ops.greater_equal(positions, starts))


def _joined(x: Tensor) -> Tensor:
    """Return (batch, length, heads · features) of (batch, heads, length, features)."""
    batch, _, length, _ = x.shape
    return ops.reshape(ops.permute_dims(x, (0, 2, 1, 3)), (batch, length, -1))


# -- attention of groups of queries ------------------------------------------------------------


def attended_by_groups(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    seqlens_k: Tensor | None = None,
    total_sequence_length: int | None = None,
    cos_cache: Tensor | None = None,
    sin_cache: Tensor | None = None,
    position_ids: Tensor | None = None,
    attention_bias: Tensor | None = None,
    head_sink: Tensor | None = None,
    *,
    causal: int = 1,
    do_rotary: int = 0,
    k_quant_type: str = "NONE",
    kv_num_heads: int,
    local_window_size: int = -1,
    num_heads: int,
    rotary_interleaved: int = 0,
    scale: float = 0.0,
    smooth_softmax: int = 0,
    softcap: float = 0.0,
    v_quant_type: str = "NONE",
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what ``num_heads`` queries read of fewer keys and values, which are kept.

    A sequence has ``seqlens_k + 1`` keys; the new ones follow those of the past (Ainslie et al.,
    2023).
    """
    if {k_quant_type, v_quant_type} != {"NONE"}:
        raise ValueError("keys and values that are kept quantized are not supported")
    if seqlens_k is None or total_sequence_length is None:
        raise ValueError("it needs the inputs seqlens_k and total_sequence_length")
    if key is None or value is None:
        size = query.shape[-1] // (num_heads + 2 * kv_num_heads)
        sizes = [num_heads * size, kv_num_heads * size, kv_num_heads * size]
        query, key, value = ops.split(query, sizes, -1)
    queries = heads_of(query, num_heads)
    keys, values = heads_of(key, kv_num_heads), heads_of(value, kv_num_heads)
    batch, _, rows, features = queries.shape
    before = ops.reshape(seqlens_k, (batch, 1)) + (1 - rows)
    if rows == total_sequence_length:
        before = ops.zeros_like(before)
    positions = before + ops.arange(rows)
    if do_rotary:
        row_positions = positions if position_ids is None else position_ids
        rotate = _rotation(row_positions, cos_cache, sin_cache, rotary_interleaved)
        queries, keys = rotate(queries), rotate(keys)
    columns = max(0 if past_key is None else past_key.shape[2], total_sequence_length)
    keys = _following(past_key, keys, before, columns)
    values = _following(past_value, values, before, columns)
    all_keys, all_values = (
        repeated_heads(x[:, :, :total_sequence_length], num_heads) for x in (keys, values)
    )
    scores: Any = ops.matmul(queries * (scale or 1 / sqrt(features)), all_keys, False, True)
    if softcap:
        scores = softcap * ops.tanh(scores / softcap)
    if attention_bias is not None:
        scores = scores + attention_bias
    window = local_window_size if local_window_size >= 0 else None
    is_admitted = _admitted(positions, total_sequence_length, bool(causal), window)
    sink = ops.zeros((num_heads,)) if head_sink is None and smooth_softmax else head_sink
    weights = _weights(ops.where(is_admitted, scores, -inf), sink)
    return _joined(ops.matmul(weights, all_values)), keys, values


def _rotation(
    positions: Tensor, cos_cache: Tensor | None, sin_cache: Tensor | None, interleaved: int
) -> Callable[[Tensor], Tensor]:
    """Return a function that rotates the features of heads at positions, of shape (batch, rows)."""
    if cos_cache is None or sin_cache is None:
        raise ValueError("do_rotary needs the inputs cos_cache and sin_cache")
    return partial(
        rotated,
        cos_cache=cos_cache,
        sin_cache=sin_cache,
        position_ids=ops.clip(positions, 0, cos_cache.shape[0] - 1),
        interleaved=interleaved,
        rotary_embedding_dim=2 * cos_cache.shape[1],
    )


def _admitted(positions: Tensor, columns: int, is_causal: bool, window: int | None) -> Tensor:
    """Return which keys each query may attend to.

    Args:
        positions: those of the queries, of shape (batch, rows).
        columns: the number of keys.
        is_causal: whether keys after a query are left out.
        window: how many keys up to that of a query it may attend to; None is any number.
    """
    row, column = ops.expand_dims(ops.expand_dims(positions, 1), -1), ops.arange(columns)
    last = row if is_causal else row[:, :, -1:]
    is_admitted = ops.less_equal(column, last)
    if window is not None:
        is_admitted = ops.logical_and(is_admitted, ops.greater(column, row - window))
    return is_admitted


def _weights(scores: Any, sink: Tensor | None) -> Tensor:
    """Return the softmax, in which a sink, a number for each head, may take a share."""
    if sink is None:
        return ops.softmax(scores)
    sinks = ops.broadcast_to(ops.reshape(sink, (-1, 1, 1)), (*scores.shape[:3], 1))
    return ops.softmax(ops.concat([scores, sinks], -1))[..., :-1]


def _following(past: Tensor | None, new: Tensor, before: Tensor, columns: int) -> Tensor:
    """Return keys or values: those of the past that count, then the new ones.

    Args:
        past: of shape (batch, heads, past rows, features).
        new: of shape (batch, heads, rows, features).
        before: of shape (batch, 1).
        columns: how many to return; those after the new ones are zero.
    """
    rows, past_rows = new.shape[2], 0 if past is None else past.shape[2]
    joined = new if past is None or not past_rows else ops.concat([past, new], 2)
    column = ops.arange(columns)
    offset = column - before
    source = ops.where(ops.less(offset, 0), column, ops.minimum(offset, rows - 1) + past_rows)
    result = ops.gather(joined, source, axis=2, batch_dims=1)
    is_empty = ops.reshape(ops.greater_equal(offset, rows), (-1, 1, columns, 1))
    return ops.where(is_empty, 0.0, result)


ROWS: dict[str, Row] = {
    "com.microsoft.GroupQueryAttention-1": Operator(
        attended_by_groups, total_sequence_length=number
    ).ignoring("kv_cache_bit_width"),
    "com.microsoft.MultiHeadAttention-1": Operator(attended_by_heads),
    "com.microsoft.RotaryEmbedding-1": Operator(rotated_at).ignoring("is_packed_batching"),
}
