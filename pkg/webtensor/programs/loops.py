"""Loops of captured functions, whose number of iterations each replay finds out.

The condition and the body are recorded on their own. What they take from around them, besides the
loop variables, becomes further arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import CaptureError
from webtensor.programs.recording import Argument, LateScalar, Recorder, View, on_device

if TYPE_CHECKING:
    from webtensor.programs.recording import Recording

__all__ = ["Part", "RecordedLoop", "record_loop"]


class Part(NamedTuple):
    """The condition or the body of a loop.

    Attributes:
        recording: what it does.
        results: what it returns.
        outer: the values around it that it takes, in the order of its arguments after the loop
            variables.
    """

    recording: Recording
    results: tuple[View, ...]
    outer: tuple[View, ...]


class RecordedLoop(NamedTuple):
    """A loop of a recording.

    Attributes:
        inputs: the first values of the loop variables, then what the condition takes from around
            it, then what the body does.
        outputs: the last values of the loop variables.
        condition: whether there is another iteration.
        body: the next values of the loop variables.
        limit: the maximum number of iterations, or None.
    """

    inputs: tuple[View, ...]
    outputs: tuple[View, ...]
    condition: Part
    body: Part
    limit: int | None


def record_loop(
    recorder: Recorder,
    condition: Callable[..., Tensor],
    body: Callable[..., Sequence[Tensor]],
    variables: Sequence[Tensor],
    run: Callable[[], Sequence[Tensor]],
    limit: int | None,
) -> list[Tensor]:
    """Record a loop, and return the last values of its variables.

    Args:
        recorder: what records the function around it.
        condition: returns a bool scalar for the loop variables.
        body: returns the next loop variables.
        variables: their first values.
        run: runs the loop.
        limit: the maximum number of iterations.

    Raises:
        CaptureError: the recorder is strict, and the loop assigns to variables, draws random
            numbers or reads elements.
    """
    try:
        parts = [
            _part(recorder, part, variables)
            for part in (lambda *values: [condition(*values)], body)
        ]
    except CaptureError as error:
        recorder.refuse(str(error))
        return list(run())
    results = [Tensor(x.storage, x.shape, x.dtype) for x in recorder.unrecorded(run)]
    inputs = (
        *map(recorder.view, variables),
        *(view for part in parts for view in part.outer),
    )
    outputs = tuple(recorder.begin_result(tensor) for tensor in results)
    recorder.recording.calls.append(RecordedLoop(inputs, outputs, parts[0], parts[1], limit))
    return results


def _part(
    recorder: Recorder,
    function: Callable[..., Sequence[Tensor]],
    variables: Sequence[Tensor],
) -> Part:
    """Record the condition or the body for the first values of the loop variables."""
    inner = Recorder(around=recorder)

    def record() -> tuple[View, ...]:
        # The host may have one value of a variable and not the next: no device is asked here.
        stand_ins = [on_device(tensor) for tensor in variables]
        for number, tensor in enumerate(stand_ins):
            inner.argument(number, tensor)
        with inner.active():
            views = tuple(map(inner.view, function(*stand_ins)))
            inner.finish()
        return views

    results = recorder.unrecorded(record)
    recording = inner.recording
    if recording.assigned or recording.assigned_numbers:
        raise CaptureError("while_loop: a captured loop must not assign to variables")
    if recording.drawn or recording.choices:
        raise CaptureError(
            "while_loop: a captured loop must not draw random numbers or count steps of "
            "optimizers; use scan, whose number of iterations is known"
        )
    outer: list[View] = []
    for value, tensor in inner.constants.items():
        if isinstance(recording.sources[value], LateScalar):
            continue  # each run of the part computes it
        recording.sources[value] = Argument(len(variables) + len(outer))
        outer.append(recorder.view(tensor))
    return Part(recording, results, tuple(outer))
