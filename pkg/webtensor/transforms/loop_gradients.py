"""Gradients through the loops of captured functions.

The number of iterations differs from replay to replay, so a tape cannot record each iteration. It
records the loop as one operation instead. A second loop, the way back, computes its gradients: for
each iteration, the last one first, it runs the body once more and differentiates it.

``jvp`` goes back twice. The way back is linear in the gradients that it begins with, so it is one
operation on the outer tape, too, whose gradients are the way forth: tangents go through the loop.
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
from webtensor.programs.loops import record_loop, record_part, record_way_back
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
    surroundings = _Surroundings(tape)
    # New tensors: the body may take the first values from around it, too.
    first = [alias(IDENTITY, x, x.shape) for x in first]
    indices = [index for index, x in enumerate(first) if is_differentiable(x)]
    variables = [first[index] for index in indices]
    # The first call has its gradients from a tape of its own, as any other function.
    own_tape = Tape(watches_variables=False)
    lasts: Sequence[Tensor] = ()

    def observed_body(*values: Tensor) -> Sequence[Tensor]:
        with surroundings.observed():
            results = body(*values)
        surroundings.note(results)
        return results

    def recorded_run(values: Sequence[Tensor]) -> Sequence[Tensor]:
        nonlocal lasts
        for source in (*variables, *surroundings.watched()):
            own_tape.watch(source)
        with own_tape:
            lasts = run(values)
        return lasts

    with paused(), outside_scopes():
        results, history = record_loop(
            recorder, condition, observed_body, first, recorded_run, limit
        )
        assert history is not None  # the recorder is strict
        outer = surroundings.watched()
        sources = [*variables, *outer]
        step = record_part(
            recorder,
            _step(body, indices, len(first), outer),
            [*first, *(results[index] for index in indices), *outer],
        )

    def way_back(adjoints: dict[int, Tensor]) -> list[Tensor]:
        tapes = recording_tapes()
        if any(tape.follows(source) for tape in tapes for source in sources):
            recorder.refuse(FIRST_DERIVATIVES)
        gradients = [
            adjoints[index] if index in adjoints else zeros_like(results[index])
            for index in indices
        ]

        def run_back() -> list[Tensor]:
            outputs = [lasts[index] for index in indices]
            return _gradients(own_tape, outputs, sources, gradients)

        with paused():
            totals = [zeros_like(tensor) for tensor in outer]
            parts = record_way_back(recorder, history, step, [*gradients, *totals], run_back)
        for tape in tapes:
            _put_on_tape(tape, partial(way_forth, parts), gradients, dict(enumerate(parts)))
        return parts

    def way_forth(parts: list[Tensor], adjoints: dict[int, Tensor]) -> list[Tensor]:
        if is_recording():
            recorder.refuse(FIRST_DERIVATIVES)
        tangents = [
            adjoints[index] if index in adjoints else zeros_like(part)
            for index, part in enumerate(parts)
        ]

        def run_forth() -> list[Tensor]:
            outputs = [lasts[index] for index in indices]
            moved = _tangents(own_tape, outputs, sources, tangents)
            return [*moved, *tangents[len(indices) :]]

        step_forth = _step(body, indices, len(first), outer, is_reverse=False)
        with outside_scopes():
            part = record_part(recorder, step_forth, [*first, *tangents])
        moved = record_way_back(recorder, history, part, tangents, run_forth, is_reverse=False)
        return moved[: len(indices)]

    with paused():
        # New tensors, in the scopes of the caller.
        results = [alias(IDENTITY, result, result.shape) for result in results]
    _put_on_tape(tape, way_back, sources, {index: results[index] for index in indices})
    return results


def _step(
    body: Callable[..., Sequence[Tensor]],
    indices: list[int],
    count: int,
    outer: list[Tensor],
    is_reverse: bool = True,
) -> Callable[..., list[Tensor]]:
    """Return a step of the way back, or of the way forth.

    Its arguments are the ``count`` loop variables before an iteration, the gradients of the
    differentiable ones (at ``indices``) after it, and the sums of the gradients of ``outer`` so
    far. It returns the gradients before the iteration, and the next sums. On the way forth it takes
    tangents before the iteration and those of ``outer``, and returns those after it.
    """

    def step(*arguments: Tensor) -> list[Tensor]:
        values, directions = arguments[:count], arguments[count:]
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
    whole = with_zeros(parts, [source.shape for source in sources])
    return [
        part if part.dtype is source.dtype else part.astype(source.dtype)
        for part, source in zip(whole, sources, strict=True)
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
    way_back: Callable[[dict[int, Tensor]], list[Tensor]],
    sources: Sequence[Tensor],
    results: dict[int, Tensor],
) -> None:
    """Record an operation with several results, by their indices."""
    if not results:
        return
    last: tuple[_Parts, list[Tensor]] | None = None

    def rule(index: int) -> Callable[..., Tensor]:
        def part(adjoint: Any, *_: Any) -> Tensor:
            nonlocal last
            if last is None or last[0] is not adjoint:
                last = adjoint, way_back(adjoint.parts)
            return last[1][index]

        return part

    any_result = next(iter(results.values()))
    whole = Tensor(any_result.storage, any_result.shape, any_result.dtype)
    tape.record(Primitive("while_loop", gradients=rule), tuple(sources), whole, ())
    for index, result in results.items():
        selection = Primitive("result", gradients=(lambda dy, *_, at=index: _Parts({at: dy}),))
        tape.record(selection, (whole,), result, ())
