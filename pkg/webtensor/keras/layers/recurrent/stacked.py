"""Stacks of cells, whose inputs are the outputs of the cell below; and what a cell must have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.layer import Layer
from webtensor.keras.registry import custom_object_scope, deserialize_keras_object
from webtensor.keras.types import Config, CustomObjects, Shape
from webtensor.nest import is_nested

__all__ = [
    "Cell",
    "StackedRNNCells",
    "State",
    "StateShape",
    "StateSize",
    "as_list",
    "check_cell",
    "initial_state_of",
]

#: A state of a cell, and the sizes or the shapes of its tensors.
State: TypeAlias = "Tensor | Sequence[Tensor]"
StateSize: TypeAlias = "int | Sequence[int]"
StateShape: TypeAlias = "Shape | Sequence[Shape]"


class Cell(Protocol):
    """What computes one step; most cells are layers.

    ``call`` takes the inputs of a step and the state before it, and returns the output and the
    state after it. A cell may have ``output_size`` and ``get_initial_state(batch_size)``, too.
    """

    @property
    def call(self) -> Callable[..., Any]:
        """Compute one step."""

    @property
    def state_size(self) -> int | Sequence[StateSize]:
        """The size of a state, or of each of its tensors."""


def as_list(state: State) -> list[Any]:
    """Return the tensors of a state."""
    return list(state) if is_nested(state) else [state]


def check_cell(name: str, cell: object) -> None:
    """Check that something is a cell.

    Raises:
        ValueError: it has no ``call``, or no ``state_size``, or its ``state_size`` is not an
            integer or several.
    """
    for attribute in ("call", "state_size"):
        if not hasattr(cell, attribute):
            raise ValueError(f"{name}: a cell must have {attribute!r}, but got {cell!r}")
    state_size = getattr(cell, "state_size", None)
    if not isinstance(state_size, (int, list, tuple)):
        raise ValueError(
            f"{name}: state_size of a cell must be an integer or several, but is {state_size!r}"
        )


class StackedRNNCells(Layer):
    """Several cells as one; its state is a list of the states of the cells.

    Args:
        cells: a list of cells, from the first to the last.

    Input shape: (batch, size), and a list of states.
    Output shape: (batch, output size of the last cell), and a list of the new states.

    Raises:
        ValueError: a cell has no ``call`` or no ``state_size``.

    Example:
        >>> from webtensor import keras
        >>> cells = [keras.layers.LSTMCell(4), keras.layers.GRUCell(2)]
        >>> keras.layers.StackedRNNCells(cells).state_size
        [[4, 4], 2]
    """

    def __init__(self, cells: Sequence[Cell], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for cell in cells:
            check_cell("StackedRNNCells", cell)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> int:
        """The size of an output of the last cell."""
        return _output_size(self.cells[-1])

    def get_initial_state(self, batch_size: int | None = None) -> list[State]:
        """Return the states that sequences begin with."""
        return [initial_state_of(cell, batch_size) for cell in self.cells]

    def build(self, input_shape: Shape) -> None:
        """Build each cell for the outputs of the cell before."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = (input_shape[0], _output_size(cell))

    def call(
        self, inputs: Tensor, states: Sequence[State], training: bool | None = False, **kwargs: Any
    ) -> tuple[Tensor, list[State]]:
        """Compute one step of each cell, and return the last output and the new states."""
        new_states: list[State] = []
        for cell, state in zip(self.cells, states, strict=True):
            if isinstance(cell, Layer):
                inputs, new_state = cell(inputs, as_list(state), training=training, **kwargs)
            else:
                inputs, new_state = cell.call(inputs, as_list(state), **kwargs)
            is_single = not is_nested(state) and is_nested(new_state) and len(new_state) == 1
            new_states.append(new_state[0] if is_single else new_state)
        return inputs, new_states

    @classmethod
    def from_config(cls, config: Config, custom_objects: CustomObjects | None = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        with custom_object_scope(custom_objects or {}):
            cells = deserialize_keras_object(config.get("cells", []))
        return super().from_config({**config, "cells": cells})


def _output_size(cell: Cell) -> int:
    size = getattr(cell, "output_size", None)
    if size is None:
        state_size: Any = cell.state_size
        size = state_size[0] if is_nested(state_size) else state_size
    return int(size)


def initial_state_of(cell: Cell, batch_size: int | None) -> State:
    """Return the state that a cell begins with: zeros, unless it has ``get_initial_state``."""
    get_initial_state: Callable[..., State] | None = getattr(cell, "get_initial_state", None)
    if get_initial_state is not None:
        return get_initial_state(batch_size=batch_size)
    rows = 1 if batch_size is None else batch_size
    state_size: Any = cell.state_size
    if isinstance(state_size, int):
        return wt.zeros((rows, state_size))
    return [wt.zeros((rows, size)) for size in state_size]
