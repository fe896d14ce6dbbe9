"""Attention of several heads, of which a group shares its keys and values."""

from __future__ import annotations

from math import sqrt
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.argument_checks import check_positive
from webtensor.keras.layers.attention.multi_head import COMMON, Heads, check_keys
from webtensor.keras.layers.attention.scores import combined_mask
from webtensor.keras.names import auto_name
from webtensor.keras.types import Config, ConstraintLike, InitializerLike, RegularizerLike

__all__ = ["GroupQueryAttention"]


class GroupQueryAttention(Heads):
    """Attention whose ``num_query_heads`` share ``num_key_value_heads`` (Ainslie et al., 2023).

    All heads have size ``head_dim``; the rest is as in ``MultiHeadAttention``.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.GroupQueryAttention(4, num_query_heads=4, num_key_value_heads=2)
        >>> layer(keras.ops.ones((1, 5, 8)), keras.ops.ones((1, 3, 8))).shape
        (1, 5, 8)
    """

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
        common = {name: value for name, value in locals().items() if name in COMMON}
        # Keras calls the class otherwise than it exports it.
        kwargs["name"] = kwargs.get("name") or auto_name("grouped_query_attention")
        super().__init__(**kwargs)
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
        self._take(dropout, use_bias, use_gate, sliding_window, flash_attention, seed, common)
        for name, value in self._common.items():
            setattr(self, name, value)
        self.dropout, self.use_bias, self.use_gate = dropout, use_bias, use_gate
        self.sliding_window = sliding_window
        self.head_dim = head_dim
        self.num_query_heads = num_query_heads
        self.num_key_value_heads = num_key_value_heads

    def build(self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
        """Make the projections."""
        key_shape = value_shape if key_shape is None else key_shape
        many, few = (
            (heads, self.head_dim) for heads in (self.num_query_heads, self.num_key_value_heads)
        )
        self._add_projections((query_shape, key_shape, value_shape), (many, few, few), many)
        self._add_weighing(-1)
        inputs = (None, None, *many)
        self._output_dense = self._projection("attention_output", inputs, 2, query_shape[-1:], None)

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """Compute the result and, if they are wanted, the weights."""
        mask = combined_mask(
            query.shape[1],
            value.shape[1],
            query_mask,
            value_mask,
            key_mask,
            attention_mask,
            use_causal_mask,
            self._sliding_window,
        )
        gate = None if self._gate_dense is None else self._projected(self._gate_dense, query)
        output, scores = self._attended(
            self._projected(self._query_dense, query),
            self._projected(self._key_dense, value if key is None else key),
            self._projected(self._value_dense, value),
            mask,
            training,
            return_attention_scores,
        )
        output = self._finished(output, gate)
        return (output, scores) if return_attention_scores else output

    def _attended(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        training: bool | None,
        with_scores: bool,
    ) -> tuple[Tensor, Tensor]:
        """Attend: the queries of a group are rows of one product with the keys that they share."""
        batch, queries, heads, size = query.shape
        keys, groups = key.shape[1:3]
        rows = wt.permute_dims(query * (1 / sqrt(size)), (0, 2, 1, 3))
        rows = wt.reshape(rows, (batch, groups, heads // groups * queries, size))
        key, value = (wt.permute_dims(one, (0, 2, 1, 3)) for one in (key, value))
        logits = wt.matmul(rows, key, transpose_b=True)
        logits = wt.reshape(logits, (batch, heads, queries, keys))
        if mask is not None and len(mask.shape) == 3:
            mask = wt.expand_dims(mask, 1)
        explicit = self._dropout > 0 or with_scores
        weights, scores = self._weights(logits, mask, training, explicit, 1)
        weights = wt.reshape(weights, (batch, groups, heads // groups * queries, keys))
        made = wt.reshape(wt.matmul(weights, value), (batch, heads, queries, size))
        return wt.permute_dims(made, (0, 2, 1, 3)), scores

    def compute_output_shape(
        self, query_shape: Any, value_shape: Any, key_shape: Any = None
    ) -> Any:
        """Return the query's shape."""
        if query_shape[-1] != value_shape[-1]:
            raise ValueError(
                f"layer {self.name!r}: query and value must have the same size, but have shapes "
                f"{tuple(query_shape)} and {tuple(value_shape)}"
            )
        check_keys(self.name, value_shape, value_shape if key_shape is None else key_shape)
        return tuple(query_shape)

    def _scores_shape(self, query_shape: Any, value_shape: Any) -> Any:
        return (query_shape[0], self.num_query_heads, query_shape[1], value_shape[1])

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            **self._common_config(),
            "head_dim": self.head_dim,
            "num_query_heads": self.num_query_heads,
            "num_key_value_heads": self.num_key_value_heads,
            "use_bias": self._use_bias,
            "dropout": self._dropout,
            "use_gate": self._use_gate,
            "sliding_window": self._sliding_window,
            "seed": self.seed,
        }
