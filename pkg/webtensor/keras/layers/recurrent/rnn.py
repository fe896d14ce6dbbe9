"""RNN: a cell, called step by step along a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.recurrent.cell import GatedCell, serialized
from webtensor.keras.layers.recurrent.stacked import StackedRNNCells, check_cell
from webtensor.keras.names import name_scope
from webtensor.keras.nest import flatten, is_nested, map_structure
from webtensor.keras.registry import (
    custom_object_scope,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.types import Config
from webtensor.keras.variables import Variable
from webtensor.ops.movement import part

__all__ = ["RNN", "CellLayer"]


class RNN(Layer):
    """``output[t], state[t + 1] = cell(inputs[:, t], state[t])`` for each step of sequences.

    ``cell``, or a list of cells that are stacked, has ``call(inputs, states)`` and ``state_size``,
    and may have ``output_size`` and ``get_initial_state(batch_size)``. Steps are always computed
    one by one, so ``unroll`` changes nothing.

    Example:
        >>> from webtensor import keras
        >>> cell = keras.layers.SimpleRNNCell(4)
        >>> keras.layers.RNN(cell, return_sequences=True)(keras.ops.ones((2, 3, 5))).shape
        (2, 3, 4)
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        check_cell(type(self).__name__, cell)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.zero_output_for_mask = zero_output_for_mask
        self.supports_masking = True
        self.states: Any = None

    @property
    def state_size(self) -> list[Any]:
        """How many numbers each tensor of a state is."""
        size = self.cell.state_size
        return [size] if isinstance(size, int) else list(size)

    # -- shapes -------------------------------------------------------------------------------

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Build the cell, and make a state that lasts, if there is to be one."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
            self.cell.built = True
        if self.stateful and self.states is None:
            if sequences_shape[0] is None:
                raise ValueError(
                    f"layer {self.name!r} is stateful, so its batch size must be known, but the "
                    f"shape of its inputs is {tuple(sequences_shape)}; give Input a batch_size"
                )
            self._keep_states(self.get_initial_state(sequences_shape[0]))

    def _keep_states(self, states: Any) -> None:
        """Make variables for a state, which are no weights."""
        with name_scope(self.name, self):
            held = map_structure(
                lambda value: Variable(value, trainable=False, name="rnn_state"), states
            )
        object.__setattr__(self, "states", held)

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """Return the shapes of the output and, if they are returned, of the states."""
        batch, steps = sequences_shape[:2]
        size = getattr(self.cell, "output_size", None)
        size = flatten(self.state_size)[0] if size is None else size
        output = (batch, steps, size) if self.return_sequences else (batch, size)
        if not self.return_state:
            return output
        return output, *(map_structure(lambda one: (batch, one), one) for one in self.state_size)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        """Return the mask of the sequences, if sequences are returned."""
        mask = flatten(mask)[0] if self.return_sequences else None
        return [mask, *(None for _ in flatten(self.state_size))] if self.return_state else mask

    # -- states -------------------------------------------------------------------------------

    def get_initial_state(self, batch_size: int) -> list[Any]:
        """Return the state that sequences begin with, of zeros if the cell has no other."""
        make = getattr(self.cell, "get_initial_state", None)
        if make is None:
            return [wt.zeros((batch_size, size)) for size in self.state_size]
        state = make(batch_size=batch_size)
        return list(state) if is_nested(state) else [state]

    def reset_state(self) -> None:
        """Make the state that lasts zeros again."""
        for one in flatten(self.states) if self.states is not None else ():
            one.assign(wt.zeros(one.shape))

    def reset_states(self) -> None:
        """Do what ``reset_state`` does, under an older name."""
        self.reset_state()

    def _initial_state(self, initial_state: Any, batch_size: int) -> list[Any]:
        if self.stateful and self.states is not None:
            expected = flatten(self.states)[0].shape[0]
            if batch_size != expected:
                raise ValueError(
                    f"layer {self.name!r} is stateful, with states for a batch of {expected}, but "
                    f"got one of {batch_size}"
                )
        if initial_state is None:
            if self.stateful:
                return list(map_structure(lambda one: one.value, self.states))
            return self.get_initial_state(batch_size)
        return list(initial_state) if is_nested(initial_state) else [initial_state]

    # -- call ---------------------------------------------------------------------------------

    def call(
        self,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool | None = False,
    ) -> Any:
        """Call the cell with each step."""
        if sequences.shape[1] == 0:
            raise ValueError(
                f"layer {self.name!r}: sequences must have at least one step, but their shape is "
                f"{sequences.shape}"
            )
        states = self._initial_state(initial_state, sequences.shape[0])
        walk = _Walk(self, flatten(mask)[0] if mask is not None else None, bool(training))
        output, states = walk.along(sequences, states)
        if self.stateful:
            for held, value in zip(flatten(self.states), flatten(states), strict=True):
                held.assign(value)
        return (output, *states) if self.return_state else output

    # -- configurations -----------------------------------------------------------------------

    def _own_config(self) -> Config:
        return {
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
            "go_backwards": self.go_backwards,
            "stateful": self.stateful,
            "unroll": self.unroll,
            "zero_output_for_mask": self.zero_output_for_mask,
        }

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        cell = serialize_keras_object(self.cell)
        return {**super().get_config(), **self._own_config(), "cell": cell}

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        with custom_object_scope(custom_objects or {}):
            cell = deserialize_keras_object(config.pop("cell", None))
        return cls(cell, **config)


