"""Loops of captured functions, whose number of iterations each replay finds out.

The condition and the body are recorded on their own. What they take from around them, besides the
loop variables, becomes further arguments. A pass runs a step for each iteration, with what the loop
variables were then: a backward pass, of gradients, has the last iteration first; a forward pass is
that of tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.errors import CaptureError
from webtensor.programs.program import CapturedProgram, Located, Stage
from webtensor.programs.recording import (
    Argument,
    LateScalar,
    Recorder,
    Recording,
    View,
    on_device,
)

if TYPE_CHECKING:
    from webtensor.backends.api import Backend
    from webtensor.engine import Storage

__all__ = [
    "Part",
    "RecordedLoop",
    "RecordedPass",
    "record_loop",
    "record_part",
    "record_pass",
]


Input = TypeVar("Input")


class Part(NamedTuple):
    """The condition or the body of a loop, or a step of its backward pass.

    Attributes:
        recording: what it does.
        results: what it returns.
        outer: the values around it that it takes, in the order of its arguments after those that
            differ from iteration to iteration.
    """

    recording: Recording
    results: tuple[View, ...]
    outer: tuple[View, ...]

    def program(self, backend: Backend) -> CapturedProgram:
        """Return a program of it."""
        return CapturedProgram(backend, self.recording, self.results)


class RecordedLoop(NamedTuple):
    """A loop of a recording.

    Attributes:
        inputs: the first values of the loop variables, then what the condition takes from around
            it, then what the body does.
        results: the last values of the loop variables.
        history: their values before each iteration, which a replay keeps if something needs them;
            its shape and dtype mean nothing.
        condition: whether there is another iteration.
        body: the next values of the loop variables.
        limit: the maximum number of iterations, or None.
    """

    inputs: tuple[View, ...]
    results: tuple[View, ...]
    history: View
    condition: Part
    body: Part
    limit: int | None

    @property
    def name(self) -> str:
        """The name of what it computes."""
        return "while_loop"

    @property
    def outputs(self) -> tuple[View, ...]:
        """The views of the results, and of the history."""
        return (*self.results, self.history)

    def split(self, inputs: Sequence[Input]) -> tuple[Sequence[Input], ...]:
        """Return the parts of inputs: of the loop variables, of the condition, and of the body."""
        count = len(self.results)
        middle = count + len(self.condition.outer)
        return inputs[:count], inputs[count:middle], inputs[middle:]

    def stage(self, backend: Backend, indices: dict[int, int], needed: set[int]) -> Stage:
        """Return its stage in a program."""
        return _Loop(backend, self, indices, self.history.value in needed)


class RecordedPass(NamedTuple):
    """A backward pass through a loop of a recording, or a forward pass of tangents.

    Attributes:
        inputs: the history of the loop, then the first values of what goes from step to step, then
            what a step takes from around it.
        outputs: the last values of what goes from step to step.
        step: the next values of that, for the loop variables before an iteration and those values.
        is_reverse: whether it is a backward pass, in which the last iteration is the first.
    """

    inputs: tuple[View, ...]
    outputs: tuple[View, ...]
    step: Part
    is_reverse: bool = True

    @property
    def name(self) -> str:
        """The name of what it computes."""
        return "gradients of while_loop"

    def stage(self, backend: Backend, indices: dict[int, int], needed: set[int]) -> Stage:
        """Return its stage in a program."""
        return _Pass(backend, self, indices)


# -- recording ------------------------------------------------------------------------------------


def record_loop(
    recorder: Recorder,
    condition: Callable[..., Tensor],
    body: Callable[..., Sequence[Tensor]],
    variables: Sequence[Tensor],
    run: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    limit: int | None,
) -> tuple[list[Tensor], View | None]:
    """Record a loop, and return the last values of its variables and its history.

    Args:
        recorder: what records the function around it.
        condition: returns a bool scalar for the loop variables.
        body: returns the next loop variables.
        variables: their first values.
        run: runs the loop from these values on.
        limit: the maximum number of iterations.

    Raises:
        CaptureError: the recorder is strict, and the loop assigns to variables, draws random
            numbers or reads elements. If it is not strict, there is no history then.
    """
    try:
        condition_part = record_part(recorder, lambda *values: [condition(*values)], variables)
        body_part = record_part(recorder, body, variables)
    except CaptureError as error:
        recorder.refuse(str(error))
        return list(run(variables)), None
    results = _results(recorder, lambda: run(variables))
    inputs = (*map(recorder.view, variables), *condition_part.outer, *body_part.outer)
    outputs = tuple(map(recorder.begin_result, results))
    history = View(recorder.next_value(), (), bool_)
    loop = RecordedLoop(inputs, outputs, history, condition_part, body_part, limit)
    recorder.recording.calls.append(loop)
    return results, history


def record_pass(
    recorder: Recorder,
    history: View,
    step: Part,
    values: Sequence[Tensor],
    run: Callable[[], Sequence[Tensor]],
    is_reverse: bool = True,
) -> list[Tensor]:
    """Record a pass through a loop, and return the last values of what goes from step to step.

    Args:
        recorder: what records the function around it.
        history: that of the loop.
        step: what each step does.
        values: the first values of what goes from step to step.
        run: does the pass.
        is_reverse: whether it is a backward pass.
    """
    results = _results(recorder, run)
    inputs = (history, *map(recorder.view, values), *step.outer)
    outputs = tuple(map(recorder.begin_result, results))
    recorder.recording.calls.append(RecordedPass(inputs, outputs, step, is_reverse))
    return results


def record_part(
    recorder: Recorder,
    function: Callable[..., Sequence[Tensor]],
    examples: Sequence[Tensor],
) -> Part:
    """Record a part of a loop for tensors like those that it will take.

    Raises:
        CaptureError: the part cannot be recorded.
    """
    inner = Recorder(around=recorder, is_differentiated=recorder.is_differentiated)

    def record() -> tuple[View, ...]:
        # The host may have one value of a variable and not the next: no device is asked here.
        stand_ins = [on_device(tensor) for tensor in examples]
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
        recording.sources[value] = Argument(len(examples) + len(outer))
        outer.append(recorder.view(tensor))
    return Part(recording, results, tuple(outer))


def _results(recorder: Recorder, run: Callable[[], Sequence[Tensor]]) -> list[Tensor]:
    """Return what a loop returns, in storages of its own: it may return what it was given."""
    return recorder.unrecorded(lambda: [on_device(tensor, copies=True) for tensor in run()])  # type: ignore[no-any-return]


# -- replaying ------------------------------------------------------------------------------------


class _Loop:
    """A loop that runs as often as its condition says.

    Args:
        backend: the backend.
        loop: the loop.
        indices: those of the storages of values before it, by value.
        keeps_history: whether its history is a result, too.
    """

    def __init__(
        self, backend: Backend, loop: RecordedLoop, indices: dict[int, int], keeps_history: bool
    ) -> None:
        self._loop = loop
        self._inputs = _located(loop.inputs, indices)
        self._condition = loop.condition.program(backend)
        self._body = loop.body.program(backend)
        self._keeps_history = keeps_history
        self.values = [view.value for view in (loop.outputs if keeps_history else loop.results)]

    def results(self, storages: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return the storages of the last loop variables, and the history."""
        inputs = _tensors(self._inputs, storages)
        variables, of_condition, of_body = self._loop.split(inputs)
        limit = self._loop.limit
        history: list[Sequence[Tensor]] = []
        iteration = 0
        while limit is None or iteration < limit:
            (goes_on,) = self._condition([*variables, *of_condition])
            if not goes_on.item():
                break
            if self._keeps_history:
                history.append(variables)
            variables = self._body([*variables, *of_body])
            iteration += 1
        results: list[Any] = _storages(variables)
        return [*results, history] if self._keeps_history else results

    def close(self) -> None:
        """Free what the backend keeps."""
        self._condition.close()
        self._body.close()


