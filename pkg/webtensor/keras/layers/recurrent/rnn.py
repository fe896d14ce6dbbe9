"""RNN: a cell, called with each step of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS, NEVER
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.recurrent.cell import GatedCell, RecurrentArguments
from webtensor.keras.layers.recurrent.stacked import (
    Cell,
    StackedRNNCells,
    State,
    StateShape,
    StateSize,
    as_list,
    check_cell,
    initial_state_of,
)
from webtensor.keras.layers.weighted import own_arguments
from webtensor.keras.names import name_scope
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, CustomObjects, Shape
from webtensor.keras.variables import Variable
from webtensor.nest import flatten, is_nested, map_structure
from webtensor.ops.movement import part
from webtensor.transforms.loop_recording import scan_slices

__all__ = ["RNN", "CellLayer", "Masks"]

#: A mask, or those of several inputs or outputs, of which some may be None.
Masks: TypeAlias = "Tensor | KerasTensor | Sequence[Tensor | KerasTensor | None] | None"


class RNN(Layer):
    """``output[t], state[t + 1] = cell(inputs[:, t], state[t])`` for each step of sequences.

    Args:
        cell: a cell, or a list of cells that are stacked. A cell has ``call(inputs, states)`` and
            ``state_size``, and may have ``output_size`` and ``get_initial_state(batch_size)``.
        return_sequences: a boolean, whether the outputs of all steps are returned, not the last.
        return_state: a boolean, whether the state after the last step is returned, too.
        go_backwards: a boolean, whether the steps are taken from the last to the first.
        stateful: a boolean, whether a batch starts with the state that the batch before ended with.
        unroll: accepted for compatibility; steps are always computed one by one.
        zero_output_for_mask: a boolean, whether the outputs of masked steps are zeros, not those
            of the step before.

    Input shape: (batch, steps, size).
    Output shape: (batch, units); with ``return_sequences`` (batch, steps, units); with
    ``return_state`` a list, which goes on with the state.

    Raises:
        ValueError: the cell has no ``call`` or no ``state_size``.

    Example:
        >>> from webtensor import keras
        >>> cell = keras.layers.SimpleRNNCell(4)
        >>> keras.layers.RNN(cell, return_sequences=True)(keras.ops.ones((2, 3, 5))).shape
        (2, 3, 4)
    """

    cell: Cell

    def __init__(
        self,
        cell: Cell | Sequence[Cell],
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = StackedRNNCells(cell) if isinstance(cell, Sequence) else cell
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
        self.input_spec = InputSpec(min_ndim=3)
        self.states: list[Any] | None = None

    @property
    def state_size(self) -> list[StateSize]:
        """The size of each tensor of a state."""
        size = self.cell.state_size
        return [size] if isinstance(size, int) else list(size)

    # -- shapes -------------------------------------------------------------------------------

    def build(self, sequences_shape: Shape, initial_state_shape: StateShape | None = None) -> None:
        """Build the cell, and add the variables of the state if the layer is stateful."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
            self.cell.built = True
        if self.stateful and self.states is None:
            batch_size = sequences_shape[0]
            if batch_size is None:
                raise ValueError(
                    f"layer {self.name!r} is stateful, so its batch size must be known, but the "
                    f"shape of its inputs is {tuple(sequences_shape)}; give Input a batch_size"
                )
            self._add_state_variables(self.get_initial_state(batch_size))

    def _add_state_variables(self, states: list[State]) -> None:
        """Make variables of a state, which do not count as weights."""
        with name_scope(self.name, self):
            variables = map_structure(
                lambda value: Variable(value, trainable=False, name="rnn_state"), states
            )
        object.__setattr__(self, "states", variables)

    def compute_output_shape(
        self, sequences_shape: Shape, initial_state_shape: StateShape | None = None
    ) -> Any:
        """Return the shape of the output and, if the state is returned, of its tensors."""
        batch, steps = sequences_shape[:2]
        size = getattr(self.cell, "output_size", None)
        size = flatten(self.state_size)[0] if size is None else size
        output = (batch, steps, size) if self.return_sequences else (batch, size)
        if not self.return_state:
            return output
        return output, *(
            map_structure(lambda size: (batch, size), sizes) for sizes in self.state_size
        )

    def compute_mask(self, inputs: object, mask: Masks) -> Masks:
        """Return the mask of the sequences, if sequences are returned."""
        mask = flatten(mask)[0] if self.return_sequences else None
        return [mask, *(None for _ in flatten(self.state_size))] if self.return_state else mask

    # -- states -------------------------------------------------------------------------------

    def get_initial_state(self, batch_size: int) -> list[State]:
        """Return the state that sequences begin with, which is zeros unless the cell says more."""
        return as_list(initial_state_of(self.cell, batch_size))

    def reset_state(self) -> None:
        """Set the state of a stateful layer to zeros."""
        for variable in flatten(self.states) if self.states is not None else ():
            variable.assign(wt.zeros(variable.shape))

    def reset_states(self) -> None:
        """Do what ``reset_state`` does, under an older name."""
        self.reset_state()

    def _initial_state(self, initial_state: State | None, batch_size: int) -> list[State]:
        """Return the state before the first step, as a list."""
        if self.stateful and self.states is not None:
            expected = flatten(self.states)[0].shape[0]
            if batch_size != expected:
                raise ValueError(
                    f"layer {self.name!r} is stateful, with states for a batch of {expected}, but "
                    f"got one of {batch_size}"
                )
        if initial_state is None:
            if self.stateful:
                return list(map_structure(lambda variable: variable.value, self.states))
            return self.get_initial_state(batch_size)
        states = as_list(initial_state)
        if len(states) != len(self.state_size):
            raise ValueError(
                f"layer {self.name!r}: initial_state must have {len(self.state_size)} tensors, but "
                f"has {len(states)}"
            )
        return states

    # -- call ---------------------------------------------------------------------------------

    def call(
        self,
        sequences: Tensor,
        initial_state: State | None = None,
        mask: Masks = None,
        training: bool | None = False,
    ) -> Tensor | tuple[Tensor | State, ...]:
        """Call the cell with each step."""
        if sequences.shape[1] == 0:
            raise ValueError(
                f"layer {self.name!r}: sequences must have at least one step, but their shape is "
                f"{sequences.shape}"
            )
        states = self._initial_state(initial_state, sequences.shape[0])
        loop = _StepLoop(self, flatten(mask)[0] if mask is not None else None, bool(training))
        output, states = loop.run(sequences, states)
        if self.stateful:
            for variable, value in zip(flatten(self.states), flatten(states), strict=True):
                variable.assign(value)
        return (output, *states) if self.return_state else output

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        with custom_object_scope(custom_objects or {}):
            if "cell" in config:
                config = {**config, "cell": deserialize_keras_object(config["cell"])}
            return super().from_config(config)


