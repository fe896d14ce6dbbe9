"""Attention of several heads, each with projections of its own."""

from __future__ import annotations

from math import sqrt
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import constraints, initializers, regularizers
from webtensor.keras.layers.activations import Softmax
from webtensor.keras.layers.argument_checks import check_positive
from webtensor.keras.layers.attention.scores import HIDDEN, combined_mask
from webtensor.keras.layers.einsum_dense import EinsumDense
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.regularization import Dropout
from webtensor.keras.masks import mask_of
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import (
    ActivationLike,
    Config,
    ConstraintLike,
    InitializerLike,
    RegularizerLike,
)
from webtensor.shapes import prod

__all__ = ["COMMON", "Heads", "MultiHeadAttention", "check_keys"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

#: Arguments that the projections have, too, with what they stand for.
COMMON: dict[str, Any] = {
    "kernel_initializer": initializers,
    "bias_initializer": initializers,
    "kernel_regularizer": regularizers,
    "bias_regularizer": regularizers,
    "activity_regularizer": regularizers,
    "kernel_constraint": constraints,
    "bias_constraint": constraints,
}


class Heads(Layer):
    """What layers of heads share: projections, the gate, masks, dropout of weights."""

    _gate_dense: Any = None
    _output_dense: Any

    def _take(
        self,
        dropout: float,
        use_bias: bool,
        use_gate: bool,
        sliding_window: int | None,
        flash_attention: bool | None,
        seed: int | None,
        common: dict[str, Any],
    ) -> None:
        """Keep the arguments that all have; ``common`` are those of projections."""
        name = type(self).__name__
        if sliding_window is not None:
            check_positive(name, sliding_window=sliding_window)
        if flash_attention:
            raise ValueError(f"{name}: there is no flash attention")
        self._dropout, self._use_bias, self._use_gate = dropout, use_bias, use_gate
        self._sliding_window = sliding_window
        self.seed = seed
        self._common = {key: COMMON[key].get(value) for key, value in common.items()}
        self.supports_masking = True

    def _projection(
        self, name: str, inputs: Any, summed: int, made: Any, activation: ActivationLike
    ) -> Any:
        """Make a layer that replaces the last ``summed`` axes of inputs by ``made``."""
        kept = len(inputs) - summed
        before = _LETTERS[:kept]
        across = _LETTERS[kept : kept + summed]
        after = _LETTERS[kept + summed : kept + summed + len(made)]
        common = dict(self._common)
        for kind in ("kernel_initializer", "bias_initializer"):
            common[kind] = type(common[kind]).from_config(common[kind].get_config())
        layer = EinsumDense(
            f"{before}{across},{across}{after}->{before}{after}",
            output_shape=(*(None for _ in range(kept - 1)), *made),
            activation=activation,
            bias_axes=after if self._use_bias else None,
            name=name,
            dtype=self.dtype_policy,
            **common,
        )
        layer.build(tuple(inputs))
        return layer

    def _add_projections(
        self, shapes: tuple[Any, Any, Any], sizes: tuple[Any, Any, Any], gate: Any
    ) -> None:
        """Make the projections of query, key and value to heads of the given sizes."""
        query, key, value = shapes
        self._query_dense = self._projection("query", query, 1, sizes[0], None)
        self._key_dense = self._projection("key", key, 1, sizes[1], None)
        if self._use_gate:
            self._gate_dense = self._projection("gate", query, 1, gate, "sigmoid")
        self._value_dense = self._projection("value", value, 1, sizes[2], None)

    def _add_weighing(self, softmax_axes: Any) -> None:
        self._softmax = Softmax(axis=softmax_axes, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self._dropout, seed=self.seed, dtype=self.dtype_policy)

    def _projected(self, layer: Any, inputs: Tensor) -> Tensor:
        """Call a projection; it is not concerned with masks."""
        made: Tensor = layer.call(inputs)
        layer._add_loss_of(made)
        return made

    def _weights(
        self, logits: Tensor, mask: Tensor | None, training: bool | None, explicit: bool, axes: int
    ) -> tuple[Tensor, Tensor]:
        """Return the weights that logits give along the last ``axes``, and those before dropout.

        Where nothing is seen, explicit weights are zeros, and others are equal.
        """
        hidden = logits if mask is None else wt.where(mask, logits, HIDDEN)
        if axes == 1:
            weights = wt.softmax(hidden)
        else:
            shape = hidden.shape
            weights = wt.reshape(
                wt.softmax(wt.reshape(hidden, (*shape[:-axes], prod(shape[-axes:])))), shape
            )
        if mask is not None and explicit:
            weights = wt.where(mask, weights, 0.0)
        if self._dropout > 0:
            return self._dropout_layer.call(weights, training), weights
        return weights, weights

    def _finished(self, output: Tensor, gate: Tensor | None) -> Tensor:
        return self._projected(self._output_dense, output if gate is None else output * gate)

    def compute_output_spec(
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
        """Return symbolic tensors like what ``call`` returns."""
        key_shape = None if key is None else key.shape
        shape = self.compute_output_shape(query.shape, value.shape, key_shape)
        output = KerasTensor(shape, self.compute_dtype)
        if not return_attention_scores:
            return output
        scores = self._scores_shape(query.shape, value.shape)
        return output, KerasTensor(scores, self.compute_dtype)

    def _scores_shape(self, query_shape: Any, value_shape: Any) -> Any:
        raise NotImplementedError

    def _common_config(self) -> Config:
        return {name: COMMON[name].serialize(value) for name, value in self._common.items()}


class MultiHeadAttention(Heads):
    """Attention of several heads (Vaswani et al., 2017).

    ``query`` is (batch, queries, size), ``value`` and ``key``, which is the value if it is not
    given, (batch, keys, size). Each head projects query and key to ``key_dim`` numbers and value to
    ``value_dim``; ``softmax(query @ keyᵀ / sqrt(key_dim)) @ value`` of all heads is projected to
    ``output_shape``, or the query's size. There may be more axes, of which ``attention_axes`` are
    those of queries and keys. ``attention_mask`` (batch, queries, keys) says what is seen; masks
    that inputs carry, ``use_causal_mask`` and ``sliding_window`` hide more.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
        >>> layer(keras.ops.ones((1, 5, 8)), keras.ops.ones((1, 3, 6))).shape
        (1, 5, 8)
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
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
        super().__init__(**kwargs)
        check_positive("MultiHeadAttention", num_heads=num_heads, key_dim=key_dim)
        if value_dim is not None:
            check_positive("MultiHeadAttention", value_dim=value_dim)
        self._take(dropout, use_bias, use_gate, sliding_window, flash_attention, seed, common)
        self._num_heads, self._key_dim = num_heads, key_dim
        self._value_dim = value_dim or key_dim
        self._output_shape = _as_tuple("output_shape", output_shape)
        self._attention_axes = _as_tuple("attention_axes", attention_axes)

    num_heads = property(lambda self: self._num_heads, doc="Number of heads.")
    key_dim = property(lambda self: self._key_dim, doc="Size of a head's queries and keys.")
    value_dim = property(lambda self: self._value_dim, doc="Size of a head's values.")
    dropout = property(lambda self: self._dropout, doc="Share of weights that training drops.")
    use_bias = property(lambda self: self._use_bias, doc="Whether projections have a bias.")
    attention_axes = property(lambda self: self._attention_axes, doc="Axes of queries and keys.")
    query_dense = property(lambda self: self._query_dense, doc="The projection of the query.")
    key_dense = property(lambda self: self._key_dense, doc="The projection of the key.")
    value_dense = property(lambda self: self._value_dense, doc="The projection of the value.")
    output_dense = property(lambda self: self._output_dense, doc="The projection of the result.")

    def build(self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
        """Make the projections."""
        key_shape = value_shape if key_shape is None else key_shape
        check_keys(self.name, value_shape, key_shape)
        rank = len(query_shape) + 1
        heads = self._num_heads
        self._add_projections(
            (query_shape, key_shape, value_shape),
            ((heads, self._key_dim), (heads, self._key_dim), (heads, self._value_dim)),
            (heads, self._value_dim),
        )
        axes = self._attention_axes or tuple(range(1, rank - 2))
        self._attention_axes = tuple(axis if axis >= 0 else rank - 1 + axis for axis in axes)
        self._add_weighing(tuple(range(-len(axes), 0)))
        inputs = (*query_shape[:-1], heads, self._value_dim)
        made = self._output_shape or query_shape[-1:]
        self._output_dense = self._projection("attention_output", inputs, 2, made, None)

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
        key = value if key is None else key
        query_mask = _take_masks(query, value, key)
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
        output, scores = self._compute_attention(
            self._projected(self._query_dense, query),
            self._projected(self._key_dense, key),
            self._projected(self._value_dense, value),
            mask,
            training,
            return_attention_scores,
        )
        output = self._finished(output, gate)
        if query_mask is not None:
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
        """Attend, with the heads' queries, keys and values: (batch, …, heads, size)."""
        axes = self._attention_axes
        assert axes is not None
        rank = len(query.shape)
        apart = [axis for axis in range(rank - 1) if axis not in axes]
        order = (*apart, *axes, rank - 1)

        def rows(x: Tensor) -> Tensor:
            moved = wt.permute_dims(x, order)
            if len(axes) == 1:
                return moved
            lengths = moved.shape[: len(apart)]
            return wt.reshape(moved, (*lengths, -1, moved.shape[-1]))

        logits = wt.matmul(rows(query * (1 / sqrt(self._key_dim))), rows(key), transpose_b=True)
        flat = logits.shape
        lengths = (*flat[:-2], *(one.shape[axis] for one in (query, key) for axis in axes))
        logits = logits if len(axes) == 1 else wt.reshape(logits, lengths)
        if attention_mask is not None:
            attention_mask = _with_rank(attention_mask, len(lengths), 2 * len(axes))
        explicit = self._dropout > 0 or return_attention_scores or rank != 4
        weights, scores = self._weights(logits, attention_mask, training, explicit, len(axes))
        made = wt.matmul(wt.reshape(weights, flat) if len(axes) > 1 else weights, rows(value))
        moved = (*(query.shape[axis] for axis in (*apart, *axes)), value.shape[-1])
        made = made if made.shape == moved else wt.reshape(made, moved)
        return wt.permute_dims(made, sorted(range(rank), key=order.__getitem__)), scores

    def compute_output_shape(
        self, query_shape: Any, value_shape: Any, key_shape: Any = None
    ) -> Any:
        """Return the query's shape, with ``output_shape`` for its size if that is given."""
        check_keys(self.name, value_shape, value_shape if key_shape is None else key_shape)
        return (*query_shape[:-1], *(self._output_shape or query_shape[-1:]))

    def _scores_shape(self, query_shape: Any, value_shape: Any) -> Any:
        return (query_shape[0], self._num_heads, query_shape[1], value_shape[1])

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            **self._common_config(),
            "num_heads": self._num_heads,
            "key_dim": self._key_dim,
            "value_dim": self._value_dim,
            "dropout": self._dropout,
            "use_bias": self._use_bias,
            "use_gate": self._use_gate,
            "output_shape": self._output_shape,
            "attention_axes": self._attention_axes,
            "sliding_window": self._sliding_window,
            "seed": self.seed,
        }


def _take_masks(query: Any, *others: Any) -> Any:
    """Return the query's mask, and take the masks of all from them, as Keras does."""
    mask = mask_of(query)
    for operand in (query, *others):
        if mask_of(operand) is not None:
            operand._keras_mask = None
    return mask


def _as_tuple(argument: str, value: Any) -> tuple[int, ...] | None:
    if not value and value != 0:
        return None
    if isinstance(value, int):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, int) for one in value):
        raise ValueError(
            f"MultiHeadAttention: {argument} must be an integer or several, but got {value!r}"
        )
    return tuple(value)


def check_keys(name: str, value_shape: Any, key_shape: Any) -> None:
    """Check that there is a key for each value.

    Raises:
        ValueError: there is not.
    """
    if tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
        raise ValueError(
            f"layer {name!r}: value and key must have the same shape, save for their sizes, but "
            f"have {tuple(value_shape)} and {tuple(key_shape)}"
        )


def _with_rank(mask: Tensor, rank: int, last: int) -> Tensor:
    """Give a mask axes of length 1, as heads, before its ``last`` ones."""
    missing = rank - len(mask.shape)
    if missing <= 0:
        return mask
    place = max(len(mask.shape) - last, 0)
    return wt.reshape(mask, (*mask.shape[:place], *[1] * missing, *mask.shape[place:]))
