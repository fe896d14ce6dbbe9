"""Attention without projections: products of queries and keys, or sums of them."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras import random
from webtensor.keras.layers.attention.scores import both, seen_before
from webtensor.keras.layers.layer import Layer
from webtensor.keras.masks import symbolic_ops
from webtensor.keras.symbols import KerasTensor

__all__ = ["AdditiveAttention", "Attention"]

#: What is subtracted from scores that are not seen.
_FAR = 1.0e9


class Attention(Layer):
    """``softmax(query @ keyᵀ) @ value`` (Luong et al., 2015).

    Inputs are a list: query (batch, queries, size), value (batch, keys, size) and, if it is not the
    value, key. With ``score_mode="concat"`` scores are the weighted sums of
    ``tanh(query + key)``. ``use_scale`` multiplies scores by a weight. ``mask`` is a list, too:
    what the query's leaves out becomes zeros, and what the value's leaves out is not seen.

    Example:
        >>> from webtensor import keras
        >>> query, value = keras.ops.ones((1, 2, 4)), keras.ops.ones((1, 3, 4))
        >>> keras.layers.Attention()([query, value]).shape
        (1, 2, 4)
    """

    scale: Any
    concat_score_weight: Any

    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f"{type(self).__name__}: score_mode must be 'dot' or 'concat', but got "
                f"{score_mode!r}"
            )
        self.use_scale = use_scale
        self.score_mode = score_mode
        self.dropout = dropout
        self.seed = seed
        if dropout > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self._check(input_shape)
        self.scale = self._factor("scale") if self.use_scale else None
        is_sum = self.score_mode == "concat"
        self.concat_score_weight = self._factor("concat_score_weight") if is_sum else None

    def _factor(self, name: str) -> Any:
        return self.add_weight(name=name, shape=(), initializer="ones")

    def _check(self, inputs: Any, mask: Any = None) -> None:
        """Check that inputs, and masks, are lists of two or three."""
        name = type(self).__name__
        if not isinstance(inputs, list) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{name}: inputs must be a list [query, value] or [query, value, key], but got "
                f"{inputs!r}"
            )
        if mask is not None and (not isinstance(mask, list) or len(mask) not in (2, 3)):
            raise ValueError(f"{name}: mask must be a list [query, value], but got {mask!r}")

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How keys fit queries: (batch, queries, keys)."""
        if self.score_mode == "dot":
            products = wt.matmul(query, key, transpose_b=True)
            return products if self.scale is None else wt.multiply(products, self.scale.value)
        sums = wt.expand_dims(query, -2) + wt.expand_dims(key, -3)
        sums = sums if self.scale is None else sums * self.scale.value
        return wt.multiply(wt.sum(wt.tanh(sums), -1), self.concat_score_weight.value)

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool | None = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """Compute the sums of values and, if they are wanted, their weights."""
        self._check(inputs, mask)
        query, value = inputs[:2]
        scores = self._scores(query, inputs[-1])
        query_mask, value_mask = (None, None) if mask is None else mask[:2]
        seen = None if value_mask is None else wt.expand_dims(wt.astype(value_mask, bool_), -2)
        if use_causal_mask:
            seen = both(seen, seen_before(*scores.shape[-2:]))
        if seen is not None:
            scores = wt.where(seen, scores, scores - _FAR)
        weights = wt.softmax(scores)
        if training and self.dropout > 0:
            weights = random.dropout(weights, self.dropout, seed=self.seed_generator)
        output = wt.matmul(weights, value)
        if query_mask is not None:
            kept = wt.expand_dims(wt.astype(query_mask, bool_), -1)
            output = wt.where(kept, output, 0.0)
        return (output, weights) if return_attention_scores else output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the query's mask."""
        self._check(inputs, mask)
        if mask is None or mask[0] is None:
            return None
        if isinstance(mask[0], KerasTensor):
            return symbolic_ops().convert_to_tensor(mask[0])
        return wt.asarray(mask[0])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the query's shape with the value's size."""
        return (*input_shape[0][:-1], input_shape[1][-1])

    def compute_output_spec(
        self,
        inputs: Any,
        mask: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """Return symbolic tensors like what ``call`` returns."""
        self._check(inputs, mask)
        shapes = [one.shape for one in inputs]
        output = KerasTensor(self.compute_output_shape(shapes), self.compute_dtype)
        if not return_attention_scores:
            return output
        return output, KerasTensor((*shapes[0][:-1], shapes[-1][-2]), self.compute_dtype)


class AdditiveAttention(Attention):
    """Attention whose scores are ``sum(scale * tanh(query + key))`` (Bahdanau et al., 2014).

    ``scale`` is a weight, unless ``use_scale`` is False. Inputs are those of ``Attention``.

    Example:
        >>> from webtensor import keras
        >>> query, value = keras.ops.ones((1, 2, 4)), keras.ops.ones((1, 3, 4))
        >>> keras.layers.AdditiveAttention()([query, value]).shape
        (1, 2, 4)
    """

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self._check(input_shape)
        self.scale = None
        if self.use_scale:
            size = input_shape[0][-1]
            self.scale = self.add_weight(name="scale", shape=(size,), initializer="glorot_uniform")

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How keys fit queries: (batch, queries, keys)."""
        fits = wt.tanh(wt.expand_dims(query, -2) + wt.expand_dims(key, -3))
        return wt.sum(fits if self.scale is None else fits * self.scale.value, -1)
