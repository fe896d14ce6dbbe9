"""Bidirectional: one recurrent layer along sequences, and another in the other direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.recurrent.rnn import RNN, Masks
from webtensor.keras.layers.recurrent.stacked import State, StateShape
from webtensor.keras.registry import (
    custom_object_scope,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.types import Config, CustomObjects, Shape
from webtensor.nest import flatten

__all__ = ["Bidirectional"]

_MERGES: dict[str | None, Callable[[Tensor, Tensor], Tensor | tuple[Tensor, Tensor]]] = {
    "concat": lambda forward, backward: wt.concat([forward, backward], -1),
    "sum": wt.add,
    "ave": lambda forward, backward: (forward + backward) * 0.5,
    "mul": wt.multiply,
    None: lambda forward, backward: (forward, backward),
}
#: Arguments that both layers must have in common.
_COMMON = ("stateful", "return_sequences", "return_state")


def _copied(layer: Layer, prefix: str, **changes: object) -> RNN:
    """Make a layer like another, with a name of its own and some changed arguments."""
    config = serialize_keras_object(layer)
    name = f"{prefix}_{layer.name.removeprefix(f'{prefix}_')}"
    arguments = {**config["config"], "name": name, **changes}
    copy: RNN = deserialize_keras_object({**config, "config": arguments, "build_config": None})
    return copy


class Bidirectional(Layer):
    """The merged outputs of a layer and of one that goes in the other direction.

    Args:
        layer: a recurrent layer, or one with its arguments and attributes; it is copied.
        merge_mode: how the outputs are merged: ``"concat"``, ``"sum"``, ``"ave"``, ``"mul"``, or
            None to return both.
        weights: a list of arrays, the values that the weights start with; None for those of the
            initializers.
        backward_layer: a layer with the other ``go_backwards``; None copies ``layer``.

    Input shape: (batch, steps, size).
    Output shape: that of the layer, with twice the size if ``merge_mode`` is ``"concat"``.

    Raises:
        ValueError: an argument is no layer, the merge mode is unknown, or the layers differ in
            more than their direction.

    Example:
        >>> from webtensor import keras
        >>> layer = keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True))
        >>> layer(keras.ops.ones((2, 5, 4))).shape
        (2, 5, 6)
    """

    _config_omits: ClassVar = {"weights": ALWAYS}
    _attribute_names: ClassVar = {"layer": "forward_layer"}

    def __init__(
        self,
        layer: RNN,
        merge_mode: str | None = "concat",
        weights: Sequence[TensorLike] | None = None,
        backward_layer: RNN | None = None,
        **kwargs: Any,
    ) -> None:
        for argument, value in (("layer", layer), ("backward_layer", backward_layer)):
            if not isinstance(value, Layer) and (argument == "layer" or value is not None):
                raise ValueError(f"Bidirectional: {argument} must be a layer, but got {value!r}")
        check_choice("Bidirectional", "merge_mode", merge_mode, _MERGES)
        super().__init__(**kwargs)
        self.forward_layer = _copied(layer, "forward")
        if backward_layer is None:
            backward_layer = _copied(layer, "backward", go_backwards=True)
        self.backward_layer = backward_layer
        self._check_layers()
        for copy in (self.forward_layer, self.backward_layer):
            if getattr(copy, "zero_output_for_mask", None) is not None:
                copy.zero_output_for_mask = copy.return_sequences
            if hasattr(layer, "use_cudnn"):
                copy.use_cudnn = layer.use_cudnn
        self.merge_mode = merge_mode
        self._initial_weights = weights
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _check_layers(self) -> None:
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError(
                "Bidirectional: layer and backward_layer must differ in go_backwards, but both "
                f"have {forward.go_backwards}"
            )
        for name in _COMMON:
            if getattr(forward, name) != getattr(backward, name):
                raise ValueError(
                    f"Bidirectional: layer and backward_layer must have the same {name}, but have "
                    f"{getattr(forward, name)} and {getattr(backward, name)}"
                )

    def build(self, sequences_shape: Shape, initial_state_shape: StateShape | None = None) -> None:
        """Build both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True
        if self._initial_weights:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def call(
        self,
        sequences: Tensor,
        initial_state: Sequence[State] | None = None,
        mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """Call both layers, and merge their outputs."""
        forward_state, backward_state = None, None
        if initial_state is not None and len(initial_state) > 1:
            half = len(initial_state) // 2
            forward_state, backward_state = initial_state[:half], initial_state[half:]
        forward, *forward_states = self._call_layer(
            self.forward_layer, sequences, forward_state, mask, training
        )
        backward, *backward_states = self._call_layer(
            self.backward_layer, sequences, backward_state, mask, training
        )
        if self.return_sequences:
            backward = wt.flip(backward, 1)
        output = _MERGES[self.merge_mode](forward, backward)
        if not self.return_state:
            return output
        outputs = (output,) if isinstance(output, Tensor) else output
        return (*outputs, *forward_states, *backward_states)

    def _call_layer(
        self,
        layer: RNN,
        sequences: Tensor,
        state: Sequence[State] | None,
        mask: Tensor | None,
        training: bool | None,
    ) -> Sequence[Any]:
        """Return the output of a layer, and its states if it returns them."""
        arguments: dict[str, object] = {} if state is None else {"initial_state": state}
        if mask is not None and layer._call_has_mask_arg:
            arguments["mask"] = mask
        results: Any = layer(sequences, training=training, **arguments)
        return results if self.return_state else (results,)

    def compute_output_shape(
        self, sequences_shape: Shape, initial_state_shape: StateShape | None = None
    ) -> Any:
        """Return the shapes of what is merged, and of the states, if they are returned."""
        shapes = self.forward_layer.compute_output_shape(sequences_shape)
        output, states = (shapes[0], tuple(shapes[1:])) if self.return_state else (shapes, ())
        if self.merge_mode == "concat":
            output = (*output[:-1], None if output[-1] is None else 2 * output[-1])
        if not self.return_state:
            return (output, output) if self.merge_mode is None else output
        outputs = (output, output) if self.merge_mode is None else (output,)
        return (*outputs, *states, *states)

    def compute_mask(self, inputs: object, mask: Masks) -> Masks:
        """Return the mask of the sequences, if sequences are returned."""
        mask = flatten(mask)[0] if self.return_sequences else None
        masks = [mask] if self.merge_mode else [mask, mask]
        if self.return_state:
            masks += [None] * (2 * len(flatten(self.forward_layer.state_size)))
        return masks if len(masks) > 1 else mask

    @property
    def states(self) -> tuple[Any, ...] | None:
        """The states of both layers, if they are stateful; otherwise None."""
        forward, backward = self.forward_layer.states, self.backward_layer.states
        return (*forward, *backward) if forward and backward else None

    def reset_state(self) -> None:
        """Set the states of a stateful layer to zeros.

        Raises:
            AttributeError: the layer is not stateful.
        """
        if not self.stateful:
            raise AttributeError(f"layer {self.name!r} must be stateful to reset its state")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    def reset_states(self) -> None:
        """Do what ``reset_state`` does, under an older name."""
        self.reset_state()

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        with custom_object_scope(custom_objects or {}):
            layers = {
                name: deserialize_keras_object(config.get(name))
                for name in ("layer", "backward_layer")
            }
            return super().from_config({**config, **layers})
