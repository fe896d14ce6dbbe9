"""Embedding: a vector for each of a number of integers, learnt like any weight."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.keras import constraints, initializers, regularizers
from webtensor.keras.arguments import ALWAYS, NEVER
from webtensor.keras.layers.arguments import check_positive
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.masks import unequal
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ConstraintLike, InitializerLike, RegularizerLike

__all__ = ["Embedding", "ReversibleEmbedding"]


class Embedding(Adaptable):
    """``embeddings[inputs]``: rows of an (input_dim, output_dim) matrix.

    With ``mask_zero`` 0 stands for steps that do not count, in this and later layers.
    ``lora_rank`` and ``lora_alpha``: see ``enable_lora``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Embedding(10, 4)([[1, 2, 3]]).shape
        (1, 3, 4)
    """

    _adapted = "embeddings"
    _config_omits: ClassVar = {"activity_regularizer": NEVER, "weights": ALWAYS}

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: InitializerLike = "uniform",
        embeddings_regularizer: RegularizerLike = None,
        embeddings_constraint: ConstraintLike = None,
        mask_zero: bool = False,
        weights: Any = None,
        lora_rank: int | None = None,
        lora_alpha: float | None = None,
        quantization_config: Any = None,
        **kwargs: Any,
    ) -> None:
        check_positive("Embedding", input_dim=input_dim, output_dim=output_dim)
        if quantization_config:
            raise ValueError("Embedding: there is no quantization")
        kwargs.pop("input_length", None)  # of Keras 2, where it changed nothing that is computed
        super().__init__(**kwargs)
        self._take_lora(lora_rank, lora_alpha)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) else [weights])

    def build(self, input_shape: Any = None) -> None:
        """Make the matrix."""
        if self.built:
            return
        self._embeddings = self.add_weight(
            name="embeddings",
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self._build_lora()

    @property
    def embeddings(self) -> Any:
        """The matrix: a variable, or a sum where ``enable_lora`` was called."""
        return self._adapted_value() if self.lora_enabled else self._embeddings

    def call(self, inputs: Any) -> Any:
        """Pick rows."""
        indices = inputs if inputs.dtype is int32 else wt.astype(inputs, int32)
        return wt.gather(self._adapted_value(), indices)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return where inputs are not 0, if that matters."""
        return unequal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with an axis of ``output_dim`` numbers added."""
        return (*input_shape, self.output_dim)


class ReversibleEmbedding(Embedding):
    """An Embedding that also goes back: with ``reverse``, ``x @ transpose(embeddings)``.

    What comes back are ``input_dim`` numbers, such as the logits of a language model. They are
    ``c * tanh(logits / c)`` with c as ``logit_soft_cap``. Without ``tie_weights`` another matrix,
    ``reverse_embeddings``, goes back. ``reverse_dtype`` is kept, but float32 is computed with.

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
        reverse_dtype: Any = None,
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

    def build(self, input_shape: Any = None) -> None:
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

    def call(self, inputs: Any, reverse: bool = False) -> Any:
        """Pick rows, or go back."""
        if not reverse:
            outputs = super().call(inputs)
            outputs._keras_mask = super().compute_mask(inputs)
            return outputs
        shape = (*inputs.shape[:-1], self.input_dim)
        rows = wt.reshape(inputs, (-1, inputs.shape[-1]))
        matrix = self._adapted_value() if self.tie_weights else self.reverse_embeddings.value
        logits = wt.reshape(wt.fused.mat_mul(rows, matrix, False, self.tie_weights), shape)
        cap = self.logit_soft_cap
        return logits if cap is None else wt.tanh(logits / cap) * cap

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return nothing: ``call`` attaches the mask, as there is none on the way back."""

    def compute_output_spec(self, inputs: Any, reverse: bool = False) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(inputs.shape, reverse), self.compute_dtype)

    def compute_output_shape(self, input_shape: Any, reverse: bool = False) -> Any:
        """Return the shape with ``output_dim`` numbers added, or its last axis of ``input_dim``."""
        if reverse:
            return (*input_shape[:-1], self.input_dim)
        return super().compute_output_shape(input_shape)
