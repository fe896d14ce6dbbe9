"""Masking: steps of sequences that hold nothing but one number do not count."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.keras.layers.layer import Layer
from webtensor.keras.masks import symbolic_ops
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor

__all__ = ["Masking"]


class Masking(Layer):
    """``inputs``, with a mask that leaves out the steps all of whose features are ``mask_value``.

    These become zeros. ``mask_value`` is a number, or an array with one for each feature.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Masking(9.0)([[[9.0, 9.0], [1.0, 9.0]]]).tolist()
        [[[0.0, 0.0], [1.0, 9.0]]]
    """

    def __init__(self, mask_value: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = (
            deserialize_keras_object(mask_value) if isinstance(mask_value, dict) else mask_value
        )
        self.supports_masking = True
        self._build_at_init()

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return which steps count."""
        if type(inputs) is KerasTensor:
            ops = symbolic_ops()
            return ops.any(ops.not_equal(inputs, self.mask_value), axis=-1)
        return wt.any(wt.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs: Any) -> Any:
        """Make what does not count zeros, and attach the mask."""
        mask = self.compute_mask(inputs)
        outputs = wt.where(wt.expand_dims(mask, -1), inputs, 0)
        outputs._keras_mask = mask
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape
