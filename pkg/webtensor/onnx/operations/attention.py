"""Attention, and the rotary embedding of its positions."""

from __future__ import annotations

from functools import reduce
from math import inf, sqrt
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.elementwise import swish
from webtensor.onnx.operations.operators import Operator

__all__ = ["ROWS", "heads_of", "repeated_heads", "rotated"]


def heads_of(x: Tensor, count: int) -> Tensor:
    """Return (batch, heads, length, features) of (batch, length, heads · features)."""
    batch, length, features = x.shape
    return ops.permute_dims(ops.reshape(x, (batch, length, count, features // count)), (0, 2, 1, 3))


def repeated_heads(x: Tensor, count: int) -> Tensor:
    """Return keys or values repeated for ``count`` heads of queries, which share them."""
    share = count // x.shape[1]
    return x if share == 1 else ops.repeat(x, share, 1)


def attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int = 0,
    left_window_size: int = -1,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
) -> tuple[Tensor, ...]:
    """Return sums of values by the similarity of queries and keys."""
    is_flat = len(q.shape) == 3
    if is_flat:
        q, k, v = heads_of(q, q_num_heads), heads_of(k, kv_num_heads), heads_of(v, kv_num_heads)
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = ops.concat([past_key, k], 2), ops.concat([past_value, v], 2)
    heads, rows, columns = q.shape[1], q.shape[2], k.shape[2]
    left = left_window_size if left_window_size >= 0 else None
    right = 0 if is_causal else right_window_size if right_window_size >= 0 else None
    bias = _bias((rows, columns), past, attn_mask, nonpad_kv_seqlen, (left, right))
    factor = sqrt(1 / sqrt(q.shape[3]) if scale is None else scale)
    products = ops.matmul(q * factor, repeated_heads(k, heads) * factor, False, True)
    capped = softcap * ops.tanh(products / softcap) if softcap else products
    scores = capped if bias is None else capped + bias
    weights = ops.softmax(scores) if bias is None else _weights(scores)
    result = ops.matmul(weights, repeated_heads(v, heads))
    if is_flat:
        result = ops.reshape(ops.permute_dims(result, (0, 2, 1, 3)), (result.shape[0], rows, -1))
    stages = (products, capped, scores, weights)
    if not 0 <= qk_matmul_output_mode < len(stages):
        raise ValueError(f"qk_matmul_output_mode must be 0 to 3, not {qk_matmul_output_mode}")
    return result, k, v, stages[qk_matmul_output_mode]


def _bias(
    shape: tuple[int, int],
    past: int,
    mask: Tensor | None,
    lengths: Tensor | None,
    window: tuple[int | None, int | None],
) -> Any:
    """Return what is added to scores, or None: -inf where a query must not attend to a key.

    Args:
        shape: the numbers of queries and keys.
        past: how many of the keys come before that of the first query.
        mask: True for keys that may be attended to, or a bias; columns may be missing at its end.
        lengths: the number of keys of each sequence; the others are padding.
        window: the maximum distances of a key before and after a query; None for no maximum.
    """
    (rows, columns), (left, right) = shape, window
    biases = [] if mask is None else [_mask_bias(mask, columns)]
    row: Any = ops.reshape(ops.arange(rows), (rows, 1)) + past
    if lengths is not None:
        ends = ops.reshape(lengths, (-1, 1, 1, 1))
        biases.append(ops.where(ops.less(ops.arange(columns), ends), 0.0, -inf))
        row = row + ends - rows
    distance = ops.arange(columns) - row
    if right is not None:
        biases.append(ops.where(ops.less_equal(distance, right), 0.0, -inf))
    if left is not None:
        biases.append(ops.where(ops.greater_equal(distance, -left), 0.0, -inf))
    return reduce(ops.add, biases) if biases else None


def _mask_bias(mask: Tensor, columns: int) -> Tensor:
    bias = ops.where(mask, 0.0, -inf) if str(mask.dtype) == "bool" else mask
    missing = columns - bias.shape[-1]
    if missing <= 0:
        return bias
    return ops.pad(bias, [*[[0, 0]] * (len(bias.shape) - 1), [0, missing]], -inf)


def _weights(scores: Tensor) -> Tensor:
    """Return the softmax; rows without anything to attend to are zero."""
    maximum = ops.max(scores, -1, True)
    is_empty = ops.equal(maximum, -inf)
    powers = ops.exp(scores - ops.where(is_empty, ops.zeros_like(maximum), maximum))
    return ops.divide_no_nan(powers, ops.sum(powers, -1, True))


def rotated(
    x: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Rotate pairs of features by angles that depend on positions (Su et al., 2021)."""
    shape = x.shape
    if len(shape) == 3:
        x = ops.reshape(x, (*shape[:2], num_heads, shape[2] // num_heads))
    else:
        x = ops.permute_dims(x, (0, 2, 1, 3))
    size = rotary_embedding_dim or x.shape[3]
    turned, unrotated = x[..., :size], x[..., size:]
    if position_ids is not None:
        cos_cache, sin_cache = (
            ops.gather(cos_cache, position_ids),
            ops.gather(sin_cache, position_ids),
        )
    cosine, sine = (ops.expand_dims(cache[..., : size // 2], 2) for cache in (cos_cache, sin_cache))
    if interleaved:
        first, second = turned[..., 0::2], turned[..., 1::2]
    else:
        first, second = ops.split(turned, 2, -1)
    real = cosine * first - sine * second
    imaginary = sine * first + cosine * second
    if interleaved:
        pairs = ops.stack([real, imaginary], -1)
        turned = ops.reshape(pairs, turned.shape)
    else:
        turned = ops.concat([real, imaginary], -1)
    result = ops.concat([turned, unrotated], -1) if unrotated.shape[-1] else turned
    if len(shape) == 3:
        return ops.reshape(result, shape)
    return ops.permute_dims(result, (0, 2, 1, 3))


def linearly_attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> tuple[Tensor, Tensor]:
    """Return what queries read of a state to which keys and values are added step by step."""
    queries, keys, values = (
        heads_of(query, q_num_heads),
        heads_of(key, kv_num_heads),
        heads_of(value, kv_num_heads),
    )
    batch, _, steps, features = queries.shape
    factor = scale or 1 / sqrt(features)
    state: Any = past_state
    if state is None:
        state = ops.zeros((batch, kv_num_heads, features, values.shape[3]))
    rates = None if decay is None else ops.exp(heads_of(decay, kv_num_heads))
    shares = None if beta is None else heads_of(beta, beta.shape[2])
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        raise ValueError(f"update_rule is {update_rule!r:.200}")
    outputs = []
    for step in range(steps):
        step_key, step_value = keys[:, :, step], values[:, :, step]
        if rates is not None and "gated" in update_rule:
            state = state * ops.expand_dims(rates[:, :, step], -1)
        if "delta" in update_rule:
            step_value = step_value - ops.squeeze(
                ops.matmul(ops.expand_dims(step_key, 2), state), 2
            )
            if shares is not None:
                step_value = step_value * shares[:, :, step]
        state = state + ops.matmul(ops.expand_dims(step_key, -1), ops.expand_dims(step_value, -2))
        read = ops.matmul(
            ops.expand_dims(queries[:, :, step] * factor, 2), repeated_heads(state, q_num_heads)
        )
        outputs.append(ops.reshape(read, (batch, -1)))
    return ops.stack(outputs, 1), state


def causally_convolved(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past_state: Tensor | None = None,
    *,
    activation: str = "none",
) -> tuple[Tensor, Tensor]:
    """Convolve each channel with the steps before, and return the last of them."""
    batch, channels, length = x.shape
    before = weight.shape[2] - 1
    past = ops.zeros((batch, channels, before)) if past_state is None else past_state
    steps = ops.concat([past, x], 2)
    result: Any = None
    for tap in range(before + 1):
        part = steps[:, :, tap : tap + length] * weight[:, 0, tap : tap + 1]
        result = part if result is None else result + part
    if bias is not None:
        result = result + ops.reshape(bias, (-1, 1))
    if activation in ("silu", "swish"):
        result = swish(result)
    elif activation != "none":
        raise ValueError(f"activation is {activation!r:.200}")
    return result, steps[:, :, length:]


ROWS: dict[str, Row] = {
    "Attention-1": Operator(attended).ignoring("softmax_precision"),
    "CausalConvWithState-1": Operator(causally_convolved),
    "LinearAttention-1": Operator(linearly_attended).ignoring("chunk_size"),
    "RotaryEmbedding-1": Operator(rotated),
}
