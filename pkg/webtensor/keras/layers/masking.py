"""Masking: steps of sequences that hold nothing but one number do not count."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.keras.layers.layer import Layer

__all__ = ["Masking"]


class Masking(Layer):
    """``inputs``, with a mask that leaves out the steps all of whose features are ``mask_value``.

    These become zeros.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Masking(9.0)([[[9.0, 9.0], [1.0, 9.0]]]).tolist()
        [[[0.0, 0.0], [1.0, 9.0]]]
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return which steps count."""
        return wt.any(wt.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs: Any) -> Any:
        """Make what does not count zeros, and attach the mask."""
        mask = self.compute_mask(inputs)
        outputs = wt.where(wt.expand_dims(mask, -1), inputs, 0)
        outputs._keras_mask = mask
        return outputs

    def _hand_masks_on(self, inputs: Any, outputs: Any) -> None:
        """Do nothing: ``call`` has attached the mask."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "mask_value": self.mask_value}