class _StepLoop:
    """The loop over the steps of sequences; steps that the mask leaves out keep the state."""

    def __init__(self, layer: RNN, mask: Tensor | None, training: bool) -> None:
        self.layer = layer
        self.training = training
        self.mask = None if mask is None else wt.astype(mask, bool_)
        if self.mask is not None and layer.go_backwards:
            self.mask = wt.flip(self.mask, 1)

    def run(self, sequences: Tensor, states: list[State]) -> tuple[Tensor, list[State]]:
        """Return the last output, or all outputs, and the states after the last step."""
        cell = self.layer.cell
        if _is_gated(cell):
            return self._run_gated(cell, sequences, states, self.layer.return_sequences)
        if isinstance(cell, StackedRNNCells) and all(map(_is_gated, cell.cells)):
            return self._run_stacked(cell.cells, sequences, states)
        return self._run_any(cell, sequences, states)

    def _run_gated(
        self,
        cell: Any,
        sequences: Tensor,
        states: Sequence[State],
        returns_sequences: bool,
        is_first: bool = True,
    ) -> tuple[Tensor, list[State]]:
        """Run a cell that projects the inputs of all steps at once."""
        try:
            projected = cell.project_inputs(
                _with_swapped_axes(sequences), self.training, has_steps=True
            )
            constants = cell.constants(self.training)
            if is_first and self.layer.go_backwards:
                projected = wt.flip(projected, 0)
            columns = [projected] if self.mask is None else [projected, wt.transpose(self.mask)]

            def step(
                states: list[Tensor], slices: list[Tensor]
            ) -> tuple[list[Tensor], list[Tensor]]:
                state, output = states
                inputs, counts = (*slices, None)[:2]
                new_state = cell.next_state(inputs, state, output, constants)
                new_state = _unless_masked(counts, new_state, state)
                output = cell.output_of(new_state)
                return [new_state, output], [output] if returns_sequences else []

            state = cell.pack_state(states)
            (state, output), outputs = scan_slices(step, [state, cell.output_of(state)], columns)
        finally:
            cell.reset_masks()
        return self._result(cell, outputs[0] if outputs else None, output), cell.unpack_state(state)

    def _run_stacked(
        self, cells: Sequence[Cell], sequences: Tensor, states: list[State]
    ) -> tuple[Tensor, list[State]]:
        """Run one cell after the other over all steps, which is the same as step after step."""
        new_states: list[Any] = []
        for index, (cell, state) in enumerate(zip(cells, states, strict=True)):
            returns_sequences = self.layer.return_sequences or index < len(cells) - 1
            sequences, new_state = self._run_gated(
                cell, sequences, as_list(state), returns_sequences, index == 0
            )
            new_states.append(new_state if is_nested(state) else new_state[0])
        return sequences, new_states

    def _run_any(
        self, cell: Cell, sequences: Tensor, states: list[State]
    ) -> tuple[Tensor, list[State]]:
        """Run any cell."""
        step = partial(cell, training=self.training) if isinstance(cell, Layer) else cell.call
        output: Tensor | None = None
        outputs: list[Tensor] = []
        try:
            count = sequences.shape[1]
            for position in range(count):
                index = count - 1 - position if self.layer.go_backwards else position
                new_output, new_states = step(part(sequences, 1, index), states)
                new_states = as_list(new_states)
                if output is None:
                    output = _output_before(states, new_output)
                counts = None if self.mask is None else part(self.mask, 1, position)
                states = map_structure(partial(_unless_masked, counts), new_states, states)
                output = _unless_masked(counts, new_output, output)
                if self.layer.return_sequences:
                    outputs.append(output)
        finally:
            for inner in cell.cells if isinstance(cell, StackedRNNCells) else (cell,):
                if isinstance(inner, GatedCell):
                    inner.reset_masks()
        assert output is not None
        return self._result(cell, wt.stack(outputs) if outputs else None, output), states

    def _result(self, cell: Cell, outputs: Tensor | None, last: Tensor) -> Tensor:
        """Return all outputs, or the last; zeros for masked steps, if the layer outputs these."""
        result = last if outputs is None else _with_swapped_axes(outputs)
        if self.mask is not None and self.layer.zero_output_for_mask:
            counts = self.mask
            if outputs is None:
                counts = part(counts, 1, counts.shape[1] - 1)
            result = wt.where(_with_rank(counts, len(result.shape)), result, 0.0)
        return cell.in_data_format(result) if isinstance(cell, GatedCell) else result