class _Walk:
    """A walk along sequences, with a mask that says which steps count."""

    def __init__(self, layer: RNN, mask: Tensor | None, training: bool) -> None:
        self.layer = layer
        self.training = training
        self.mask = None if mask is None else wt.astype(mask, bool_)
        if self.mask is not None and layer.go_backwards:
            self.mask = wt.flip(self.mask, 1)

    def along(self, sequences: Tensor, states: list[Any]) -> tuple[Tensor, list[Any]]:
        """Return the output, or all outputs, and the states after the last step."""
        cell = self.layer.cell
        if _is_gated(cell):
            return self._gated(cell, sequences, states, self.layer.return_sequences, True)
        if isinstance(cell, StackedRNNCells) and all(map(_is_gated, cell.cells)):
            return self._stacked(cell.cells, sequences, states)
        return self._stepwise(cell, sequences, states)

    def _order(self, steps: int, first: bool = True) -> Sequence[int]:
        backwards = first and self.layer.go_backwards
        return range(steps - 1, -1, -1) if backwards else range(steps)

    def _gated(
        self, cell: GatedCell, sequences: Tensor, states: list[Tensor], every: bool, first: bool
    ) -> tuple[Tensor, list[Tensor]]:
        """Walk with a cell that computes its inputs' share of all steps at once."""
        try:
            shares = cell.share(sequences, self.training, steps=True)
            constants = cell.constants(self.training)
            state = cell.packed(states)
            shown = cell.shown(state)
            outputs = []
            for place, step in enumerate(self._order(sequences.shape[1], first)):
                following = cell.advance(part(shares, 1, step), state, shown, constants)
                state = self._chosen(place, following, state)
                shown = cell.shown(state)
                if every:
                    outputs.append(shown)
        finally:
            cell.reset_masks()
        return self._output(cell, outputs, shown), cell.unpacked(state)

    def _stacked(
        self, cells: Sequence[GatedCell], sequences: Tensor, states: list[Any]
    ) -> tuple[Tensor, list[Any]]:
        """Walk with one cell after the other, which gives the same as step after step."""
        new_states: list[Any] = []
        for index, (cell, state) in enumerate(zip(cells, states, strict=True)):
            is_last = cell is cells[-1]
            every = self.layer.return_sequences or not is_last
            nested = is_nested(state)
            made, new = self._gated(
                cell, sequences, list(state) if nested else [state], every, index == 0
            )
            sequences = made
            new_states.append(new if nested else new[0])
        return sequences, new_states

    def _stepwise(
        self, cell: Any, sequences: Tensor, states: list[Any]
    ) -> tuple[Tensor, list[Any]]:
        """Walk with any cell."""
        step = partial(cell, training=self.training) if isinstance(cell, Layer) else cell.call
        shown = None
        outputs = []
        try:
            for place, index in enumerate(self._order(sequences.shape[1])):
                output, following = step(part(sequences, 1, index), states)
                following = list(following) if is_nested(following) else [following]
                if shown is None:
                    shown = _before(states, output)
                states = map_structure(
                    lambda new, old, place=place: self._chosen(place, new, old), following, states
                )
                shown = self._chosen(place, output, shown)
                if self.layer.return_sequences:
                    outputs.append(shown)
        finally:
            for one in cell.cells if isinstance(cell, StackedRNNCells) else (cell,):
                if isinstance(one, GatedCell):
                    one.reset_masks()
        assert shown is not None
        return self._output(cell, outputs, shown), states

    def _chosen(self, place: int, following: Tensor, state: Tensor) -> Tensor:
        """What follows a state, where the step counts; else the state."""
        if self.mask is None:
            return following
        counts = part(self.mask, 1, place)
        return wt.where(_with_rank(counts, len(state.shape)), following, state)

    def _output(self, cell: Any, outputs: list[Tensor], shown: Tensor) -> Tensor:
        """The last output, or all; zeros where steps do not count, if that is wanted."""
        whole = wt.stack(outputs, 1) if outputs else shown
        if self.mask is not None and self.layer.zero_output_for_mask:
            counts = self.mask if outputs else part(self.mask, 1, self.mask.shape[1] - 1)
            whole = wt.where(_with_rank(counts, len(whole.shape)), whole, 0.0)
        return cell.arranged(whole) if isinstance(cell, GatedCell) else whole


