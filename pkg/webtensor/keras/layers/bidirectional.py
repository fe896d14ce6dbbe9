"""Bidirectional: a recurrent layer along sequences, and another one against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.nest import flatten
from webtensor.keras.registry import (
    custom_object_scope,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.types import Config

__all__ = ["Bidirectional"]

_MERGES: dict[str | None, Callable[[Tensor, Tensor], Any]] = {
    "concat": lambda one, other: wt.concat([one, other], -1),
    "sum": lambda one, other: one + other,
    "ave": lambda one, other: (one + other) * 0.5,
    "mul": lambda one, other: one * other,
    None: lambda one, other: (one, other),
}
_COMMON = ("stateful", "return_sequences", "return_state")


def _copied(layer: Layer, prefix: str, **changed: Any) -> Any:
    """Make a layer like the given one, with a name of its own."""
    config = serialize_keras_object(layer)
    name = f"{prefix}_{layer.name.removeprefix(f'{prefix}_')}"
    return deserialize_keras_object(
        {**config, "config": {**config["config"], "name": name, **changed}, "build_config": None}
    )


class Bidirectional(Layer):
    """The outputs of ``layer`` and of one that goes the other way, merged.

    ``merge_mode`` is "concat", "sum", "ave", "mul" or None, for both outputs as they are. The
    layers are copies of the given one, save for ``backward_layer``.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True))
        >>> layer(keras.ops.ones((2, 5, 4))).shape
        (2, 5, 6)
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        for argument, value in (("layer", layer), ("backward_layer", backward_layer)):
            if not isinstance(value, Layer) and (argument == "layer" or value is not None):
                raise ValueError(f"Bidirectional: {argument} must be a layer, but got {value!r}")
        if merge_mode not in _MERGES:
            raise ValueError(
                "Bidirectional: merge_mode must be 'concat', 'sum', 'ave', 'mul' or None, but got "
                f"{merge_mode!r}"
            )
        super().__init__(**kwargs)
        self.forward_layer = _copied(layer, "forward")
        if backward_layer is None:
            backward_layer = _copied(layer, "backward", go_backwards=True)
        self.backward_layer = backward_layer
        self._check_layers()
        for one in (self.forward_layer, self.backward_layer):
            if getattr(one, "zero_output_for_mask", None) is not None:
                one.zero_output_for_mask = one.return_sequences
            if hasattr(layer, "use_cudnn"):
                one.use_cudnn = layer.use_cudnn
        self.merge_mode = merge_mode
        self._begin_with = weights
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _check_layers(self) -> None:
        one, other = self.forward_layer, self.backward_layer
        if one.go_backwards == other.go_backwards:
            raise ValueError(
                "Bidirectional: layer and backward_layer must differ in go_backwards, but both "
                f"have {one.go_backwards}"
            )
        for name in _COMMON:
            if getattr(one, name) != getattr(other, name):
                raise ValueError(
                    f"Bidirectional: layer and backward_layer must have the same {name}, but have "
                    f"{getattr(one, name)} and {getattr(other, name)}"
                )

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Build both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True
        if self._begin_with:
            self.set_weights(self._begin_with)
            self._begin_with = None

    def call(
        self,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool | None = None,
    ) -> Any:
        """Call both layers, and merge."""
        half = len(initial_state) // 2 if initial_state is not None else 0
        states = (initial_state[:half], initial_state[half:]) if half else (None, None)
        layers = (self.forward_layer, self.backward_layer)
        (forward, *forward_states), (backward, *backward_states) = (
            self._called(layer, sequences, state, mask, training)
            for layer, state in zip(layers, states, strict=True)
        )
        if self.return_sequences:
            backward = wt.flip(backward, 1)
        output = _MERGES[self.merge_mode](forward, backward)
        if not self.return_state:
            return output
        outputs = output if self.merge_mode is None else (output,)
        return (*outputs, *forward_states, *backward_states)

    def _called(
        self, layer: Any, sequences: Tensor, state: Any, mask: Any, training: bool | None
    ) -> Any:
        given = {} if state is None else {"initial_state": state}
        if mask is not None and layer._call_has_mask_arg:
            given["mask"] = mask
        made = layer(sequences, training=training, **given)
        return made if self.return_state else (made,)

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """Return the shapes of what is merged, and of the states, if they are returned."""
        made = self.forward_layer.compute_output_shape(sequences_shape)
        output, states = (made[0], tuple(made[1:])) if self.return_state else (made, ())
        if self.merge_mode == "concat":
            output = (*output[:-1], None if output[-1] is None else 2 * output[-1])
        if not self.return_state:
            return (output, output) if self.merge_mode is None else output
        outputs = (output, output) if self.merge_mode is None else (output,)
        return (*outputs, *states, *states)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        """Return the mask of the sequences, if sequences are returned."""
        mask = flatten(mask)[0] if self.return_sequences else None
        masks = [mask] if self.merge_mode else [mask, mask]
        if self.return_state:
            masks += [None] * (2 * len(flatten(self.forward_layer.state_size)))
        return masks if len(masks) > 1 else mask

    @property
    def states(self) -> Any:
        """The states that last of both layers; None if there are none."""
        one, other = self.forward_layer.states, self.backward_layer.states
        return (*one, *other) if one and other else None

    def reset_state(self) -> None:
        """Make the states that last zeros again.

        Raises:
            AttributeError: there are none.
        """
        if not self.stateful:
            raise AttributeError(f"layer {self.name!r} must be stateful to reset its state")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    def reset_states(self) -> None:
        """Do what ``reset_state`` does, under an older name."""
        self.reset_state()

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "merge_mode": self.merge_mode,
            "layer": serialize_keras_object(self.forward_layer),
            "backward_layer": serialize_keras_object(self.backward_layer),
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        with custom_object_scope(custom_objects or {}):
            for name in ("layer", "backward_layer"):
                config[name] = deserialize_keras_object(config.get(name))
        return cls(**config)
