"""Masking: masks the steps of sequences that consist of one value."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.layers.elementwise import Elementwise
from webtensor.keras.masks import symbolic_ops
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, SymbolicOrTensor

__all__ = ["Masking"]


class Masking(Elementwise):
    """Masks the steps all of whose features are ``mask_value``, and sets them to 0.

    Input shape: ``(batch, steps, features)``. Output shape: the same.

    Args:
        mask_value: a number, or an array with one for each feature.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Masking(9.0)([[[9.0, 9.0], [1.0, 9.0]]]).tolist()
        [[[0.0, 0.0], [1.0, 9.0]]]
    """

    def __init__(self, mask_value: TensorLike | Config = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = (
            deserialize_keras_object(mask_value) if isinstance(mask_value, dict) else mask_value
        )
        self._build_at_init()

    def compute_mask(
        self, inputs: SymbolicOrTensor, mask: SymbolicOrTensor | None = None
    ) -> SymbolicOrTensor:
        """Return where steps have another value than ``mask_value``."""
        if isinstance(inputs, KerasTensor):
            ops = symbolic_ops()
            symbolic_mask: KerasTensor = ops.any(ops.not_equal(inputs, self.mask_value), axis=-1)
            return symbolic_mask
        return self._mask(inputs)

    def _mask(self, inputs: Tensor) -> Tensor:
        return wt.any(wt.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs: Tensor) -> Tensor:
        """Set masked steps to 0, and attach the mask."""
        mask = self._mask(inputs)
        outputs = wt.where(wt.expand_dims(mask, -1), inputs, 0)
        outputs._keras_mask = mask
        return outputs
