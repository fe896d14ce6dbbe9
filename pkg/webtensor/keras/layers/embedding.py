"""Embeddings: a trainable vector for each of a number of integers."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS, NEVER, check_positive, refuse_quantization
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.layers.weighted import Weighted
from webtensor.keras.masks import unequal
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import (
    ConstraintLike,
    DTypeLike,
    InitializerLike,
    RegularizerLike,
    Shape,
    SymbolicOrTensor,
)
from webtensor.keras.variables import Variable

__all__ = ["Embedding", "ReversibleEmbedding"]


class Embedding(Adaptable, Weighted):
    """``embeddings[inputs]``: rows of an ``(input_dim, output_dim)`` matrix.

    Input shape: integers of any shape. Output shape: that shape with an axis of size
    ``output_dim`` added at the end.

    Args:
        input_dim: a positive integer, the number of rows; inputs are less than it.
        output_dim: a positive integer, the size of each row.
        mask_zero: a boolean, whether 0 stands for steps that are masked in this and later layers.
        weights: the first value of the matrix, an array or a list with one, instead of what
            ``embeddings_initializer`` makes.

    Raises:
        ValueError: ``input_dim`` or ``output_dim`` is not a positive integer, or ``weights`` has
            another shape, or ``quantization_config`` is not None.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Embedding(10, 4)([[1, 2, 3]]).shape
        (1, 3, 4)
    """

    _adapted = "embeddings"
    _config_omits: ClassVar = {"activity_regularizer": NEVER, "weights": ALWAYS}
    embeddings_initializer: InitializerLike

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: InitializerLike = "uniform",
        embeddings_regularizer: RegularizerLike = None,
        embeddings_constraint: ConstraintLike = None,
        mask_zero: bool = False,
        weights: TensorLike | list[TensorLike] | None = None,
        lora_rank: int | None = None,
        lora_alpha: float | None = None,
        quantization_config: None = None,
        **kwargs: Any,
    ) -> None:
        check_positive("Embedding", input_dim=input_dim, output_dim=output_dim)
        refuse_quantization("Embedding", quantization_config=quantization_config)
        kwargs.pop("input_length", None)  # of Keras 2, where it changed nothing that is computed
        super().__init__(
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
            **kwargs,
        )
        self._take_lora(lora_rank, lora_alpha)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) else [weights])

    def build(self, input_shape: Shape | None = None) -> None:
        """Make the matrix."""
        if self.built:
            return
        self._embeddings = self._make_weight("embeddings", (self.input_dim, self.output_dim))
        self._build_lora()

    @property
    def embeddings(self) -> Variable | Tensor:
        """The matrix: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._embeddings

    def _dequantized(self, kernel: Tensor, scales: Tensor) -> Tensor:
        return wt.divide(kernel, wt.expand_dims(scales, -1))

    def call(self, inputs: Tensor) -> Tensor:
        """Return the rows that the inputs are indices of."""
        indices = inputs if inputs.dtype is int32 else wt.astype(inputs, int32)
        return wt.gather(self._adapted_value(), indices)

    def compute_mask(
        self, inputs: SymbolicOrTensor, mask: SymbolicOrTensor | None = None
    ) -> SymbolicOrTensor | None:
        """Return where inputs are not 0, with ``mask_zero``."""
        return unequal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with an axis of size ``output_dim`` added."""
        return (*input_shape, self.output_dim)


class ReversibleEmbedding(Embedding):
    """An Embedding that also computes ``x @ transpose(embeddings)``, with ``reverse=True``.

    These are ``input_dim`` numbers, such as the logits of a language model. Weights and results
    are float32, whatever ``reverse_dtype`` is.

    Args:
        tie_weights: a boolean; False makes a matrix of its own for the reverse,
            ``reverse_embeddings``.
        reverse_dtype: a dtype, which changes nothing here.
        logit_soft_cap: a number c: logits become ``c * tanh(logits / c)``; None leaves them.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.ReversibleEmbedding(10, 4)
        >>> layer(layer([[1, 2, 3]]), reverse=True).shape
        (1, 3, 10)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        tie_weights: bool = True,
        embeddings_initializer: InitializerLike = "uniform",
        embeddings_regularizer: RegularizerLike = None,
        embeddings_constraint: ConstraintLike = None,
        mask_zero: bool = False,
        reverse_dtype: DTypeLike = None,
        logit_soft_cap: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            input_dim,
            output_dim,
            embeddings_initializer,
            embeddings_regularizer,
            embeddings_constraint,
            mask_zero,
            **kwargs,
        )
        self.tie_weights = tie_weights
        self.reverse_dtype = reverse_dtype
        self.logit_soft_cap = logit_soft_cap

    def build(self, input_shape: Shape | None = None) -> None:
        """Make the matrix, or both."""
        if self.built:
            return
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                name="reverse_embeddings",
                shape=(self.output_dim, self.input_dim),
                initializer=self.embeddings_initializer,
            )

    def call(self, inputs: Tensor, reverse: bool = False) -> Tensor:
        """Return the rows that the inputs are indices of, or logits."""
        if not reverse:
            outputs = super().call(inputs)
            outputs._keras_mask = wt.not_equal(inputs, 0) if self.mask_zero else None
            return outputs
        shape = (*inputs.shape[:-1], self.input_dim)
        rows = wt.reshape(inputs, (-1, inputs.shape[-1]))
        matrix = self._adapted_value() if self.tie_weights else self.reverse_embeddings.value
        logits = wt.reshape(wt.fused.mat_mul(rows, matrix, False, self.tie_weights), shape)
        cap = self.logit_soft_cap
        return logits if cap is None else wt.tanh(logits / cap) * cap

    def compute_mask(self, inputs: SymbolicOrTensor, mask: SymbolicOrTensor | None = None) -> None:
        """Return None: ``call`` attaches the mask, as logits have none."""

    def compute_output_spec(self, inputs: KerasTensor, reverse: bool = False) -> KerasTensor:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(inputs.shape, reverse), self.compute_dtype)

    def compute_output_shape(self, input_shape: Shape, reverse: bool = False) -> Shape:
        """Return the shape with an axis of ``output_dim`` added, or the last of ``input_dim``."""
        if reverse:
            return (*input_shape[:-1], self.input_dim)
        return super().compute_output_shape(input_shape)
