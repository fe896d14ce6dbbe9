"""Cells that are stacked: each is fed with what the one before shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.keras.layers.layer import Layer
from webtensor.keras.nest import is_nested
from webtensor.keras.registry import (
    custom_object_scope,
    deserialize_keras_object,
    serialize_keras_object,
)
from webtensor.keras.types import Config

__all__ = ["StackedRNNCells", "check_cell"]


def check_cell(name: str, cell: Any) -> None:
    """Check that something is a cell.

    Raises:
        ValueError: it has no ``call``, or no ``state_size``, or that is something else than sizes.
    """
    for attribute in ("call", "state_size"):
        if not hasattr(cell, attribute):
            raise ValueError(f"{name}: a cell must have {attribute!r}, but got {cell!r}")
    if not isinstance(cell.state_size, (int, list, tuple)):
        raise ValueError(
            f"{name}: state_size of a cell must be an integer or several, but is "
            f"{cell.state_size!r}"
        )


def _output_size(cell: Any) -> int:
    size = getattr(cell, "output_size", None)
    if size is None:
        size = cell.state_size[0] if is_nested(cell.state_size) else cell.state_size
    return int(size)


class StackedRNNCells(Layer):
    """Several cells as one; its state is a list with that of each cell.

    Example:
        >>> from webtensor import keras
        >>> cells = [keras.layers.LSTMCell(4), keras.layers.GRUCell(2)]
        >>> keras.layers.StackedRNNCells(cells).state_size
        [[4, 4], 2]
    """

    def __init__(self, cells: Sequence[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for cell in cells:
            check_cell("StackedRNNCells", cell)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """How many numbers the states of each cell are."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> int:
        """How many numbers an output of the last cell is."""
        return _output_size(self.cells[-1])

    def get_initial_state(self, batch_size: int | None = None) -> list[Any]:
        """Return the states that sequences begin with."""
        return [_initial_state(cell, batch_size) for cell in self.cells]

    def build(self, input_shape: Any) -> None:
        """Build each cell for what the one before shows."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = (input_shape[0], _output_size(cell))

    def call(self, inputs: Any, states: Any, training: bool | None = False, **kwargs: Any) -> Any:
        """Compute one step of each cell: the last one's output, and the new states."""
        new_states: list[Any] = []
        for cell, state in zip(self.cells, states, strict=True):
            nested = is_nested(state)
            given = list(state) if nested else [state]
            if isinstance(cell, Layer):
                inputs, new = cell(inputs, given, training=training, **kwargs)
            else:
                inputs, new = cell.call(inputs, given, **kwargs)
            new_states.append(new if nested or not is_nested(new) or len(new) > 1 else new[0])
        return inputs, new_states

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        cells = [serialize_keras_object(cell) for cell in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: Config, custom_objects: Any = None) -> Any:
        """Make a layer of what ``get_config`` returned."""
        config = dict(config)
        with custom_object_scope(custom_objects or {}):
            cells = [deserialize_keras_object(cell) for cell in config.pop("cells", ())]
        return cls(cells, **config)


def _initial_state(cell: Any, batch_size: int | None) -> Any:
    make = getattr(cell, "get_initial_state", None)
    if make is not None:
        return make(batch_size=batch_size)
    if isinstance(cell.state_size, int):
        return wt.zeros((1 if batch_size is None else batch_size, cell.state_size))
    return [wt.zeros((1 if batch_size is None else batch_size, size)) for size in cell.state_size]
