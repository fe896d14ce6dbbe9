"""Loops that an observer may record as one step, instead of the operations of each iteration.

A model that runs a loop asks ``recorded`` first. Without an observer that records loops, or if the
observer prefers the operations of each iteration, the answer is None, and the model runs the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from webtensor import ops
from webtensor.engine import Tensor, state

__all__ = ["Loop", "LoopObserver", "loop_observer", "recorded", "recorded_scan"]


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
    step: Callable[[list[Tensor], list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]],
    states: Sequence[Tensor],
    columns: Sequence[Tensor],
    captures: Sequence[Tensor] = (),
    is_reverse: bool = False,
) -> list[Tensor] | None:
    """Have an observer run a loop over the slices of tensors along their first axis.

    Args:
        step: takes the states and the slices, and returns the next states, and outputs.
        states: the first states.
        columns: the tensors whose slices the steps take.
        captures: tensors from outside that the steps use.
        is_reverse: whether the last slices come first; outputs are in the order of the slices.
    """
    if not state.observers:
        return None
    ordered = [ops.flip(column, 0) if is_reverse else column for column in columns]

    def body(index: Tensor, states: list[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        return step(states, [ops.gather(column, index) for column in ordered])

    limit = ops.tensor(columns[0].shape[0], dtype="int32")
    results = recorded(Loop(limit, states, body, (*ordered, *captures)))
    if results is None or not is_reverse:
        return results
    count = len(states)
    return [*results[:count], *(ops.flip(output, 0) for output in results[count:])]