class _Pass:
    """A pass through a loop: a step for each iteration that its history has.

    Args:
        backend: the backend.
        recorded: the pass.
        indices: those of the storages of values before it, and of the history, by value.
    """

    def __init__(self, backend: Backend, recorded: RecordedPass, indices: dict[int, int]) -> None:
        history, *inputs = recorded.inputs
        self._history = indices[history.value]
        self._inputs = _located(inputs, indices)
        self._count = len(recorded.outputs)
        self._step = recorded.step.program(backend)
        self._order = -1 if recorded.is_reverse else 1
        self.values = [view.value for view in recorded.outputs]

    def results(self, storages: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return the storages of what the last step returns."""
        inputs = _tensors(self._inputs, storages)
        values, outer = inputs[: self._count], inputs[self._count :]
        for variables in storages[self._history][:: self._order]:
            values = self._step([*variables, *values, *outer])
        return _storages(values)

    def close(self) -> None:
        """Free what the backend keeps."""
        self._step.close()


def _located(views: Sequence[View], indices: dict[int, int]) -> list[Located]:
    return [Located(indices[view.value], view.shape, view.dtype) for view in views]


def _tensors(located: Sequence[Located], storages: Sequence[Any]) -> list[Tensor]:
    return [Tensor(storages[index], shape, dtype) for index, shape, dtype in located]


def _storages(tensors: Sequence[Tensor]) -> list[Storage]:
    return [tensor.storage for tensor in tensors]
