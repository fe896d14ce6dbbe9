"""Attention without projections: scores are products of queries and keys, or sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import keras, ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras import random
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.attention.score_masks import causal_mask, intersection, per_key
from webtensor.keras.layers.layer import Layer
from webtensor.keras.seeds import SeedGenerator
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Shape
from webtensor.keras.variables import Variable

__all__ = ["AdditiveAttention", "Attention"]

#: Subtracted from masked scores.
_MASKED = 1.0e9


class Attention(Layer):
    """``softmax(query @ keyᵀ) @ value`` (Luong et al., 2015).

    In calls, ``mask`` is a list with the masks of query and value: the result is zeros where the
    query's is False, and no query attends to values where the value's is False.

    Args:
        use_scale: a boolean, whether scores are multiplied by a weight, ``scale``.
        score_mode: ``"dot"``, or ``"concat"``, with which scores are sums of
            ``tanh(query + key)``, multiplied by a weight.
        dropout: a number from 0 to 1, the fraction of the attention weights that training drops.

    Input shape: a list of query (batch, queries, size), value (batch, keys, size) and, unless it
    is the value, key (batch, keys, size).
    Output shape: (batch, queries, size of the value).

    Raises:
        ValueError: ``score_mode`` is neither, or inputs or masks are no lists of two or three.

    Example:
        >>> from webtensor import keras
        >>> query, value = keras.ops.ones((1, 2, 4)), keras.ops.ones((1, 3, 4))
        >>> keras.layers.Attention()([query, value]).shape
        (1, 2, 4)
    """

    scale: Variable | None
    concat_score_weight: Variable | None

    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_choice(type(self).__name__, "score_mode", score_mode, ("dot", "concat"))
        self.use_scale = use_scale
        self.score_mode = score_mode
        self.dropout = dropout
        self.seed = seed
        if dropout > 0:
            self.seed_generator = SeedGenerator(seed)
        self.supports_masking = True

    def build(self, input_shape: list[Shape]) -> None:
        """Add the scale."""
        self._check_inputs(input_shape)
        self.scale = self._factor("scale") if self.use_scale else None
        is_sum = self.score_mode == "concat"
        self.concat_score_weight = self._factor("concat_score_weight") if is_sum else None

    def _factor(self, name: str) -> Variable:
        return self.add_weight(name=name, shape=(), initializer="ones")

    def _check_inputs(self, inputs: object, mask: object = None) -> None:
        """Check that inputs, and masks, are lists of two or three."""
        name = type(self).__name__
        if not isinstance(inputs, list) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{name}: inputs must be a list [query, value] or [query, value, key], but got "
                f"{inputs!r}"
            )
        if mask is not None and (not isinstance(mask, list) or len(mask) not in (2, 3)):
            raise ValueError(f"{name}: mask must be a list [query, value], but got {mask!r}")

    def _calculate_scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return how well keys match queries: (batch, queries, keys)."""
        if self.concat_score_weight is None:
            scores = wt.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else wt.multiply(scores, self.scale.value)
        sums = wt.expand_dims(query, -2) + wt.expand_dims(key, -3)
        sums = sums if self.scale is None else sums * self.scale.value
        return wt.multiply(wt.sum(wt.tanh(sums), -1), self.concat_score_weight.value)

    def _apply_scores(
        self,
        scores: Tensor,
        value: Tensor,
        scores_mask: Tensor | None = None,
        training: bool | None = False,
    ) -> tuple[Tensor, Tensor]:
        """Return the result of scores, and the attention weights; Keras's name, for subclasses."""
        if scores_mask is not None:
            scores = wt.where(scores_mask, scores, scores - _MASKED)
        weights = wt.softmax(scores)
        if training and self.dropout > 0:
            weights = random.dropout(weights, self.dropout, seed=self.seed_generator)
        return wt.matmul(weights, value), weights

    def call(
        self,
        inputs: list[Tensor],
        mask: list[Tensor | None] | None = None,
        training: bool | None = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the result and, with ``return_attention_scores``, the attention weights."""
        self._check_inputs(inputs, mask)
        query, value = inputs[:2]
        scores = self._calculate_scores(query=query, key=inputs[-1])
        query_mask, value_mask = (None, None) if mask is None else mask[:2]
        causal = causal_mask(*scores.shape[-2:]) if use_causal_mask else None
        output, weights = self._apply_scores(
            scores=scores,
            value=value,
            scores_mask=intersection(per_key(value_mask), causal),
            training=training,
        )
        if query_mask is not None:
            rows = wt.expand_dims(wt.astype(query_mask, bool_), -1)
            output = wt.where(rows, output, 0.0)
        return (output, weights) if return_attention_scores else output

    def compute_mask(
        self,
        inputs: list[Tensor | KerasTensor],
        mask: list[Tensor | KerasTensor | None] | None = None,
    ) -> Tensor | KerasTensor | None:
        """Return the query's mask."""
        self._check_inputs(inputs, mask)
        if mask is None or mask[0] is None:
            return None
        if isinstance(mask[0], KerasTensor):
            symbolic_mask: KerasTensor = keras.ops.convert_to_tensor(mask[0])
            return symbolic_mask
        return wt.asarray(mask[0])

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the query's shape with the value's size."""
        return (*input_shape[0][:-1], input_shape[1][-1])

    def compute_output_spec(
        self,
        inputs: list[KerasTensor],
        mask: list[KerasTensor | None] | None = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> KerasTensor | tuple[KerasTensor, KerasTensor]:
        """Return symbolic tensors like what ``call`` returns."""
        self._check_inputs(inputs, mask)
        shapes = [operand.shape for operand in inputs]
        output = KerasTensor(self.compute_output_shape(shapes), self.compute_dtype)
        if not return_attention_scores:
            return output
        return output, KerasTensor((*shapes[0][:-1], shapes[-1][-2]), self.compute_dtype)


class AdditiveAttention(Attention):
    """Attention whose scores are ``sum(scale * tanh(query + key))`` (Bahdanau et al., 2014).

    Args:
        use_scale: a boolean, whether there is a weight ``scale``.

    Input shape: a list of query (batch, queries, size), value (batch, keys, size) and, unless it
    is the value, key (batch, keys, size).
    Output shape: (batch, queries, size of the value).

    Example:
        >>> from webtensor import keras
        >>> query, value = keras.ops.ones((1, 2, 4)), keras.ops.ones((1, 3, 4))
        >>> keras.layers.AdditiveAttention()([query, value]).shape
        (1, 2, 4)
    """

    _config_omits: ClassVar = {"score_mode": ALWAYS}

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: list[Shape]) -> None:
        """Add the scale."""
        self._check_inputs(input_shape)
        self.scale = None
        if self.use_scale:
            size = input_shape[0][-1]
            self.scale = self.add_weight(name="scale", shape=(size,), initializer="glorot_uniform")

    def _calculate_scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return how well keys match queries: (batch, queries, keys)."""
        sums = wt.tanh(wt.expand_dims(query, -2) + wt.expand_dims(key, -3))
        return wt.sum(sums if self.scale is None else sums * self.scale.value, -1)
