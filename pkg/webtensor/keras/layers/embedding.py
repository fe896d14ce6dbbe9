"""Embedding: a vector for each of a number of integers, learnt like any weight."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.keras import constraints, initializers, regularizers
from webtensor.keras.layers.arguments import check_positive
from webtensor.keras.layers.layer import Layer

__all__ = ["Embedding"]


class Embedding(Layer):
    """``embeddings[inputs]``: rows of an (input_dim, output_dim) matrix.

    With ``mask_zero`` 0 stands for steps that do not count, in this and later layers.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Embedding(10, 4)([[1, 2, 3]]).shape
        (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        lora_rank: int | None = None,
        lora_alpha: float | None = None,
        quantization_config: Any = None,
        **kwargs: Any,
    ) -> None:
        check_positive("Embedding", input_dim=input_dim, output_dim=output_dim)
        if lora_rank or quantization_config:
            raise ValueError("Embedding: there are no LoRA ranks and no quantization")
        kwargs.pop("input_length", None)  # of Keras 2, where it changed nothing that is computed
        super().__init__(**kwargs)
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

    @property
    def embeddings(self) -> Any:
        """The matrix."""
        return self._embeddings

    def call(self, inputs: Any) -> Any:
        """Pick rows."""
        indices = inputs if inputs.dtype is int32 else wt.astype(inputs, int32)
        return wt.gather(self._embeddings.value, indices)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return where inputs are not 0, if that matters."""
        return wt.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with an axis of ``output_dim`` numbers added."""
        return (*input_shape, self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero,
            "quantization_config": None,
        }
