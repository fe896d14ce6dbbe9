"""Gradients through the loops of captured functions.

The number of iterations differs from replay to replay, so a tape cannot record each iteration. It
records the loop as one operation instead. A second loop, the backward pass, computes its gradients:
for each iteration, the last one first, it runs the body once more and differentiates it.

``jvp`` goes back twice. The backward pass is linear in the gradients that it begins with, so it is
one operation on the outer tape, too, whose gradients are the forward pass: tangents go through the
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from webtensor.autodiff import Gathered, Tape, is_recording, paused
from webtensor.autodiff.gradient_tape import is_differentiable
from webtensor.autodiff.tape import IDENTITY, recording_tapes, with_zeros
from webtensor.engine import Primitive, Tensor, alias
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import attach, detach, observing
from webtensor.ops import zeros_like
from webtensor.programs.loops import record_loop, record_part, record_pass
from webtensor.programs.recording import Recorder

__all__ = ["record_differentiable_loop"]

FIRST_DERIVATIVES = (
    "while_loop: in a captured function, only first derivatives flow through a loop of which only "
    "replays know how often it runs; use scan, whose number of iterations is known"
)


def record_differentiable_loop(
    recorder: Recorder,
    condition: Callable[..., Tensor],
    body: Callable[..., Sequence[Tensor]],
    first: Sequence[Tensor],
    run: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    limit: int | None,
) -> list[Tensor]:
    """Record a loop within a tape, and return the last values of its variables.

    Args:
        recorder: what records the function around it, which is strict.
        condition: returns a bool scalar for the loop variables.
        body: returns the next loop variables.
        first: their first values.
        run: runs the loop from these values on.
        limit: the maximum number of iterations.

    Raises:
        CaptureError: several tapes record, or the loop cannot be captured.
    """
    tapes = recording_tapes()
    if len(tapes) > 1:
        recorder.refuse(FIRST_DERIVATIVES)
    (tape,) = tapes
    loop = _DifferentiableLoop(recorder, tape, body, first)
    with paused(), outside_scopes():
        loop.record(condition, run, limit)
    with paused():
        # New tensors, in the scopes of the caller.
        results = [alias(IDENTITY, result, result.shape) for result in loop.results]
    differentiable = {index: results[index] for index in loop.indices}
    _put_on_tape(tape, loop.backward_pass, loop.sources, differentiable)
    return results


class _DifferentiableLoop:
    """A loop that a tape records as one operation.

    Args:
        recorder: what records the function around it.
        tape: the tape.
        body: returns the next loop variables.
        first: the first values of the loop variables.
    """

    def __init__(
        self,
        recorder: Recorder,
        tape: Tape,
        body: Callable[..., Sequence[Tensor]],
        first: Sequence[Tensor],
    ) -> None:
        self._recorder, self._body = recorder, body
        self._surroundings = _Surroundings(tape)
        # New tensors: the body may take the first values from around it, too.
        self._first = [alias(IDENTITY, x, x.shape) for x in first]
        #: The indices of the differentiable loop variables.
        self.indices = [index for index, x in enumerate(self._first) if is_differentiable(x)]
        self._variables = [self._first[index] for index in self.indices]
        #: The tape of the first call, whose gradients are those of any other function.
        self._tape = Tape(watches_variables=False)
        self._outputs: list[Tensor] = []

    def record(
        self,
        condition: Callable[..., Tensor],
        run: Callable[[Sequence[Tensor]], Sequence[Tensor]],
        limit: int | None,
    ) -> None:
        """Record the loop, and a step of its backward pass."""

        def observed_body(*values: Tensor) -> Sequence[Tensor]:
            with self._surroundings.observed():
                results = self._body(*values)
            self._surroundings.note(results)
            return results

        def taped_run(values: Sequence[Tensor]) -> Sequence[Tensor]:
            for source in (*self._variables, *self._surroundings.watched()):
                self._tape.watch(source)
            with self._tape:
                results = run(values)
            self._outputs = [results[index] for index in self.indices]
            return results

        self.results, history = record_loop(
            self._recorder, condition, observed_body, self._first, taped_run, limit
        )
        assert history is not None  # the recorder is strict
        self._history = history
        self._outer = self._surroundings.watched()
        #: The first values of the differentiable loop variables, and what the body takes besides.
        self.sources = [*self._variables, *self._outer]
        adjoints = [self.results[index] for index in self.indices]
        self._step_back = record_part(
            self._recorder, self._step(), [*self._first, *adjoints, *self._outer]
        )

    def backward_pass(self, adjoints: dict[int, Tensor]) -> list[Tensor]:
        """Return the gradients of the sources, by those of the results at their indices."""
        tapes = recording_tapes()
        if any(tape.follows(source) for tape in tapes for source in self.sources):
            self._recorder.refuse(FIRST_DERIVATIVES)
        outputs = {index: self.results[index] for index in self.indices}
        gradients = _with_zeros(adjoints, outputs)

        def run_back() -> list[Tensor]:
            return _gradients(self._tape, self._outputs, self.sources, gradients)

        with paused():
            totals = [zeros_like(tensor) for tensor in self._outer]
            parts = record_pass(
                self._recorder, self._history, self._step_back, [*gradients, *totals], run_back
            )
        by_index = dict(enumerate(parts))
        for tape in tapes:
            _put_on_tape(tape, partial(self._forward_pass, by_index), gradients, by_index)
        return parts

    def _forward_pass(self, parts: dict[int, Tensor], adjoints: dict[int, Tensor]) -> list[Tensor]:
        """Return the tangents of the results, by those of the sources at their indices."""
        if is_recording():
            self._recorder.refuse(FIRST_DERIVATIVES)
        tangents = _with_zeros(adjoints, parts)
        count = len(self.indices)

        def run_forth() -> list[Tensor]:
            moved = _tangents(self._tape, self._outputs, self.sources, tangents)
            return [*moved, *tangents[count:]]

        with outside_scopes():
            step = record_part(
                self._recorder, self._step(is_reverse=False), [*self._first, *tangents]
            )
        moved = record_pass(
            self._recorder, self._history, step, tangents, run_forth, is_reverse=False
        )
        return moved[:count]

    def _step(self, is_reverse: bool = True) -> Callable[..., list[Tensor]]:
        """Return a step of the backward pass, or of the forward pass.

        Its arguments are the loop variables before an iteration, the gradients of the
        differentiable ones after it, and the sums of the gradients of ``_outer`` so far. It returns
        the gradients before the iteration, and the next sums. On the forward pass it takes tangents
        before the iteration and those of ``_outer``, and returns those after it.
        """
        body, indices, outer = self._body, self.indices, self._outer

        def step(*arguments: Tensor) -> list[Tensor]:
            values, directions = arguments[: len(self._first)], arguments[len(self._first) :]
            totals = directions[len(indices) :]
            sources = [*(values[index] for index in indices), *outer]
            tape = Tape(watches_variables=False)
            for source in sources:
                tape.watch(source)
            with tape:
                results = body(*values)
            outputs = [results[index] for index in indices]
            if not is_reverse:
                return [*_tangents(tape, outputs, sources, directions), *totals]
            parts = _gradients(tape, outputs, sources, directions[: len(indices)])
            sums = (total + part for total, part in zip(totals, parts[len(indices) :], strict=True))
            return [*parts[: len(indices)], *sums]

        return step


def _with_zeros(parts: dict[int, Tensor], tensors: dict[int, Tensor]) -> list[Tensor]:
    """Return gradients or tangents of tensors, zeros for those that have none."""
    return [
        parts[index] if index in parts else zeros_like(tensor) for index, tensor in tensors.items()
    ]


def _tangents(
    tape: Tape, outputs: Sequence[Tensor], sources: Sequence[Tensor], tangents: Sequence[Tensor]
) -> list[Tensor]:
    """Return the tangents of outputs for those of sources, by going back twice."""
    dys = [zeros_like(output) for output in outputs]
    outer = Tape(watches_variables=False)
    for dy in dys:
        outer.watch(dy)
    with outer:
        gradients = _gradients(tape, outputs, sources, dys)
    return _gradients(outer, gradients, dys, tangents)


def _gradients(
    tape: Tape, outputs: Sequence[Tensor], sources: Sequence[Tensor], dys: Sequence[Tensor]
) -> list[Tensor]:
    """Return gradients of the shapes and dtypes of their sources, and keep the tape."""
    parts = tape.gradients(outputs, sources, dys, keep=True)
    gradients = with_zeros(parts, sources)
    return [
        gradient if gradient.dtype is source.dtype else gradient.astype(source.dtype)
        for gradient, source in zip(gradients, sources, strict=True)
    ]


# -- what the tape sees ----------------------------------------------------------------------------


class _Surroundings:
    """Observer of a body: which tensors it takes from around it that a tape watches."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._watched: dict[int, Tensor] = {}

    def watched(self) -> list[Tensor]:
        """Return the tensors."""
        return list(self._watched.values())

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Observe what runs within the context."""
        attach("variable_readers", self)
        try:
            with observing(self):
                yield
        finally:
            detach("variable_readers", self)

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Note the operands of an operation."""
        self.note(inputs)

    def note(self, tensors: Sequence[Tensor]) -> None:
        """Note tensors that the body takes, or returns."""
        for tensor in tensors:
            if self._tape.watches(tensor) and is_differentiable(tensor):
                self._watched[id(tensor)] = tensor

    def read_variable(self, variable: Any, value: Tensor) -> None:
        """Let the tape know that a variable was read."""
        self._tape.read_variable(variable, value)


