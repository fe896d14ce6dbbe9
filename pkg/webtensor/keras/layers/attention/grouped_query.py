"""Attention of several heads, of which each group shares its keys and values."""

from __future__ import annotations

from math import sqrt
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import check_positive, forwards_arguments
from webtensor.keras.layers.attention.heads import AttentionWithHeads, Projected
from webtensor.keras.names import auto_name
from webtensor.keras.types import ConstraintLike, InitializerLike, RegularizerLike, Shape

__all__ = ["GroupQueryAttention"]


class GroupQueryAttention(AttentionWithHeads):
    """Attention whose ``num_query_heads`` share ``num_key_value_heads`` (Ainslie et al., 2023).

    It computes what ``MultiHeadAttention`` does, and is called in the same way.

    Args:
        head_dim: a positive integer, the size of each head.
        num_query_heads: a positive integer, the number of heads of the query.
        num_key_value_heads: a positive integer that divides ``num_query_heads``, the number of
            heads of key and value.

    Input shape: query (batch, queries, size), value and key, which is the value by default,
    (batch, keys, size).
    Output shape: (batch, queries, size).

    Raises:
        ValueError: an argument is out of range, or the heads do not make equal groups.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.GroupQueryAttention(4, num_query_heads=4, num_key_value_heads=2)
        >>> layer(keras.ops.ones((1, 5, 8)), keras.ops.ones((1, 3, 8))).shape
        (1, 5, 8)
    """

    head_dim: int
    num_query_heads: int
    num_key_value_heads: int

    @forwards_arguments
    def __init__(
        self,
        head_dim: int,
        num_query_heads: int,
        num_key_value_heads: int,
        dropout: float = 0.0,
        use_bias: bool = True,
        sliding_window: int | None = None,
        flash_attention: bool | None = None,
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "zeros",
        kernel_regularizer: RegularizerLike = None,
        bias_regularizer: RegularizerLike = None,
        activity_regularizer: RegularizerLike = None,
        kernel_constraint: ConstraintLike = None,
        bias_constraint: ConstraintLike = None,
        use_gate: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        if not kwargs.get("name"):
            # The class has another name in Keras than the one that Keras exports.
            self.name = auto_name("grouped_query_attention")
        check_positive(
            "GroupQueryAttention",
            head_dim=head_dim,
            num_query_heads=num_query_heads,
            num_key_value_heads=num_key_value_heads,
        )
        if num_query_heads % num_key_value_heads:
            raise ValueError(
                "GroupQueryAttention: num_query_heads must be a multiple of num_key_value_heads, "
                f"but got {num_query_heads} and {num_key_value_heads}"
            )
        # As in Keras, the result is regularized here as well as the projections.
        self.activity_regularizer = self._activity_regularizer

    def build(self, query_shape: Shape, value_shape: Shape, key_shape: Shape | None = None) -> None:
        """Make the projections."""
        shared_heads = (self.num_key_value_heads, self.head_dim)
        self._build_projections(
            Projected(query_shape, (self.num_query_heads, self.head_dim)),
            Projected(value_shape if key_shape is None else key_shape, shared_heads),
            Projected(value_shape, shared_heads),
            output_sizes=query_shape[-1:],
        )
        self._build_softmax(-1)

    def _compute_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Return the results of the heads, and the weights; operands are (…, heads, size).

        The queries of a group are rows of one product with the keys that they share.
        """
        batch, queries, heads, size = query.shape
        keys, groups = key.shape[1:3]
        rows = heads // groups * queries
        scaled = wt.permute_dims(query * (1 / sqrt(size)), (0, 2, 1, 3))
        scaled = wt.reshape(scaled, (batch, groups, rows, size))
        key, value = (wt.permute_dims(operand, (0, 2, 1, 3)) for operand in (key, value))
        scores = wt.matmul(scaled, key, transpose_b=True)
        scores = wt.reshape(scores, (batch, heads, queries, keys))
        zeros_masked = self.dropout > 0 or return_attention_scores
        weights, scores = self._attention_weights(scores, attention_mask, training, zeros_masked)
        weights = wt.reshape(weights, (batch, groups, rows, keys))
        results = wt.reshape(wt.matmul(weights, value), (batch, heads, queries, size))
        return wt.permute_dims(results, (0, 2, 1, 3)), scores

    def compute_output_shape(
        self, query_shape: Shape, value_shape: Shape, key_shape: Shape | None = None
    ) -> Shape:
        """Return the query's shape."""
        if query_shape[-1] != value_shape[-1]:
            raise ValueError(
                f"layer {self.name!r}: query and value must have the same size, but have shapes "
                f"{tuple(query_shape)} and {tuple(value_shape)}"
            )
        self._check_key_shape(value_shape, key_shape)
        return tuple(query_shape)

    def _score_heads(self) -> int:
        return self.num_query_heads
