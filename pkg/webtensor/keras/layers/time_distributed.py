"""TimeDistributed: a layer applied to each step of sequences."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.wrapper import Wrapper
from webtensor.keras.types import Shape
from webtensor.ops.movement import part

__all__ = ["TimeDistributed"]

#: The library's layers compute each example of a batch by itself, save for updates of their state.
_LIBRARY_LAYERS = "webtensor.keras.layers."


class TimeDistributed(Wrapper):
    """Applies a layer to each step: to each index of axis 1.

    Input shape: ``(batch, steps, ...)``. Output shape: ``(batch, steps, ...)``, where ``(batch,
    ...)`` is what the layer returns for a step.

    Args:
        layer: the layer to apply.

    Raises:
        ValueError: ``layer`` is not a layer, or the inputs have fewer than 3 axes.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.TimeDistributed(keras.layers.Flatten())
        >>> layer(keras.ops.ones((2, 3, 4, 5))).shape
        (2, 3, 20)
    """

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _step_shape(self, input_shape: Shape | None) -> Shape:
        if not isinstance(input_shape, (tuple, list)) or len(input_shape) < 3:
            raise ValueError(
                f"layer {self.name!r}: inputs must have at least 3 axes, but their shape is "
                f"{input_shape}"
            )
        return (input_shape[0], *input_shape[2:])

    def build(self, input_shape: Shape | None = None) -> None:
        """Build the layer inside for a step."""
        super().build(self._step_shape(input_shape))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape for a step, with the steps along axis 1."""
        batch, *rest = self.layer.compute_output_shape(self._step_shape(input_shape))
        return (batch, input_shape[1], *rest)

    def call(
        self, inputs: Tensor, training: bool | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Apply the layer to all steps at once, or to one step after the other."""
        if mask is not None and mask.shape[:2] != inputs.shape[:2]:
            raise ValueError(
                f"layer {self.name!r}: mask must begin with the batch and the steps of inputs, "
                f"{inputs.shape[:2]}, but its shape is {mask.shape}"
            )
        if self._takes_steps_as_batch(training) and inputs.shape[1]:
            batch, steps = inputs.shape[:2]
            outputs = self._call_layer(
                wt.reshape(inputs, (batch * steps, *inputs.shape[2:])),
                None if mask is None else wt.reshape(mask, (batch * steps, *mask.shape[2:])),
                training,
            )
            return wt.reshape(outputs, (batch, steps, *outputs.shape[1:]))
        step_outputs = [
            self._call_layer(
                part(inputs, 1, step), None if mask is None else part(mask, 1, step), training
            )
            for step in range(inputs.shape[1])
        ]
        return wt.stack(step_outputs, 1)

    def _takes_steps_as_batch(self, training: bool | None) -> bool:
        """Whether steps affect neither each other nor the state of a layer."""
        return all(
            type(layer).__module__.startswith(_LIBRARY_LAYERS)
            and not getattr(layer, "stateful", False)
            for layer in self.layer._flatten_layers()
        ) and not (training and self.layer.non_trainable_weights)

    def _call_layer(self, inputs: Tensor, mask: Tensor | None, training: bool | None) -> Tensor:
        arguments: dict[str, Tensor | bool | None] = {}
        if mask is not None and self.layer._call_has_mask_arg:
            arguments["mask"] = mask
        if self.layer._call_has_training_arg:
            arguments["training"] = training
        outputs: Tensor = self.layer.call(inputs, **arguments)
        return outputs
