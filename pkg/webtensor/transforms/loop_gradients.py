"""Gradients through the loops of captured functions.

How often such a loop runs differs from replay to replay, so that no tape can record its
iterations. The tape sees the loop as one operation instead, whose gradients a way back computes:
each of its steps runs the body once more, for what the loop variables were before an iteration, and
its gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from webtensor.autodiff import Gathered, Tape, is_recording, paused
from webtensor.autodiff.tape import IDENTITY, recording_tapes, with_zeros
from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, alias, state
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import observing
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
    places = [place for place, x in enumerate(first) if _is_differentiable(x)]
    variables = [first[place] for place in places]
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
        sources = surroundings.watched()
        step = record_part(
            recorder,
            _step(body, places, len(first), sources),
            [*first, *(results[place] for place in places), *sources],
        )

    def way_back(adjoints: dict[int, Tensor]) -> list[Tensor]:
        if is_recording():
            recorder.refuse(FIRST_DERIVATIVES)
        gradients = [
            adjoints[place] if place in adjoints else zeros_like(results[place]) for place in places
        ]

        def run_back() -> list[Tensor]:
            outputs = [lasts[place] for place in places]
            return _gradients(own_tape, outputs, [*variables, *sources], gradients)

        totals = [zeros_like(source) for source in sources]
        return record_way_back(recorder, history, step, [*gradients, *totals], run_back)

    with paused():
        # New tensors, in the scopes of the caller.
        results = [alias(IDENTITY, result, result.shape) for result in results]
    _put_on_tape(
        tape, way_back, [*variables, *sources], {place: results[place] for place in places}
    )
    return results


def _step(
    body: Callable[..., Sequence[Tensor]], places: list[int], count: int, sources: list[Tensor]
) -> Callable[..., list[Tensor]]:
    """Return a step of the way back.

    It takes the loop variables before an iteration, the gradients of those after it that have any,
    and the sums of the sources' gradients so far; it returns the gradients of those before it, and
    the next sums.
    """

    def step(*arguments: Tensor) -> list[Tensor]:
        values, gradients = arguments[:count], arguments[count : count + len(places)]
        totals = arguments[count + len(places) :]
        variables = [values[place] for place in places]
        tape = Tape(watches_variables=False)
        for source in (*variables, *sources):
            tape.watch(source)
        with tape:
            results = body(*values)
        outputs = [results[place] for place in places]
        parts = _gradients(tape, outputs, [*variables, *sources], gradients)
        sums = (total + part for total, part in zip(totals, parts[len(places) :], strict=True))
        return [*parts[: len(places)], *sums]

    return step


def _is_differentiable(tensor: Tensor) -> bool:
    return tensor.dtype in (float32, complex64)


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
        readers = state.variable_readers
        try:
            with observing(self):
                state.variable_readers = (*readers, self)
                yield
        finally:
            state.variable_readers = readers

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
            if self._tape.watches(tensor) and _is_differentiable(tensor):
                self._watched[id(tensor)] = tensor

    def read_variable(self, variable: Any, value: Tensor) -> None:
        """Let the tape know that a variable was read."""
        self._tape.read_variable(variable, value)


class _Parts(Gathered):
    """The gradients of an operation's results, by their places."""

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
    """Record an operation with several results, by their places."""
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
    for place, result in results.items():
        one = Primitive("result", gradients=(lambda dy, *_, at=place: _Parts({at: dy}),))
        tape.record(one, (whole,), result, ())
