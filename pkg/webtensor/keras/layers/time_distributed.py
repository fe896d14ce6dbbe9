"""TimeDistributed: a layer applied to each step of sequences."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.wrapper import Wrapper
from webtensor.ops.movement import part

__all__ = ["TimeDistributed"]

#: Where the layers are that compute each element of a batch by itself, save for updates of state.
_OURS = "webtensor.keras.layers."


class TimeDistributed(Wrapper):
    """The results of a layer for each step, which is an index of axis 1, along that axis.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.TimeDistributed(keras.layers.Flatten())
        >>> layer(keras.ops.ones((2, 3, 4, 5))).shape
        (2, 3, 20)
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _step_shape(self, input_shape: Any) -> tuple[Any, ...]:
        if not isinstance(input_shape, (tuple, list)) or len(input_shape) < 3:
            raise ValueError(
                f"layer {self.name!r}: inputs must have at least 3 axes, but their shape is "
                f"{input_shape}"
            )
        return (input_shape[0], *input_shape[2:])

    def build(self, input_shape: Any = None) -> None:
        """Build the layer inside for a step."""
        super().build(self._step_shape(input_shape))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape for a step, with the steps along axis 1."""
        batch, *rest = self.layer.compute_output_shape(self._step_shape(input_shape))
        return (batch, input_shape[1], *rest)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        """Apply the layer to all steps at once, or to one after the other."""
        if mask is not None and mask.shape[:2] != inputs.shape[:2]:
            raise ValueError(
                f"layer {self.name!r}: mask must begin with the batch and the steps of inputs, "
                f"{inputs.shape[:2]}, but its shape is {mask.shape}"
            )
        if self._takes_steps_as_batch(training) and inputs.shape[1]:
            batch, steps = inputs.shape[:2]
            made = self._of_step(
                wt.reshape(inputs, (batch * steps, *inputs.shape[2:])),
                None if mask is None else wt.reshape(mask, (batch * steps, *mask.shape[2:])),
                training,
            )
            return wt.reshape(made, (batch, steps, *made.shape[1:]))
        results = [
            self._of_step(
                part(inputs, 1, step), None if mask is None else part(mask, 1, step), training
            )
            for step in range(inputs.shape[1])
        ]
        return wt.stack(results, 1)

    def _takes_steps_as_batch(self, training: bool | None) -> bool:
        """Whether steps do not influence each other, nor a state that the layer keeps."""
        layers = self.layer._flatten_layers()
        return all(
            type(one).__module__.startswith(_OURS) and not getattr(one, "stateful", False)
            for one in layers
        ) and not (training and self.layer.non_trainable_weights)

    def _of_step(self, inputs: Tensor, mask: Tensor | None, training: bool | None) -> Tensor:
        given: dict[str, Any] = {}
        if mask is not None and self.layer._call_has_mask_arg:
            given["mask"] = mask
        if self.layer._call_has_training_arg:
            given["training"] = training
        made: Tensor = self.layer.call(inputs, **given)
        return made
