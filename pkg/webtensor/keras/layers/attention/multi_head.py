"""Attention of several heads, each with projections of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from operator import attrgetter
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.arguments import as_integers
from webtensor.engine import Tensor
from webtensor.keras.arguments import check_positive, forwards_arguments
from webtensor.keras.layers.attention.heads import LETTERS, AttentionWithHeads, Projected
from webtensor.keras.layers.einsum_dense import EinsumDense
from webtensor.keras.types import ConstraintLike, InitializerLike, RegularizerLike, Shape

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(AttentionWithHeads):
    """Attention of several heads (Vaswani et al., 2017).

    The results of all heads, ``softmax(query @ keyᵀ / sqrt(key_dim)) @ value`` of projections, are
    projected to the output. In calls, ``attention_mask`` (batch, queries, keys) is True where a
    query attends to a key; masks that inputs carry, ``use_causal_mask`` and ``sliding_window``
    leave out more.

    Args:
        num_heads: a positive integer, the number of heads.
        key_dim: a positive integer, the size of a head's queries and keys.
        value_dim: a positive integer, the size of a head's values; None is ``key_dim``.
        output_shape: an integer or several, the size of the output; None is the query's.
        attention_axes: an integer or several, the axes of queries and keys where there are more
            than one; None is all but the batch and the last.

    Input shape: query (batch, queries, size), value and key, which is the value by default,
    (batch, keys, size).
    Output shape: (batch, queries, *output_shape).

    Raises:
        ValueError: an argument is out of range, or there are not as many keys as values.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
        >>> layer(keras.ops.ones((1, 5, 8)), keras.ops.ones((1, 3, 6))).shape
        (1, 5, 8)
    """

    _attribute_names: ClassVar = {
        **AttentionWithHeads._attribute_names,
        "output_shape": "_output_shape",
    }
    _carries_query_mask = True
    # Keras's names of arguments, which subclasses read.
    _num_heads = property(attrgetter("num_heads"))
    _key_dim = property(attrgetter("key_dim"))
    _value_dim = property(attrgetter("value_dim"))
    _use_bias = property(attrgetter("use_bias"))
    _dropout = property(attrgetter("dropout"))
    _attention_axes = property(attrgetter("attention_axes"))
    num_heads: int
    key_dim: int

    @forwards_arguments
    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: int | Sequence[int] | None = None,
        attention_axes: int | Sequence[int] | None = None,
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
        check_positive("MultiHeadAttention", num_heads=num_heads, key_dim=key_dim)
        if value_dim is not None:
            check_positive("MultiHeadAttention", value_dim=value_dim)
        self.value_dim = value_dim or key_dim
        self._inverse_sqrt_key_dim = 1 / sqrt(key_dim)
        self._output_shape = _as_tuple("output_shape", output_shape)
        self.attention_axes = _as_tuple("attention_axes", attention_axes)

    @property
    def query_dense(self) -> EinsumDense:
        """The projection of the query."""
        return self._query_dense

    @property
    def key_dense(self) -> EinsumDense:
        """The projection of the key."""
        return self._key_dense

    @property
    def value_dense(self) -> EinsumDense:
        """The projection of the value."""
        return self._value_dense

    @property
    def output_dense(self) -> EinsumDense:
        """The projection of the result."""
        return self._output_dense

    def build(self, query_shape: Shape, value_shape: Shape, key_shape: Shape | None = None) -> None:
        """Make the projections."""
        self._check_key_shape(value_shape, key_shape)
        key_heads = (self.num_heads, self.key_dim)
        self._build_projections(
            Projected(query_shape, key_heads),
            Projected(value_shape if key_shape is None else key_shape, key_heads),
            Projected(value_shape, (self.num_heads, self.value_dim)),
            output_sizes=self._output_shape or query_shape[-1:],
        )
        self._build_attention(len(query_shape) + 1)

    def _build_attention(self, rank: int) -> None:
        """Set what attention of queries, keys and values of ``rank`` (…, heads, size) needs.

        Subclasses that compute attention otherwise can use the equations, as in Keras.
        """
        axes = self.attention_axes or tuple(range(1, rank - 2))
        axes = self.attention_axes = tuple(axis % (rank - 1) for axis in axes)
        self._key_axes = len(axes)
        self._build_softmax(tuple(range(-len(axes), 0)))
        query = LETTERS[:rank]
        key = "".join(LETTERS[rank + axis] if axis in axes else query[axis] for axis in range(rank))
        batch = "".join(query[axis] for axis in range(rank - 1) if axis not in axes)
        scores = batch + "".join(x[axis] for x in (query, key) for axis in axes)
        self._dot_product_equation = f"{key},{query}->{scores}"
        self._combine_equation = f"{scores},{key}->{query}"

    def _make_output_dense(
        self, query_shape: Shape, common_kwargs: dict[str, Any], name: str | None = None
    ) -> EinsumDense:
        """Return a projection of the result, which is not built."""
        sizes = self._output_shape or query_shape[-1:]
        return self._unbuilt_projection(len(query_shape) + 1, 2, sizes, name=name, **common_kwargs)

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
        axes = self.attention_axes
        assert axes is not None
        rank = len(query.shape)
        batch_axes = [axis for axis in range(rank - 1) if axis not in axes]
        order = (*batch_axes, *axes, rank - 1)

        def as_matrices(x: Tensor) -> Tensor:
            """Bring the attention axes together, before the last."""
            x = wt.permute_dims(x, order)
            if len(axes) == 1:
                return x
            return wt.reshape(x, (*x.shape[: len(batch_axes)], -1, x.shape[-1]))

        queries, keys, values = map(as_matrices, (query * self._inverse_sqrt_key_dim, key, value))
        scores = wt.matmul(queries, keys, transpose_b=True)
        matrix_shape = scores.shape
        if len(axes) > 1:
            sizes = [operand.shape[axis] for operand in (query, key) for axis in axes]
            scores = wt.reshape(scores, (*matrix_shape[:-2], *sizes))
        zeros_masked = self.dropout > 0 or return_attention_scores or rank != 4
        weights, scores = self._attention_weights(scores, attention_mask, training, zeros_masked)
        if len(axes) > 1:
            weights = wt.reshape(weights, matrix_shape)
        results = wt.matmul(weights, values)
        shape = (*(query.shape[axis] for axis in order[:-1]), value.shape[-1])
        results = results if results.shape == shape else wt.reshape(results, shape)
        return wt.permute_dims(results, sorted(range(rank), key=order.__getitem__)), scores

    def compute_output_shape(
        self, query_shape: Shape, value_shape: Shape, key_shape: Shape | None = None
    ) -> Shape:
        """Return the query's shape, with ``output_shape`` instead of its size if there is one."""
        self._check_key_shape(value_shape, key_shape)
        return (*query_shape[:-1], *(self._output_shape or query_shape[-1:]))

    def _score_heads(self) -> int:
        return self.num_heads


def _as_tuple(argument: str, value: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if not value and value != 0:
        return None
    return tuple(as_integers("MultiHeadAttention", argument, value))
