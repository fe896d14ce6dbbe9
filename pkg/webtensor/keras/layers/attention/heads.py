"""Attention with heads: projections of queries, keys, values and results, gates and masks."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS, NEVER, check_positive
from webtensor.keras.initializers import Initializer
from webtensor.keras.layers.activations import Softmax
from webtensor.keras.layers.attention.score_masks import (
    MASKED_SCORE,
    causal_mask,
    intersection,
    per_key,
    per_query,
    window_mask,
)
from webtensor.keras.layers.einsum_dense import EinsumDense
from webtensor.keras.layers.regularization import Dropout
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.masks import mask_of
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import (
    ActivationLike,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
    Shape,
)
from webtensor.shapes import prod

__all__ = ["LETTERS", "AttentionWithHeads", "Projected"]


class Projected(NamedTuple):
    """The shape of an operand that is projected, and (number, size) of the heads."""

    shape: Shape
    heads: tuple[int, int]


#: Names of axes in equations of ``einsum``.
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class AttentionWithHeads(Weighted):
    """Attention between projections of queries, keys and values to several heads.

    Args:
        dropout: a number from 0 to 1, the fraction of the attention weights that training drops.
        use_bias: a boolean, whether the projections have biases.
        sliding_window: a positive integer: a query attends only to keys whose index differs from
            its own by less; None for all keys.
        flash_attention: None or False, as there is no flash attention.
        kernel_initializer, bias_initializer: as in ``Dense``, of each projection.
        kernel_regularizer, bias_regularizer, activity_regularizer: as in ``Dense``, of each
            projection.
        kernel_constraint, bias_constraint: as in ``Dense``, of each projection.
        use_gate: a boolean, whether the result of each head is multiplied by a gate, the sigmoid
            of another projection of the query.
    """

    _config_omits: ClassVar = {"activity_regularizer": NEVER, "flash_attention": ALWAYS}
    _attribute_names: ClassVar = {"activity_regularizer": "_activity_regularizer"}
    #: Whether the result carries the mask of the query, and other masks of inputs are removed.
    _carries_query_mask: ClassVar[bool] = False
    #: How many axes of scores are axes of keys.
    _key_axes = 1
    _gate_dense: EinsumDense | None = None
    _query_dense: EinsumDense
    _key_dense: EinsumDense
    _value_dense: EinsumDense
    _output_dense: EinsumDense

    dropout: float
    use_bias: bool
    sliding_window: int | None
    flash_attention: bool | None
    kernel_initializer: InitializerLike
    bias_initializer: InitializerLike
    kernel_regularizer: RegularizerLike
    bias_regularizer: RegularizerLike
    kernel_constraint: ConstraintLike
    bias_constraint: ConstraintLike
    use_gate: bool
    seed: int | None

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._activity_regularizer, self.activity_regularizer = self.activity_regularizer, None
        name = type(self).__name__
        if self.sliding_window is not None:
            check_positive(name, sliding_window=self.sliding_window)
        if self.flash_attention:
            raise ValueError(
                f"{name}: flash_attention must be False or None, but got {self.flash_attention!r}"
            )
        self.supports_masking = True

    # -- projections --------------------------------------------------------------------------

    def _build_projections(
        self, query: Projected, key: Projected, value: Projected, output_sizes: Shape
    ) -> None:
        """Make the projections to heads, and from them to ``output_sizes``."""
        result_heads = (query.heads[0], value.heads[1])
        self._query_dense = self._projection("query", query.shape, 1, query.heads)
        self._key_dense = self._projection("key", key.shape, 1, key.heads)
        if self.use_gate:
            self._gate_dense = self._projection("gate", query.shape, 1, result_heads, "sigmoid")
        self._value_dense = self._projection("value", value.shape, 1, value.heads)
        shape = (*query.shape[:-1], *result_heads)
        self._output_dense = self._projection("attention_output", shape, 2, output_sizes)

    def _projection(
        self,
        name: str,
        input_shape: Shape,
        summed: int,
        sizes: Shape,
        activation: ActivationLike = None,
    ) -> EinsumDense:
        """Build a layer that replaces the last ``summed`` dimensions by ``sizes``."""
        arguments = self._get_common_kwargs_for_sublayer()
        layer = self._unbuilt_projection(
            len(input_shape), summed, sizes, name=name, activation=activation, **arguments
        )
        layer.build(tuple(input_shape))
        return layer

    def _unbuilt_projection(
        self, rank: int, summed: int, sizes: Shape, **arguments: Any
    ) -> EinsumDense:
        """Make a layer that replaces the last ``summed`` of ``rank`` dimensions by ``sizes``."""
        batch_rank = rank - summed
        batch, inner = LETTERS[:batch_rank], LETTERS[batch_rank:rank]
        outer = LETTERS[rank : rank + len(sizes)]
        return EinsumDense(
            f"{batch}{inner},{inner}{outer}->{batch}{outer}",
            output_shape=(*[None] * (batch_rank - 1), *sizes),
            bias_axes=outer if self.use_bias else None,
            **arguments,
        )

    def _get_common_kwargs_for_sublayer(self) -> dict[str, Any]:
        """Return the arguments that all projections have; Keras's name, for subclasses."""
        return {
            "kernel_initializer": _cloned(self.kernel_initializer),
            "bias_initializer": _cloned(self.bias_initializer),
            "kernel_regularizer": self.kernel_regularizer,
            "bias_regularizer": self.bias_regularizer,
            "activity_regularizer": self._activity_regularizer,
            "kernel_constraint": self.kernel_constraint,
            "bias_constraint": self.bias_constraint,
            "dtype": self.dtype_policy,
        }

    def _build_softmax(self, axis: int | tuple[int, ...]) -> None:
        self._softmax = Softmax(axis=axis, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self.dropout, seed=self.seed, dtype=self.dtype_policy)

    def _project(self, layer: EinsumDense, inputs: Tensor) -> Tensor:
        """Call a projection, without masks."""
        projected: Tensor = layer.call(inputs)
        layer._add_loss_of(projected)
        return projected

    # -- attention ----------------------------------------------------------------------------

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        key_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the result and, with ``return_attention_scores``, the attention weights."""
        key = value if key is None else key
        if self._carries_query_mask:
            query_mask = _take_masks(query, value, key)
        mask = self._compute_attention_mask(
            query,
            value,
            query_mask=query_mask,
            value_mask=value_mask,
            key_mask=key_mask,
            attention_mask=attention_mask,
            use_causal_mask=use_causal_mask,
        )
        gate = None if self._gate_dense is None else self._project(self._gate_dense, query)
        output, scores = self._compute_attention(
            self._project(self._query_dense, query),
            self._project(self._key_dense, key),
            self._project(self._value_dense, value),
            mask,
            training,
            return_attention_scores,
        )
        output = self._project(self._output_dense, output if gate is None else output * gate)
        if self._carries_query_mask and query_mask is not None:
            output._keras_mask = query_mask
        return (output, scores) if return_attention_scores else output

    def _compute_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Return the results of the heads, and the weights; operands are (…, heads, size)."""
        raise NotImplementedError

    def _compute_attention_mask(
        self,
        query: Tensor,
        value: Tensor,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        key_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        use_causal_mask: bool = False,
    ) -> Tensor | None:
        """Return the mask of what the masks of a call leave, or None if there are none."""
        window = self.sliding_window
        return intersection(
            attention_mask,
            per_query(query_mask),
            per_key(value_mask),
            per_key(key_mask),
            self._compute_causal_mask(query, value) if use_causal_mask else None,
            None if window is None else window_mask(query.shape[1], value.shape[1], window),
        )

    def _compute_causal_mask(self, query: Tensor, value: Tensor | None = None) -> Tensor:
        """Return the mask with which a query attends to keys up to its own index."""
        return causal_mask(query.shape[1], (query if value is None else value).shape[1])

    def _attention_weights(
        self, scores: Tensor, mask: Tensor | None, training: bool | None, zeros_masked: bool
    ) -> tuple[Tensor, Tensor]:
        """Return the softmax of scores along the axes of keys, after dropout and before it."""
        if zeros_masked:
            weights = self._masked_softmax(scores, mask)
        else:
            weights = self._softmax_of(scores, mask, zeros_masked=False)
        if self.dropout > 0:
            dropped: Tensor = self._dropout_layer.call(weights, training)
            return dropped, weights
        return weights, weights

    def _masked_softmax(
        self, attention_scores: Tensor, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Return the softmax of scores along the axes of keys, and 0 where the mask is False."""
        return self._softmax_of(attention_scores, attention_mask, zeros_masked=True)

    def _softmax_of(self, scores: Tensor, mask: Tensor | None, zeros_masked: bool) -> Tensor:
        """Return the softmax of scores along the axes of keys.

        A query that attends to no key has equal weights, or zeros with ``zeros_masked``.
        """
        axes = self._key_axes
        if mask is not None:
            mask = _with_head_axes(mask, len(scores.shape), 2 * axes)
            scores = wt.where(mask, scores, MASKED_SCORE)
        if axes == 1:
            weights = wt.softmax(scores)
        else:
            shape = scores.shape
            rows = wt.reshape(scores, (*shape[:-axes], prod(shape[-axes:])))
            weights = wt.reshape(wt.softmax(rows), shape)
        return wt.where(mask, weights, 0.0) if mask is not None and zeros_masked else weights

    # -- shapes -------------------------------------------------------------------------------

    def _check_key_shape(self, value_shape: Shape, key_shape: Shape | None) -> None:
        """Check that there is a key for each value."""
        if key_shape is not None and tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
            raise ValueError(
                f"layer {self.name!r}: value and key must have the same shape, save for their "
                f"sizes, but have {tuple(value_shape)} and {tuple(key_shape)}"
            )

    def compute_output_spec(
        self,
        query: KerasTensor,
        value: KerasTensor,
        key: KerasTensor | None = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        use_causal_mask: bool = False,
    ) -> KerasTensor | tuple[KerasTensor, KerasTensor]:
        """Return symbolic tensors like what ``call`` returns."""
        key_shape = None if key is None else key.shape
        shape = self.compute_output_shape(query.shape, value.shape, key_shape)
        output = KerasTensor(shape, self.compute_dtype)
        if not return_attention_scores:
            return output
        scores_shape = (query.shape[0], self._score_heads(), query.shape[1], value.shape[1])
        return output, KerasTensor(scores_shape, self.compute_dtype)

    def _score_heads(self) -> int:
        """Return the number of heads that scores have."""
        raise NotImplementedError


def _cloned(initializer: Any) -> Any:
    """Return a copy of an initializer, so that each projection draws values of its own."""
    return initializer.clone() if isinstance(initializer, Initializer) else initializer


def _take_masks(query: Tensor, value: Tensor, key: Tensor) -> Tensor | None:
    """Return the query's mask, and remove the masks of all three, as Keras does."""
    mask: Tensor | None = mask_of(query)
    for operand in (query, value, key):
        if mask_of(operand) is not None:
            operand._keras_mask = None
    return mask


def _with_head_axes(mask: Tensor, rank: int, last: int) -> Tensor:
    """Add axes of size 1, for heads, before the ``last`` axes of a mask."""
    missing = rank - len(mask.shape)
    if missing <= 0:
        return mask
    split = max(len(mask.shape) - last, 0)
    return wt.reshape(mask, (*mask.shape[:split], *[1] * missing, *mask.shape[split:]))
