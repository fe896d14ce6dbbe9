"""Programs of captured functions: what a recording needs for its results, compiled by a backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from webtensor.backends.api import Backend, CompiledProgram
from webtensor.backends.programs import KernelCall, Program
from webtensor.backends.signatures import Signature, Spec
from webtensor.dtypes import DType
from webtensor.engine import Storage, Tensor, Variable
from webtensor.engine.dispatch import no_room
from webtensor.engine.scopes import outside_scopes
from webtensor.programs.numbers import Numbers
from webtensor.programs.recording import (
    Argument,
    LateScalar,
    RecordedCall,
    Recording,
    View,
    scalar_storage,
)
from webtensor.shapes import Shape, prod

__all__ = ["CapturedProgram"]


class CapturedProgram:
    """What a recorded function computes from its arguments and variables.

    Args:
        backend: what computes it.
        recording: what the function did.
        views: the tensors that it returned.

    Raises:
        KernelNotFoundError: the backend cannot compute all of it.
        OutOfMemoryError: it has no room for temporary values.
    """

    def __init__(self, backend: Backend, recording: Recording, views: Sequence[View]) -> None:
        self._backend = backend
        wanted = [*views, *[view for _, view in recording.assigned]]
        calls, same = _simplified(recording, wanted)
        wanted = [_replaced(view, same) for view in wanted]
        #: The names of what it computes, in order.
        self.operations = [call.primitive.name for call in calls]
        values = {view.value for call in calls for view in call.inputs}
        values.update(view.value for view in wanted)
        sources = sorted(values & recording.sources.keys())
        places = {value: place for place, value in enumerate(sources)}
        count = len(sources)
        places |= {call.output.value: count + index for index, call in enumerate(calls)}
        results = dict.fromkeys(
            places[view.value] for view in wanted if view.value not in recording.sources
        )
        self._numbers = Numbers(recording.drawn)
        self._sources = [
            _Scalar(self._numbers.place(source.number), source.dtype)
            if isinstance(source, LateScalar)
            else source
            for source in (recording.sources[value] for value in sources)
        ]
        #: Where the late attributes of calls are among the numbers.
        self._late: list[tuple[int, ...]] = []
        self._assigned_numbers = [
            (holder, self._numbers.place(number)) for holder, number in recording.assigned_numbers
        ]
        kernel_calls = tuple(self._kernel_call(call, places) for call in calls)
        self._compiled: CompiledProgram = backend.compiled(
            Program(count, kernel_calls, tuple(results))
        )
        outputs = {places[call.output.value]: call.output for call in calls}
        self._made = [
            _Made(outputs[number].dtype, prod(outputs[number].shape)) for number in results
        ]
        positions = {number: index for index, number in enumerate([*range(count), *results])}
        located = [
            _Result(positions[places[view.value]], view.shape, view.dtype) for view in wanted
        ]
        self._results = located[: len(views)]
        self._assigned = [
            (variable, result)
            for (variable, _), result in zip(recording.assigned, located[len(views) :], strict=True)
        ]

    def __call__(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        """Return the results for these arguments, and assign to variables."""
        backend = self._backend
        numbers = self._numbers()
        storages = [_storage_of(source, arguments, numbers) for source in self._sources]
        for storage in storages:
            if storage.backend is not backend:
                storage.move_to(backend, "function")
        late = [tuple([numbers[place] for place in places]) for places in self._late]
        try:
            handles = self._compiled(storages, late)
        except MemoryError as error:
            largest = max(self._made, key=lambda made: made.size)
            raise no_room(error, "function", (largest.size,), largest.dtype) from None
        storages += [
            Storage(made.dtype, made.size, None, backend, handle)
            for made, handle in zip(self._made, handles, strict=True)
        ]
        with outside_scopes():
            for variable, result in self._assigned:
                variable.assign(Tensor(storages[result.place], result.shape, result.dtype))
        for holder, place in self._assigned_numbers:
            holder.number = numbers[place]
        return [Tensor(storages[result.place], *result[1:]) for result in self._results]

    def close(self) -> None:
        """Free what the backend keeps for the program."""
        self._compiled.close()

    def _kernel_call(self, call: RecordedCall, places: dict[int, int]) -> KernelCall:
        specs = tuple(Spec(view.shape, view.dtype, prod(view.shape)) for view in call.inputs)
        late = None
        if call.late is not None:
            late = len(self._late)
            self._late.append(tuple(map(self._numbers.place, call.late)))
        return KernelCall(
            call.primitive.kernel,
            tuple(places[view.value] for view in call.inputs),
            Signature(specs, call.output.shape, call.output.dtype),
            call.attributes,
            late,
        )


class _Scalar(NamedTuple):
    """A tensor of rank 0, of a number of the program."""

    place: int
    dtype: DType


class _Made(NamedTuple):
    dtype: DType
    size: int


class _Result(NamedTuple):
    """A tensor that the program makes: its storage's place among sources and results."""

    place: int
    shape: Shape
    dtype: DType


def _storage_of(
    source: Argument | Variable | _Scalar | Storage,
    arguments: Sequence[Tensor],
    numbers: Sequence[Any],
) -> Storage:
    if isinstance(source, Argument):
        return arguments[source.number].storage
    if isinstance(source, _Scalar):
        return scalar_storage(numbers[source.place], source.dtype)
    return source.value.storage if isinstance(source, Variable) else source


def _simplified(
    recording: Recording, wanted: Iterable[View]
) -> tuple[list[RecordedCall], dict[int, int]]:
    """Return the calls that are needed, each once, and what replaces the values of others."""
    same: dict[int, int] = {}
    first: dict[Any, int] = {}
    calls: list[RecordedCall] = []
    for call in recording.calls:
        inputs = tuple(_replaced(view, same) for view in call.inputs)
        _, shape, dtype = call.output
        key = call.primitive.kernel, inputs, shape, dtype, repr(call.attributes)
        value = call.output.value
        earlier = value if call.late is not None else first.setdefault(key, value)
        if earlier == value:
            calls.append(call._replace(inputs=inputs))
        else:
            same[value] = earlier
    needed = {_replaced(view, same).value for view in wanted}
    kept: list[RecordedCall] = []
    for call in reversed(calls):
        if call.output.value in needed:
            needed.update(view.value for view in call.inputs)
            kept.append(call)
    return kept[::-1], same


def _replaced(view: View, same: dict[int, int]) -> View:
    """Return a view of the value that replaces another one, if one does."""
    return view._replace(value=same.get(view.value, view.value))