class _Parts(Gathered):
    """The gradients of an operation's results, by their indices."""

    def __init__(self, parts: dict[int, Tensor]) -> None:
        self.parts = parts

    def plus(self, other: Any) -> _Parts:
        """Add those of other results."""
        return _Parts({**self.parts, **other.parts})

    def total(self) -> Any:
        """Return them all."""
        return self


def _put_on_tape(
    tape: Tape,
    backward_pass: Callable[[dict[int, Tensor]], list[Tensor]],
    sources: Sequence[Tensor],
    results: dict[int, Tensor],
) -> None:
    """Record an operation with several results, by their indices."""
    if not results:
        return
    #: The latest adjoint, and the gradients of the sources for it.
    latest: tuple[_Parts, list[Tensor]] | None = None

    def rule(index: int) -> Callable[..., Tensor]:
        def part(adjoint: Any, *_: Any) -> Tensor:
            nonlocal latest
            if latest is None or latest[0] is not adjoint:
                latest = adjoint, backward_pass(adjoint.parts)
            return latest[1][index]

        return part

    any_result = next(iter(results.values()))
    joint = Tensor(any_result.storage, any_result.shape, any_result.dtype)
    tape.record(Primitive("while_loop", gradients=rule), tuple(sources), joint, ())
    for index, result in results.items():
        selection = Primitive("result", gradients=(lambda dy, *_, at=index: _Parts({at: dy}),))
        tape.record(selection, (joint,), result, ())