def _unless_masked(counts: Tensor | None, new: Tensor, old: Tensor) -> Tensor:
    """Return the new tensor for the examples whose step counts, and the old for others."""
    return new if counts is None else wt.where(_with_rank(counts, len(old.shape)), new, old)


def _with_swapped_axes(sequences: Tensor) -> Tensor:
    """Swap the axes of examples and of steps; with steps first, each step is contiguous."""
    first, second, *rest = sequences.shape
    if 1 in (first, second):
        return wt.reshape(sequences, (second, first, *rest))
    return wt.transpose(sequences, (1, 0, *range(2, len(sequences.shape))))


def _is_gated(cell: Cell) -> bool:
    """Whether ``_run_gated`` computes what the cell's ``call`` does."""
    return isinstance(cell, GatedCell) and type(cell).call is GatedCell.call


def _with_rank(mask: Tensor, rank: int) -> Tensor:
    """Add axes of size 1 at the end."""
    return wt.reshape(mask, (*mask.shape, *[1] * (rank - len(mask.shape))))


def _output_before(states: list[State], output: Tensor) -> Tensor:
    """Return the output of a first step that does not count: the state, if the shape allows."""
    state = states[-1][0] if is_nested(states[0]) else states[0]
    if isinstance(state, Tensor) and state.shape == output.shape:
        return state
    return wt.zeros_like(output)


class CellLayer(RecurrentArguments, RNN):
    """A layer with a cell of its own, which has most of its arguments.

    Args:
        use_cudnn: accepted for compatibility: ``"auto"``, True or False.
    """

    _config_omits: ClassVar = {"activity_regularizer": NEVER, "cell": ALWAYS, "use_cudnn": ALWAYS}
    _cell: ClassVar[type[GatedCell]]
    _cell_name: ClassVar[str]

    def __init__(self, **arguments: Any) -> None:
        names = [name for name in own_arguments(self._cell) if name in arguments]
        of_cell = {name: arguments.pop(name) for name in names}
        shared = {name: arguments[name] for name in ("dtype", "trainable") if name in arguments}
        has_cudnn = "use_cudnn" in arguments
        use_cudnn = arguments.pop("use_cudnn", "auto")
        check_choice(type(self).__name__, "use_cudnn", use_cudnn, ("auto", True, False))
        cell = self._new_cell(**of_cell, **shared, name=self._cell_name)
        super().__init__(cell=cell, **arguments)
        if has_cudnn:
            self.use_cudnn = use_cudnn
        self.input_spec = InputSpec(ndim=3)

    def _new_cell(self, **arguments: Any) -> GatedCell:
        return self._cell(**arguments)

    def __getattr__(self, name: str) -> Any:
        """Return an argument of the cell."""
        if name in own_arguments(type(self)._cell):
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