def _is_gated(cell: Any) -> bool:
    """Whether it is a cell that computes all steps' shares at once, and nothing else."""
    return isinstance(cell, GatedCell) and type(cell).call is GatedCell.call


def _with_rank(mask: Tensor, rank: int) -> Tensor:
    return wt.reshape(mask, (*mask.shape, *[1] * (rank - len(mask.shape))))


def _before(states: list[Any], output: Tensor) -> Tensor:
    """What stands for the output of a first step that does not count."""
    held = states[-1][0] if is_nested(states[0]) else states[0]
    return held if held.shape == output.shape else wt.zeros_like(output)


class CellLayer(RNN):
    """A layer with a cell of its own kind, whose arguments it has, too."""

    _cell: type[GatedCell]
    _cell_name: str

    def __init__(self, **arguments: Any) -> None:
        own = {name: arguments.pop(name) for name in self._cell._options}
        shared: dict[str, Any] = {
            name: arguments[name] for name in ("dtype", "trainable") if name in arguments
        }
        if "implementation" in arguments:
            shared["implementation"] = arguments.pop("implementation")
        has_cudnn = "use_cudnn" in arguments
        use_cudnn = arguments.pop("use_cudnn", "auto")
        if use_cudnn not in ("auto", True, False):
            raise ValueError(
                f"{type(self).__name__}: use_cudnn must be 'auto', True or False, but got "
                f"{use_cudnn!r}"
            )
        cell = self._make_cell(**own, **shared, name=self._cell_name)
        super().__init__(cell, **arguments)
        if has_cudnn:
            self.use_cudnn = use_cudnn
        self.input_spec = InputSpec(ndim=3)

    def _make_cell(self, **arguments: Any) -> GatedCell:
        return self._cell(**arguments)

    def __getattr__(self, name: str) -> Any:
        """Return an argument of the cell."""
        if name in type(self)._cell._options:
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        arguments = self._cell._options
        return {
            **super(RNN, self).get_config(),
            **self._own_config(),
            **{name: serialized(name, getattr(self.cell, name)) for name in arguments},
            "activity_regularizer": serialized("activity_regularizer", self.activity_regularizer),
        }

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        return super(RNN, cls).from_config(config)
