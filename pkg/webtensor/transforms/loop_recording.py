"""Loops that an observer may record as one step, instead of the operations of each iteration.

A model that runs a loop asks ``recorded`` first. Without an observer that records loops, or if the
observer prefers the operations of each iteration, the answer is None, and the model runs the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from webtensor import ops
from webtensor.engine import Tensor, state
from webtensor.ops.movement import part

__all__ = ["Loop", "LoopObserver", "loop_observer", "recorded", "recorded_scan", "scan_slices"]

#: Takes states and slices of tensors, and returns the next states, and outputs.
Step: TypeAlias = Callable[[list[Tensor], list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]


class Loop(NamedTuple):
    """A loop.

    Attributes:
        limit: the maximum number of iterations, an int32 scalar.
        states: the first values of the tensors that each iteration replaces.
        body: takes the index of an iteration and the states, and returns the next states, and
            outputs.
        captures: tensors from outside that the body uses; others are found as it runs.
        is_conditional: whether the first state is a bool that ends the loop where it is false.
    """

    limit: Tensor
    states: Sequence[Tensor]
    body: Callable[[Tensor, list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
    captures: Sequence[Tensor] = ()
    is_conditional: bool = False


class LoopObserver:
    """An observer that may record a loop as one step.

    Attributes:
        has_fixed_sizes: whether what it records is for inputs of these sizes only, so that a branch
            that does not take them is never taken.
    """

    has_fixed_sizes = False

    def record_loop(self, loop: Loop) -> list[Tensor] | None:
        """Run a loop, and return its last states and its outputs, stacked along a first axis.

        None leaves the loop to the caller, whose operations are recorded as others are.
        """
        raise NotImplementedError


def loop_observer() -> LoopObserver | None:
    """Return the observer that records loops, if there is one."""
    return next((value for value in state.observers if isinstance(value, LoopObserver)), None)


def recorded(loop: Loop) -> list[Tensor] | None:
    """Have an observer run a loop, if there is one that records loops."""
    observer = loop_observer()
    return None if observer is None else observer.record_loop(loop)


def recorded_scan(
    step: Step, states: Sequence[Tensor], columns: Sequence[Tensor], captures: Sequence[Tensor] = ()
) -> list[Tensor] | None:
    """Have an observer run a loop over the slices of tensors along their first axis.

    Args:
        step: takes the states and the slices, and returns the next states, and outputs.
        states: the first states.
        columns: the tensors whose slices the steps take.
        captures: tensors from outside that the steps use.
    """
    if not state.observers:
        return None

    def body(index: Tensor, states: list[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        return step(states, [ops.gather(column, index) for column in columns])

    limit = ops.tensor(columns[0].shape[0], dtype="int32")
    return recorded(Loop(limit, states, body, (*columns, *captures)))


def scan_slices(
    step: Step, states: Sequence[Tensor], columns: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Run a loop over the slices of tensors along their first axis, or have an observer run it.

    Returns the last states, and the outputs of all steps, stacked along a first axis; there are
    none without steps. The arguments are those of ``recorded_scan``.
    """
    results = recorded_scan(step, states, columns)
    if results is not None:
        return results[: len(states)], results[len(states) :]
    rows: list[Sequence[Tensor]] = []
    for index in range(columns[0].shape[0]):
        states, outputs = step([*states], [part(column, 0, index) for column in columns])
        rows.append(outputs)
    return [*states], [ops.stack(column) for column in zip(*rows, strict=True)]
